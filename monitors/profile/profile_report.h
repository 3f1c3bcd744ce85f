/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The sum of the profiles of a run's processes: by rank, operation, source line and
 * size, and the communication matrix.  Pure data; profile_read.h fills it.
 *
 * MPI_Init and MPI_Finalize are listed but do not count as time in MPI: a run lasts
 * from the end of the first to the start of the last.  Calls in progress count with
 * their duration so far.
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
    uint64_t timed; /* number of calls with a time of their own */
    uint64_t time_ns;
    uint64_t open_ns; /* part of time_ns that belongs to calls in progress */
    uint64_t shortest_ns;
    uint64_t longest_ns;
    int longest_rank; /* rank of the longest call; -1 = none */
    uint64_t bytes;
    size_t ranks; /* number of ranks that called it */
    int last_rank;
};

struct esi_profile_operation {
    uint16_t code;
    bool is_outer; /* starts or ends MPI */
    struct esi_profile_sums sums;
};

struct esi_profile_site {
    const char *text; /* borrowed from the resolver of sites; "" = not known */
    uint16_t code;
    bool is_outer;
    struct esi_profile_sums sums;
};

struct esi_profile_rank {
    int rank;
    int pid;
    char host[64];
    size_t threads;    /* number of threads that called MPI */
    uint64_t run_ns;   /* from MPI_Init to MPI_Finalize, or to now */
    uint64_t mpi_ns;   /* of all threads */
    double share;      /* of all threads' time; 0 before MPI_Init has returned */
    uint64_t calls;    /* without those that start and end MPI */
    uint64_t messages; /* sent */
    uint64_t bytes;
    bool ended; /* MPI_Finalize was called */
    bool partial;
};

/* The messages from one rank to another. */
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
    uint64_t mpi_ns;           /* part of run_ns spent in MPI */
    size_t without;            /* number of processes without a profile */
    struct esi_hash site_hash; /* private */
};

/* A process whose profile is to be added. */
struct esi_profile_process {
    int rank;
    int pid;
    const char *host;
    const struct es_clock *clock; /* for its ticks; NULL = they are nanoseconds */
    /* Resolves a site; equal sites return the same pointer. */
    const char *(*format_site)(void *data, uint64_t address);
    void *data;
};

/* Adds a process; a zeroed struct is an empty report.  Returns 0 or -ENOMEM. */
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

/* Sorts operations, sites, ranks and pairs, after all processes were added. */
void esi_profile_report_sort(struct esi_profile_report *report,
                             enum esi_profile_order order);

/* Accepts a zeroed struct. */
void esi_profile_report_fini(struct esi_profile_report *report);

/* --- Evaluation ------------------------------------------------------------------- */

/* The distribution of the ranks' shares of MPI. */
struct esi_profile_spread {
    size_t count; /* ranks with a share; if 0, the other members are not valid */
    double least, median, most;
    int least_rank, most_rank;
    int outlier; /* the rank whose share is far from the median, and farther than all
                    others; -1 = none */
    double outlier_share;
};

/* A rank is an outlier if its share differs from the median by 5 % of the time or more,
 * and by more than three times the median of these differences.  Returns 0 or
 * -ENOMEM. */
int esi_profile_report_spread(const struct esi_profile_report *report,
                              struct esi_profile_spread *ret_spread);

/* Mean time of the calls that have one; 0 if there are none. */
double esi_profile_sums_mean(const struct esi_profile_sums *sums);

#endif
