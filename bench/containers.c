/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The cost of the containers of base/ relative to what their users used before or could
 * use instead.
 *
 *   containers [ROUNDS]
 *
 * Each time is the minimum of ROUNDS (default 31) rounds, in which the compared loops
 * take turns.  A ratio above 1 means that the container of base/ is more expensive.
 */
#include "config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/list.h"
#include "base/shared_map.h"
#include "base/wire.h"

enum { ITEMS = 4096, LANES = 64, HANDLES = 16, STEPS = 1 << 16 };

static uint64_t sum; /* prevents the compiler from removing computations */

static double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void check(bool is_good)
{
    if (!is_good)
        abort();
}

static uint64_t random_state = 1;

static uint64_t random_word(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return random_state ^ random_state >> 32;
}

/* --- Arrays: appending, against an array that is large enough --------------------- */

static void append_to_array(void)
{
    uint64_t *items = NULL;
    size_t count = 0;
    size_t capacity = 0;

    while (count < STEPS) {
        check(ESI_ARRAY_RESERVE(items, capacity, count + 1) == 0);
        items[count] = count;
        count++;
    }
    sum += items[count / 2];
    free(items);
}

static void append_to_block(void)
{
    uint64_t *items = malloc(STEPS * sizeof *items);
    size_t count = 0;

    check(items != NULL);
    while (count < STEPS) {
        items[count] = count;
        count++;
    }
    sum += items[count / 2];
    free(items);
}

/* --- Hash tables: a request, added, found and removed ----------------------------- */

/* As in wrappers/mpi/requests.c: the records are in the slots. */
struct record {
    uint64_t handle; /* 0 if free */
    uint64_t words[7];
};

static struct record slots[4 * HANDLES];

static size_t slot_home(uint64_t handle)
{
    return (size_t)(esi_hash_u64(handle) >> 32) & (4 * HANDLES - 1);
}

static struct record *slot_find(uint64_t handle)
{
    size_t at = slot_home(handle);

    while (slots[at].handle != 0 && slots[at].handle != handle)
        at = (at + 1) & (4 * HANDLES - 1);
    return &slots[at];
}

static void slot_remove(struct record *record)
{
    size_t hole = (size_t)(record - slots), mask = 4 * HANDLES - 1;

    for (size_t at = (hole + 1) & mask; slots[at].handle != 0; at = (at + 1) & mask)
        if (((at - slot_home(slots[at].handle)) & mask) >= ((at - hole) & mask)) {
            slots[hole] = slots[at];
            hole = at;
        }
    slots[hole].handle = 0;
}

static void use_slots(void)
{
    for (uint64_t i = 0; i < STEPS; i++) {
        uint64_t handle = 0x98000000 + i % HANDLES;

        *slot_find(handle) = (struct record){.handle = handle, .words = {i}};
        if (i >= HANDLES / 2) {
            struct record *oldest = slot_find(0x98000000 + (i - HANDLES / 2) % HANDLES);

            sum += oldest->words[0];
            slot_remove(oldest);
        }
    }
    memset(slots, 0, sizeof slots);
}

static struct esi_hash table;
static struct record records[HANDLES];

static size_t table_find(uint64_t handle)
{
    ESI_HASH_FOREACH(slot, &table, esi_hash_u64(handle))
        if (records[esi_hash_index(&table, slot)].handle == handle)
            return slot;
    return ESI_HASH_END;
}

static void use_hash(void)
{
    size_t unused[HANDLES];
    size_t unused_count = HANDLES;

    for (size_t i = 0; i < HANDLES; i++)
        unused[i] = i;
    for (uint64_t i = 0; i < STEPS; i++) {
        uint64_t handle = 0x98000000 + i % HANDLES;

        check(table_find(handle) == ESI_HASH_END &&
              esi_hash_reserve(&table, table.count + 1) == 0);
        esi_hash_insert(&table, esi_hash_u64(handle), unused[--unused_count]);
        records[unused[unused_count]] = (struct record){handle, {i}};
        if (i >= HANDLES / 2) {
            size_t slot = table_find(0x98000000 + (i - HANDLES / 2) % HANDLES);

            unused[unused_count] = esi_hash_index(&table, slot);
            sum += records[unused[unused_count++]].words[0];
            esi_hash_remove(&table, slot);
        }
    }
    esi_hash_clear(&table);
}

/* --- Finding: indices into an array, against words beside their keys -------------- */

static struct pair {
    uint64_t key;
    uint64_t word;
} pairs[ITEMS];
static struct esi_hash pair_table;
static struct esi_shared_map *map;

static void fill_tables(void)
{
    check(esi_hash_reserve(&pair_table, ITEMS) == 0);
    while (map == NULL || map->mask < 2 * ITEMS - 1) {
        struct esi_shared_map *larger = esi_shared_map_create(map);

        check(larger != NULL);
        free(map);
        map = larger;
    }
    for (size_t i = 0; i < ITEMS; i++) {
        pairs[i] = (struct pair){.key = (uint64_t)(i % 64) << 32 | i, .word = i + 1};
        esi_hash_insert(&pair_table, esi_hash_u64(pairs[i].key + 1), i);
        esi_shared_map_insert(map, pairs[i].key + 1, pairs[i].word);
    }
}

static void find_in_hash(void)
{
    for (size_t i = 0; i < STEPS; i++) {
        uint64_t key = pairs[i * 31 % ITEMS].key;

        ESI_HASH_FOREACH(slot, &pair_table, esi_hash_u64(key + 1)) {
            const struct pair *pair = &pairs[esi_hash_index(&pair_table, slot)];

            if (pair->key == key) {
                sum += pair->word;
                break;
            }
        }
    }
}

static void find_in_map(void)
{
    for (size_t i = 0; i < STEPS; i++) {
        uint64_t key = pairs[i * 31 % ITEMS].key;

        sum += atomic_load_explicit(&esi_shared_map_find(map, key + 1)->word,
                                    memory_order_acquire);
    }
}

/* --- Heaps: merging lanes, against a heap of pointers to them --------------------- */

struct lane {
    uint64_t head;
    uint64_t step;
};

static struct lane lanes[LANES];

static void reset_lanes(void)
{
    random_state = 1;
    for (size_t i = 0; i < LANES; i++)
        lanes[i] = (struct lane){random_word() % 1000, random_word() % 1000 + 1};
}

static void merge_by_heap(void)
{
    struct esi_heap heap = {.entries = NULL};

    reset_lanes();
    check(esi_heap_reserve(&heap, LANES) == 0);
    for (size_t i = 0; i < LANES; i++)
        esi_heap_push(&heap, lanes[i].head, i);
    for (size_t i = 0; i < STEPS; i++) {
        uint64_t item = esi_heap_top(&heap).item;

        sum += lanes[item].head;
        lanes[item].head += lanes[item].step;
        esi_heap_replace_top(&heap, lanes[item].head, item);
    }
    esi_heap_fini(&heap);
}

static struct lane *by_head[LANES];

static void swap_lanes(size_t a, size_t b)
{
    struct lane *lane = by_head[a];

    by_head[a] = by_head[b];
    by_head[b] = lane;
}

static void settle_top(void)
{
    for (size_t at = 0;;) {
        size_t least = at;

        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < LANES; child++)
            if (by_head[child]->head < by_head[least]->head)
                least = child;
        if (least == at)
            return;
        swap_lanes(at, least);
        at = least;
    }
}

static void merge_by_pointers(void)
{
    reset_lanes();
    for (size_t i = 0; i < LANES; i++) {
        by_head[i] = &lanes[i];
        for (size_t at = i; at > 0 && by_head[at]->head < by_head[(at - 1) / 2]->head;
             at = (at - 1) / 2)
            swap_lanes(at, (at - 1) / 2);
    }
    for (size_t i = 0; i < STEPS; i++) {
        sum += by_head[0]->head;
        by_head[0]->head += by_head[0]->step;
        settle_top();
    }
}

/* --- Lists: a queue, against links by hand ---------------------------------------- */

static struct job {
    struct esi_list_link link;
    struct job *next;
    uint64_t number;
} jobs[HANDLES];

static void queue_in_list(void)
{
    struct esi_list queue = {.first = NULL};

    for (size_t i = 0; i < HANDLES; i++)
        esi_list_append(&queue, &jobs[i].link);
    for (size_t i = 0; i < STEPS; i++) {
        struct job *job = ESI_LIST_POP(struct job, &queue, link);

        sum += job->number++;
        esi_list_append(&queue, &job->link);
    }
}

static void queue_by_hand(void)
{
    struct job *first = NULL;
    struct job **end = &first;

    for (size_t i = 0; i < HANDLES; i++, end = &(*end)->next)
        *end = &jobs[i];
    *end = NULL;
    for (size_t i = 0; i < STEPS; i++) {
        struct job *job = first;

        first = job->next;
        if (first == NULL)
            end = &first;
        sum += job->number++;
        job->next = NULL;
        *end = job;
        end = &job->next;
    }
}

/* --- Wire: numbers of variable length, against a codec without bounds ------------- */

static unsigned char bytes[ITEMS * ESI_WIRE_VARINT_BYTES];
static uint64_t numbers[ITEMS]; /* nine of ten are small, like marks */

static void fill_numbers(void)
{
    for (size_t i = 0; i < ITEMS; i++)
        numbers[i] = i % 10 ? random_word() % 100 : random_word() >> random_word() % 40;
}

static void code_bounded(void)
{
    for (size_t round = 0; round < STEPS / ITEMS; round++) {
        struct esi_wire_writer out = esi_wire_writer(bytes, sizeof bytes);
        struct esi_wire_reader in;

        for (size_t i = 0; i < ITEMS; i++)
            esi_wire_put_varint(&out, numbers[i]);
        in = esi_wire_reader(bytes, (size_t)(out.at - bytes));
        for (size_t i = 0; i < ITEMS; i++)
            sum += esi_wire_get_varint(&in);
        check(!in.failed && !out.failed);
    }
}

static void code_unbounded(void)
{
    for (size_t round = 0; round < STEPS / ITEMS; round++) {
        unsigned char *out = bytes;
        const unsigned char *in = bytes;

        for (size_t i = 0; i < ITEMS; i++) {
            uint64_t value = numbers[i];

            for (; value >= 0x80; value >>= 7)
                *out++ = (unsigned char)(value | 0x80);
            *out++ = (unsigned char)value;
        }
        for (size_t i = 0; i < ITEMS; i++) {
            uint64_t value = *in & 0x7f;

            for (unsigned shift = 7; *in++ >= 0x80; shift += 7)
                value |= (uint64_t)(*in & 0x7f) << shift;
            sum += value;
        }
    }
}

/* --- All -------------------------------------------------------------------------- */

static const struct comparison {
    const char *name;
    const char *peer;
    void (*ours)(void);
    void (*theirs)(void);
} comparisons[] = {
    {"array_append", "a block that is large enough", append_to_array, append_to_block},
    {"hash_request", "records in the slots", use_hash, use_slots},
    {"hash_find", "words in the slots (shared_map)", find_in_hash, find_in_map},
    {"heap_merge", "a heap of pointers", merge_by_heap, merge_by_pointers},
    {"list_queue", "links by hand", queue_in_list, queue_by_hand},
    {"wire_varint", "a codec without bounds", code_bounded, code_unbounded},
};

static double time_of(void (*run)(void))
{
    double begin = now_ns();

    run();
    return (now_ns() - begin) / STEPS;
}

static void compare(const struct comparison *comparison, int rounds)
{
    double ours = 1e9;
    double theirs = 1e9;

    for (int i = 0; i < rounds; i++) {
        double first = time_of(comparison->ours);
        double second = time_of(comparison->theirs);

        ours = first < ours ? first : ours;
        theirs = second < theirs ? second : theirs;
    }
    printf("%-14s %7.2f %7.2f %6.2f   %s\n", comparison->name, ours, theirs,
           ours / theirs, comparison->peer);
    printf("figure: containers_%s %.2f ns\n", comparison->name, ours);
    printf("figure: containers_%s_to_peer %.2f ratio\n", comparison->name,
           ours / theirs);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 31;

    fill_tables();
    fill_numbers();
    printf("%-14s %7s %7s %6s   ns a step; against\n", "container", "base", "peer",
           "ratio");
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        compare(&comparisons[i], rounds > 0 ? rounds : 1);
    esi_hash_fini(&table);
    esi_hash_fini(&pair_table);
    free(map);
    return sum == 0;
}
