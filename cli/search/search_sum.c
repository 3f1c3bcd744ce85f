/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_sum.c - matches counted by rank, pair of ranks, or communicator. */
#include "config.h"

#include "cli/search/search_sum.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/rows.h"

#define NO_RANK INT64_MIN

/* The key that matches are counted by. */
struct count_key {
    const char *pattern;      /* borrowed, like `communicator` */
    const char *communicator; /* NULL: none */
    int64_t rank;
    int64_t other;
};

struct esi_search_count {
    struct count_key key;
    uint64_t matches;
    size_t pattern_order; /* predicates are searched one after the other, or together */
};

/* --- Counting --------------------------------------------------------------------- */

static uint64_t hash_key(const struct count_key *key)
{
    uint64_t hash = esi_hash_mix_text(0, key->pattern);

    hash = esi_hash_mix_text(hash, key->communicator ? key->communicator : "");
    return esi_hash_mix(esi_hash_mix(hash, (uint64_t)key->rank), (uint64_t)key->other);
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_key(const struct count_key *a, const struct count_key *b)
{
    return a->rank == b->rank && a->other == b->other &&
           is_same_text(a->pattern, b->pattern) &&
           is_same_text(a->communicator, b->communicator);
}

/* Predicates are numbered by their first matches. */
static size_t order_of(const struct esi_search_sum *sum, const char *pattern)
{
    size_t next = 0;

    for (size_t i = sum->hash.count; i-- > 0;) {
        if (is_same_text(sum->items[i].key.pattern, pattern))
            return sum->items[i].pattern_order;
        if (sum->items[i].pattern_order >= next)
            next = sum->items[i].pattern_order + 1;
    }
    return next;
}

static int count_one(struct esi_search_sum *sum, const struct count_key *key)
{
    size_t count = sum->hash.count;

    ESI_HASH_FOREACH(slot, &sum->hash, hash_key(key)) {
        struct esi_search_count *item = &sum->items[esi_hash_index(&sum->hash, slot)];

        if (is_same_key(&item->key, key)) {
            item->matches++;
            return 0;
        }
    }
    if (esi_hash_reserve(&sum->hash, count + 1) < 0 ||
        ESI_ARRAY_RESERVE(sum->items, sum->room, count + 1) < 0)
        return -ENOMEM;
    sum->items[count] = (struct esi_search_count){
        .key = *key, .matches = 1, .pattern_order = order_of(sum, key->pattern)};
    esi_hash_insert(&sum->hash, hash_key(key), count);
    return 0;
}

/* --- Keys of a match -------------------------------------------------------------- */

/* The rank and the communicator of an event. */
static struct count_key key_of(const struct esi_details *details,
                               struct es_event_id id,
                               enum esi_search_by by)
{
    struct count_key key = {.rank = NO_RANK, .other = NO_RANK};
    struct esi_detail detail;

    if (!esi_details_find(details, id, &detail))
        return key;
    if (by == ES_SEARCH_BY_COMMUNICATOR) {
        if (esi_detail_has(&detail, ES_DETAIL_COMMUNICATOR))
            key.communicator = detail.values[ES_DETAIL_COMMUNICATOR].text;
    } else if (esi_detail_has(&detail, ES_DETAIL_RANK))
        key.rank = detail.values[ES_DETAIL_RANK].number;
    return key;
}

static bool is_of_nobody(const struct count_key *key)
{
    return !key->communicator && key->rank == NO_RANK;
}

/* The distinct keys of a match's events.  NULL if out of memory.  The caller frees. */
static struct count_key *list_keys(const struct esi_search_sum *sum,
                                   const struct esi_details *details,
                                   const struct es_event_id *events,
                                   size_t *count)
{
    struct count_key *keys = calloc(*count + 1, sizeof *keys);
    size_t different = 0;

    for (size_t i = 0; keys && i < *count; i++) {
        size_t at = 0;

        keys[different] = key_of(details, events[i], sum->by);
        while (!is_same_key(&keys[at], &keys[different]))
            at++;
        different += at == different && !is_of_nobody(&keys[different]);
    }
    *count = different;
    return keys;
}

static int count_pairs(struct esi_search_sum *sum,
                       const struct count_key *keys,
                       size_t count,
                       const char *pattern)
{
    int result = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; result == 0 && j < count; j++) {
            bool is_less = keys[i].rank < keys[j].rank;

            result = count_one(
                sum, &(struct count_key){.pattern = pattern,
                                         .rank = keys[is_less ? i : j].rank,
                                         .other = keys[is_less ? j : i].rank});
        }
    return result;
}

int esi_search_sum_add(struct esi_search_sum *sum,
                       const char *pattern,
                       const struct esi_details *details,
                       const struct es_event_id *events,
                       size_t count)
{
    struct count_key *keys = list_keys(sum, details, events, &count);
    int result = keys ? 0 : -ENOMEM;

    if (result == 0 && count == 0) {
        keys[0] = (struct count_key){.rank = NO_RANK, .other = NO_RANK};
        count = 1;
    }
    if (result == 0 && sum->by == ES_SEARCH_BY_PAIR && count > 1)
        result = count_pairs(sum, keys, count, pattern);
    else
        for (size_t i = 0; result == 0 && i < count; i++) {
            keys[i].pattern = pattern;
            result = count_one(sum, &keys[i]);
        }
    free(keys);
    return result;
}

void esi_search_sum_fini(struct esi_search_sum *sum)
{
    esi_hash_fini(&sum->hash);
    free(sum->items);
    *sum = (struct esi_search_sum){.by = ES_SEARCH_BY_NOTHING};
}

/* --- Output ----------------------------------------------------------------------- */

struct count_row {
    enum esi_search_by by;
    const struct esi_search_count *is;
};

static void describe_count(struct esi_row *row, const void *record)
{
    const struct count_row *shown = record;
    const struct count_key *key = &shown->is->key;

    esi_row_text(row, "type", NULL, "sum");
    esi_row_text(row, "pattern", "PATTERN", key->pattern);
    if (shown->by == ES_SEARCH_BY_COMMUNICATOR)
        esi_row_text(esi_row_if(row, key->communicator != NULL), "communicator",
                     "COMMUNICATOR", key->communicator);
    else
        esi_row_signed(esi_row_if(row, key->rank != NO_RANK), "rank", "RANK",
                       key->rank);
    if (shown->by == ES_SEARCH_BY_PAIR)
        esi_row_signed(esi_row_if(row, key->other != NO_RANK), "other_rank", "AND",
                       key->other);
    esi_row_unsigned(row, "matches", "MATCHES", shown->is->matches);
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_counts(const void *left, const void *right)
{
    const struct esi_search_count *a = left, *b = right;
    int result =
        (a->pattern_order > b->pattern_order) - (a->pattern_order < b->pattern_order);

    if (result == 0)
        result = (a->matches < b->matches) - (a->matches > b->matches);
    if (result == 0)
        result = compare_numbers(a->key.rank, b->key.rank);
    if (result == 0)
        result = compare_numbers(a->key.other, b->key.other);
    if (result == 0)
        result = strcmp(a->key.communicator ? a->key.communicator : "",
                        b->key.communicator ? b->key.communicator : "");
    return result;
}

int esi_search_sum_show(struct esi_search_sum *sum, enum esi_format format)
{
    static const struct esi_search_count none = {.key = {.pattern = ""}};
    size_t count = sum->hash.count;
    struct esi_rows rows;
    int result;

    if (count == 0)
        return ES_EXIT_SUCCESS;
    qsort(sum->items, count, sizeof *sum->items, compare_counts);
    esi_rows_init(&rows, esi_format_rows(format), stdout, describe_count);
    result = esi_rows_begin(&rows, &(struct count_row){sum->by, &none});
    for (size_t i = 0; result == 0 && i < count; i++)
        esi_rows_add(&rows, &(struct count_row){sum->by, &sum->items[i]});
    if (result == 0)
        result = esi_rows_finish(&rows);
    return result < 0 ? esi_command_fail_error(ES_EXIT_USAGE, NULL, result,
                                               "cannot print the sums")
                      : ES_EXIT_SUCCESS;
}
