/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Collective operations: which members have entered which instance, which are missing,
 * and which call different operations in the same instance.  Pure logic.
 *
 * Instances are counted per communicator, those of MPI_Win_fence and MPI_Win_free per
 * window; each of these is a space.  The members of a space are sorted by the newest
 * instance that they entered, so the members missing from an instance are always the
 * first ones.
 */
#ifndef ES_MONITORS_VERDICT_INSTANCES_H
#define ES_MONITORS_VERDICT_INSTANCES_H

#include "monitors/verdict/facts.h"

/* A member and its newest instance. */
struct esi_instance_member {
    int rank;
    size_t process; /* process_count: not known */
    int64_t newest; /* relative to the space's first instance; INT64_MIN = none */
};

struct esi_instance_space {
    uint32_t group;
    int window;                          /* ESI_FACT_NO_WINDOW */
    uint32_t reference;                  /* an instance that some member entered */
    struct esi_instance_member *members; /* owned; NULL until needed */
    size_t member_count;
    int *ranks;        /* owned; the members' ranks, in the same order */
    size_t *waiting;   /* owned; used by conditions: per count, threads that wait for
                          so many first members */
    size_t known[2];   /* cache of conditions; SIZE_MAX at first */
    size_t holding;    /* likewise: number of members before the first that has freed
                          the communicator */
    uint32_t nodes[2]; /* nodes in the wait graph; 0 = not made */
};

/* An operation as a member entered it. */
struct esi_instance_entry {
    int rank;
    uint16_t operation; /* its family; 0 = none */
    int root;           /* world rank, ES_PEER_NONE or ES_PEER_UNKNOWN */
    uint32_t hash;
};

/* Two members that call different operations in the same instance. */
struct esi_instance_mismatch {
    uint32_t group;
    uint32_t instance;
    struct esi_instance_entry entries[2];
};

enum { ESI_INSTANCE_WINDOW = 64 };

/* A recent instance of a group, as its first member entered it. */
struct esi_instance_record {
    bool used;
    bool mismatched;
    uint32_t instance;
    struct esi_instance_entry first;
};

struct esi_instance_table {
    struct esi_instance_space *spaces; /* owned */
    size_t count;
    size_t capacity;
    struct esi_hash numbers;
    struct esi_fact_entries entered;          /* newest entries of all ranks */
    struct esi_instance_record *records;      /* owned; ESI_INSTANCE_WINDOW per group */
    struct esi_instance_mismatch *mismatches; /* owned */
    size_t mismatch_count;
    size_t mismatch_capacity;
};

/* Returns 0 or -ENOMEM; free with esi_instance_table_fini(). */
int esi_instance_table_init(struct esi_instance_table *instances,
                            const struct esi_facts *facts);
void esi_instance_table_fini(struct esi_instance_table *instances);

/* The space of a group or window, with sorted members.  NULL if the members are not
 * known, or out of memory (`ret_error`). */
struct esi_instance_space *esi_instance_table_find_space(
    struct esi_instance_table *instances,
    const struct esi_facts *facts,
    uint32_t group,
    int window,
    int *ret_error);

/* Number of members that have not entered the instance; they are the first ones. */
size_t esi_instance_space_missing(const struct esi_instance_space *space,
                                  uint32_t instance);

/* Whether members call different operations in the instance. */
bool esi_instance_table_is_mismatched(const struct esi_instance_table *instances,
                                      uint32_t group,
                                      uint32_t instance);

/* The order that an operation imposes on the members of its communicator.  Opening a
 * file counts as collective. */
enum es_order_kind esi_instance_order(const struct es_operation *operation);

/* The window whose instances an activity counts, or ESI_FACT_NO_WINDOW. */
int esi_instance_window(const struct esi_activity *activity);

/* Whether an activity is, or waits for, a collective operation with a known
 * instance. */
bool esi_instance_is_one(const struct esi_activity *activity);

#endif
