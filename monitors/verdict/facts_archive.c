/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* facts_archive.c - reads facts from the tables, ledgers and last tuples of an
 * archive. */
#include "config.h"

#include "monitors/verdict/facts_archive.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/operation.h"
#include "monitors/archive/archive_records.h"
#include "monitors/archive/archive_read.h"
#include "monitors/follow/activity.h"
#include "monitors/run/run_archive.h"
#include "monitors/sites/sites.h"
#include "monitors/verdict/instances.h"
#include "tuplespace/process_state.h"

/* As for live runs: longer operations are reported at the first observation. */
#define STALLED_AFTER_NS UINT64_C(5000000000)

struct esi_archived_facts {
    struct esi_facts facts;
    const struct esi_archive_tables *tables; /* the reader's */
    bool ended_well;
    struct esi_thread_state *threads; /* owned; by rank, pid, process and thread */
    uint32_t *processes;              /* of each thread; owned */
    struct esi_run_model model;
    struct esi_run_process **participants; /* by process; owned */
    size_t *thread_of;                     /* by element; owned */
    struct esi_archive_item *latest; /* by element; `lost` if there is none; owned */
    struct esi_archive_records ledgers;
    struct esi_sites *sites; /* owned */
    struct esi_fact_entries entered;
};

void esi_archived_facts_destroy(struct esi_archived_facts *archived)
{
    if (!archived)
        return;
    esi_facts_fini(&archived->facts);
    esi_run_model_fini(&archived->model);
    free(archived->participants);
    esi_fact_entries_fini(&archived->entered);
    esi_archive_records_fini(&archived->ledgers);
    esi_sites_destroy(archived->sites);
    free(archived->threads);
    free(archived->processes);
    free(archived->thread_of);
    free(archived->latest);
    free(archived);
}

const struct esi_facts *esi_archived_facts_get(
    const struct esi_archived_facts *archived)
{
    return &archived->facts;
}

bool esi_archived_facts_ended_well(const struct esi_archived_facts *archived)
{
    return archived->ended_well;
}

bool esi_archived_facts_are_whole(const struct esi_archived_facts *archived)
{
    return archived->tables->facts.ended_ns != 0;
}

/* --- Threads ---------------------------------------------------------------------- */

/* The archive of a killed recorder that saw no process says nothing. */
static bool have_all_ended_well(const struct esi_archive_tables *tables)
{
    if (tables->process_count == 0 && tables->facts.ended_ns == 0)
        return false;
    for (size_t i = 0; i < tables->process_count; i++)
        if (!esi_process_ended_well(esi_process_state_find(tables->processes[i].state),
                                    tables->processes[i].exit_code))
            return false;
    return true;
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* A source of threads is the number of an element, or beyond these that of a process
 * without elements, which had not called MPI. */
static bool is_element(const struct esi_archive_tables *tables, size_t source)
{
    return source < tables->element_count;
}

static uint32_t process_of(const struct esi_archive_tables *tables, size_t source)
{
    return is_element(tables, source) ? tables->elements[source].process
                                      : (uint32_t)(source - tables->element_count);
}

static int thread_of(const struct esi_archive_tables *tables, size_t source)
{
    return is_element(tables, source) ? tables->elements[source].thread : 0;
}

static int compare_sources(const void *left, const void *right, void *data)
{
    const struct esi_archive_tables *tables = data;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const struct esi_archive_process *first = &tables->processes[process_of(tables, a)];
    const struct esi_archive_process *second =
        &tables->processes[process_of(tables, b)];
    int order = compare_numbers(first->rank, second->rank);

    if (order == 0)
        order = compare_numbers(first->pid, second->pid);
    if (order == 0)
        order = compare_numbers(process_of(tables, a), process_of(tables, b));
    return order == 0 ? compare_numbers(thread_of(tables, a), thread_of(tables, b))
                      : order;
}

static struct esi_thread_state describe_thread(const struct esi_archive_tables *tables,
                                               size_t source)
{
    const struct esi_archive_process *process =
        &tables->processes[process_of(tables, source)];

    return (struct esi_thread_state){
        .host = tables->hosts[process->host].name,
        .pid = process->pid,
        .rank = process->rank,
        .thread = thread_of(tables, source),
        .process = esi_process_state_find(process->state),
        .signal = process->signal,
        .exit_code = process->exit_code,
        .ended_ns = process->ended_realtime_ns,
        .before_mpi = !is_element(tables, source),
    };
}

/* `sources` are sorted by thread; returns the number of threads. */
static size_t add_threads(struct esi_archived_facts *archived,
                          const size_t *sources,
                          size_t source_count)
{
    const struct esi_archive_tables *tables = archived->tables;
    size_t count = 0;

    for (size_t i = 0; i < source_count; i++) {
        size_t source = sources[i];
        uint32_t process = process_of(tables, source);

        if (count == 0 || archived->processes[count - 1] != process ||
            archived->threads[count - 1].thread != thread_of(tables, source)) {
            archived->threads[count] = describe_thread(tables, source);
            archived->processes[count++] = process;
        }
        if (!is_element(tables, source))
            continue;
        archived->thread_of[source] = count - 1;
        archived->threads[count - 1].elements++;
        archived->threads[count - 1].elements_off += tables->elements[source].off;
    }
    return count;
}

/* Lists the elements, and the processes without elements that had not called MPI. */
static size_t list_sources(const struct esi_archive_tables *tables, size_t *sources)
{
    size_t count = 0;

    while (count < tables->element_count) {
        sources[count] = count;
        count++;
    }
    for (size_t i = 0; i < tables->process_count; i++)
        if (tables->processes[i].before_mpi)
            sources[count++] = tables->element_count + i;
    return count;
}

static int make_threads(struct esi_archived_facts *archived, size_t *ret_count)
{
    const struct esi_archive_tables *tables = archived->tables;
    size_t room = tables->element_count + tables->process_count + 1;
    size_t *sources = calloc(room, sizeof *sources);

    archived->threads = calloc(room, sizeof *archived->threads);
    archived->processes = calloc(room, sizeof *archived->processes);
    archived->thread_of = calloc(room, sizeof *archived->thread_of);
    archived->latest = calloc(room, sizeof *archived->latest);
    if (!sources || !archived->threads || !archived->processes ||
        !archived->thread_of || !archived->latest) {
        free(sources);
        return -ENOMEM;
    }
    for (size_t i = 0; i < tables->element_count; i++)
        archived->latest[i].lost = 1;
    size_t count = list_sources(tables, sources);
    if (count > 1)
        qsort_r(sources, count, sizeof *sources, compare_sources, (void *)tables);
    *ret_count = add_threads(archived, sources, count);
    free(sources);
    return 0;
}

/* --- Tuples ----------------------------------------------------------------------- */

static const struct esi_run_member *find_member(
    const struct esi_archived_facts *archived,
    uint32_t element,
    uint16_t communicator)
{
    return esi_run_member(
        archived->participants[archived->tables->elements[element].process],
        communicator);
}

static void read_tuple(const struct esi_archived_facts *archived,
                       uint32_t element,
                       const struct es_tuple *tuple,
                       uint64_t site,
                       struct esi_activity *ret_activity)
{
    uint32_t process = archived->tables->elements[element].process;
    const struct esi_run_member *member =
        find_member(archived, element, tuple->communicator);
    const struct esi_run_communicator *communicator;

    esi_activity_init(tuple, ret_activity);
    ret_activity->start_ns = tuple->start;
    ret_activity->stop_ns = tuple->stop;
    ret_activity->error_ns = UINT64_MAX;
    ret_activity->site = esi_sites_format_in(archived->sites, (int)process, site);
    if (!member)
        return;
    communicator = member->communicator;
    ret_activity->has_communicator = true;
    memcpy(ret_activity->key, communicator->key, sizeof ret_activity->key);
    snprintf(ret_activity->communicator, sizeof ret_activity->communicator, "%s",
             communicator->name);
    if (tuple->peer >= 0) {
        int rank = esi_run_peer_rank(member, tuple->peer);

        ret_activity->peer = rank < 0 ? ES_PEER_UNKNOWN : rank;
    }
    esi_activity_check_peer(
        ret_activity,
        (int)communicator->sizes[communicator->between ? !member->side : 0]);
}

/* Without a ledger, tuples show which collective was entered. */
static int note_collective(struct esi_archived_facts *archived,
                           uint32_t element,
                           const struct es_tuple *tuple)
{
    const struct es_operation *operation = es_operation_find(tuple->operation);
    const struct esi_run_member *member =
        find_member(archived, element, tuple->communicator);
    uint32_t process = archived->tables->elements[element].process;
    struct esi_fact_entered entered = {
        .rank = archived->tables->processes[process].rank, .instance = tuple->sequence};

    if (!operation || !member || esi_instance_order(operation) == ES_ORDER_NONE ||
        tuple->sequence == ES_SEQUENCE_UNKNOWN)
        return 0;
    entered.window = esi_instance_window(
        &(struct esi_activity){.operation = tuple->operation, .tag = tuple->tag});
    memcpy(entered.key, member->communicator->key, sizeof entered.key);
    return esi_fact_entries_note(&archived->entered, &entered);
}

static bool has_ledger(const struct esi_archived_facts *archived, uint32_t process)
{
    return process < archived->ledgers.count &&
           archived->ledgers.processes[process].is_known;
}

int esi_archived_facts_add(struct esi_archived_facts *archived,
                           const struct esi_archive_item *item)
{
    uint32_t element = item->element;
    struct esi_archive_item *latest = &archived->latest[element];

    if (archived->ended_well || item->lost > 0)
        return 0;
    archived->threads[archived->thread_of[element]].events++;
    if (latest->lost > 0 || item->tuple.stop >= latest->tuple.stop)
        *latest = *item;
    return has_ledger(archived, archived->tables->elements[element].process)
               ? 0
               : note_collective(archived, element, &item->tuple);
}

/* Of the elements of a thread, uses the latest tuple. */
static void read_last(const struct esi_archived_facts *archived)
{
    for (uint32_t i = 0; i < archived->tables->element_count; i++) {
        const struct esi_archive_item *latest = &archived->latest[i];
        struct esi_activity *last = &archived->threads[archived->thread_of[i]].last;

        if (latest->lost == 0 && (!last->present || latest->tuple.stop > last->stop_ns))
            read_tuple(archived, i, &latest->tuple, latest->site, last);
    }
}

/* Of several open operations, uses the latest. */
static void read_open(const struct esi_archived_facts *archived)
{
    for (size_t i = 0; i < archived->tables->open_count; i++) {
        const struct esi_archive_open *row = &archived->tables->open[i];
        struct esi_activity *open =
            &archived->threads[archived->thread_of[row->element]].open;

        if (!open->present || row->tuple.start > open->start_ns)
            read_tuple(archived, row->element, &row->tuple, row->site, open);
    }
}

static uint64_t find_end(const struct esi_archived_facts *archived)
{
    uint64_t end_ns = archived->tables->facts.ended_ns;

    for (size_t i = 0;
         i < archived->facts.thread_count && !archived->tables->facts.ended_ns; i++)
        if (archived->threads[i].last.present &&
            archived->threads[i].last.stop_ns > end_ns)
            end_ns = archived->threads[i].last.stop_ns;
    return end_ns;
}

/* The last operations of threads are known only if recording ended regularly. */
static void judge_thread(const struct esi_archived_facts *archived,
                         struct esi_thread_state *thread)
{
    esi_thread_judge(thread, NULL, STALLED_AFTER_NS, archived->facts.now_ns);
    if (!esi_archived_facts_are_whole(archived) &&
        thread->verdict == ES_VERDICT_COMPUTING)
        thread->verdict = ES_VERDICT_UNKNOWN;
}

/* --- Communicators ---------------------------------------------------------------- */

static int read_freed(struct esi_archived_facts *archived,
                      const struct esi_fact_process *process)
{
    const struct esi_run_process *of = process->participant;
    int result = 0;

    for (size_t i = 0; i < of->member_count && result == 0; i++)
        if (of->members[i] && of->members[i]->freed)
            result = esi_facts_note_freed(
                &archived->facts, of->members[i]->communicator->key, process->rank);
    return result;
}

/* --- Interface -------------------------------------------------------------------- */

static const char *name_site(void *data,
                             const struct esi_fact_process *process,
                             uint64_t address)
{
    struct esi_archived_facts *archived = data;

    return esi_sites_format_in(archived->sites, (int)process->source, address);
}

static int read_process(struct esi_archived_facts *archived,
                        struct esi_fact_process *process)
{
    uint32_t number = archived->processes[process->first_thread];

    process->source = number;
    process->participant = archived->participants[number];
    if (has_ledger(archived, number))
        process->ledger = &archived->ledgers.processes[number].ledger;
    if (process->ledger)
        esi_fact_set_others(&archived->facts, process, process->ledger->others_counted);
    return read_freed(archived, process);
}

static int make_facts(struct esi_archived_facts *archived,
                      const struct esi_archive_reader *reader,
                      struct es_error *error)
{
    struct esi_facts *facts = &archived->facts;
    size_t count = 0;
    int result =
        esi_archive_read_records(reader, ESI_RECORD_LEDGER, error, &archived->ledgers);

    if (result == 0 || result == -ENOENT)
        result = esi_archive_sites(reader, &archived->sites);
    if (result == 0)
        result = esi_run_read_archive(&archived->model, archived->tables,
                                      &archived->participants);
    if (result == 0)
        result = make_threads(archived, &count);
    if (result == 0)
        result = esi_facts_set_threads(facts, archived->threads, count);
    if (result < 0)
        return result;
    facts->run = archived->tables->facts.run;
    facts->model = &archived->model;
    facts->recorded = true;
    facts->entered = &archived->entered;
    facts->name_site = name_site;
    facts->site_data = archived;
    for (size_t i = 0; i < facts->process_count && result == 0; i++)
        result = read_process(archived, &facts->processes[i]);
    return result;
}

int esi_archived_facts_create(const struct esi_archive_reader *reader,
                              struct es_error *error,
                              struct esi_archived_facts **ret_archived)
{
    struct esi_archived_facts *archived = calloc(1, sizeof *archived);
    int result;

    if (!archived)
        return -ENOMEM;
    archived->tables = esi_archive_tables(reader);
    archived->ended_well = have_all_ended_well(archived->tables);
    result = make_facts(archived, reader, error);
    if (result < 0) {
        esi_archived_facts_destroy(archived);
        return result;
    }
    *ret_archived = archived;
    return 0;
}

void esi_archived_facts_finish(struct esi_archived_facts *archived)
{
    struct esi_facts *facts = &archived->facts;

    read_last(archived);
    read_open(archived);
    facts->now_ns = find_end(archived);
    for (size_t i = 0; i < facts->thread_count; i++)
        judge_thread(archived, &archived->threads[i]);
    esi_facts_set_ends(facts);
}
