/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* domain_columns.h - the fields of a domain, for the files of this folder and for the
 * inner loops of searches while events arrive. */
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

/* The stored value of a field or attribute of an event. */
enum esi_value_form {
    ESI_VALUE_ABSENT,
    ESI_VALUE_NUMBER, /* also for a text that is a number */
    ESI_VALUE_TEXT,
};

struct esi_value {
    int64_t number;
    uint32_t text; /* for TEXT: its number in `texts` */
    uint32_t form; /* enum esi_value_form */
};

/* A field or attribute that comparisons use.  With `expression`, the value is 1 or 0:
 * whether the regular expression of that comparison matches. */
struct esi_asked {
    enum esi_pattern_field field;
    uint32_t attribute;
    const struct esi_pattern_node
        *node; /* the comparison with the expression, otherwise NULL */
    struct esi_expression *expression;
};

/* The data kept of the events of one class, in addition to their identity. */
struct esi_keeps {
    bool times;
    bool partners;
    uint32_t asked_count;
    size_t asked_capacity;
    struct esi_asked *asked;
    const struct esi_texts *types;
    const struct esi_texts *texts; /* of the values */
};

/* One event that is added to a column. */
struct esi_domain_row {
    uint32_t index;
    uint32_t type;
    int64_t time;
    const struct esi_value *values;
    const struct es_event_id *partners;
    uint32_t partner_count;
    bool is_sync;
};

/* Partners: a single one is stored in the row, several in separate memory. */
struct esi_kept_partners {
    uint32_t count;
    union {
        struct es_event_id one;
        struct es_event_id *many;
    } at;
};

/* The rows [first, end) are valid.  Arrays of data that is not kept are NULL. */
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
    int64_t *latest;   /* maximum time up to each row; kept together with `times` */
    uint64_t disorder; /* no time is less than `latest` of its row by more than this */
    struct esi_kept_partners *partners;
    struct esi_value *values; /* asked_count per row */

    /* Only for selections, which otherwise have only indexes: */
    const struct esi_column *whole; /* borrowed */
    uint32_t *rows;                 /* for each row, its row in `whole` */
};

/* A set.  Its events and partners are stored in separate arrays. */
struct esi_set_row {
    uint64_t events;
    uint64_t partners;
    uint32_t count;
    uint32_t partner_count;
    int64_t first_time; /* ESI_NO_TIME if the time of some event is not known */
    int64_t last_time;
};

struct esi_domain {
    bool is_single;
    bool has_syncs;
    uint64_t count;

    /* For single events: */
    const struct esi_keeps *keeps; /* borrowed */
    struct esi_column *columns;
    uint32_t slots;
    size_t slot_capacity;
    uint32_t *slot_of;         /* by trace: slot + 1; 0 = none */
    size_t traces;             /* capacity of `slot_of` */
    struct esi_lookup *lookup; /* owned */

    /* For sets: */
    const struct esi_domains *domains; /* source of the data of their events; may be
                                          NULL; borrowed */
    struct esi_segmented sets;         /* struct esi_set_row */
    struct esi_segmented events;       /* struct es_event_id */
    struct esi_segmented partners;
};

int esi_domain_create(const struct esi_keeps *keeps, struct esi_domain **ret_domain);

/* Adds a row of a trace, at its sorted position.  If `may_wait` is true, it may be left
 * at the end until esi_domain_sort().  Returns 0, or -ENOMEM with nothing added. */
int esi_domain_add(struct esi_domain *domain,
                   uint32_t trace,
                   const struct esi_domain_row *row,
                   bool may_wait);
/* Sorts columns by index and slots by trace.  Returns 0 or -ENOMEM. */
int esi_domain_sort(struct esi_domain *domain);
/* Finds the row of an event, borrowed until something is added; false if there is none.
 * The columns must be sorted. */
bool esi_domain_row(const struct esi_domain *domain,
                    struct es_event_id id,
                    struct esi_domain_row *ret_row);
/* Drops the events before `index` on a trace. */
void esi_domain_drop(struct esi_domain *domain, uint32_t trace, uint32_t index);

/* --- domain_lookup.c -------------------------------------------------------------- */

int esi_lookup_create(const struct esi_keeps *keeps, struct esi_lookup **ret_lookup);
/* Accepts NULL. */
void esi_lookup_destroy(struct esi_lookup *lookup);
uint64_t esi_lookup_bytes(const struct esi_lookup *lookup);
/* Adds a row that the domain is about to take.  Returns 0 or a negative errno. */
int esi_lookup_add(const struct esi_domain *domain,
                   uint32_t trace,
                   const struct esi_domain_row *row);

/* Key of a value for `=`.  False if the value is absent. */
static inline bool esi_value_key(const struct esi_value *value,
                                 struct esi_domain_key *ret_key)
{
    /* Texts are stored once: equal texts have the same number. */
    *ret_key = value->form == ESI_VALUE_TEXT
                   ? (struct esi_domain_key){value->text, true}
                   : (struct esi_domain_key){value->number, false};
    return value->form != ESI_VALUE_ABSENT;
}

/* Number of single events, or of events and sets. */
uint64_t esi_domain_kept(const struct esi_domain *domain);
/* For domains of sets: removes all values. */
void esi_domain_clear_sets(struct esi_domain *domain);

/* Data of an event that belongs to a set, taken from the first class containing the
 * event that keeps times or partners (domains.c). */
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

/* Finds the position, among the values that are kept, of one side of a comparison;
 * asked_count if there is none. */
uint32_t esi_keeps_find(const struct esi_keeps *keeps,
                        const struct esi_pattern_node *node,
                        const struct esi_pattern_operand *operand);

/* The column and the row of a value of single events. */
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

/* esi_domain_column() of single events. */
static inline struct esi_domain_column esi_domain_column_at(
    const struct esi_domain *domain,
    uint32_t slot)
{
    const struct esi_column *column = &domain->columns[slot];

    return (struct esi_domain_column){column->trace, column->end - column->first,
                                      column->indexes + column->first};
}

/* The time of a single event; ESI_NO_TIME if it is not known. */
static inline int64_t esi_domain_time_at(const struct esi_domain *domain,
                                         struct esi_domain_value value)
{
    uint32_t row;
    const struct esi_column *column = esi_domain_at(domain, value, &row);

    return column->times ? column->times[row] : ESI_NO_TIME;
}

#endif
