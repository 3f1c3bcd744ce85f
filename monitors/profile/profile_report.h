/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Profiles of a run's processes, added up: by rank, by operation, by line of source, by
 * size, and who has sent to whom.  Pure data; profile_read.h fills it.
 *
 * What begins and ends MPI itself (MPI_Init, MPI_Finalize) is listed, but no part of
 * the time in MPI: a run lasts from the end of the first to the begin of the last.
 * Calls that are under way count with the time that they have lasted.
 */
#ifndef ES_MONITORS_PROFILE_PROFILE_REPORT_H
#define ES_MONITORS_PROFILE_PROFILE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "eventspace/clock.h"
#include "eventspace/operation.h"
#include "tuplespace/profile.h"

struct esi_profile_sums {
    uint64_t calls;
    uint64_t timed; /* of them, calls that have a time of their own */
    uint64_t time_ns;
    uint64_t open_ns; /* of that, of calls that are under way */
    uint64_t shortest_ns;
    uint64_t longest_ns;
    int longest_rank; /* whose call that was; -1 = nobody's */
    uint64_t bytes;
    size_t ranks; /* that called it */
    int last_rank;
};

struct esi_profile_operation {
    uint16_t code;
    bool is_outer; /* begins or ends MPI */
    struct esi_profile_sums sums;
};

struct esi_profile_site {
    const char *text; /* borrowed from who resolves sites; "" = not known */
    uint16_t code;
    bool is_outer;
    struct esi_profile_sums sums;
};

struct esi_profile_rank {
    int rank;
    int pid;
    char host[64];
    size_t threads;    /* that called MPI */
    uint64_t run_ns;   /* from MPI_Init to MPI_Finalize, or to now */
    uint64_t mpi_ns;   /* of all threads */
    double share;      /* of all threads' time; 0 where MPI is not up yet */
    uint64_t calls;    /* without those that begin and end MPI */
    uint64_t messages; /* sent */
    uint64_t bytes;
    bool ended; /* MPI_Finalize was called */
    bool partial;
};

/* What one rank has sent to another. */
struct esi_profile_pair {
    int from;
    int to; /* -1 = a process whose rank is not known */
    uint64_t messages;
    uint64_t bytes;
};

enum { ESI_PROFILE_CLASSES = ES_CLASS_MONITOR };

struct esi_profile_report {
    struct esi_profile_rank *ranks; /* by rank, then pid */
    size_t rank_count, rank_capacity;
    struct esi_profile_operation *operations;
    size_t operation_count, operation_capacity;
    struct esi_profile_site *sites;
    size_t site_count, site_capacity;
    struct esi_profile_pair *pairs; /* by from, then to */
    size_t pair_count, pair_capacity;
    /* Calls by class of operation and size. */
    uint64_t sizes[ESI_PROFILE_CLASSES][ESI_PROFILE_SIZES];
    uint64_t run_ns;           /* of all threads of all ranks */
    uint64_t mpi_ns;           /* of that, in MPI */
    size_t without;            /* processes that have no profile */
    struct esi_hash site_hash; /* private */
};

/* A process whose profile is added. */
struct esi_profile_process {
    int rank;
    int pid;
    const char *host;
    const struct es_clock *clock; /* of its ticks; NULL = they are nanoseconds */
    /* Names a site; the texts of equal ones are the same pointer. */
    const char *(*format_site)(void *data, uint64_t address);
    void *data;
};

/* Adds a process; all zero is an empty report.  -ENOMEM. */
int esi_profile_report_add(struct esi_profile_report *report,
                           const struct esi_profile_process *process,
                           const struct esi_profile *profile);

enum esi_profile_order {
    ESI_PROFILE_BY_TIME,
    ESI_PROFILE_BY_CALLS,
    ESI_PROFILE_BY_BYTES,
    ESI_PROFILE_BY_MEAN,
    ESI_PROFILE_BY_MAX,
    ESI_PROFILE_BY_NAME,
};

/* Orders operations and sites, ranks and pairs, once all are added. */
void esi_profile_report_sort(struct esi_profile_report *report,
                             enum esi_profile_order order);

/* Accepts all zero. */
void esi_profile_report_fini(struct esi_profile_report *report);

/* --- What it says ----------------------------------------------------------------- */

/* How ranks differ in their share of MPI. */
struct esi_profile_spread {
    size_t count; /* ranks that have a share; of none the rest says nothing */
    double least, median, most;
    int least_rank, most_rank;
    int outlier; /* whose share is far from the median, farther than those of all
                    others; -1 = nobody's */
    double outlier_share;
};

/* A rank is an outlier whose share differs from the median by 5 % of the time or more,
 * and by more than three times what shares differ by in the median.  -ENOMEM. */
int esi_profile_report_spread(const struct esi_profile_report *report,
                              struct esi_profile_spread *ret_spread);

/* Mean of calls that have a time; 0 where none has. */
double esi_profile_sums_mean(const struct esi_profile_sums *sums);

#endif
