/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_facts.h - facts of an imaginary run.  Each rank has a thread and a ledger, and
 * computes on MPI_COMM_WORLD unless a test changes that. */
#ifndef ES_TESTS_VERDICT_MADE_FACTS_H
#define ES_TESTS_VERDICT_MADE_FACTS_H

#include "monitors/verdict/verdict.h"

struct made_facts {
    struct esi_facts facts;
    struct esi_run_model model;
    struct esi_thread_state *threads; /* owned */
    struct esi_ledger *ledgers;       /* owned, with their contents */
    size_t count;
    struct esi_verdict_memory memory;
    struct esi_diagnosis diagnosis;
};

enum { MADE_SIZE_MOST = 64 };

void made_facts_begin(struct made_facts *made, size_t ranks);
void made_facts_end(struct made_facts *made);

/* For tests whose state is facts of MADE_RANKS ranks. */
enum { MADE_RANKS = 4 };
int made_facts_set_up(void **state);
int made_facts_tear_down(void **state);
#define MADE_CASE(name)                                                                \
    cmocka_unit_test_setup_teardown(name, made_facts_set_up, made_facts_tear_down)

/* Puts the thread of a rank into an operation on MPI_COMM_WORLD. */
struct esi_activity *made_open(struct made_facts *made,
                               int rank,
                               const char *name,
                               int peer,
                               int tag,
                               uint32_t number);

/* Sets the number of messages sent, or of receives posted for them. */
void made_count(struct made_facts *made,
                int rank,
                bool received,
                int peer,
                int tag,
                uint32_t count);

/* Records that a rank has entered a collective operation. */
struct esi_ledger_instance *made_enter(struct made_facts *made,
                                       int rank,
                                       const char *name,
                                       uint32_t instance);

/* Adds an outstanding request.  Its handle is its index plus one. */
struct esi_ledger_request *made_request(struct made_facts *made,
                                        int rank,
                                        enum esi_ledger_request_kind kind,
                                        const char *name,
                                        int peer,
                                        int tag,
                                        uint32_t number);

/* Puts the rank into a call that waits for all of its requests. */
void made_wait(struct made_facts *made,
               int rank,
               const char *name,
               enum esi_ledger_wait_kind kind);

struct esi_ledger_epoch *made_epoch(struct made_facts *made,
                                    int rank,
                                    enum esi_ledger_epoch_kind kind,
                                    int peer);

/* Computes the verdicts again. */
const struct esi_diagnosis *made_verdicts(struct made_facts *made);

/* Fails unless the verdicts are these, in this order: "DEADLOCK certain
 * 0,1; DIED certain 2". */
void made_verdicts_are(struct made_facts *made, const char *expected);

/* Returns the text form of the last verdicts; caller frees. */
char *made_text(struct made_facts *made);
/* Fails unless the text form contains the words. */
void made_shows(struct made_facts *made, const char *words);

#endif
