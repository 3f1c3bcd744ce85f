/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Indexes of the values of a domain, sorted: by one or several of their attributes, for
 * comparisons `$a.tag = $b.tag` and `$a.start < $b.start`, and receives by the sends
 * that they name.  Any number of threads may look things up.  16 bytes a value.
 */
#ifndef ES_MONITORS_SEARCH_INDEXED_INDEXED_SORTED_H
#define ES_MONITORS_SEARCH_INDEXED_INDEXED_SORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/search/domains/domain.h"

/* Values, by slot and position. */
struct esi_listed {
    const struct esi_domain_value *values;
    size_t count;
};

/* Room for a list that is sorted. */
struct esi_sorted_list {
    struct esi_domain_value *values; /* owned */
    size_t capacity;
};
/* By slot and position; of several that are equal one stays.  How many are left. */
size_t esi_domain_values_sort(struct esi_domain_value *values, size_t count);

/* --- Keys ------------------------------------------------------------------------- */

enum { ESI_KEY_PARTS = 8 };

/* Whether two operands that are no constants are of one attribute. */
static inline bool esi_operands_are_same(const struct esi_pattern_operand *a,
                                         const struct esi_pattern_operand *b)
{
    return a->field == b->field &&
           (a->field != ES_FIELD_ATTRIBUTE || a->attribute == b->attribute);
}

/* Of which attributes a key is made: sides of EQUAL comparisons.  Of several the key is
 * a number that others may have by chance. */
struct esi_key_form {
    unsigned count;
    const struct esi_pattern_node *nodes[ESI_KEY_PARTS];
    uint8_t sides[ESI_KEY_PARTS];
};

/* False: the value lacks an attribute. */
bool esi_key_of(const struct esi_key_form *form,
                const struct esi_domain *domain,
                struct esi_domain_value value,
                struct esi_domain_key *ret_key);

/* --- Indexes ---------------------------------------------------------------------- */

/* What an index by sends has of a send. */
static inline struct esi_domain_key esi_send_key(struct es_event_id send)
{
    return (struct esi_domain_key){
        .number = (int64_t)((uint64_t)send.trace << 32 | send.index)};
}

struct esi_sorted_index;

/* By attributes; `form` NULL: by the sends that values name, each value once for each
 * of these.  0 or -ENOMEM. */
int esi_sorted_index_create(const struct esi_domain *domain,
                            const struct esi_key_form *form,
                            struct esi_sorted_index **ret_index);
/* Accepts NULL. */
void esi_sorted_index_destroy(struct esi_sorted_index *index);
uint64_t esi_sorted_index_bytes(const struct esi_sorted_index *index);

/* Those that have a key, in the order of the domain. */
struct esi_listed esi_sorted_index_find(const struct esi_sorted_index *index,
                                        struct esi_domain_key key);
/* Those that have a number in [low, high], by their numbers. */
struct esi_listed esi_sorted_index_between(const struct esi_sorted_index *index,
                                           int64_t low,
                                           int64_t high);
/* Those that lack an attribute, in the order of the domain. */
struct esi_listed esi_sorted_index_absent(const struct esi_sorted_index *index);

#endif
