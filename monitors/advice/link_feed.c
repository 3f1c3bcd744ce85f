/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* link_feed.c - what a receive and its send tell of a link. */
#include "config.h"

#include "monitors/advice/link_feed.h"

#include "eventspace/operation.h"
#include "monitors/collectives/collectives.h"

/* Departures of at most this many bytes measure the overhead. */
enum { SMALL = 1024 };

/* A receiver that waits before the message is sent, by whatever clocks, was not
 * late. */
static void add_message(const struct esi_link_feed *feed,
                        enum esi_link_class class,
                        const struct esi_causal_tuple *received,
                        const struct esi_edge *sent)
{
    uint64_t bytes = es_tuple_bytes(&received->tuple);
    int64_t took_ns = (int64_t)(received->stop_ns - sent->ns);
    uint64_t error_ns = received->error_ns > UINT64_MAX - sent->error_ns
                            ? UINT64_MAX
                            : received->error_ns + sent->error_ns;

    if (class == ES_LINK_HOST && error_ns > ES_SAME_CLOCK_ERROR_NS)
        error_ns = ES_SAME_CLOCK_ERROR_NS;
    if (error_ns < sent->ns && received->start_ns <= sent->ns - error_ns)
        esi_link_costs_add_awaited(feed->costs, class, bytes, took_ns, error_ns);
    else
        esi_link_costs_add(feed->costs, class, bytes, took_ns, error_ns);
}

int esi_link_feed_told(void *data,
                       const struct es_set_event *event,
                       const struct esi_causal_call *call)
{
    const struct esi_link_feed *feed = data;
    struct esi_location places[2];
    const struct es_tuple *tuple;
    enum esi_link_class class;
    int rank;
    int peer;

    if (!call || !call->member || !call->operation)
        return 0;
    tuple = &call->told->tuple;
    rank = call->thread->process->rank;
    peer = esi_run_peer_rank(call->member, tuple->peer);
    if (peer == rank || !feed->place(feed->data, rank, &places[0]) ||
        !feed->place(feed->data, peer, &places[1]))
        return 0;
    class = esi_link_class_of(&places[0], &places[1]);
    if (call->role == ESI_ROLE_RECEIVE && event->partner_count == 1)
        add_message(feed, class, call->told, call->edges);
    else if (call->operation->op_class == ES_CLASS_DEPARTURE &&
             es_tuple_bytes(tuple) <= SMALL)
        esi_link_costs_add_overhead(feed->costs, class,
                                    call->told->stop_ns - call->told->start_ns);
    return 0;
}
