/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What is known of a run at one look: the ground on which verdicts are given.
 *
 * Pure data.  Whoever reads a run, live or dead, or an archive, fills it; the rules
 * (conditions.h) and the verdicts (verdict.h) see nothing else.
 */
#ifndef ES_MONITORS_VERDICT_FACTS_H
#define ES_MONITORS_VERDICT_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "monitors/follow/thread_state.h"
#include "tuplespace/ledger.h"

/* A communicator as all its members see it. */
struct esi_fact_group {
    uint64_t key[2];
    int *sides[2];   /* world ranks, owned; the second of intercommunicators only;
                        NULL = not known */
    size_t sizes[2]; /* how many they are */
    char name[64];
};

#define ESI_FACT_NO_GROUP UINT32_MAX

/* An entry of a process's table of communicators. */
struct esi_fact_communicator {
    uint32_t group; /* index, or ESI_FACT_NO_GROUP */
    uint8_t side;   /* which side the process is on */
};

/* Whether the process had the processor between the looks, so that a call that could
 * have ended by itself would have. */
enum esi_fact_schedule {
    ESI_SCHEDULE_UNKNOWN,
    ESI_SCHEDULE_RAN,
    ESI_SCHEDULE_HELD, /* stopped, or it had no processor */
};

struct esi_fact_process {
    int rank;
    int pid;
    enum es_process_state state;
    int signal;
    uint64_t ended_ns; /* run time; 0 = lives, or not known */
    bool as_it_was;    /* it ended with the others: what it was in counts */
    bool still;        /* nothing of it has moved since the look before */
    enum esi_fact_schedule schedule;
    const struct esi_ledger *ledger;             /* borrowed; NULL = not known */
    struct esi_fact_communicator *communicators; /* owned; by index */
    size_t communicator_count;
    size_t first_thread; /* in facts.threads */
    size_t thread_count;
    uint32_t source; /* whose facts these are, for who made them: an origin, or a number
                        in an archive */
};

/* What an address in the process is called; "" = not known.  Never NULL. */
typedef const char *esi_fact_site_fn(void *data,
                                     const struct esi_fact_process *process,
                                     uint64_t address);

/* The newest collective operation that a rank is known to have entered. */
struct esi_fact_entered {
    uint64_t key[2]; /* of the communicator */
    int window;      /* the window's number, of MPI_Win_fence and MPI_Win_free; else
                        ESI_FACT_NO_WINDOW */
    int rank;
    uint32_t instance;
};

#define ESI_FACT_NO_WINDOW (-1)

/* A set of these; all zero is the empty set. */
struct esi_fact_entries {
    struct esi_fact_entered *items; /* owned */
    size_t count;
    size_t capacity;
    struct esi_hash numbers; /* by key, window and rank */
};

/* Notes an instance; keeps the newest.  0 or -ENOMEM. */
int esi_fact_entries_note(struct esi_fact_entries *entries,
                          const struct esi_fact_entered *entered);
/* What is noted of the same key, window and rank; NULL = nothing. */
struct esi_fact_entered *esi_fact_entries_find(const struct esi_fact_entries *entries,
                                               const struct esi_fact_entered *place);
void esi_fact_entries_fini(struct esi_fact_entries *entries);

struct esi_facts {
    const char *run;                        /* borrowed */
    uint64_t now_ns;                        /* run time of the look */
    bool over;                              /* no process is left */
    const struct esi_thread_state *threads; /* by rank, then pid; borrowed */
    size_t thread_count;
    struct esi_fact_process *processes; /* owned; in the order of their threads */
    size_t process_count;
    struct esi_fact_group *groups; /* owned */
    size_t group_count;
    size_t group_capacity;
    struct esi_hash group_numbers; /* by key */
    struct esi_fact_entries freed; /* owned; the communicators that ranks have freed:
                                      what a rank did there its ledger does not tell */
    const struct esi_fact_entries *entered; /* borrowed; NULL = none */
    esi_fact_site_fn *name_site;            /* NULL = addresses are not known */
    void *site_data;                        /* borrowed */
};

/* Makes the processes of `threads`, which are in the order of rank and pid and are
 * borrowed, in the place of others; groups stay.  Ledgers and communicators are for the
 * caller to add.  All zero are facts without threads.  0 or -ENOMEM. */
int esi_facts_set_threads(struct esi_facts *facts,
                          const struct esi_thread_state *threads,
                          size_t count);
void esi_facts_fini(struct esi_facts *facts);

/* Whether the run is over, and of whom what it was in counts, when the state and the
 * end of each process are known. */
void esi_facts_set_ends(struct esi_facts *facts);

/* The group of this key, which is made where it is new.  -ENOMEM; else 0. */
int esi_facts_find_group(struct esi_facts *facts,
                         const uint64_t key[2],
                         uint32_t *ret_group);

/* Notes that the rank has freed the communicator of this key.  0 or -ENOMEM. */
int esi_facts_note_freed(struct esi_facts *facts, const uint64_t key[2], int rank);
bool esi_facts_has_freed(const struct esi_facts *facts, uint32_t group, int rank);

/* World rank of a member, of the remote group where `remote`; negative: not known. */
typedef int esi_fact_member_fn(const void *data, bool remote, int rank);
/* Fills the group that `entry` names from what a process has as the communicator, and
 * sets on which side the process is.  Members of a side are read once.  0 or
 * -ENOMEM. */
int esi_facts_fill_group(struct esi_facts *facts,
                         const struct es_communicator_info *info,
                         esi_fact_member_fn *find_member,
                         const void *data,
                         struct esi_fact_communicator *entry);

/* Index of the first process of a rank; process_count where it is not known. */
size_t esi_facts_find_process(const struct esi_facts *facts, int rank);

/* Where in the program a request of the process was posted; "" = not known.  The text
 * lives as long as who made the facts. */
static inline const char *esi_fact_name_site(const struct esi_facts *facts,
                                             const struct esi_fact_process *process,
                                             uint64_t address)
{
    return facts->name_site && address != 0
               ? facts->name_site(facts->site_data, process, address)
               : "";
}

/* Whether an MPI error ended it, whatever ended it then: MPI asks the launcher to kill
 * all, and may be killed with them. */
static inline bool esi_fact_has_fatal_error(const struct esi_fact_process *process)
{
    return process->ledger && process->ledger->error_fatal;
}

/* The group of a communicator of the process; ESI_FACT_NO_GROUP. */
static inline uint32_t esi_fact_group_of(const struct esi_fact_process *process,
                                         uint16_t communicator)
{
    return communicator < process->communicator_count
               ? process->communicators[communicator].group
               : ESI_FACT_NO_GROUP;
}

#endif
