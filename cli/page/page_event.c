/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* page_event.c - replies about events and their relations. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "cli/page/page_asked.h"
#include "eventspace/operation.h"
#include "monitors/follow/describe.h"

/* --- Events ----------------------------------------------------------------------- */

bool esi_page_find_event(const struct esi_page_asked *asked,
                         const struct esi_page_event *event,
                         struct esi_diagram_event *ret_event)
{
    struct esi_diagram_row row;

    if (esi_diagram_row(asked->diagram, event->row, &row) < 0) {
        esi_page_reply_fail(asked->reply, 400, "event: there is no row %u", event->row);
        return false;
    }
    if (esi_diagram_event(asked->diagram, (struct es_event_id){row.trace, event->index},
                          ret_event) == 0)
        return true;
    if (event->index <= row.events)
        esi_page_reply_fail(asked->reply, 400,
                            "event: event %u of row %u is no longer kept", event->index,
                            event->row);
    else
        esi_page_reply_fail(asked->reply, 400, "event: row %u has %u events",
                            event->row, row.events);
    return false;
}

/* As in the output of `events`. */
static void put_words(struct esi_row *row, const struct esi_diagram_event *event)
{
    const struct esi_diagram_call *call = &event->call;
    struct esi_activity activity = {
        .present = true,
        .operation = call->operation ? call->operation->code : 0,
        .peer = call->peer,
        .tag = call->tag,
        .bytes = call->bytes,
        .sequence = ES_SEQUENCE_UNKNOWN,
        .site = call->site,
        .has_communicator = call->communicator != NULL,
    };
    char span[ESI_QUANTITY_BYTES];
    char words[800];

    if (call->communicator)
        snprintf(activity.communicator, sizeof activity.communicator, "%s",
                 call->communicator);
    esi_describe_activity(words, sizeof words, &activity);
    if (call->bytes > 0 && call->operation &&
        call->operation->op_class != ES_CLASS_COMPLETION)
        esi_describe_append(words, sizeof words, ", %" PRIu32 " bytes", call->bytes);
    if (call->end_ns == 0)
        esi_describe_append(words, sizeof words, ", under way");
    else
        esi_describe_append(words, sizeof words, ", lasted %s",
                            esi_quantity_time(span, sizeof span,
                                              (double)(call->end_ns - call->begin_ns)));
    esi_row_text(row, "text", NULL, words);
}

/* The adjacent events on its thread, and the other end of its message. */
static void put_neighbours(const struct esi_page_asked *asked,
                           struct esi_row *row,
                           const struct esi_diagram_event *event)
{
    struct es_event_id previous = {event->id.trace, event->id.index - 1};
    struct es_event_id next = {event->id.trace, event->id.index + 1};
    bool has_row = event->partner.index > 0 &&
                   esi_diagram_row_of(asked->diagram, event->partner.trace) >= 0;
    struct esi_diagram_event other;

    if (esi_diagram_event(asked->diagram, next, &other) < 0)
        next.index = 0;
    esi_page_put_event(asked, row, "partner", event->partner);
    esi_page_put_event(asked, row, "previous", previous);
    esi_page_put_event(asked, row, "next", next);
    esi_row_begin_array(row, "causes");
    if (previous.index > 0)
        esi_page_put_event(asked, row, NULL, previous);
    if (has_row && event->kind == ES_EVENT_RECEIVE)
        esi_page_put_event(asked, row, NULL, event->partner);
    esi_row_end(row);
    esi_row_begin_array(row, "effects");
    if (next.index > 0)
        esi_page_put_event(asked, row, NULL, next);
    if (has_row && event->kind == ES_EVENT_SEND)
        esi_page_put_event(asked, row, NULL, event->partner);
    esi_row_end(row);
}

void esi_page_make_event(const struct esi_page_asked *asked, struct esi_row *row)
{
    static const char *const kinds[] = {"unary", "send", "receive", "sync"};
    const struct esi_diagram_call *call;
    struct esi_diagram_event event;

    if (!esi_page_find_event(asked, &asked->query->a, &event))
        return;
    call = &event.call;
    esi_page_put_event(asked, row, "event", event.id);
    esi_row_real(row, "t", NULL, esi_page_ns(asked, event.ns));
    esi_row_unsigned(row, "level", NULL, event.level);
    esi_row_text(row, "kind", NULL, kinds[event.kind]);
    esi_row_text(row, "type", NULL, event.type);
    put_words(row, &event);
    esi_row_begin_object(row, "call");
    esi_page_put_call(row, call);
    esi_row_real(row, "begin", NULL, esi_page_ns(asked, call->begin_ns));
    esi_row_real(esi_row_if(row, call->end_ns > 0), "end", NULL,
                 esi_page_ns(asked, call->end_ns));
    esi_row_signed(row, "tag", NULL, call->tag);
    esi_row_unsigned(row, "bytes", NULL, call->bytes);
    esi_row_bool(row, "nonblocking", NULL, call->nonblocking);
    esi_row_end(row);
    put_neighbours(asked, row, &event);
}

void esi_page_make_nearest(const struct esi_page_asked *asked, struct esi_row *row)
{
    const struct esi_page_query *query = asked->query;
    enum esi_diagram_axis axis = esi_page_axis_of(asked);
    struct es_event_id id = {.index = 0};

    if (query->row >= asked->extent.rows) {
        esi_page_reply_fail(asked->reply, 400, "row: there are %zu rows",
                            asked->extent.rows);
        return;
    }
    if (esi_diagram_nearest(asked->diagram, query->row, axis,
                            esi_page_place_of(asked, axis, round(query->at)), &id) < 0)
        id.index = 0;
    esi_page_put_event(asked, row, "event", id);
}

/* --- Order ------------------------------------------------------------------------ */

struct page_cut {
    const char *key;
    const char *place_key;
    uint32_t *indexes; /* owned; by row */
};

static void put_cut(const struct esi_page_asked *asked,
                    struct esi_row *row,
                    const struct page_cut *cut)
{
    esi_row_begin_array(row, cut->key);
    for (size_t i = 0; i < asked->extent.rows; i++)
        esi_row_unsigned(row, NULL, NULL, cut->indexes[i]);
    esi_row_end(row);
    esi_row_begin_array(row, cut->place_key);
    for (size_t i = 0; i < asked->extent.rows; i++) {
        struct esi_diagram_row info;
        struct esi_diagram_event event;

        bool is_kept =
            esi_diagram_row(asked->diagram, (uint32_t)i, &info) == 0 &&
            esi_diagram_event(asked->diagram,
                              (struct es_event_id){info.trace, cut->indexes[i]},
                              &event) == 0;

        if (!esi_row_begin_array(esi_row_if(row, is_kept), NULL))
            continue;
        esi_row_real(row, NULL, NULL, esi_page_ns(asked, event.ns));
        esi_row_unsigned(row, NULL, NULL, event.level);
        esi_row_end(row);
    }
    esi_row_end(row);
}

static void fail_order(const struct esi_page_asked *asked, int result)
{
    if (result == -ENOMEM)
        esi_page_reply_fail(asked->reply, 503, "no memory");
    else
        esi_page_reply_fail(asked->reply, 400,
                            "event: its relation to the other one is no longer known");
}

void esi_page_make_cone(const struct esi_page_asked *asked, struct esi_row *row)
{
    struct page_cut past = {"past", "past_at",
                            calloc(asked->extent.rows + 1, sizeof *past.indexes)};
    struct page_cut future = {"future", "future_at",
                              calloc(asked->extent.rows + 1, sizeof *future.indexes)};
    struct esi_diagram_event event;
    int result = -ENOMEM;

    if (esi_page_find_event(asked, &asked->query->a, &event)) {
        if (past.indexes && future.indexes)
            result = esi_diagram_cone(asked->diagram, event.id, past.indexes,
                                      future.indexes, asked->extent.rows);
        if (result < 0) {
            fail_order(asked, result);
        } else {
            esi_page_put_event(asked, row, "event", event.id);
            put_cut(asked, row, &past);
            put_cut(asked, row, &future);
        }
    }
    free(past.indexes);
    free(future.indexes);
}

void esi_page_make_relation(const struct esi_page_asked *asked, struct esi_row *row)
{
    static const char *const words[] = {
        [ES_RELATION_EQUAL] = "they are the same event",
        [ES_RELATION_BEFORE] = "the first can have caused the second",
        [ES_RELATION_AFTER] = "the second can have caused the first",
        [ES_RELATION_CONCURRENT] = "neither can have caused the other",
    };
    struct esi_diagram_event a, b;
    int relation;

    if (!esi_page_find_event(asked, &asked->query->a, &a) ||
        !esi_page_find_event(asked, &asked->query->b, &b))
        return;
    relation = es_order_relation(esi_diagram_order(asked->diagram), a.id, b.id);
    if (relation < 0) {
        fail_order(asked, relation);
        return;
    }
    esi_row_text(row, "relation", NULL, es_relation_name((enum es_relation)relation));
    esi_row_real(row, "t_ns", NULL,
                 esi_page_ns(asked, b.ns) - esi_page_ns(asked, a.ns));
    esi_page_put_error(asked, row);
    esi_row_text(row, "text", NULL, words[relation]);
}
