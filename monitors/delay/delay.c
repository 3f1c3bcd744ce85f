/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* delay.c - the object and its results. */
#include "config.h"

#include "monitors/delay/delay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/delay/delay_private.h"

enum { WINDOW = 4096, LAG = 1024 };

/* --- Rows ------------------------------------------------------------------------- */

/* Finds or adds a row by its key.  UINT32_MAX if out of memory. */
static uint32_t find_row(struct esi_delay *delay,
                         enum esi_delay_group number,
                         uint64_t key,
                         const struct esi_delay_row *row)
{
    struct esi_delay_group_rows *group = &delay->groups[number];

    ESI_HASH_FOREACH(slot, &group->table, esi_hash_u64(key)) {
        uint32_t index = esi_hash_index(&group->table, slot);
        const struct esi_delay_row *known = &group->rows[index];

        if (known->name == row->name && known->operation == row->operation &&
            known->rank == row->rank)
            return index;
    }
    if (ESI_ARRAY_RESERVE(group->rows, group->capacity, group->count + 1) < 0 ||
        esi_hash_reserve(&group->table, group->count + 1) < 0)
        return UINT32_MAX;
    group->rows[group->count] = *row;
    if (delay->config.series) {
        group->rows[group->count].series = calloc(1, sizeof *row->series);
        if (!group->rows[group->count].series)
            return UINT32_MAX;
    }
    esi_hash_insert(&group->table, esi_hash_u64(key), group->count);
    return (uint32_t)group->count++;
}

uint32_t esi_delay_rank_row(struct esi_delay *delay, int rank)
{
    const struct esi_delay_row row = {.rank = rank};

    return find_row(delay, ESI_DELAY_BY_RANK, (uint64_t)(uint32_t)rank, &row);
}

/* Finds or adds the row of a text, which is stored once. */
static uint32_t find_named(struct esi_delay *delay,
                           enum esi_delay_group group,
                           const char *name,
                           const char *operation)
{
    struct esi_delay_row row = {.operation = operation, .rank = -1};
    uint32_t number;

    if (esi_texts_add(&delay->texts, name, strlen(name), &number) < 0)
        return UINT32_MAX;
    row.name = esi_texts_at(&delay->texts, number);
    return find_row(delay, group, number ^ esi_hash_u64((uint64_t)(uintptr_t)operation),
                    &row);
}

uint32_t esi_delay_communicator_row(struct esi_delay *delay, const char *name)
{
    const struct esi_delay_group_rows *known =
        &delay->groups[ESI_DELAY_BY_COMMUNICATOR];
    uint32_t row = delay->last_communicator;

    name = name ? name : "";
    if (row < known->count && strcmp(known->rows[row].name, name) == 0)
        return row;
    row = find_named(delay, ESI_DELAY_BY_COMMUNICATOR, name, NULL);
    delay->last_communicator = row;
    return row;
}

/* --- Places ----------------------------------------------------------------------- */

static uint32_t add_place(struct esi_delay *delay,
                          const struct es_operation *operation,
                          uint32_t line)
{
    uint32_t row = find_named(delay, ESI_DELAY_BY_OPERATION, operation->name, NULL);

    ESI_HASH_FOREACH(slot, &delay->place_table, esi_hash_u64(line)) {
        uint32_t index = esi_hash_index(&delay->place_table, slot);

        if (delay->places[index].line == line)
            return index;
    }
    if (row == UINT32_MAX ||
        ESI_ARRAY_RESERVE(delay->places, delay->place_capacity,
                          delay->place_count + 1) < 0 ||
        esi_hash_reserve(&delay->place_table, delay->place_count + 1) < 0)
        return UINT32_MAX;
    esi_hash_insert(&delay->place_table, esi_hash_u64(line), delay->place_count);
    delay->places[delay->place_count] =
        (struct esi_delay_place){.line = line, .operation = row, .of = operation};
    return (uint32_t)delay->place_count++;
}

uint32_t esi_delay_place_find(struct esi_delay *delay,
                              const struct es_operation *operation,
                              const char *site)
{
    size_t hash =
        (size_t)(esi_hash_u64((uint64_t)(uintptr_t)site ^ operation->code) >> 56) %
        ESI_DELAY_PLACE_CACHE;
    const char *text = site ? site : "";
    uint32_t place = delay->place_cache[hash].place;
    uint32_t line;

    if (place > 0 && delay->place_cache[hash].site == site &&
        delay->place_cache[hash].code == operation->code) {
        line = delay->places[place - 1].line;
        /* The pointer may have been reused for another text. */
        if (strcmp(delay->groups[ESI_DELAY_BY_LINE].rows[line].name, text) == 0)
            return place - 1;
    }
    line = find_named(delay, ESI_DELAY_BY_LINE, text, operation->name);
    place = line == UINT32_MAX ? UINT32_MAX : add_place(delay, operation, line);
    if (place != UINT32_MAX) {
        delay->place_cache[hash].site = site;
        delay->place_cache[hash].code = operation->code;
        delay->place_cache[hash].place = place + 1;
    }
    return place;
}

/* --- Calls ------------------------------------------------------------------------ */

static uint64_t span_after(uint64_t known_ns, uint64_t begin_ns, uint64_t end_ns)
{
    if (known_ns > begin_ns)
        begin_ns = known_ns;
    return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

void esi_delay_account(struct esi_delay *delay, struct esi_delay_thread *thread)
{
    const struct esi_delay_call *call =
        thread->next > 0 ? esi_delay_thread_call(thread, thread->next - 1) : NULL;
    const struct esi_delay_place *place;
    double computed, called;

    if (!call)
        return;
    place = &delay->places[call->place];
    computed = (double)span_after(thread->accounted_ns, call->from_ns, call->begin_ns);
    called = (double)span_after(thread->accounted_ns, call->begin_ns, call->end_ns);
    thread->accounted_ns = call->end_ns;
    const uint32_t rows[] = {
        [ESI_DELAY_BY_RANK] = thread->row,
        [ESI_DELAY_BY_OPERATION] = place->operation,
        [ESI_DELAY_BY_COMMUNICATOR] = call->communicator,
        [ESI_DELAY_BY_LINE] = place->line,
    };

    for (int group = 0; group < ESI_DELAY_BY_KIND; group++) {
        struct esi_delay_times *times =
            esi_delay_row_times(delay, (enum esi_delay_group)group, rows[group]);

        times->called += called;
        esi_delay_row_block(delay, (enum esi_delay_group)group, rows[group],
                            thread->next - 1, ESI_DELAY_CALLED, called);
        if (group != ESI_DELAY_BY_RANK && group != ESI_DELAY_BY_LINE)
            continue;
        times->computed += computed;
        esi_delay_row_block(delay, (enum esi_delay_group)group, rows[group],
                            thread->next - 1, ESI_DELAY_COMPUTED, computed);
    }
}

/* --- Lifecycle -------------------------------------------------------------------- */

static const char *name_of_kind(enum esi_delay_kind kind)
{
    static const char *const names[] = {
        [ESI_DELAY_NONE] = "",
        [ESI_DELAY_LATE_SENDER] = "late sender",
        [ESI_DELAY_WRONG_ORDER] = "wrong order",
        [ESI_DELAY_LATE_RECEIVER] = "late receiver",
        [ESI_DELAY_BARRIER] = "barrier",
        [ESI_DELAY_ALL_TO_ALL] = "all to all",
        [ESI_DELAY_ROOT_TO_ALL] = "late root",
        [ESI_DELAY_ALL_TO_ROOT] = "early root",
        [ESI_DELAY_PARTIAL] = "some to some",
        [ESI_DELAY_LATE_POST] = "late post",
        [ESI_DELAY_LATE_COMPLETE] = "late complete",
        [ESI_DELAY_LOCK] = "lock",
        [ESI_DELAY_OPEN] = "not over",
    };

    return names[kind];
}

/* The rows of kinds are indexed by their values. */
static int add_kinds(struct esi_delay *delay)
{
    int result = 0;

    for (int kind = 0; kind < ESI_DELAY_KINDS && result == 0; kind++)
        if (find_named(delay, ESI_DELAY_BY_KIND,
                       name_of_kind((enum esi_delay_kind)kind), NULL) == UINT32_MAX)
            result = -ENOMEM;
    return result;
}

int esi_delay_create(const struct esi_delay_config *config,
                     struct esi_delay **ret_delay)
{
    struct esi_delay *delay = calloc(1, sizeof *delay);

    if (!delay)
        return -ENOMEM;
    delay->config = *config;
    if (delay->config.window == 0)
        delay->config.window = WINDOW;
    if (delay->config.lag == 0)
        delay->config.lag = LAG;
    delay->block_calls = 1;
    esi_texts_init(&delay->texts);
    if (add_kinds(delay) < 0) {
        esi_delay_destroy(delay);
        return -ENOMEM;
    }
    *ret_delay = delay;
    return 0;
}

void esi_delay_destroy(struct esi_delay *delay)
{
    if (!delay)
        return;
    for (size_t i = 0; i < delay->thread_count; i++)
        esi_path_end(&delay->paths, delay->threads[i]);
    for (size_t i = 0; i < delay->thread_count; i++)
        esi_delay_thread_destroy(delay->threads[i]);
    for (int i = 0; i < ESI_DELAY_GROUPS; i++) {
        for (size_t j = 0; j < delay->groups[i].count; j++)
            free(delay->groups[i].rows[j].series);
        free(delay->groups[i].rows);
        esi_hash_fini(&delay->groups[i].table);
    }
    free(delay->threads);
    free(delay->traces);
    free(delay->places);
    esi_hash_fini(&delay->place_table);
    free(delay->meetings);
    esi_hash_fini(&delay->meeting_table);
    free(delay->windows);
    esi_hash_fini(&delay->window_table);
    free(delay->pending);
    esi_heap_fini(&delay->waits);
    esi_tally_fini(&delay->excess);
    esi_tally_fini(&delay->pairs);
    esi_tally_fini(&delay->blames);
    esi_tally_fini(&delay->causes);
    esi_texts_fini(&delay->texts);
    esi_gaps_fini(&delay->gaps);
    free(delay);
}

struct esi_causal_listener esi_delay_listener(struct esi_delay *delay)
{
    return (struct esi_causal_listener){.told = esi_delay_told,
                                        .open = esi_delay_open,
                                        .gap = esi_delay_gap,
                                        .data = delay};
}

/* --- Results ---------------------------------------------------------------------- */

const struct esi_delay_row *esi_delay_rows(const struct esi_delay *delay,
                                           enum esi_delay_group group,
                                           size_t *ret_count)
{
    *ret_count = delay->groups[group].count;
    return delay->groups[group].rows;
}

uint64_t esi_delay_block_calls(const struct esi_delay *delay)
{
    return delay->block_calls;
}

static void join_blocks(struct esi_delay_series *series)
{
    for (size_t i = 0; i < ESI_DELAY_BLOCKS / 2; i++)
        for (int metric = 0; metric < ESI_DELAY_METRICS; metric++)
            series->blocks[i][metric] =
                series->blocks[2 * i][metric] + series->blocks[2 * i + 1][metric];
    memset(series->blocks[ESI_DELAY_BLOCKS / 2], 0, sizeof series->blocks / 2);
}

void esi_delay_widen_blocks(struct esi_delay *delay, uint64_t calls)
{
    for (; delay->block_calls < calls; delay->block_calls *= 2)
        for (int group = 0; group < ESI_DELAY_GROUPS; group++)
            for (size_t i = 0; i < delay->groups[group].count; i++)
                if (delay->groups[group].rows[i].series)
                    join_blocks(delay->groups[group].rows[i].series);
}

size_t esi_delay_pair_count(const struct esi_delay *delay)
{
    return delay->pairs.count;
}

static struct esi_delay_pair describe_pair(const struct esi_delay *delay,
                                           const struct esi_tally_item *item)
{
    const struct esi_delay_row *ranks = delay->groups[ESI_DELAY_BY_RANK].rows;
    const struct esi_delay_place *place = &delay->places[(item->key & 0xffffff) / 2];
    const struct esi_delay_row *line =
        &delay->groups[ESI_DELAY_BY_LINE].rows[place->line];

    return (struct esi_delay_pair){
        .waiting =
            item->key >> 44 == ESI_DELAY_OTHERS ? -1 : ranks[item->key >> 44].rank,
        .causing = ranks[item->key >> 24 & 0xfffff].rank,
        .line = line->name,
        .operation = line->operation,
        .computing = item->key % 2 == 0,
        .waited = item->sum,
    };
}

struct esi_delay_pair esi_delay_pair_at(const struct esi_delay *delay, size_t index)
{
    return describe_pair(delay, &delay->pairs.items[index]);
}

bool esi_delay_find_blame(const struct esi_delay *delay,
                          int rank,
                          struct esi_delay_blame *ret_blame)
{
    *ret_blame = (struct esi_delay_blame){.caused = 0};
    for (size_t i = 0; i < delay->blames.count; i++) {
        struct esi_delay_pair pair = describe_pair(delay, &delay->blames.items[i]);

        if (pair.waiting != rank)
            continue;
        ret_blame->waited += pair.waited;
        if (pair.causing == rank)
            ret_blame->own += pair.waited;
        if (pair.waited <= ret_blame->caused)
            continue;
        ret_blame->caused = pair.waited;
        ret_blame->causing = pair.causing;
        ret_blame->line = pair.line;
        ret_blame->operation = pair.operation;
        ret_blame->computing = pair.computing;
    }
    return ret_blame->caused > 0;
}

bool esi_delay_find_wait(const struct esi_delay *delay,
                         uint32_t trace,
                         uint64_t ns,
                         struct esi_delay_wait *ret_wait)
{
    const struct esi_delay_thread *thread = esi_delay_thread_of(delay, trace);
    const struct esi_delay_call *call =
        thread ? esi_delay_thread_call(thread, esi_delay_thread_find(thread, ns))
               : NULL;
    const struct esi_tally_item *greatest = NULL;
    const struct esi_delay_place *place;

    if (!call || !call->charged || call->begin_ns > ns)
        return false;
    for (unsigned i = 0; i < call->cause_count; i++)
        if (call->causes[i].key != ESI_DELAY_ELSEWHERE &&
            (!greatest || call->causes[i].sum > greatest->sum))
            greatest = &call->causes[i];
    if (!greatest)
        return false;
    place = &delay->places[(uint32_t)greatest->key / 2];
    *ret_wait = (struct esi_delay_wait){
        .waited = (double)(call->until_ns - call->begin_ns),
        .caused = greatest->sum,
        .causing = delay->threads[(uint32_t)(greatest->key >> 32) - 1]->rank,
        .line = delay->groups[ESI_DELAY_BY_LINE].rows[place->line].name,
        .operation = place->of->name,
        .computing = (uint32_t)greatest->key % 2 == 0,
    };
    return true;
}

static void clear_critical(struct esi_delay *delay)
{
    for (int group = 0; group < ESI_DELAY_GROUPS; group++)
        for (size_t i = 0; i < delay->groups[group].count; i++) {
            struct esi_delay_row *row = &delay->groups[group].rows[i];

            row->times.critical = 0;
            row->times.critical_computing = 0;
            for (int block = 0; row->series && block < ESI_DELAY_BLOCKS; block++)
                row->series->blocks[block][ESI_DELAY_CRITICAL] = 0;
        }
    delay->totals.critical = 0;
}

static void add_critical_to(struct esi_delay *delay,
                            enum esi_delay_group group,
                            uint32_t row,
                            const struct esi_path_key *key,
                            double ns)
{
    esi_delay_row_times(delay, group, row)->critical += ns;
    esi_delay_row_block(delay, group, row, (uint64_t)key->block << key->generation,
                        ESI_DELAY_CRITICAL, ns);
}

static void add_critical(struct esi_delay *delay, const struct esi_tally_item *item)
{
    struct esi_path_key key = esi_path_key_of(item->key);
    const struct esi_delay_place *place = &delay->places[key.activity / 2];

    delay->totals.critical += item->sum;
    add_critical_to(delay, ESI_DELAY_BY_RANK, delay->threads[key.thread]->row, &key,
                    item->sum);
    add_critical_to(delay, ESI_DELAY_BY_LINE, place->line, &key, item->sum);
    if (key.activity % 2 == 0)
        esi_delay_row_times(delay, ESI_DELAY_BY_LINE, place->line)
            ->critical_computing += item->sum;
    else
        add_critical_to(delay, ESI_DELAY_BY_OPERATION, place->operation, &key,
                        item->sum);
}

int esi_delay_find_critical(struct esi_delay *delay)
{
    struct esi_delay_thread *last = NULL;
    struct esi_tally tally = {.count = 0};
    int result = 0;

    for (size_t i = 0; i < delay->thread_count; i++)
        if (!last || delay->threads[i]->last_ns > last->last_ns)
            last = delay->threads[i];
    clear_critical(delay);
    if (last)
        result = esi_path_sum(last, &tally);
    for (size_t i = 0; i < tally.count && result == 0; i++)
        add_critical(delay, &tally.items[i]);
    esi_tally_fini(&tally);
    return result;
}

void esi_delay_totals(const struct esi_delay *delay,
                      struct esi_delay_totals *ret_totals)
{
    *ret_totals = delay->totals;
    if (delay->pending_ns > ret_totals->end_ns)
        ret_totals->end_ns = delay->pending_ns;
    ret_totals->threads = delay->thread_count;
    ret_totals->detours = delay->paths.detours;
    ret_totals->seen =
        esi_gaps_coverage(&delay->gaps, ret_totals->begin_ns, ret_totals->end_ns);
}
