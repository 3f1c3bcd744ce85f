/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* facts_scope.h - the facts of a run (alive, hanging or dead), read through a scope. */
#ifndef ES_MONITORS_VERDICT_FACTS_SCOPE_H
#define ES_MONITORS_VERDICT_FACTS_SCOPE_H

#include "monitors/follow/follower.h"
#include "monitors/sites/sites.h"
#include "monitors/verdict/facts.h"

struct esi_fact_reader;

/* Borrows the follower and the sites.  The follower's scope provides the latest event
 * and the operation in progress of each thread.  Returns 0 or -ENOMEM. */
int esi_fact_reader_create(struct esi_follower *follower,
                           struct es_run *run,
                           struct esi_sites *sites,
                           struct esi_fact_reader **ret_reader);
/* Accepts NULL. */
void esi_fact_reader_destroy(struct esi_fact_reader *reader);

/* The threads at one observation, as the follower's scope delivered them. */
struct esi_fact_look {
    const struct esi_thread_state *threads; /* with their states set; by rank, then
                                               pid */
    size_t count;
    uint64_t now_ns;
    const struct esi_fact_entries *entered; /* NULL = none known */
};

/* Reads ledgers, communicators and the ends of processes.  The facts are borrowed until
 * the next call.  Returns 0 or -ENOMEM. */
int esi_fact_reader_read(struct esi_fact_reader *reader,
                         const struct esi_fact_look *look,
                         struct esi_facts **ret_facts);

#endif
