/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* domain_columns.h - what domain.c, domain_sets.c, domain_values.c, domains.c and
 * domains_ask.c share. */
#ifndef ES_MONITORS_SEARCH_DOMAINS_DOMAIN_COLUMNS_H
#define ES_MONITORS_SEARCH_DOMAINS_DOMAIN_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitors/eventset/segmented.h"
#include "monitors/eventset/set_texts.h"
#include "monitors/search/domains/domain.h"
#include "monitors/search/domains/expression.h"

struct esi_domains;
struct esi_lookup;

#define ESI_NO_TIME INT64_MIN

/* A field or attribute of an event as it is kept. */
enum esi_value_form {
    ESI_VALUE_ABSENT,
    ESI_VALUE_NUMBER, /* also of a text that is one */
    ESI_VALUE_TEXT,
};

struct esi_value {
    int64_t number;
    uint32_t text; /* of TEXT: its number in `texts` */
    uint32_t form; /* enum esi_value_form */
};

/* A field or attribute that comparisons ask for; with `expression` the value is 1 or 0,
 * whether the expression of that comparison matches. */
struct esi_asked {
    enum esi_pattern_field field;
    uint32_t attribute;
    const struct esi_pattern_node
        *node; /* the comparison, of an expression; else NULL */
    struct esi_expression *expression;
};

/* What is kept of the events of one class beside which they are. */
struct esi_keeps {
    bool times;
    bool partners;
    uint32_t asked_count;
    size_t asked_capacity;
    struct esi_asked *asked;
    const struct esi_texts *types;
    const struct esi_texts *texts; /* of values */
};

/* One event as it goes into a column. */
struct esi_domain_row {
    uint32_t index;
    uint32_t type;
    int64_t time;
    const struct esi_value *values;
    const struct es_event_id *partners;
    uint32_t partner_count;
    bool is_sync;
};

/* Partners: one stands in the row, more in memory of their own. */
struct esi_kept_partners {
    uint32_t count;
    union {
        struct es_event_id one;
        struct es_event_id *many;
    } at;
};

/* The rows [first, end) are there; arrays are NULL where nothing is kept. */
struct esi_column {
    uint32_t trace;
    uint32_t first;
    uint32_t end;
    uint32_t capacity;
    bool is_unsorted;
    uint32_t type; /* of all rows while `types` is NULL */
    uint32_t *indexes;
    uint32_t *types;
    int64_t *times;
    int64_t *latest;   /* the greatest time up to each row; beside `times` */
    uint64_t disorder; /* no time is so much less than `latest` of its row */
    struct esi_kept_partners *partners;
    struct esi_value *values; /* asked_count of each row */

    /* Of a selection, which has nothing else but indexes. */
    const struct esi_column *whole; /* borrowed */
    uint32_t *rows;                 /* of `whole`, of each of its own */
};

/* A set: its events and partners lie in rows of their own. */
struct esi_set_row {
    uint64_t events;
    uint64_t partners;
    uint32_t count;
    uint32_t partner_count;
    int64_t first_time; /* ESI_NO_TIME: of some event it is not known */
    int64_t last_time;
};

struct esi_domain {
    bool is_single;
    bool has_syncs;
    uint64_t count;

    /* Of single events. */
    const struct esi_keeps *keeps; /* borrowed */
    struct esi_column *columns;
    uint32_t slots;
    size_t slot_capacity;
    uint32_t *slot_of;         /* by trace: slot + 1, 0 = none */
    size_t traces;             /* room in `slot_of` */
    struct esi_lookup *lookup; /* owned */

    /* Of sets. */
    const struct esi_domains *domains; /* what knows of their events; NULL, borrowed */
    struct esi_segmented sets;         /* struct esi_set_row */
    struct esi_segmented events;       /* struct es_event_id */
    struct esi_segmented partners;
};

int esi_domain_create(const struct esi_keeps *keeps, struct esi_domain **ret_domain);

/* A row of a trace, after all others or where it belongs; `may_wait`: it may stand at
 * the end until esi_domain_sort().  0 or -ENOMEM, then nothing was added. */
int esi_domain_add(struct esi_domain *domain,
                   uint32_t trace,
                   const struct esi_domain_row *row,
                   bool may_wait);
/* Columns by their indexes, slots by their traces.  0 or -ENOMEM. */
int esi_domain_sort(struct esi_domain *domain);
/* The row of an event, borrowed until something is added; false: it is not there.
 * Columns are sorted. */
bool esi_domain_row(const struct esi_domain *domain,
                    struct es_event_id id,
                    struct esi_domain_row *ret_row);
/* Drops what is before `index` on a trace. */
void esi_domain_drop(struct esi_domain *domain, uint32_t trace, uint32_t index);

/* --- domain_lookup.c -------------------------------------------------------------- */

int esi_lookup_create(const struct esi_keeps *keeps, struct esi_lookup **ret_lookup);
/* Accepts NULL. */
void esi_lookup_destroy(struct esi_lookup *lookup);
uint64_t esi_lookup_bytes(const struct esi_lookup *lookup);
/* A row that the domain is about to take.  0 or a negative errno. */
int esi_lookup_add(const struct esi_domain *domain,
                   uint32_t trace,
                   const struct esi_domain_row *row);

/* What `=` compares of a value.  False: it is absent. */
static inline bool esi_value_key(const struct esi_value *value,
                                 struct esi_domain_key *ret_key)
{
    /* Texts are kept once: equal ones have one number. */
    *ret_key = value->form == ESI_VALUE_TEXT
                   ? (struct esi_domain_key){value->text, true}
                   : (struct esi_domain_key){value->number, false};
    return value->form != ESI_VALUE_ABSENT;
}

/* Single events, or events and sets. */
uint64_t esi_domain_kept(const struct esi_domain *domain);
/* Of sets: all go. */
void esi_domain_clear_sets(struct esi_domain *domain);

/* What is known of an event that belongs to a set: of the classes that keep times or
 * partners the first that has it (domains.c). */
bool esi_domains_time(const struct esi_domains *domains,
                      struct es_event_id id,
                      int64_t *ret_time);
size_t esi_domains_partners(const struct esi_domains *domains,
                            struct es_event_id id,
                            const struct es_event_id **ret_partners);

static inline const struct es_event_id *esi_partners_at(
    const struct esi_kept_partners *partners)
{
    return partners->count > 1 ? partners->at.many : &partners->at.one;
}

/* Which of the values that are kept is that of one side of a comparison; asked_count:
 * none. */
uint32_t esi_keeps_find(const struct esi_keeps *keeps,
                        const struct esi_pattern_node *node,
                        const struct esi_pattern_operand *operand);

/* Where a value of single events stands. */
static inline const struct esi_column *esi_domain_at(const struct esi_domain *domain,
                                                     struct esi_domain_value value,
                                                     uint32_t *ret_row)
{
    const struct esi_column *column = &domain->columns[value.slot];

    *ret_row = column->first + value.position;
    if (!column->rows)
        return column;
    *ret_row = column->rows[*ret_row];
    return column->whole;
}

#endif
