/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What is known of a run at one observation: the input of all verdicts.  Pure data.
 *
 * The readers of runs (live or dead) and archives fill it; the rules (conditions.h) and
 * the verdicts (verdict.h) use nothing else.
 */
#ifndef ES_MONITORS_VERDICT_FACTS_H
#define ES_MONITORS_VERDICT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "monitors/follow/thread_state.h"
#include "monitors/run/run_model.h"
#include "tuplespace/ledger.h"

#define ESI_FACT_NO_GROUP UINT32_MAX

/* Whether the process was scheduled between two observations, so that a call that waits
 * for nobody would have returned. */
enum esi_fact_schedule {
    ESI_SCHEDULE_UNKNOWN,
    ESI_SCHEDULE_RAN,
    ESI_SCHEDULE_HELD, /* stopped, or not scheduled */
};

struct esi_fact_process {
    int rank;
    int pid;
    uint64_t birth; /* of several with this pid; 0 = not known */
    enum es_process_state state;
    int signal;
    int exit_code;     /* -1 = alive, killed or not known */
    uint64_t ended_ns; /* run time; 0 = alive or not known */
    bool as_it_was;    /* it ended with the others: its last operation counts as
                          evidence */
    bool still;        /* it has not progressed since the last observation */
    enum esi_fact_schedule schedule;
    int others; /* its threads that have never called MPI but may at any time: they can
                   act.  0 unless several threads may be in MPI at once, because
                   otherwise no thread may call MPI while another one waits there; -1 =
                   not known how many */
    const struct esi_ledger *ledger;           /* borrowed; NULL = not known */
    const struct esi_run_process *participant; /* in the model of the run; NULL = not
                                                  known */
    size_t first_thread;                       /* in facts.threads */
    size_t thread_count;
    uint32_t source; /* where the facts come from: an origin, or a process number in
                        an archive */
};

/* Returns the source location of an address in the process, "" if not known, never
 * NULL. */
typedef const char *esi_fact_site_fn(void *data,
                                     const struct esi_fact_process *process,
                                     uint64_t address);

/* The newest collective operation that a rank is known to have entered. */
struct esi_fact_entered {
    uint64_t key[2]; /* key of the communicator */
    int window;      /* window number for MPI_Win_fence and MPI_Win_free; otherwise
                        ESI_FACT_NO_WINDOW */
    int rank;
    uint32_t instance;
};

#define ESI_FACT_NO_WINDOW (-1)

/* A set of entered operations; a zeroed struct is an empty set. */
struct esi_fact_entries {
    struct esi_fact_entered *items; /* owned */
    size_t count;
    size_t capacity;
    struct esi_hash numbers; /* by key, window and rank */
};

/* Records an entered instance; keeps the newest.  Returns 0 or -ENOMEM. */
int esi_fact_entries_note(struct esi_fact_entries *entries,
                          const struct esi_fact_entered *entered);
/* Finds the entry with the same key, window and rank; NULL if there is none. */
struct esi_fact_entered *esi_fact_entries_find(const struct esi_fact_entries *entries,
                                               const struct esi_fact_entered *place);
void esi_fact_entries_fini(struct esi_fact_entries *entries);

struct esi_facts {
    const char *run;                        /* borrowed */
    uint64_t now_ns;                        /* run time of the observation */
    bool recorded;                          /* `now_ns` is when recording ended */
    bool over;                              /* no process is alive */
    bool ends_change;                       /* a process died just now: other ends may
                                               not be known yet */
    const struct esi_thread_state *threads; /* by rank, then pid; borrowed */
    size_t thread_count;
    struct esi_fact_process *processes; /* owned; in the order of their threads */
    size_t process_count;
    const struct esi_run_model *model; /* borrowed; its communicators are the groups;
                                          NULL = none */
    struct esi_fact_entries freed; /* owned; the communicators that ranks have freed:
                                      ledgers do not cover them */
    const struct esi_fact_entries *entered; /* borrowed; NULL = none */
    esi_fact_site_fn *name_site;            /* NULL = no source locations */
    void *site_data;                        /* borrowed */
};

/* Replaces the processes by those of `threads`, which are sorted by rank and pid and
 * are borrowed.  The caller adds ledgers and participants.  A zeroed
 * struct has no threads.  Returns 0 or -ENOMEM. */
int esi_facts_set_threads(struct esi_facts *facts,
                          const struct esi_thread_state *threads,
                          size_t count);
void esi_facts_fini(struct esi_facts *facts);

/* Sets `over`, and `as_it_was` of each process.  State and end of each process must be
 * set. */
void esi_facts_set_ends(struct esi_facts *facts);

/* Sets `others` of a process; its ledger must be set.  `counted_ns` is the run time of
 * the ledger's count. */
void esi_fact_set_others(const struct esi_facts *facts,
                         struct esi_fact_process *process,
                         uint64_t counted_ns);

/* Records that the rank has freed the communicator with this key.  Returns 0 or
 * -ENOMEM. */
int esi_facts_note_freed(struct esi_facts *facts, const uint64_t key[2], int rank);
bool esi_facts_has_freed(const struct esi_facts *facts, uint32_t group, int rank);

/* Whether the process has ended, and not well (process_state.h). */
bool esi_fact_has_died(const struct esi_fact_process *process);

/* Index of the first process of a rank; process_count if there is none. */
size_t esi_facts_find_process(const struct esi_facts *facts, int rank);

/* Source location where a request of the process was posted; "" if not known.  The text
 * is owned by the creator of the facts. */
static inline const char *esi_fact_name_site(const struct esi_facts *facts,
                                             const struct esi_fact_process *process,
                                             uint64_t address)
{
    return facts->name_site && address != 0
               ? facts->name_site(facts->site_data, process, address)
               : "";
}

/* The process as a member of the communicator in its table; NULL = not known. */
static inline const struct esi_run_member *esi_fact_member(
    const struct esi_fact_process *process,
    uint16_t communicator)
{
    return process->participant ? esi_run_member(process->participant, communicator)
                                : NULL;
}

/* The group of a communicator of the process, or ESI_FACT_NO_GROUP. */
static inline uint32_t esi_fact_group_of(const struct esi_fact_process *process,
                                         uint16_t communicator)
{
    const struct esi_run_member *member = esi_fact_member(process, communicator);

    return member ? member->communicator->number : ESI_FACT_NO_GROUP;
}

static inline size_t esi_fact_group_count(const struct esi_facts *facts)
{
    return facts->model ? facts->model->communicator_count : 0;
}

static inline const struct esi_run_communicator *esi_fact_group(
    const struct esi_facts *facts,
    uint32_t group)
{
    return facts->model->communicators[group];
}

#endif
