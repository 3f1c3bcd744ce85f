/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * An event set in memory: columns of numbers, for those that search it.
 *
 *   es_event_set_create(&set);
 *   es_set_read_file(path, &config, ...);       with es_event_set_sink(set)
 *   es_event_set_finish(set, &error);
 *   wanted = es_event_set_find_text(set, "MPI_Send");
 *   for (id.index = 1; id.index <= es_event_set_count(set, id.trace); id.index++)
 *       if (es_event_set_type(set, id) == wanted) ...
 *   es_event_set_destroy(set);
 *
 * Every text is kept once and has a number: texts are the same when their numbers are.
 * An event costs 17 bytes, 8 more for each partner beyond the first (of a send: each
 * receive beyond the first), and its attributes: a column for each trace and name, in
 * which 64 events share the bits that they have in common.
 *
 * Events may be asked for while the set still grows: all of it by one thread at a time,
 * and the queries by any number of threads while nothing is added.
 */
#ifndef ES_MONITORS_ORDER_EVENT_SET_H
#define ES_MONITORS_ORDER_EVENT_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "monitors/order/event.h"

/* Not the number of any text.  The empty text is number 0. */
#define ES_TEXT_NONE UINT32_MAX

struct es_event_set;

/* 0 or -ENOMEM. */
int es_event_set_create(struct es_event_set **ret_set);
/* Accepts NULL. */
void es_event_set_destroy(struct es_event_set *set);

/* --- Filling --------------------------------------------------------------------- */

/* Adds traces and events; a receive may come before its sends.  Its calls give -EINVAL
 * for an event out of turn or a trace that was not told, -EOVERFLOW beyond 2^32-2
 * events of a trace or texts, -ENOMEM; the set is then only good for destroying. */
struct es_set_sink es_event_set_sink(struct es_event_set *set);

/* Checks that nothing is left open: each partner is there and of the kind that it must
 * be.  0, or -EINVAL with words.  More may be added afterwards, and finished again. */
int es_event_set_finish(struct es_event_set *set, struct es_error *error);

/* --- Sizes ----------------------------------------------------------------------- */

uint32_t es_event_set_traces(const struct es_event_set *set);
uint64_t es_event_set_events(const struct es_event_set *set);
/* Events of a trace; 0 where there is no such trace. */
uint32_t es_event_set_count(const struct es_event_set *set, uint32_t trace);
/* Bytes that are held, used or not. */
uint64_t es_event_set_bytes(const struct es_event_set *set);

/* --- Texts ----------------------------------------------------------------------- */

/* Numbers of texts run from 0; those below this are there. */
uint32_t es_event_set_texts(const struct es_event_set *set);
/* The text of a number that is there.  Borrowed for the set's life. */
const char *es_event_set_text(const struct es_event_set *set, uint32_t text);
/* The number of a text, or ES_TEXT_NONE: then nothing in the set has it. */
uint32_t es_event_set_find_text(const struct es_event_set *set, const char *text);

/* --- Events; `id` is there (not checked) ------------------------------------------ */

bool es_event_set_has(const struct es_event_set *set, struct es_event_id id);

/* Numbers of texts. */
uint32_t es_event_set_trace_name(const struct es_event_set *set, uint32_t trace);
uint32_t es_event_set_type(const struct es_event_set *set, struct es_event_id id);
uint32_t es_event_set_text_of(const struct es_event_set *set, struct es_event_id id);
enum es_event_kind es_event_set_kind(const struct es_event_set *set,
                                     struct es_event_id id);

/* Partners: the sends of a receive as it names them, the receives of a send, the other
 * half of a sync.  Returns how many; *ret_partners is borrowed until more is added.
 * While the set grows, a send does not know of receives that came before it:
 * es_event_set_finish() tells it. */
size_t es_event_set_partners(const struct es_event_set *set,
                             struct es_event_id id,
                             const struct es_event_id **ret_partners);

/* Events of a trace whose columns lie side by side, for a scan. */
struct es_event_set_span {
    const uint32_t *types;
    const uint32_t *texts;
    uint32_t count;
};

/* Those from `id` on: at least one, and as many as lie side by side. */
void es_event_set_span(const struct es_event_set *set,
                       struct es_event_id id,
                       struct es_event_set_span *ret_span);

/* --- Attributes ------------------------------------------------------------------ */

enum es_value_kind {
    ES_VALUE_ABSENT, /* the event does not have the attribute */
    ES_VALUE_NUMBER,
    ES_VALUE_TEXT,
};

/* Values are the same when both fields are: a text that is a decimal number as
 * es_set_number_parse() takes it (set_number.h) is kept as number. */
struct es_event_value {
    enum es_value_kind kind;
    int64_t number; /* or the text's number */
};

/* Names of attributes are texts; these are their numbers, in the order in which they
 * were met. */
size_t es_event_set_attribute_names(const struct es_event_set *set,
                                    const uint32_t **ret_names);

/* The attribute whose name is text `name` (ES_TEXT_NONE is allowed: absent). */
struct es_event_value es_event_set_attribute(const struct es_event_set *set,
                                             struct es_event_id id,
                                             uint32_t name);

#endif
