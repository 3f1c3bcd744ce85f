/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Recording inside a tree.
 *
 * A plan may put edge tuples into the element of the operation itself, which is then
 * open.  A tuple written there takes the slot of the open one, which is therefore shown
 * again at the end, and edges are not shown there.
 */
#include "config.h"

#include "wrappers/trees/edges.h"

#include "wrappers/mpi/describe.h"

static const struct {
    uint16_t operation;
    enum es_class op_class;
} codes[] = {
    [ESI_EDGE_CONTRIBUTE] = {ES_OP_tree_contribute, ES_CLASS_CONTRIBUTE},
    [ESI_EDGE_ARRIVAL_UP] = {ES_OP_tree_arrival_up, ES_CLASS_ARRIVAL},
    [ESI_EDGE_ARRIVAL_DOWN] = {ES_OP_tree_arrival_down, ES_CLASS_ARRIVAL},
    [ESI_EDGE_DEPARTURE_UP] = {ES_OP_tree_departure_up, ES_CLASS_DEPARTURE},
    [ESI_EDGE_DEPARTURE_DOWN] = {ES_OP_tree_departure_down, ES_CLASS_DEPARTURE},
};

static uint64_t read_ticks(void)
{
    return esi_clock_read();
}

/* The writer of this thread for the edge; NULL if it is not recorded. */
static struct esi_writer *find_writer(const struct esi_edges *edges,
                                      enum esi_edge_event event,
                                      int peer)
{
    struct esi_thread *thread = &esi_thread_self;
    struct esi_path *path = thread->paths[codes[event].op_class];

    if (ESI_UNLIKELY(path == NULL))
        path = esi_path_make(thread, codes[event].operation);
    if (path != NULL && path->is_choice) {
        struct es_tuple tuple = {.communicator = edges->communicator, .peer = peer};

        path = esi_path_choose(path, &tuple);
    }
    return path != NULL && esi_writer_is_enabled(&path->writer) ? &path->writer : NULL;
}

static struct es_tuple describe_edge(const struct esi_edges *edges,
                                     enum esi_edge_event event,
                                     int peer,
                                     uint64_t start)
{
    return (struct es_tuple){
        .operation = codes[event].operation,
        .communicator = edges->communicator,
        .start = start,
        .sequence = edges->sequence,
        .peer = peer >= 0 ? peer : ES_PEER_NONE,
        .tag = edges->tag,
    };
}

/* Returns whether the call's own open tuple is in this element. */
static bool is_calls_own(const struct esi_edges *edges, const struct esi_writer *writer)
{
    return edges->call != NULL && edges->call->open &&
           writer == &edges->call->path->writer;
}

static void withdraw_edge(struct esi_edges *edges)
{
    if (edges->shown != NULL)
        esi_writer_withdraw(edges->shown);
    edges->shown = NULL;
}

static void open_edge(void *data, enum esi_edge_event event, int peer, uint64_t start)
{
    struct esi_edges *edges = data;
    struct es_tuple tuple = describe_edge(edges, event, peer, start);
    struct esi_writer *writer = find_writer(edges, event, peer);

    if (edges->call == NULL || writer == NULL || is_calls_own(edges, writer))
        return;
    withdraw_edge(edges);
    esi_writer_open_at(writer, &tuple, esi_thread_self.site);
    edges->shown = writer;
    edges->shown_event = event;
    edges->shown_peer = peer;
    edges->shown_start = start;
}

static bool is_shown(const struct esi_edges *edges,
                     enum esi_edge_event event,
                     int peer,
                     uint64_t start)
{
    return edges->shown != NULL && edges->shown_event == event &&
           edges->shown_peer == peer && edges->shown_start == start;
}

/* Records the edge by closing its open tuple. */
static void close_edge(struct esi_edges *edges, uint64_t stop, uint64_t bytes)
{
    esi_writer_close_with(edges->shown, stop, esi_tuple_limit_bytes(bytes));
    edges->shown = NULL;
}

static void write_edge(struct esi_edges *edges,
                       struct esi_writer *writer,
                       const struct es_tuple *tuple)
{
    struct es_tuple call;
    /* An operation under way advances inside another call, and the edge overwrites the
     * open tuple of that call. */
    bool is_over_call = edges->call == NULL && esi_writer_read_open(writer, &call);

    esi_writer_write_at(writer, tuple, esi_thread_self.site);
    if (writer == edges->shown)
        edges->shown = NULL;
    if (is_calls_own(edges, writer))
        edges->is_displaced = true;
    else if (is_over_call)
        esi_writer_open_at(writer, &call, esi_thread_self.site);
}

static void record_edge(void *data,
                        enum esi_edge_event event,
                        int peer,
                        uint64_t start,
                        uint64_t stop,
                        uint64_t bytes)
{
    struct esi_edges *edges = data;
    struct es_tuple tuple;
    struct esi_writer *writer;

    if (is_shown(edges, event, peer, start)) {
        close_edge(edges, stop, bytes);
        return;
    }
    writer = find_writer(edges, event, peer);
    if (writer == NULL)
        return;
    tuple = describe_edge(edges, event, peer, start);
    tuple.stop = stop;
    tuple.bytes = esi_tuple_limit_bytes(bytes);
    write_edge(edges, writer, &tuple);
}

void esi_edges_init(struct esi_edges *edges,
                    const struct esi_call *call,
                    uint32_t version,
                    bool is_blocking)
{
    *edges = (struct esi_edges){
        .observer = {.now = read_ticks,
                     .open = open_edge,
                     .record = record_edge,
                     .data = edges},
        .call = is_blocking ? call : NULL,
        .communicator = call->tuple.communicator,
        .sequence = call->tuple.sequence,
        .tag = (int32_t)(call->tuple.operation | (version & 0x7fffu) << 16),
    };
}

void esi_edges_fini(struct esi_edges *edges)
{
    withdraw_edge(edges);
    if (edges->is_displaced)
        esi_writer_open_at(&edges->call->path->writer, &edges->call->tuple,
                           edges->call->thread->site);
    edges->is_displaced = false;
}
