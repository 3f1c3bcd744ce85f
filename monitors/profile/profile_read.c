/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* profile_read.c - reads the profiles of processes and archives into a report. */
#include "config.h"

#include "monitors/profile/profile_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "monitors/archive/archive_records.h"
#include "monitors/archive/archive_read.h"
#include "scopes/origin_process.h"
#include "scopes/scope_profile.h"
#include "tuplespace/plan/plan.h"

/* --- Runs ------------------------------------------------------------------------- */

/* Resolves the sites of an origin's process. */
struct scope_sites {
    struct esi_sites *sites;
    const struct es_scope *scope;
    uint32_t origin;
};

static const char *format_scope_site(void *data, uint64_t address)
{
    const struct scope_sites *from = data;

    return from->sites
               ? esi_sites_format(from->sites, from->scope, from->origin, address)
               : "";
}

/* Sorts origins by rank, then by pid, so that those of a process are adjacent. */
static int compare_origins(const void *left, const void *right, void *data)
{
    const struct es_scope *scope = *(const struct es_scope **)data;
    const struct es_origin *a = es_scope_origin(scope, *(const uint32_t *)left);
    const struct es_origin *b = es_scope_origin(scope, *(const uint32_t *)right);

    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (esi_origin_birth(a) != esi_origin_birth(b))
        return esi_origin_birth(a) < esi_origin_birth(b) ? -1 : 1;
    return strcmp(a->host, b->host);
}

static int add_process_of_run(struct scope_sites *from,
                              struct esi_profile_report *report)
{
    const struct es_origin *origin = es_scope_origin(from->scope, from->origin);
    struct esi_profile_process process = {.rank = origin->rank,
                                          .pid = origin->pid,
                                          .host = origin->host,
                                          .clock = origin->clock,
                                          .format_site = format_scope_site,
                                          .data = from};
    struct esi_profile profile;
    int result = esi_scope_read_profile(from->scope, from->origin, &profile);

    if (result == -ENOMEM)
        return result;
    if (result < 0) {
        report->without++;
        return 0;
    }
    result = esi_profile_report_add(report, &process, &profile);
    esi_profile_fini(&profile);
    return result;
}

int esi_profile_read_run(const struct es_scope *scope,
                         struct esi_sites *sites,
                         struct esi_profile_report *ret_report)
{
    struct esi_profile_report report = {.rank_count = 0};
    size_t count = es_scope_origin_count(scope);
    uint32_t *order = calloc(count + 1, sizeof *order);
    int result = order ? 0 : -ENOMEM;

    for (uint32_t i = 0; order && i < count; i++)
        order[i] = i;
    if (order)
        qsort_r(order, count, sizeof *order, compare_origins, &scope);
    for (size_t i = 0; i < count && result == 0; i++) {
        struct scope_sites from = {sites, scope, order[i]};

        /* Consumers' elements do not belong to a process of the program. */
        if (es_scope_origin(scope, order[i])->rank < 0 ||
            (i > 0 && compare_origins(&order[i - 1], &order[i], &scope) == 0))
            continue;
        result = add_process_of_run(&from, &report);
    }
    free(order);
    if (result < 0) {
        esi_profile_report_fini(&report);
        return result;
    }
    *ret_report = report;
    return 0;
}

/* --- Archives --------------------------------------------------------------------- */

/* Resolves the sites of an archived process. */
struct archive_sites {
    struct esi_sites *sites;
    int process;
};

static const char *format_archive_site(void *data, uint64_t address)
{
    const struct archive_sites *from = data;

    return esi_sites_format_in(from->sites, from->process, address);
}

/* An archive whose profiles are added. */
struct profile_archive {
    struct esi_archive_reader *reader;
    struct esi_archive_records profiles;
    struct esi_sites *sites;
    struct esi_rank_range *ranges; /* NULL = all */
    size_t range_count;
};

static int add_processes(const struct profile_archive *archive,
                         struct esi_profile_report *report)
{
    const struct esi_archive_tables *tables = esi_archive_tables(archive->reader);
    int result = 0;

    for (size_t i = 0; i < archive->profiles.count && result == 0; i++) {
        const struct esi_archive_process *process = &tables->processes[i];
        struct archive_sites from = {archive->sites, (int)i};
        struct esi_profile_process added = {.rank = process->rank,
                                            .pid = process->pid,
                                            .host = tables->hosts[process->host].name,
                                            .format_site = format_archive_site,
                                            .data = &from};

        if (process->rank < 0 ||
            !esi_rank_ranges_have(archive->ranges, archive->range_count, process->rank))
            continue;
        if (archive->profiles.processes[i].is_known)
            result = esi_profile_report_add(report, &added,
                                            &archive->profiles.processes[i].profile);
        else
            report->without++;
    }
    return result;
}

static void close_archive(struct profile_archive *archive)
{
    esi_archive_records_fini(&archive->profiles);
    esi_archive_read_close(archive->reader);
    free(archive->ranges);
}

static int open_archive(const char *directory,
                        const char *ranks,
                        struct es_error *error,
                        struct profile_archive *archive)
{
    int count = 0;
    int result;

    if (ranks) {
        count = esi_rank_ranges_parse(ranks, error, &archive->ranges);
        if (count < 0)
            return count;
        archive->range_count = (size_t)count;
    }
    result = esi_archive_open(directory, error, &archive->reader);
    if (result == 0)
        result = esi_archive_read_records(archive->reader, ESI_RECORD_PROFILE, error,
                                          &archive->profiles);
    if (result == 0)
        result = esi_archive_sites(archive->reader, &archive->sites);
    return result;
}

int esi_profile_read_archive(const char *directory,
                             const char *ranks,
                             struct es_error *error,
                             struct esi_sites **ret_sites,
                             struct esi_profile_report *ret_report)
{
    struct esi_profile_report report = {.rank_count = 0};
    struct profile_archive archive = {.reader = NULL};
    int result = open_archive(directory, ranks, error, &archive);

    if (result == 0)
        result = add_processes(&archive, &report);
    close_archive(&archive);
    if (result < 0) {
        esi_sites_destroy(archive.sites);
        esi_profile_report_fini(&report);
        return result;
    }
    *ret_sites = archive.sites;
    *ret_report = report;
    return 0;
}
