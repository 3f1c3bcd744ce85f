/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The observed process: initialized at its first MPI call of any kind, without
 * disturbing it.
 *
 * Nothing here depends on MPI_COMM_WORLD.  Failures are reported in one line on stderr,
 * and the program runs without being recorded.
 */
#ifndef ES_WRAPPERS_MPI_PROCESS_H
#define ES_WRAPPERS_MPI_PROCESS_H

#include <stdbool.h>

#include "tuplespace/plan/plan.h"
#include "tuplespace/segment.h"

struct esi_process {
    struct es_segment *segment;
    struct es_plan plan;
    int rank;  /* in the run, see ES_WORLD_RANKS; -1 if not known */
    int first; /* rank of the first process of its MPI_COMM_WORLD; -1 if not known */
    int size;  /* of its MPI_COMM_WORLD */
    /* EVENTSPACE_SPAWN (spawn.h), and LD_PRELOAD up to the name of this library, which
     * runtimes of sanitizers precede; "" if not set. */
    char spawn[256];
    char preload[1024];
};

/* Steps aside and reports it, because the program has loaded an MPI for which this
 * library is not built.  Thread safe; may be called repeatedly.  Not defined in a
 * library that only passes calls on. */
void esi_process_leave_mpi(void) __attribute__((weak));

/* The process, initialized by the first call; NULL if it has stepped aside.  Thread
 * safe. */
struct esi_process *esi_process_get(void);

/* Sets rank and size in MPI_COMM_WORLD once MPI knows them, and whether the process was
 * spawned. */
void esi_process_set_world(int rank, int size, bool is_spawned);

/* The rank of the first process of its MPI_COMM_WORLD, even after stepping aside; -1 if
 * not known. */
int esi_process_first_rank(void);

/* Whether MPI can be called: it is initialised, in either model, and not finalised
 * (environment.c).  Asks MPI, which may have been initialised unseen. */
bool esi_environment_is_up(void);

void esi_process_set_state(enum esi_segment_state state);
void esi_process_set_abort_code(int code);

/* Returns whether a collector records call sites. */
bool esi_process_wants_sites(const struct esi_process *self);

/* Counts a tuple that is not recorded because an allocation failed.  Thread safe. */
void esi_process_count_refused_tuple(void);

/* Prints one line to stderr, at most one per process: "eventspace: rank R: ...". */
void esi_process_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
