/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Sorted indexes of the values of a domain: by one or several attributes, for
 * comparisons `$a.tag = $b.tag` and `$a.start < $b.start`, and of receives by the sends
 * that they name.  Any number of threads may do lookups.  16 bytes per value.
 */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_SORTED_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_SORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/search/domains/domain.h"

/* A list of values, by slot and position. */
struct esi_listed {
    const struct esi_domain_value *values;
    size_t count;
};

/* Memory for a sorted list. */
struct esi_sorted_list {
    struct esi_domain_value *values; /* owned */
    size_t capacity;
};
/* Sorts by slot and position, and removes duplicates.  Returns the number of values
 * left. */
size_t esi_domain_values_sort(struct esi_domain_value *values, size_t count);

/* --- Keys ------------------------------------------------------------------------- */

enum { ESI_KEY_PARTS = 8 };

/* Whether two operands, which are not constants, name the same attribute. */
static inline bool esi_operands_are_same(const struct esi_pattern_operand *a,
                                         const struct esi_pattern_operand *b)
{
    return a->field == b->field &&
           (a->field != ES_FIELD_ATTRIBUTE || a->attribute == b->attribute);
}

/* The attributes of a key: sides of EQUAL comparisons.  For several attributes the key
 * is a hash, so different values may have the same key. */
struct esi_key_form {
    unsigned count;
    const struct esi_pattern_node *nodes[ESI_KEY_PARTS];
    uint8_t sides[ESI_KEY_PARTS];
};

/* False if the value lacks an attribute. */
bool esi_key_of(const struct esi_key_form *form,
                const struct esi_domain *domain,
                struct esi_domain_value value,
                struct esi_domain_key *ret_key);

/* --- Indexes ---------------------------------------------------------------------- */

/* The key of a send in an index by sends. */
static inline struct esi_domain_key esi_send_key(struct es_event_id send)
{
    return (struct esi_domain_key){
        .number = (int64_t)((uint64_t)send.trace << 32 | send.index)};
}

struct esi_sorted_index;

/* Creates an index by attributes, or by the sends that values name if `form` is NULL;
 * then each value is listed once for each of its sends.  Returns 0 or -ENOMEM. */
int esi_sorted_index_create(const struct esi_domain *domain,
                            const struct esi_key_form *form,
                            struct esi_sorted_index **ret_index);
/* Accepts NULL. */
void esi_sorted_index_destroy(struct esi_sorted_index *index);
uint64_t esi_sorted_index_bytes(const struct esi_sorted_index *index);

/* The values with a key, in the order of the domain. */
struct esi_listed esi_sorted_index_find(const struct esi_sorted_index *index,
                                        struct esi_domain_key key);
/* The values with a number in [low, high], sorted by number. */
struct esi_listed esi_sorted_index_between(const struct esi_sorted_index *index,
                                           int64_t low,
                                           int64_t high);
/* The values that lack an attribute, in the order of the domain. */
struct esi_listed esi_sorted_index_absent(const struct esi_sorted_index *index);

#endif
