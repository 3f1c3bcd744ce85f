/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Collective operations: who has entered which instance, who is missing, and which
 * members are in different operations at the same instance.  Pure logic.
 *
 * Instances are counted on a communicator, those of MPI_Win_fence and MPI_Win_free on a
 * window: each is a space of its own.  Who is missing from an instance is a beginning
 * of the space's members in the order of the newest instance that they entered.
 */
#ifndef ES_MONITORS_VERDICT_INSTANCES_H
#define ES_MONITORS_VERDICT_INSTANCES_H

#include "monitors/verdict/facts.h"

/* A member in the order of what it has entered. */
struct esi_instance_member {
    int rank;
    size_t process; /* process_count: not known */
    int64_t newest; /* relative to the space's first instance; INT64_MIN = none */
};

struct esi_instance_space {
    uint32_t group;
    int window;                          /* ESI_FACT_NO_WINDOW */
    uint32_t reference;                  /* an instance that was entered */
    struct esi_instance_member *members; /* owned; NULL until it is asked for */
    size_t member_count;
    int *ranks;        /* owned; theirs, in their order */
    size_t *waiting;   /* owned; for who counts: threads that wait for a beginning */
    size_t known[2];   /* for who looks it up; SIZE_MAX at first */
    size_t holding;    /* likewise: those before who has freed the communicator */
    uint32_t nodes[2]; /* for who makes a graph of it; all zero at first */
};

/* An operation as a member entered it. */
struct esi_instance_entry {
    int rank;
    uint16_t operation; /* family, 0 = none */
    int root;           /* world rank; ES_PEER_NONE, ES_PEER_UNKNOWN */
    uint32_t hash;
};

/* Two members that do not do the same at one instance. */
struct esi_instance_mismatch {
    uint32_t group;
    uint32_t instance;
    struct esi_instance_entry entries[2];
};

enum { ESI_INSTANCE_WINDOW = 64 };

/* The newest instances of a group, as they were entered first. */
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
    struct esi_fact_entries entered;          /* all that is known */
    struct esi_instance_record *records;      /* owned; ESI_INSTANCE_WINDOW per group */
    struct esi_instance_mismatch *mismatches; /* owned */
    size_t mismatch_count;
    size_t mismatch_capacity;
};

/* 0 or -ENOMEM; free with esi_instance_table_fini(). */
int esi_instance_table_init(struct esi_instance_table *instances,
                            const struct esi_facts *facts);
void esi_instance_table_fini(struct esi_instance_table *instances);

/* The space of a group or window, its members in order.  NULL: they are not known, or
 * no memory (`ret_error`). */
struct esi_instance_space *esi_instance_table_find_space(
    struct esi_instance_table *instances,
    const struct esi_facts *facts,
    uint32_t group,
    int window,
    int *ret_error);

/* How many of the space's members, from the first, have not entered the instance. */
size_t esi_instance_space_missing(const struct esi_instance_space *space,
                                  uint32_t instance);

/* Whether members do not do the same there. */
bool esi_instance_table_is_mismatched(const struct esi_instance_table *instances,
                                      uint32_t group,
                                      uint32_t instance);

/* How an operation orders the members of its communicator; to open a file is
 * collective, too. */
enum es_order_kind esi_instance_order(const struct es_operation *operation);

/* The space that an activity counts in: ESI_FACT_NO_WINDOW, or its window's number. */
int esi_instance_window(const struct esi_activity *activity);

/* Whether an activity is, or waits for, a collective operation with a known instance.
 */
bool esi_instance_is_one(const struct esi_activity *activity);

#endif
