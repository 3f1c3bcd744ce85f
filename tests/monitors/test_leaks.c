/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Tests of the search for leaks, with ledgers made by hand. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "monitors/latent/leaks.h"
#include "tests/suites.h"
#include "tuplespace/operation_codes.h"

enum { RANKS = 3, ROWS = 4, TAG = 7, WORLD = 0, PAIR = 1 };

/* The ranks of the world, and of a communicator of ranks 2 and 1, in this order. */
static int world[RANKS];
static int pair[2] = {2, 1};

struct made_ledgers {
    struct esi_ledger ledgers[RANKS];
    struct esi_ledger_channel channels[RANKS][ROWS];
    struct esi_ledger_request requests[RANKS][ROWS];
    struct esi_ledger_instance instances[RANKS][ROWS];
    struct esi_ledger_epoch epochs[RANKS][ROWS];
    struct esi_fact_process processes[RANKS];
    struct esi_run_model model;
    struct esi_facts facts;
};

static struct made_ledgers made;
static struct esi_leaks leaks;

static const char *name_line(void *data,
                             const struct esi_fact_process *process,
                             uint64_t address)
{
    static char texts[16][32];
    char *text = texts[address % 16];

    (void)data;
    snprintf(text, sizeof texts[0], "heat.c:%d in f%d()", (int)address, process->rank);
    return text;
}

static const struct esi_run_process *add_participant(int rank)
{
    const struct esi_run_process config = {.rank = rank};
    const struct esi_run_reported told[2] = {
        [WORLD] = {.key = {WORLD},
                   .name = "MPI_COMM_WORLD",
                   .rank = rank,
                   .size = RANKS,
                   .world = world},
        [PAIR] = {
            .key = {PAIR}, .name = "pair", .rank = 2 - rank, .size = 2, .world = pair}};
    struct esi_run_process *process;

    assert_int_equal(esi_run_model_add_process(&made.model, &config, &process), 0);
    for (uint16_t i = 0; i < (rank > 0 ? 2 : 1); i++)
        assert_int_equal(
            esi_run_model_set_communicator(&made.model, process, i, &told[i]), 0);
    return process;
}

static int make_ledgers(void **state)
{
    (void)state;
    memset(&made, 0, sizeof made);
    for (int i = 0; i < RANKS; i++)
        world[i] = i;
    made.facts = (struct esi_facts){.processes = made.processes,
                                    .process_count = RANKS,
                                    .model = &made.model,
                                    .name_site = name_line};
    for (int i = 0; i < RANKS; i++) {
        made.ledgers[i].channels = made.channels[i];
        made.ledgers[i].requests = made.requests[i];
        made.ledgers[i].instances = made.instances[i];
        made.ledgers[i].epochs = made.epochs[i];
        made.processes[i] =
            (struct esi_fact_process){.rank = i,
                                      .state = ES_PROCESS_FINALIZED,
                                      .ledger = &made.ledgers[i],
                                      .participant = add_participant(i)};
    }
    leaks = (struct esi_leaks){.items = NULL};
    return 0;
}

static int free_leaks(void **state)
{
    (void)state;
    esi_leaks_fini(&leaks);
    esi_run_model_fini(&made.model);
    return 0;
}

static void add_channel(int rank,
                        uint16_t communicator,
                        bool received,
                        int peer,
                        uint32_t count)
{
    struct esi_ledger *ledger = &made.ledgers[rank];

    ledger->channels[ledger->channel_count++] =
        (struct esi_ledger_channel){.communicator = communicator,
                                    .received = received,
                                    .peer = peer,
                                    .tag = TAG,
                                    .count = count};
}

static struct esi_ledger_request *add_request(int rank,
                                              uint8_t kind,
                                              uint16_t operation)
{
    struct esi_ledger *ledger = &made.ledgers[rank];
    struct esi_ledger_request *request = &ledger->requests[ledger->request_count++];

    *request = (struct esi_ledger_request){
        .kind = kind, .operation = operation, .peer = 0, .tag = TAG, .site = 0};
    return request;
}

static void add_instance(int rank, uint32_t instance, uint16_t operation)
{
    struct esi_ledger *ledger = &made.ledgers[rank];

    ledger->instances[ledger->instance_count++] = (struct esi_ledger_instance){
        .communicator = WORLD, .operation = operation, .instance = instance};
}

static void find(size_t count)
{
    assert_int_equal(esi_leaks_find(&made.facts, &leaks), 0);
    assert_int_equal(leaks.count, count);
}

static void nothing_is_left_of_nothing(void **state)
{
    (void)state;
    add_channel(0, WORLD, false, 1, 5);
    add_channel(1, WORLD, true, 0, 5);
    find(0);
    assert_int_equal(leaks.unknown, 0);
}

static void sends_beyond_the_receives_were_not_received(void **state)
{
    (void)state;
    add_channel(0, WORLD, false, 1, 5);
    add_channel(1, WORLD, true, 0, 3);
    add_channel(1, PAIR, true, 0, 9);
    find(1);
    assert_int_equal(leaks.items[0].kind, ESI_LEAK_MESSAGES);
    assert_int_equal(leaks.items[0].rank, 0);
    assert_int_equal(leaks.items[0].peer, 1);
    assert_int_equal(leaks.items[0].tag, TAG);
    assert_int_equal(leaks.items[0].count, 2);
    assert_string_equal(leaks.items[0].communicator, "MPI_COMM_WORLD");
}

/* Peers are ranks in the communicator: rank 0 of the pair is rank 2 of the world. */
static void ranks_are_those_of_the_communicator(void **state)
{
    (void)state;
    add_channel(1, PAIR, false, 0, 1);
    find(1);
    assert_int_equal(leaks.items[0].rank, 1);
    assert_int_equal(leaks.items[0].peer, 2);
    esi_leaks_fini(&leaks);
    add_channel(2, PAIR, true, 1, 1);
    find(0);
}

static void doubt_is_no_leak(void **state)
{
    (void)state;
    add_channel(0, WORLD, false, 1, 5);
    made.ledgers[1].partial = true;
    find(0);
    assert_int_equal(leaks.unknown, 1);
    made.ledgers[1].partial = false;
    made.processes[1].ledger = NULL;
    find(0);
    assert_int_equal(leaks.unknown, 1);
    made.processes[1].ledger = &made.ledgers[1];
    made.channels[0][0].doubtful = true;
    find(0);
    made.channels[0][0].doubtful = false;
    add_channel(1, WORLD, true, 0, 3);
    made.channels[1][0].doubtful = true;
    find(0);
    assert_int_equal(leaks.unknown, 0);
}

/* Neither rank is known: they need not be the same. */
static void a_receiver_that_is_not_known_is_nobody(void **state)
{
    (void)state;
    made.processes[0].rank = -1;
    esi_run_model_fini(&made.model);
    world[2] = -1;
    for (int i = 0; i < 2; i++)
        made.processes[i].participant = add_participant(i);
    add_channel(1, WORLD, false, 2, 5);
    find(0);
}

/* A rank that was killed could not free its objects, so they are no leaks. */
static void what_the_dead_left_is_none(void **state)
{
    (void)state;
    add_channel(0, WORLD, false, 1, 5);
    add_request(0, ESI_LEDGER_RECEIVE, ES_OP_MPI_Irecv);
    made.ledgers[0].unfreed[ESI_LEDGER_WINDOWS] = 1;
    made.processes[0].state = ES_PROCESS_KILLED;
    find(0);
    assert_int_equal(leaks.unended, 1);
}

static void requests_are_told_by_kind(void **state)
{
    (void)state;
    add_request(1, ESI_LEDGER_RECEIVE, ES_OP_MPI_Irecv);
    add_request(1, ESI_LEDGER_RECEIVE, ES_OP_MPI_Irecv);
    add_request(1, ESI_LEDGER_SEND, ES_OP_MPI_Send_init)->persistent = true;
    add_request(1, ESI_LEDGER_MESSAGE, ES_OP_MPI_Mprobe);
    find(3);
    assert_int_equal(leaks.items[0].kind, ESI_LEAK_REQUESTS);
    assert_int_equal(leaks.items[0].count, 2);
    assert_int_equal(leaks.items[0].peer, 0);
    assert_null(leaks.items[0].site);
    assert_int_equal(leaks.items[1].kind, ESI_LEAK_MATCHED);
    assert_int_equal(leaks.items[2].kind, ESI_LEAK_PERSISTENT);
    assert_int_equal(leaks.items[2].operation, ES_OP_MPI_Send_init);
}

/* Two requests of one line are one leak. */
static void requests_are_told_by_line(void **state)
{
    static const uint64_t lines[] = {20, 21, 20};

    (void)state;
    for (int i = 0; i < 3; i++)
        add_request(1, ESI_LEDGER_RECEIVE, ES_OP_MPI_Irecv)->site = lines[i];
    find(2);
    assert_string_equal(leaks.items[0].site, "heat.c:20 in f1()");
    assert_int_equal(leaks.items[0].count, 2);
    assert_string_equal(leaks.items[1].site, "heat.c:21 in f1()");
    assert_int_equal(leaks.items[1].count, 1);
}

static void a_persistent_request_that_was_started_did_not_complete(void **state)
{
    struct esi_ledger_request *request;

    (void)state;
    request = add_request(2, ESI_LEDGER_RECEIVE, ES_OP_MPI_Recv_init);
    request->persistent = true;
    request->active = true;
    find(1);
    assert_int_equal(leaks.items[0].kind, ESI_LEAK_REQUESTS);
}

static void what_many_have_alike_is_told_once(void **state)
{
    (void)state;
    for (int i = 0; i < RANKS; i++)
        made.ledgers[i].unfreed[ESI_LEDGER_COMMUNICATORS] = 2;
    made.ledgers[2].unfreed[ESI_LEDGER_TYPES] = 1;
    find(2);
    assert_int_equal(leaks.items[0].object, ESI_LEDGER_COMMUNICATORS);
    assert_int_equal(leaks.items[0].ranks, RANKS);
    assert_int_equal(leaks.items[0].rank, 0);
    assert_int_equal(leaks.items[0].count, 2);
    assert_int_equal(leaks.items[1].object, ESI_LEDGER_TYPES);
    assert_int_equal(leaks.items[1].ranks, 1);
    assert_int_equal(leaks.items[1].rank, 2);
}

static void locks_stay_open_and_fences_do_not(void **state)
{
    (void)state;
    made.epochs[0][0] = (struct esi_ledger_epoch){
        .kind = ESI_LEDGER_LOCK_EXCLUSIVE, .granted = true, .peer = 2};
    made.epochs[0][1] = (struct esi_ledger_epoch){.kind = ESI_LEDGER_FENCE};
    made.ledgers[0].epoch_count = 2;
    find(1);
    assert_int_equal(leaks.items[0].kind, ESI_LEAK_EPOCHS);
    assert_int_equal(leaks.items[0].peer, 2);
}

/* Rank 1 has called one barrier less; rank 2 has no instances of this communicator. */
static void members_that_stayed_away_are_named(void **state)
{
    (void)state;
    add_instance(0, 4, ES_OP_MPI_Bcast);
    add_instance(0, 5, ES_OP_MPI_Ibarrier);
    add_instance(1, 4, ES_OP_MPI_Bcast);
    find(1);
    assert_int_equal(leaks.items[0].kind, ESI_LEAK_COLLECTIVES);
    assert_int_equal(leaks.items[0].rank, 1);
    assert_int_equal(leaks.items[0].peer, 0);
    assert_int_equal(leaks.items[0].operation, ES_OP_MPI_Ibarrier);
    assert_int_equal(leaks.items[0].count, 1);
    esi_leaks_fini(&leaks);
    add_instance(1, 5, ES_OP_MPI_Ibarrier);
    find(0);
}

/* Each kind of leak has a text, and is an object on one line. */
static void leaks_are_printed(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);

    (void)state;
    assert_non_null(stream);
    add_channel(0, WORLD, false, 1, 1);
    add_request(1, ESI_LEDGER_RECEIVE, ES_OP_MPI_Irecv);
    add_request(1, ESI_LEDGER_SEND, ES_OP_MPI_Isend)->site = 9;
    made.ledgers[2].unfreed[ESI_LEDGER_FILES] = 2;
    find(4);
    esi_leaks_print_text(&leaks, stream);
    esi_leaks_print_json(&leaks, stream);
    fclose(stream);
    assert_non_null(strstr(text, "LEAK: rank 0: 1 message to rank 1, tag 7, on "
                                 "MPI_COMM_WORLD: never received\n"));
    assert_non_null(strstr(text, "LEAK: rank 1: 1 request of MPI_Irecv with rank 0, "
                                 "tag 7, on MPI_COMM_WORLD: never completed\n"));
    assert_non_null(strstr(text, "tag 7, on MPI_COMM_WORLD, posted at heat.c:9 in "
                                 "f1(): never completed\n"));
    assert_non_null(strstr(text, "\"site\":\"heat.c:9 in f1()\"}"));
    assert_non_null(strstr(text, "LEAK: rank 2: 2 files: not freed\n"));
    assert_non_null(strstr(text, "\"what\":\"objects\""));
    free(text);
}

SUITE(test_leaks)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_left_of_nothing),
        cmocka_unit_test(sends_beyond_the_receives_were_not_received),
        cmocka_unit_test(ranks_are_those_of_the_communicator),
        cmocka_unit_test(doubt_is_no_leak),
        cmocka_unit_test(a_receiver_that_is_not_known_is_nobody),
        cmocka_unit_test(what_the_dead_left_is_none),
        cmocka_unit_test(requests_are_told_by_kind),
        cmocka_unit_test(requests_are_told_by_line),
        cmocka_unit_test(a_persistent_request_that_was_started_did_not_complete),
        cmocka_unit_test(what_many_have_alike_is_told_once),
        cmocka_unit_test(locks_stay_open_and_fences_do_not),
        cmocka_unit_test(members_that_stayed_away_are_named),
        cmocka_unit_test(leaks_are_printed),
    };

    test_suite_fixture(tests, sizeof tests / sizeof *tests, make_ledgers, free_leaks);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
