/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_facts.c - builds facts for tests. */
#include "config.h"

#include "tests/verdict/made_facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "eventspace/operation.h"
#include "eventspace/tuple.h"
#include "monitors/verdict/verdict_print.h"

#define SECOND UINT64_C(1000000000)

static const uint64_t world_key[2] = {1, 2};

/* A member of MPI_COMM_WORLD. */
static void add_participant(struct made_facts *made,
                            struct esi_fact_process *process,
                            const int *members)
{
    const struct esi_run_process config = {.host = "host", .rank = process->rank};
    const struct esi_run_reported world = {.key = {world_key[0], world_key[1]},
                                           .name = "MPI_COMM_WORLD",
                                           .rank = process->rank,
                                           .size = (int)made->count,
                                           .world = members};
    struct esi_run_process *participant;

    assert_int_equal(esi_run_model_add_process(&made->model, &config, &participant), 0);
    assert_int_equal(
        esi_run_model_set_communicator(&made->model, participant, 0, &world), 0);
    process->participant = participant;
}

void made_facts_begin(struct made_facts *made, size_t ranks)
{
    int *members = calloc(ranks, sizeof *members);

    *made = (struct made_facts){.threads = calloc(ranks, sizeof *made->threads),
                                .ledgers = calloc(ranks, sizeof *made->ledgers),
                                .count = ranks};
    assert_true(members && made->threads && made->ledgers);
    for (size_t i = 0; i < ranks; i++) {
        members[i] = (int)i;
        made->threads[i] = (struct esi_thread_state){.host = "host",
                                                     .pid = 100 + (int)i,
                                                     .rank = (int)i,
                                                     .process = ES_PROCESS_RUNNING,
                                                     .verdict = ES_VERDICT_COMPUTING,
                                                     .unchanged = 1};
    }
    assert_int_equal(esi_facts_set_threads(&made->facts, made->threads, ranks), 0);
    made->facts.model = &made->model;
    made->facts.now_ns = 20 * SECOND;
    for (size_t i = 0; i < ranks; i++) {
        struct esi_fact_process *process = &made->facts.processes[i];

        process->still = true;
        process->schedule = ESI_SCHEDULE_RAN;
        process->ledger = &made->ledgers[i];
        add_participant(made, process, members);
    }
    free(members);
}

void made_facts_end(struct made_facts *made)
{
    esi_diagnosis_fini(&made->diagnosis);
    esi_verdict_memory_fini(&made->memory);
    esi_facts_fini(&made->facts);
    esi_run_model_fini(&made->model);
    for (size_t i = 0; i < made->count; i++) {
        free(made->ledgers[i].requests);
        free(made->ledgers[i].channels);
        free(made->ledgers[i].instances);
        free(made->ledgers[i].waits);
        free(made->ledgers[i].epochs);
        free(made->ledgers[i].epoch_counts);
    }
    free(made->ledgers);
    free(made->threads);
}

int made_facts_set_up(void **state)
{
    struct made_facts *made = calloc(1, sizeof *made);

    assert_non_null(made);
    made_facts_begin(made, MADE_RANKS);
    *state = made;
    return 0;
}

int made_facts_tear_down(void **state)
{
    made_facts_end(*state);
    free(*state);
    return 0;
}

static uint16_t code_of(const char *name)
{
    const struct es_operation *operation = es_operation_by_name(name);

    assert_non_null(operation);
    return operation->code;
}

struct esi_activity *made_open(struct made_facts *made,
                               int rank,
                               const char *name,
                               int peer,
                               int tag,
                               uint32_t number)
{
    struct esi_thread_state *thread = &made->threads[rank];

    thread->verdict = ES_VERDICT_STALLED;
    thread->lasts = true;
    thread->quiet_since_ns = 10 * SECOND;
    thread->open = (struct esi_activity){.present = true,
                                         .operation = code_of(name),
                                         .peer = peer,
                                         .tag = tag,
                                         .bytes = 1,
                                         .sequence = number,
                                         .has_communicator = true,
                                         .key = {world_key[0], world_key[1]},
                                         .communicator = "MPI_COMM_WORLD",
                                         .start_ns = 10 * SECOND};
    return &thread->open;
}

void made_count(struct made_facts *made,
                int rank,
                bool received,
                int peer,
                int tag,
                uint32_t count)
{
    struct esi_ledger *ledger = &made->ledgers[rank];

    assert_int_equal(ESI_ARRAY_RESERVE(ledger->channels, ledger->channel_capacity,
                                       ledger->channel_count + 1),
                     0);
    ledger->channels[ledger->channel_count++] = (struct esi_ledger_channel){
        .received = received, .peer = peer, .tag = tag, .count = count};
}

struct esi_ledger_instance *made_enter(struct made_facts *made,
                                       int rank,
                                       const char *name,
                                       uint32_t instance)
{
    struct esi_ledger *ledger = &made->ledgers[rank];

    assert_int_equal(ESI_ARRAY_RESERVE(ledger->instances, ledger->instance_capacity,
                                       ledger->instance_count + 1),
                     0);
    ledger->instances[ledger->instance_count] = (struct esi_ledger_instance){
        .operation = code_of(name), .instance = instance, .root = ES_PEER_NONE};
    return &ledger->instances[ledger->instance_count++];
}

struct esi_ledger_request *made_request(struct made_facts *made,
                                        int rank,
                                        enum esi_ledger_request_kind kind,
                                        const char *name,
                                        int peer,
                                        int tag,
                                        uint32_t number)
{
    struct esi_ledger *ledger = &made->ledgers[rank];

    assert_int_equal(ESI_ARRAY_RESERVE(ledger->requests, ledger->request_capacity,
                                       ledger->request_count + 1),
                     0);
    ledger->requests[ledger->request_count] =
        (struct esi_ledger_request){.handle = ledger->request_count + 1,
                                    .operation = code_of(name),
                                    .sequence = number,
                                    .peer = peer,
                                    .tag = tag,
                                    .kind = (uint8_t)kind};
    return &ledger->requests[ledger->request_count++];
}

void made_wait(struct made_facts *made,
               int rank,
               const char *name,
               enum esi_ledger_wait_kind kind)
{
    struct esi_ledger *ledger = &made->ledgers[rank];
    struct esi_ledger_wait *wait;

    if (kind == ESI_LEDGER_WAIT_POLL) {
        made->threads[rank].polls_rise = true;
        made->threads[rank].quiet_since_ns = 10 * SECOND;
        made->threads[rank].verdict = ES_VERDICT_POLLING;
    } else {
        made_open(made, rank, name, ES_PEER_NONE, 0, ES_SEQUENCE_UNKNOWN)->bytes =
            (uint32_t)ledger->request_count;
    }
    assert_int_equal(
        ESI_ARRAY_RESERVE(ledger->waits, ledger->wait_capacity, ledger->wait_count + 1),
        0);
    wait = &ledger->waits[ledger->wait_count++];
    *wait = (struct esi_ledger_wait){.kind = kind,
                                     .count = (uint32_t)ledger->request_count,
                                     .known = (uint32_t)ledger->request_count};
    for (size_t i = 0; i < ledger->request_count; i++)
        wait->handles[i] = ledger->requests[i].handle;
}

struct esi_ledger_epoch *made_epoch(struct made_facts *made,
                                    int rank,
                                    enum esi_ledger_epoch_kind kind,
                                    int peer)
{
    struct esi_ledger *ledger = &made->ledgers[rank];

    assert_int_equal(ESI_ARRAY_RESERVE(ledger->epochs, ledger->epoch_capacity,
                                       ledger->epoch_count + 1),
                     0);
    ledger->epochs[ledger->epoch_count] = (struct esi_ledger_epoch){
        .kind = (uint8_t)kind, .granted = true, .window = 3, .peer = peer};
    return &ledger->epochs[ledger->epoch_count++];
}

const struct esi_diagnosis *made_verdicts(struct made_facts *made)
{
    esi_diagnosis_fini(&made->diagnosis);
    assert_int_equal(esi_diagnosis_make(&made->facts, &made->memory, &made->diagnosis),
                     0);
    return &made->diagnosis;
}

void made_verdicts_are(struct made_facts *made, const char *expected)
{
    const struct esi_diagnosis *diagnosis = made_verdicts(made);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    for (size_t i = 0; i < diagnosis->count; i++) {
        const struct esi_verdict_item *item = &diagnosis->items[i];

        fprintf(out, "%s%s %s ", i ? "; " : "", esi_verdict_kind_name(item->kind),
                item->certain ? "certain" : "possible");
        for (size_t j = 0; j < item->ranks.count; j++)
            fprintf(out, "%s%d", j ? "," : "", item->ranks.items[j]);
    }
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

char *made_text(struct made_facts *made)
{
    struct esi_verdict_style style = {.waits = true, .calm = true};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(esi_diagnosis_print_text(&made->diagnosis, &style, out), 0);
    fclose(out);
    return text;
}

void made_shows(struct made_facts *made, const char *words)
{
    char *text = made_text(made);

    if (!strstr(text, words))
        fail_msg("\"%s\" is not in:\n%s", words, text);
    free(text);
}
