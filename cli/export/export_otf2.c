/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* export_otf2.c - exports an archive or a run as an OTF2 archive. */
#include "config.h"

#include "cli/export/export_otf2.h"

#include <inttypes.h>

#include "cli/command.h"
#include "monitors/otf2/otf2_write.h"

#ifndef HAVE_OTF2

int esi_export_otf2(struct esi_event_source *source,
                    const char *path,
                    const struct esi_rank_range *ranges,
                    size_t range_count)
{
    (void)source;
    (void)path;
    (void)ranges;
    (void)range_count;
    return esi_command_fail(ES_EXIT_USAGE, "this eventspace was built without OTF2");
}

#else

struct export
{
    const struct esi_rank_range *ranges; /* borrowed */
    size_t range_count;
    struct esi_otf2_write *write;
    bool has_ranks; /* some event belongs to them */
    int result;     /* of the `found` callback */
};

static bool has_rank(void *data, int rank)
{
    struct export *export = data;
    bool has =
        rank >= 0 && esi_rank_ranges_have(export->ranges, export->range_count, rank);

    export->has_ranks |= has;
    return has;
}

static void take_found(void *data, const struct esi_causality *causality)
{
    struct export *export = data;

    export->result =
        esi_otf2_write_communicators(export->write, esi_causality_run(causality));
}

/* Prints what is marked in the archive. */
static void tell_counts(const struct esi_otf2_write_counts *counts)
{
    if (counts->lost > 0)
        esi_command_note("%" PRIu64 " tuples were lost: BufferFlush marks the gaps",
                         counts->lost);
    if (counts->open > 0)
        esi_command_note("%" PRIu64 " operations were under way at the end: their "
                         "regions have the attribute state",
                         counts->open);
}

static int read_and_write(struct esi_event_source *source, struct export *export)
{
    const struct es_set_sink sink = esi_otf2_write_sink(export->write);
    struct esi_otf2_write_counts counts;
    struct esi_set_source_facts facts;
    struct es_error error = {.text = ""};
    int status, result;

    source->listener = esi_otf2_write_listener(export->write);
    source->found = take_found;
    source->found_data = export;
    status = esi_event_source_read(source, false, &sink, 1, &facts);
    if (status != ES_EXIT_SUCCESS)
        return status;
    if (export->ranges && !export->has_ranks)
        return esi_command_fail(ES_EXIT_USAGE, "--rank: no event is of these ranks");
    result = export->result;
    if (result == 0)
        result = esi_otf2_write_close(export->write, &counts, &error);
    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot write the archive");
    esi_event_source_tell_missing(&facts);
    tell_counts(&counts);
    return ES_EXIT_SUCCESS;
}

int esi_export_otf2(struct esi_event_source *source,
                    const char *path,
                    const struct esi_rank_range *ranges,
                    size_t range_count)
{
    struct export export = {.ranges = ranges, .range_count = range_count};
    const struct esi_otf2_write_config config = {
        .path = path, .has_rank = ranges ? has_rank : NULL, .data = &export};
    struct es_error error = {.text = ""};
    int status = esi_event_source_refuse_set(source);
    int result;

    if (status != ES_EXIT_SUCCESS)
        return status;
    result = esi_otf2_write_open(&config, &error, &export.write);
    if (result < 0)
        return esi_command_fail_error(ES_EXIT_USAGE, &error, result,
                                      "cannot write the archive");
    status = read_and_write(source, &export);
    esi_otf2_write_destroy(export.write);
    return status;
}

#endif
