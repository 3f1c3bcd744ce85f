/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The collective trees of a run on one host, as JSON, and the desired rules. */
#include "config.h"

#include "scopes/collective_trees.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tuplespace/tree_control.h"

/* If two users change the rules at the same time, the second waits for the first, but
 * not forever. */
enum { TRIES = 200 };
#define PAUSE_NS 5000000

/* Returns true if the process is selected, with its description in *ret_info. */
static bool is_meant(const struct es_segment_view *segment,
                     const char *host,
                     struct es_segment_info *ret_info)
{
    if (!esi_segment_view_has_trees(segment))
        return false;
    es_segment_view_info(segment, ret_info);
    return ret_info->rank >= 0 && !ret_info->kept &&
           (!host || strcmp(host, ret_info->host) == 0);
}

/* --- What is in force ------------------------------------------------------------- */

/* The log of one process; owned by the reader. */
struct log {
    struct esi_tree_log_entry *entries;
    size_t count;
};

/* The last entry of a communicator; NULL if there is none. */
static const struct esi_tree_log_entry *newest_of(const struct log *log, uint16_t index)
{
    for (size_t i = log->count; i > 0; i--)
        if (log->entries[i - 1].communicator == index)
            return &log->entries[i - 1];
    return NULL;
}

static void write_rule(const struct esi_tree_log_entry *entry, struct esi_json_out *out)
{
    char bytes[48];

    /* JSON numbers have fewer than 64 bits here. */
    if (entry->max_bytes == UINT64_MAX)
        snprintf(bytes, sizeof bytes, "%" PRIu64 "-", entry->min_bytes);
    else
        snprintf(bytes, sizeof bytes, "%" PRIu64 "-%" PRIu64, entry->min_bytes,
                 entry->max_bytes);
    esi_json_out_begin_object(out, NULL);
    esi_json_out_string(out, "name", entry->name);
    esi_json_out_string(out, "tree", entry->text);
    esi_json_out_unsigned(out, "operations", entry->operations);
    esi_json_out_string(out, "bytes", bytes);
    esi_json_out_end(out);
}

/* Rules come into force together, so they share the version and the first instance. */
static void write_rules(const struct log *log,
                        const struct esi_tree_log_entry *newest,
                        struct esi_json_out *out)
{
    esi_json_out_unsigned(out, "version", newest->version);
    esi_json_out_unsigned(out, "since", newest->first_instance);
    esi_json_out_begin_array(out, "rules");
    for (size_t i = 0; i < log->count; i++) {
        const struct esi_tree_log_entry *entry = &log->entries[i];
        if (entry->communicator == newest->communicator &&
            entry->version == newest->version &&
            entry->first_instance == newest->first_instance)
            write_rule(entry, out);
    }
    esi_json_out_end(out);
}

static void write_communicator(const struct es_segment_view *segment,
                               const struct log *log,
                               uint16_t index,
                               struct esi_json_out *out)
{
    struct es_communicator_info info;

    if (es_segment_view_communicator(segment, index, &info) < 0 || info.rank != 0 ||
        info.freed || info.remote_size > 0)
        return;
    const struct esi_tree_log_entry *newest = newest_of(log, index);
    esi_json_out_begin_object(out, NULL);
    esi_json_out_string(out, "name", info.name);
    esi_json_out_signed(out, "size", info.size);
    if (newest)
        write_rules(log, newest, out);
    esi_json_out_end(out);
}

static void write_process(const struct es_segment_view *segment,
                          const struct es_segment_info *info,
                          struct log *log,
                          struct esi_json_out *out)
{
    size_t count = es_segment_view_communicator_count(segment);

    log->count = esi_segment_view_tree_log(segment, log->entries, ES_TREE_LOG_ENTRIES);
    esi_json_out_begin_object(out, NULL);
    esi_json_out_signed(out, "rank", info->rank);
    esi_json_out_bool(out, "alive", info->alive);
    esi_json_out_unsigned(out, "wish", esi_segment_view_desired_version(segment));
    esi_json_out_begin_array(out, "communicators");
    for (size_t i = 0; i < count; i++)
        write_communicator(segment, log, (uint16_t)i, out);
    esi_json_out_end(out);
    esi_json_out_end(out);
}

void esi_collective_trees_report(const struct es_run *run,
                                 const char *host,
                                 struct esi_json_out *out)
{
    struct log log = {.entries = calloc(ES_TREE_LOG_ENTRIES, sizeof *log.entries)};
    struct es_segment_info info;

    esi_json_out_begin_array(out, "processes");
    for (size_t i = 0; log.entries && i < es_run_segment_count(run); i++)
        if (is_meant(es_run_segment(run, i), host, &info))
            write_process(es_run_segment(run, i), &info, &log, out);
    esi_json_out_end(out);
    free(log.entries);
}

/* --- Desired rules -------------------------------------------------------------- */

static int write_retrying(struct es_segment_view *segment, const char *text)
{
    static const struct timespec pause = {.tv_nsec = PAUSE_NS};
    int code = esi_segment_view_desired(segment, text);

    for (int i = 0; code == -EBUSY && i < TRIES; i++) {
        nanosleep(&pause, NULL);
        code = esi_segment_view_desired(segment, text);
    }
    return code;
}

void esi_collective_trees_desire(const struct es_run *run,
                                 const char *host,
                                 const char *text,
                                 struct esi_json_out *out)
{
    struct es_segment_info info;
    uint64_t fit = 0, changed = 0;

    esi_json_out_begin_array(out, "refused");
    for (size_t i = 0; i < es_run_segment_count(run); i++) {
        if (!is_meant(es_run_segment(run, i), host, &info) || !info.alive)
            continue;
        int code = write_retrying(es_run_segment(run, i), text);
        fit++;
        changed += code > 0;
        if (code > 0)
            continue;
        esi_json_out_begin_object(out, NULL);
        esi_json_out_signed(out, "rank", info.rank);
        esi_json_out_signed(out, "code", -code);
        esi_json_out_end(out);
    }
    esi_json_out_end(out);
    esi_json_out_unsigned(out, "fit", fit);
    esi_json_out_unsigned(out, "changed", changed);
}

int esi_collective_trees_report_desired(const struct es_run *run,
                                        const char *host,
                                        struct esi_json_out *out)
{
    const struct es_segment_view *lowest = NULL;
    struct es_segment_info info;
    int rank = 0;

    for (size_t i = 0; i < es_run_segment_count(run); i++) {
        if (!is_meant(es_run_segment(run, i), host, &info) ||
            esi_segment_view_desired_version(es_run_segment(run, i)) == 0 ||
            (lowest && info.rank >= rank))
            continue;
        lowest = es_run_segment(run, i);
        rank = info.rank;
    }
    char *text = lowest ? malloc(ES_TREE_DESIRED_BYTES) : NULL;
    if (lowest && !text)
        return -ENOMEM;
    if (lowest && esi_segment_view_read_desired(lowest, text) != 0) {
        esi_json_out_signed(out, "rank", rank);
        esi_json_out_string(out, "text", text);
    }
    free(text);
    return 0;
}
