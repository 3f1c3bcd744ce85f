/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_facts.h - facts of a run that never was: ranks with a thread and a ledger each,
 * that compute on MPI_COMM_WORLD until they are told otherwise. */
#ifndef ES_TESTS_VERDICT_MADE_FACTS_H
#define ES_TESTS_VERDICT_MADE_FACTS_H

#include "monitors/verdict/verdict.h"

struct made_facts {
    struct esi_facts facts;
    struct esi_thread_state *threads; /* owned */
    struct esi_ledger *ledgers;       /* owned, with what is in them */
    size_t count;
    struct esi_verdict_memory memory;
    struct esi_diagnosis diagnosis;
};

enum { MADE_SIZE_MOST = 64 };

void made_facts_begin(struct made_facts *made, size_t ranks);
void made_facts_end(struct made_facts *made);

/* For cases that begin with facts of so many ranks, as their state. */
enum { MADE_RANKS = 4 };
int made_facts_set_up(void **state);
int made_facts_tear_down(void **state);
#define MADE_CASE(name)                                                                \
    cmocka_unit_test_setup_teardown(name, made_facts_set_up, made_facts_tear_down)

/* Lets the thread of a rank be in an operation on MPI_COMM_WORLD. */
struct esi_activity *made_open(struct made_facts *made,
                               int rank,
                               const char *name,
                               int peer,
                               int tag,
                               uint32_t number);

/* Messages that were sent, and receives posted for them. */
void made_count(struct made_facts *made,
                int rank,
                bool received,
                int peer,
                int tag,
                uint32_t count);

/* A collective operation that a rank has entered. */
struct esi_ledger_instance *made_enter(struct made_facts *made,
                                       int rank,
                                       const char *name,
                                       uint32_t instance);

/* An outstanding request.  Its handle is its index plus one. */
struct esi_ledger_request *made_request(struct made_facts *made,
                                        int rank,
                                        enum esi_ledger_request_kind kind,
                                        const char *name,
                                        int peer,
                                        int tag,
                                        uint32_t number);

/* Lets the rank be in a call about all of its requests. */
void made_wait(struct made_facts *made,
               int rank,
               const char *name,
               enum esi_ledger_wait_kind kind);

struct esi_ledger_epoch *made_epoch(struct made_facts *made,
                                    int rank,
                                    enum esi_ledger_epoch_kind kind,
                                    int peer);

/* Gives the verdicts anew. */
const struct esi_diagnosis *made_verdicts(struct made_facts *made);

/* Fails unless they are, in order, these: "DEADLOCK certain 0,1; DIED certain 2". */
void made_verdicts_are(struct made_facts *made, const char *expected);

/* What people are shown of the last verdicts; caller frees. */
char *made_text(struct made_facts *made);
/* Fails unless the words are in it. */
void made_shows(struct made_facts *made, const char *words);

#endif
