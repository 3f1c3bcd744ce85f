/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* recorder.c - records from a scope into an archive. */
#include "config.h"

#include "monitors/archive/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "base/host_clock.h"
#include "base/now.h"
#include "eventspace/operation.h"
#include "eventspace/summary.h"
#include "monitors/archive/archive.h"
#include "monitors/archive/archive_records.h"
#include "monitors/archive/recorder_tables.h"
#include "scopes/remote/run_files.h"
#include "scopes/scope_ledger.h"
#include "scopes/scope_profile.h"
#include "scopes/scope_started.h"
#include "tuplespace/started.h"

/* Maximum time until a new element joins; */
#define REFRESH_NS UINT64_C(100000000)
/* the same while further elements may follow. */
#define REFRESH_SOON_NS UINT64_C(20000000)
#define FLUSH_NS UINT64_C(250000000)
/* Maximum time to wait for the clock of a host. */
#define CLOCK_NS UINT64_C(5000000000)
/* Tables that have grown are rewritten after this multiple of the time that the last
 * writing took. */
enum { TABLES_REST = 50 };

/* State of an origin of the scope. */
struct element_place {
    uint64_t next; /* next expected position */
    uint64_t lost; /* reported, but not yet recorded */
    bool begun;    /* `next` is valid */
    bool clock_is_known;
};

struct esi_recorder {
    struct es_run *run;         /* borrowed */
    struct es_servers *servers; /* borrowed */
    struct esi_recorder_config config;
    struct esi_follower *follower;
    struct es_scope *scope; /* belongs to the follower */
    struct esi_archive *archive;
    struct esi_recorder_tables *tables;
    struct element_place *places; /* by origin; owned */
    size_t place_capacity;
    uint64_t flushed_ns; /* by CLOCK_MONOTONIC, like the times below */
    uint64_t tables_ns;  /* time of the last writing */
    uint64_t tables_cost_ns;
    bool tables_changed;
    bool appeared; /* there are elements that the written tables do not contain */
    bool repeat;   /* the last batch was not used and is pulled again */
    uint64_t clock_end_ns; /* when to stop waiting for a clock; 0 = not waiting */
    struct esi_recorder_totals totals;
};

/* --- Creation ---------------------------------------------------------------- */

static int take_origin(void *data, uint32_t number, const struct es_origin *origin)
{
    struct esi_recorder *recorder = data;

    (void)origin;
    if (ESI_ARRAY_RESERVE(recorder->places, recorder->place_capacity,
                          (size_t)number + 1) < 0)
        return -ENOMEM;
    recorder->places[number] = (struct element_place){.begun = false};
    recorder->appeared = true;
    return esi_recorder_tables_add_origin(recorder->tables, number);
}

static int open_follower(struct esi_recorder *recorder,
                         const struct esi_recorder_config *config,
                         struct es_error *error)
{
    struct esi_follower_config follower = {.run = recorder->run,
                                           .refresh_ns = REFRESH_NS,
                                           .soon_ns = REFRESH_SOON_NS,
                                           .on_origin = take_origin,
                                           .data = recorder,
                                           .scope = config->scope};
    struct es_selection *selection = &follower.scope.view.selection;
    int result;

    if (selection->classes == 0)
        selection->classes = ES_CLASSES_ALL | ES_CLASSES_TREE;
    follower.scope.name = "record";
    follower.scope.sites = true;
    result = esi_follower_open(&follower, error, &recorder->follower);
    if (result == 0)
        recorder->scope = esi_follower_scope(recorder->follower);
    return result;
}

static int open_archive(struct esi_recorder *recorder,
                        const struct esi_recorder_config *config,
                        struct es_error *error)
{
    struct esi_archive_config archive = {
        .directory = config->directory,
        .run = es_run_name(recorder->run),
        .begun_ns = es_scope_run_now_ns(recorder->scope),
        .packet_bytes = config->packet_bytes,
    };
    int result = esi_archive_create(&archive, error, &recorder->archive);

    if (result < 0)
        return result;
    return esi_recorder_tables_create(recorder->scope, recorder->servers,
                                      esi_archive_writer_tables(recorder->archive),
                                      &recorder->tables);
}

/* Runs that were not started by `eventspace run` have no map. */
static void take_map(struct esi_recorder *recorder)
{
    struct esi_pathmap *map;
    char *text;

    if (esi_run_map_load(es_run_name(recorder->run), recorder->servers, NULL, &map) < 0)
        return;
    if (esi_pathmap_format(map, &text) == 0) {
        esi_archive_write_map(recorder->archive, text);
        free(text);
    }
    esi_pathmap_destroy(map);
}

int esi_recorder_create(struct es_run *run,
                        const struct esi_recorder_config *config,
                        struct es_error *error,
                        struct esi_recorder **ret_recorder)
{
    struct esi_recorder *recorder = calloc(1, sizeof *recorder);
    int result;

    if (!recorder)
        return -ENOMEM;
    recorder->run = run;
    recorder->servers = config->scope.servers;
    recorder->config.flush_ns = config->flush_ns ? config->flush_ns : FLUSH_NS;
    result = open_follower(recorder, config, error);
    if (result == 0)
        result = open_archive(recorder, config, error);
    if (result < 0) {
        esi_recorder_close(recorder, NULL, NULL);
        return result;
    }
    take_map(recorder);
    *ret_recorder = recorder;
    return 0;
}

/* --- Tables ------------------------------------------------------------------ */

static int write_tables(struct esi_recorder *recorder)
{
    uint64_t begun_ns = esi_now_ns(CLOCK_MONOTONIC);
    int result = esi_archive_write_tables(recorder->archive);

    recorder->tables_ns = esi_now_ns(CLOCK_MONOTONIC);
    recorder->tables_cost_ns = recorder->tables_ns - begun_ns;
    recorder->tables_changed = false;
    return result;
}

/* Writes the tables if there are new elements, before tuples of these are recorded. */
static int write_appeared(struct esi_recorder *recorder)
{
    if (!recorder->appeared)
        return 0;
    recorder->appeared = false;
    return write_tables(recorder);
}

/* Refreshes the follower, which limits the frequency, and updates the tables. */
static int refresh_view(struct esi_recorder *recorder, bool last)
{
    uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC);
    int result = esi_follower_refresh(recorder->follower, last);

    if (result <= 0)
        return result;
    result = write_appeared(recorder);
    if (result >= 0)
        result = esi_recorder_tables_refresh(recorder->tables, false);
    if (result < 0)
        return result;
    recorder->tables_changed |= result > 0;
    if (recorder->tables_changed &&
        now_ns - recorder->tables_ns >= TABLES_REST * recorder->tables_cost_ns)
        return write_tables(recorder);
    return 0;
}

/* --- Clocks ------------------------------------------------------------------ */

static bool clock_is_known(struct esi_recorder *recorder, uint32_t index)
{
    const struct es_origin *origin = es_scope_origin(recorder->scope, index);
    struct element_place *place = &recorder->places[index];
    uint64_t run_ns;

    if (!place->clock_is_known)
        place->clock_is_known =
            !origin->host_clock ||
            esi_host_clock_run_ns(origin->host_clock, 0, &run_ns, NULL);
    return place->clock_is_known;
}

/* Returns whether the batch should be pulled again later: while the clock of a host is
 * not known, its times would not be comparable to later ones. */
static bool waits_for_clocks(struct esi_recorder *recorder,
                             const struct es_batch *batch)
{
    uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC);
    bool known = true;

    for (size_t i = 0; i < batch->count && known; i++)
        known = clock_is_known(recorder, batch->marks[i].origin);
    if (known) {
        recorder->clock_end_ns = 0;
        return false;
    }
    if (recorder->clock_end_ns == 0)
        recorder->clock_end_ns = now_ns + CLOCK_NS;
    return now_ns < recorder->clock_end_ns;
}

/* --- Tuples ------------------------------------------------------------------ */

static int convert_time(struct esi_recorder *recorder,
                        uint32_t origin,
                        struct es_tuple *tuple)
{
    struct esi_recorder_clock *clock =
        esi_recorder_tables_clock(recorder->tables, origin);
    const struct es_origin *known = es_scope_origin(recorder->scope, origin);
    uint64_t start = 0;
    uint64_t stop = 0;
    int result = esi_recorder_clock_convert(clock, known, tuple->start, &start);

    if (result == 0 && tuple->stop)
        result = esi_recorder_clock_convert(clock, known, tuple->stop, &stop);
    tuple->start = start;
    tuple->stop = stop;
    return result;
}

static int record_loss(struct esi_recorder *recorder, uint32_t origin, uint64_t lost)
{
    recorder->places[origin].lost -= lost;
    return esi_archive_lose(
        recorder->archive, esi_recorder_tables_element(recorder->tables, origin), lost);
}

/* Records a loss at the gap in the positions. */
static int place_loss(struct esi_recorder *recorder, const struct es_mark *mark)
{
    struct element_place *place = &recorder->places[mark->origin];
    uint64_t lost = place->lost;
    int result = 0;

    if (place->begun && mark->position - place->next < lost)
        lost = mark->position > place->next ? mark->position - place->next : 0;
    if (lost > 0)
        result = record_loss(recorder, mark->origin, lost);
    place->begun = true;
    place->next = mark->position + 1;
    return result;
}

/* Records the site of the last tuple. */
static int record_site(struct esi_recorder *recorder, const struct es_mark *mark)
{
    int added =
        esi_recorder_tables_note_site(recorder->tables, mark->origin, mark->site);

    if (added < 0)
        return added;
    recorder->tables_changed |= added > 0;
    return esi_archive_note_site(
        recorder->archive, esi_recorder_tables_element(recorder->tables, mark->origin),
        mark->site);
}

static int write_batch(struct esi_recorder *recorder,
                       const struct es_batch *batch,
                       size_t index,
                       uint64_t *newest)
{
    const struct es_mark *mark = &batch->marks[index];
    struct es_tuple tuple = batch->tuples[index];
    int result;

    if (es_mark_is_summary(mark) || tuple.stop == 0)
        return 0;
    esi_recorder_tables_note(recorder->tables, mark->origin, tuple.communicator);
    result = place_loss(recorder, mark);
    if (result == 0)
        result = convert_time(recorder, mark->origin, &tuple);
    if (result < 0)
        return result;
    if (tuple.stop > *newest)
        *newest = tuple.stop;
    result = esi_archive_append(
        recorder->archive, esi_recorder_tables_element(recorder->tables, mark->origin),
        &tuple, mark->position);
    return result == -EINVAL ? 0 /* invalid operation: counted as lost */
           : result < 0      ? result
                             : record_site(recorder, mark);
}

static int record_batch(struct esi_recorder *recorder,
                        const struct es_batch *batch,
                        uint64_t *newest)
{
    int result = 0;

    for (size_t i = 0; i < batch->report_count; i++)
        recorder->places[batch->reports[i].origin].lost += batch->reports[i].lost;
    for (size_t i = 0; i < batch->count && result == 0; i++)
        result = write_batch(recorder, batch, i, newest);
    for (size_t i = 0; i < batch->report_count && result == 0; i++) {
        uint32_t origin = batch->reports[i].origin;

        if (recorder->places[origin].lost > 0)
            result = record_loss(recorder, origin, recorder->places[origin].lost);
    }
    return result;
}

static void note_lag(struct esi_recorder *recorder,
                     const struct es_batch *batch,
                     uint64_t newest)
{
    uint64_t now_ns = es_scope_run_now_ns(recorder->scope);
    struct esi_recorder_totals *totals = &recorder->totals;

    totals->lag_ns = batch->more && newest > 0 && now_ns > newest ? now_ns - newest : 0;
    if (totals->lag_ns > totals->lag_most_ns)
        totals->lag_most_ns = totals->lag_ns;
}

static int flush_old(struct esi_recorder *recorder)
{
    uint64_t now_ns = esi_now_ns(CLOCK_MONOTONIC);

    if (now_ns - recorder->flushed_ns < recorder->config.flush_ns / 2)
        return 0;
    recorder->flushed_ns = now_ns;
    return esi_archive_flush(recorder->archive, recorder->config.flush_ns / 2);
}

int esi_recorder_read(struct esi_recorder *recorder, bool last)
{
    unsigned flags =
        (last ? ES_PULL_DRAIN : 0) | (recorder->repeat ? ES_PULL_REPEAT : 0);
    const struct es_batch *batch;
    uint64_t newest = 0;
    int result = refresh_view(recorder, last);

    if (result >= 0)
        result = esi_follower_pull(recorder->follower, flags, &batch);
    if (result >= 0)
        result = write_appeared(recorder);
    if (result < 0)
        return result;
    recorder->repeat = waits_for_clocks(recorder, batch);
    if (recorder->repeat) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        return 1;
    }
    result = record_batch(recorder, batch, &newest);
    if (result == 0)
        result = flush_old(recorder);
    if (result < 0)
        return result;
    note_lag(recorder, batch, newest);
    return batch->more;
}

const struct esi_follower *esi_recorder_follower(const struct esi_recorder *recorder)
{
    return recorder->follower;
}

void esi_recorder_totals(const struct esi_recorder *recorder,
                         struct esi_recorder_totals *ret_totals)
{
    const struct esi_archive_tables *tables =
        esi_archive_writer_tables(recorder->archive);

    *ret_totals = recorder->totals;
    ret_totals->tuples = tables->facts.tuples;
    ret_totals->lost = tables->facts.lost;
    ret_totals->missed = tables->facts.missed;
    ret_totals->open = tables->open_count;
    ret_totals->bytes = esi_archive_bytes(recorder->archive);
    ret_totals->hosts = tables->host_count;
    ret_totals->processes = tables->process_count;
    for (size_t i = 0; i < tables->process_count; i++)
        ret_totals->processes -= tables->processes[i].before_mpi;
    ret_totals->elements = tables->element_count;
}

/* --- Closing ----------------------------------------------------------------- */

/* Receives an operation that is under way in a thread. */
static int add_open(void *data,
                    uint32_t origin,
                    const struct es_tuple *tuple,
                    uint64_t site)
{
    struct esi_recorder *recorder = data;
    struct esi_archive_tables *tables = esi_archive_writer_tables(recorder->archive);
    struct esi_archive_open open = {
        .tuple = *tuple,
        .site = site,
        .element = esi_recorder_tables_element(recorder->tables, origin)};
    int result;

    esi_recorder_tables_note(recorder->tables, origin, tuple->communicator);
    result = convert_time(recorder, origin, &open.tuple);
    return result < 0 ? result : esi_archive_tables_add_open(tables, &open);
}

static void note_off(void *data, uint32_t origin)
{
    const struct esi_recorder *recorder = data;
    struct esi_archive_tables *tables = esi_archive_writer_tables(recorder->archive);

    tables->elements[esi_recorder_tables_element(recorder->tables, origin)].off = true;
}

/* Converts its times to the archive's. */
static int convert_ledger(struct esi_recorder *recorder,
                          uint32_t origin,
                          struct esi_ledger *ledger)
{
    int result = 0;

    for (size_t i = 0; i < ledger->request_count && result >= 0; i++) {
        struct es_tuple tuple = {.start = ledger->requests[i].start};

        if (tuple.start == 0 || tuple.start == UINT64_MAX)
            continue; /* matched messages and cancelled requests have no time */
        result = convert_time(recorder, origin, &tuple);
        ledger->requests[i].start = tuple.start;
    }
    if (result >= 0 && ledger->others_counted != 0) {
        struct es_tuple tuple = {.start = ledger->others_counted};

        result = convert_time(recorder, origin, &tuple);
        ledger->others_counted = tuple.start;
    }
    return result < 0 ? result : 0;
}

/* Converts times to the archive's, and durations of calls to nanoseconds. */
static int convert_profile(struct esi_recorder *recorder,
                           uint32_t origin,
                           struct esi_profile *profile)
{
    const struct es_clock *clock = es_scope_origin(recorder->scope, origin)->clock;
    struct es_tuple times = {.start = profile->began, .stop = profile->until};
    int result = profile->began != 0 ? convert_time(recorder, origin, &times) : 0;

    profile->began = times.start;
    profile->until = times.stop;
    for (size_t i = 0; i < profile->row_count; i++) {
        struct esi_profile_row *row = &profile->rows[i];

        row->ticks = es_clock_span_ns(clock, row->ticks);
        row->shortest = es_clock_span_ns(clock, row->shortest);
        row->longest = es_clock_span_ns(clock, row->longest);
    }
    for (size_t i = 0; i < profile->open_count; i++)
        profile->open[i].ticks = es_clock_span_ns(clock, profile->open[i].ticks);
    return result < 0 ? result : 0;
}

static int take_record(struct esi_recorder *recorder,
                       uint32_t origin,
                       enum esi_archive_record_kind kind,
                       struct esi_archive_record *record)
{
    const struct es_scope *scope = recorder->scope;

    if (kind == ESI_RECORD_LEDGER) {
        record->is_known = esi_scope_read_ledger(scope, origin, &record->ledger) == 0;
        return record->is_known ? convert_ledger(recorder, origin, &record->ledger) : 0;
    }
    record->is_known = esi_scope_read_profile(scope, origin, &record->profile) == 0;
    return record->is_known ? convert_profile(recorder, origin, &record->profile) : 0;
}

/* Adds the processes that have not called MPI.  Until now they could have called it, or
 * left it to a child. */
static int add_early(struct esi_recorder *recorder)
{
    struct es_scope_config config = *es_scope_config(recorder->scope);
    struct es_scope *scope;

    config.view.selection.classes = ES_CLASSES_STARTED;
    config.lossless = false;
    config.name = NULL;
    int result = es_scope_open(recorder->run, &config, NULL, &scope);
    if (result < 0) /* the servers may have ended with the run */
        return result == -ENOMEM ? result : 0;
    size_t count = es_scope_origin_count(scope);
    bool is_missed =
        esi_scope_has_left_init(recorder->scope) || esi_scope_has_left_init(scope);
    for (uint32_t i = 0; i < count && !is_missed && result == 0; i++)
        result = esi_recorder_tables_add_early(recorder->tables, scope, i);
    es_scope_close(scope);
    return result;
}

/* Processes whose ledger or profile cannot be read are omitted. */
static int write_records(struct esi_recorder *recorder,
                         enum esi_archive_record_kind kind)
{
    const struct esi_archive_tables *tables =
        esi_archive_writer_tables(recorder->archive);
    size_t count = tables->process_count;
    struct esi_archive_records records = {.count = 0};
    int result = esi_archive_records_init(&records, kind, count);

    for (size_t i = 0; i < count && result == 0; i++)
        if (!tables->processes[i].before_mpi)
            result =
                take_record(recorder, esi_recorder_tables_origin(recorder->tables, i),
                            kind, &records.processes[i]);
    if (result == 0)
        result = esi_archive_write_records(recorder->archive, &records);
    esi_archive_records_fini(&records);
    return result;
}

static int end_recording(struct esi_recorder *recorder)
{
    int result;

    if (esi_archive_failure(recorder->archive))
        return 0; /* reported when the archive is closed */
    result = esi_follower_read_open(recorder->follower, add_open, note_off, recorder);
    if (result == 0)
        result = esi_recorder_tables_refresh(recorder->tables, true);
    if (result >= 0)
        result = add_early(recorder);
    if (result >= 0)
        result = write_records(recorder, ESI_RECORD_LEDGER);
    if (result >= 0)
        result = write_records(recorder, ESI_RECORD_PROFILE);
    return result < 0 ? result : 0;
}

void esi_recorder_end_early(struct esi_recorder *recorder, const char *why)
{
    struct esi_archive_facts *facts =
        &esi_archive_writer_tables(recorder->archive)->facts;

    if (facts->error[0] == '\0')
        snprintf(facts->error, sizeof facts->error, "%s", why);
}

int esi_recorder_close(struct esi_recorder *recorder,
                       struct esi_recorder_totals *ret_totals,
                       struct es_error *error)
{
    int result = 0;

    if (recorder->tables)
        result = end_recording(recorder);
    if (recorder->archive) {
        uint64_t now_ns = es_scope_run_now_ns(recorder->scope);
        int closed;

        if (ret_totals)
            esi_recorder_totals(recorder, ret_totals);
        closed = esi_archive_close(recorder->archive, now_ns, error);
        result = closed < 0 ? closed : result;
    }
    esi_recorder_tables_destroy(recorder->tables);
    esi_follower_close(recorder->follower);
    free(recorder->places);
    free(recorder);
    return result;
}
