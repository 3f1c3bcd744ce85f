/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The observed process: started at its first MPI call, whichever that is, and never in
 * its way.
 *
 * Nothing here depends on MPI_COMM_WORLD, and nothing fails loudly: what cannot be done
 * is said in one line on stderr, and the program runs on uncollected.
 */
#ifndef ES_WRAPPERS_MPI_PROCESS_H
#define ES_WRAPPERS_MPI_PROCESS_H

#include <stdbool.h>

#include "tuplespace/plan/plan.h"
#include "tuplespace/segment.h"

struct esi_process {
    struct es_segment *segment;
    struct es_plan plan;
    int rank;  /* in the run, see ES_WORLD_RANKS; -1 = not known */
    int first; /* that of the first process of its MPI_COMM_WORLD; -1 = not known */
    int size;  /* of its MPI_COMM_WORLD */
    /* What its EVENTSPACE_SPAWN says (spawn.h), and how LD_PRELOAD named this library;
     * "" = nothing. */
    char spawn[256];
    char preload[256];
};

/* Steps aside, and says so: the program has loaded an MPI that is not this library's.
 * Any thread, any number of times.  A library that only passes calls on has none. */
void esi_process_leave_mpi(void) __attribute__((weak));

/* The process, started on the first call; NULL when we have stepped aside.  Thread
 * safe. */
struct esi_process *esi_process_get(void);

/* Rank and size in MPI_COMM_WORLD, once MPI has reported them, and whether it was
 * spawned. */
void esi_process_set_world(int rank, int size, bool is_spawned);

/* The rank of the first process of its MPI_COMM_WORLD, also when we have stepped aside;
 * -1 = not known. */
int esi_process_first_rank(void);

void esi_process_set_state(enum esi_segment_state state);
void esi_process_set_abort_code(int code);

/* Whether some collector is to know where in the program operations are called. */
bool esi_process_wants_sites(const struct esi_process *self);

/* Counts a tuple that is not recorded because an allocation failed.  Any thread. */
void esi_process_count_refused_tuple(void);

/* One line on stderr, at most one a process: "eventspace: rank R: ...". */
void esi_process_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
