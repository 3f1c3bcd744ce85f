/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Verdicts on a run: deadlocks, mismatched collective operations, ranks that are
 * missing or have died, and ranks that hold up others.  Pure logic.
 *
 * A certain verdict cannot be invalidated by anything that the ranks may still do;
 * docs/verdicts.md has the rules.
 *
 *     esi_diagnosis_make(&facts, &before, &diagnosis);
 *     ... esi_diagnosis_print_text(&diagnosis, ...)
 *     esi_diagnosis_fini(&diagnosis);
 */
#ifndef ES_MONITORS_VERDICT_VERDICT_H
#define ES_MONITORS_VERDICT_VERDICT_H

#include "monitors/verdict/conditions.h"

enum esi_verdict_kind {
    ESI_VERDICT_DEADLOCK, /* ranks wait for each other */
    ESI_VERDICT_MISMATCH, /* members call different collective operations */
    ESI_VERDICT_MISSING,  /* others wait for ranks that are in MPI_Finalize or have
                             left it */
    ESI_VERDICT_DIED,     /* a rank ended without MPI_Finalize, or with a code other
                             than 0 after it */
};

/* "DEADLOCK" etc. */
const char *esi_verdict_kind_name(enum esi_verdict_kind kind);

/* A list of numbers; owned. */
struct esi_number_list {
    int *items;
    size_t count;
    size_t capacity;
};

struct esi_verdict_item {
    enum esi_verdict_kind kind;
    bool certain;
    uint64_t since_ns;             /* run time; 0 = not known */
    struct esi_number_list ranks;  /* the ranks concerned, sorted */
    struct esi_number_list cycle;  /* DEADLOCK: each waits for the next */
    struct esi_number_list behind; /* ranks that wait for them, sorted */
    const struct esi_instance_mismatch *mismatch; /* borrowed from the conditions */
    const struct esi_fact_process *process;       /* DIED: the first to die; borrowed */
    bool together; /* DIED: all ranks that ended badly got one signal from outside at
                      once: the job was ended */
};

/* A rank that others wait for and that is not blocked. */
struct esi_verdict_holder {
    int rank;
    size_t waiting; /* threads that wait for it */
    bool gone;
};

struct esi_diagnosis {
    const struct esi_facts *facts; /* borrowed */
    struct esi_conditions conditions;
    struct esi_verdict_item *items; /* owned; certain ones first, then by number of
                                       ranks */
    size_t count;
    size_t capacity;
    struct esi_verdict_holder *holders; /* owned; by number of waiting threads */
    size_t holder_count;
};

/* State kept between observations besides the facts' own `still`: the mismatches of the
 * previous observation.  Initially all zero. */
struct esi_verdict_memory {
    struct esi_instance_mismatch *mismatches; /* owned; the keys of their groups are
                                                 in `keys` */
    uint64_t (*keys)[2];
    size_t count;
};

void esi_verdict_memory_fini(struct esi_verdict_memory *memory);

/* Computes the verdicts, and updates `memory`: NULL for the only observation of a run.
 * Returns 0 or -ENOMEM; free with esi_diagnosis_fini(). */
int esi_diagnosis_make(const struct esi_facts *facts,
                       struct esi_verdict_memory *memory,
                       struct esi_diagnosis *ret_diagnosis);
/* Accepts a zeroed struct. */
void esi_diagnosis_fini(struct esi_diagnosis *diagnosis);

enum esi_diagnosis_outcome {
    ESI_OUTCOME_NOTHING,
    ESI_OUTCOME_POSSIBLE, /* verdicts, but no certain one; or none, but not all threads
                             are known */
    ESI_OUTCOME_CERTAIN,
};

/* Number of threads of which it is not known whether they wait: their collectors are
 * off. */
size_t esi_diagnosis_count_unknown(const struct esi_diagnosis *diagnosis);

enum esi_diagnosis_outcome esi_diagnosis_outcome(const struct esi_diagnosis *diagnosis);

#endif
