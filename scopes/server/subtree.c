/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* subtree.c - opens subtrees and answers their pulls.
 *
 * Everything that the stages of a subtree deliver is sent; otherwise the connection
 * ends, and the subtree with it.  Only writers that block for a lossless scope wait
 * until its consumer has acknowledged their tuples. */
#include "config.h"

#include "scopes/server/subtree.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/host_clock.h"
#include "base/now.h"
#include "scopes/remote/batch_wire.h"
#include "scopes/remote/clock_registry.h"
#include "scopes/remote/remote.h"
#include "scopes/remote/servers.h"
#include "scopes/remote/subtree_pull.h"
#include "scopes/server/subtree_reader.h"
#include "scopes/stage_node.h"
#include "tuplespace/transport/run_key.h"
#include "wrappers/stages/stage.h"

/* Time after which the connection of a client that does not receive its batch is
 * closed. */
#define SENDING_NS UINT64_C(30000000000)
/* Shortest interval between two reads of a subtree's CPU time. */
#define CPU_EVERY_NS UINT64_C(1000000)
/* Longest time for servers further down to report their costs. */
#define COSTS_NS UINT64_C(1000000000)

/* A text of an origin that is in no segment here. */
struct subtree_text {
    struct subtree_text *next;
    char text[];
};

struct esi_subtree {
    struct esi_service_connection *connection; /* borrowed */
    struct es_run *run;                        /* of the connection */
    struct es_origins origins;                 /* owned, in the order of the request */
    struct es_places places;
    struct es_clock *clocks;               /* of the processes in the request */
    const struct es_host_clock *own_clock; /* of this host; owned by the service */
    struct subtree_text *texts;
    struct es_servers *servers; /* for remote stages within; NULL until one is opened */
    struct es_stage_context context;
    struct es_stage *root;
    char communicator[64]; /* last name looked up */

    uint64_t serial;     /* of the last pull of the stages */
    bool moves;          /* positions advance: not only latest tuples are read */
    uint64_t *positions; /* first tuple of each origin that is not delivered */
    struct es_batch batch;
    struct esi_wire_state wire; /* the state as known to the other end */
    struct esi_wire_buffer buffer;
    uint64_t cpu_ns;          /* of this thread, as last reported */
    uint64_t cpu_reported_ns; /* time of the last report */

    struct esi_subtree_reader **readers; /* per origin; NULL if not registered */
};

/* --- The elements there are --------------------------------------------------- */

struct directory_entry {
    int pid;
    const char *name;
    const char *host;
    struct es_element_view *element;
};

struct directory {
    struct directory_entry *entries; /* owned */
    size_t count;
    size_t capacity;
};

static int compare_entries(const void *first, const void *second)
{
    const struct directory_entry *a = first;
    const struct directory_entry *b = second;

    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    if (strcmp(a->name, b->name) != 0)
        return strcmp(a->name, b->name);
    return strcmp(a->host, b->host);
}

static int add_entry(struct directory *directory,
                     int pid,
                     struct es_element_view *element,
                     bool reads_placed)
{
    struct es_element_info info;

    es_element_view_info(element, &info);
    if (info.moved && !reads_placed)
        return 0;
    if (ESI_ARRAY_RESERVE(directory->entries, directory->capacity,
                          directory->count + 1) < 0)
        return -ENOMEM;
    directory->entries[directory->count++] = (struct directory_entry){
        .element = element, .pid = pid, .name = info.name, .host = info.host};
    return 0;
}

/* Other connections may find more elements of the segments concurrently. */
static int open_directory(const struct es_run *run,
                          bool reads_placed,
                          struct directory *directory)
{
    int result = 0;

    for (size_t i = 0; i < es_run_segment_count(run); i++) {
        const struct es_segment_view *segment = es_run_segment(run, i);
        size_t count = es_segment_view_element_count(segment);
        struct es_segment_info process;

        es_segment_view_info(segment, &process);
        for (size_t j = 0; j < count && result == 0; j++)
            result = add_entry(directory, process.pid,
                               es_segment_view_element(segment, j), reads_placed);
    }
    if (result == 0 && directory->count > 0)
        qsort(directory->entries, directory->count, sizeof *directory->entries,
              compare_entries);
    return result;
}

/* --- The elements that are asked for ------------------------------------------ */

/* Copies a text of the request.  Returns NULL if out of memory. */
static const char *keep_text(struct esi_subtree *subtree, const char *text)
{
    size_t bytes = strlen(text) + 1;
    struct subtree_text *kept = malloc(sizeof *kept + bytes);

    if (!kept)
        return NULL;
    memcpy(kept->text, text, bytes);
    kept->next = subtree->texts;
    subtree->texts = kept;
    return kept->text;
}

struct origin_process {
    int pid;
    int rank;
    const char *host;
};

/* Pids are unique only on one host: an element of another host may have the same pid
 * and name. */
static struct es_element_view *find_element(const struct directory *directory,
                                            const struct origin_process *process,
                                            const char *name)
{
    struct directory_entry wanted = {
        .pid = process->pid, .name = name, .host = process->host};
    struct directory_entry *found =
        directory->count > 0 ? bsearch(&wanted, directory->entries, directory->count,
                                       sizeof wanted, compare_entries)
                             : NULL;

    return found ? found->element : NULL;
}

static int read_process(const struct es_member *member,
                        struct esi_subtree *subtree,
                        struct origin_process *ret_process,
                        struct es_clock *ret_clock,
                        struct es_error *error)
{
    const char *host = NULL;
    int64_t pid = 0;
    int result = esi_member_integer(member, "pid", 0, INT32_MAX, error, &pid);

    if (result == 0)
        result = esi_member_text(member, "host", error, &host);
    if (result == 0)
        result =
            esi_clock_member_read(esi_member_find(member, "clock"), error, ret_clock);
    if (result < 0)
        return result;
    ret_process->pid = (int)pid;
    ret_process->rank = (int)esi_member_integer_or(member, "rank", -1);
    ret_process->host = keep_text(subtree, host);
    return ret_process->host ? 0 : -ENOMEM;
}

static int read_processes(struct esi_subtree *subtree,
                          const struct es_member *request,
                          struct origin_process **ret_processes,
                          size_t *ret_count,
                          struct es_error *error)
{
    const struct es_member *list = esi_member_find(request, "processes");
    size_t count = esi_member_count(list);
    struct origin_process *processes = calloc(count + 1, sizeof *processes);
    int result = 0;

    subtree->clocks = calloc(count + 1, sizeof *subtree->clocks);
    if (!processes || !subtree->clocks)
        result = -ENOMEM;
    for (size_t i = 0; i < count && result == 0; i++)
        result = read_process(esi_member_at(list, i), subtree, &processes[i],
                              &subtree->clocks[i], error);
    if (result < 0) {
        free(processes);
        return result;
    }
    *ret_processes = processes;
    *ret_count = count;
    return 0;
}

/* The texts of existing elements are in their segment. */
static int take_texts(struct esi_subtree *subtree,
                      const struct es_member *member,
                      const char *name,
                      struct es_origin *origin)
{
    struct es_element_info info;

    if (origin->element) {
        es_element_view_info(origin->element, &info);
        origin->name = info.name;
        origin->collector = info.collector;
        return 0;
    }
    origin->name = keep_text(subtree, name);
    origin->collector = keep_text(subtree, esi_member_text_or(member, "collector", ""));
    return origin->name && origin->collector ? 0 : -ENOMEM;
}

static void take_place(const struct es_member *member,
                       const struct es_origin *origin,
                       struct esi_read_state *ret_place)
{
    *ret_place = (struct esi_read_state){.registered = false};
    if (esi_member_boolean_or(member, "end", false)) {
        ret_place->read.position = ES_POSITION_END;
        if (origin->element)
            es_cursor_init(&ret_place->read, origin->element, true);
    } else {
        ret_place->read.position =
            (uint64_t)esi_member_integer_or(member, "position", 0);
    }
    ret_place->delivered = ret_place->read.position;
    ret_place->acknowledged = (uint64_t)esi_member_integer_or(
        member, "acknowledged", (int64_t)ret_place->delivered);
}

static int read_origin(struct esi_subtree *subtree,
                       const struct es_member *member,
                       const struct directory *directory,
                       const struct origin_process *process,
                       struct es_error *error)
{
    struct es_origin *origin = &subtree->origins.items[subtree->origins.count];
    const char *name;
    int result = esi_member_text(member, "name", error, &name);

    if (result < 0)
        return result;
    *origin = (struct es_origin){
        .host = process->host,
        .pid = process->pid,
        .rank = process->rank,
        .thread = (int)esi_member_integer_or(member, "thread", 0),
        .classes = (uint32_t)esi_member_integer_or(member, "classes", 0),
        .peer = (int)esi_member_integer_or(member, "peer", ES_PEER_NONE),
        .communicator = (uint16_t)esi_member_integer_or(member, "communicator",
                                                        ES_COMMUNICATOR_NONE),
        .element = find_element(directory, process, name),
    };
    result = take_texts(subtree, member, name, origin);
    if (result < 0)
        return result;
    take_place(member, origin, &subtree->places.items[subtree->places.count]);
    subtree->origins.count++;
    subtree->places.count++;
    return 0;
}

static int read_list(struct esi_subtree *subtree,
                     const struct es_member *request,
                     const struct origin_process *processes,
                     size_t process_count,
                     struct es_error *error)
{
    const struct es_member *list = esi_member_find(request, "origins");
    size_t count = esi_member_count(list);
    struct directory directory = {.count = 0};
    int result = count < UINT32_MAX ? 0 : -EINVAL;

    subtree->origins.items = calloc(count + 1, sizeof *subtree->origins.items);
    subtree->places.items = calloc(count + 1, sizeof *subtree->places.items);
    if (!subtree->origins.items || !subtree->places.items)
        return -ENOMEM;
    if (result == 0)
        result = open_directory(
            subtree->run, esi_member_boolean_or(request, "placed", false), &directory);
    for (size_t i = 0; i < count && result == 0; i++) {
        const struct es_member *member = esi_member_at(list, i);
        int64_t process = 0;

        result = esi_member_integer(member, "process", 0, (int64_t)process_count - 1,
                                    error, &process);
        if (result < 0)
            break;
        result = read_origin(subtree, member, &directory, &processes[process], error);
        subtree->origins.items[i].clock = &subtree->clocks[process];
        subtree->origins.items[i].host_clock = esi_clock_registry_get(
            subtree->connection->service->clocks, processes[process].host);
    }
    free(directory.entries);
    return result;
}

static int read_origins(struct esi_subtree *subtree,
                        const struct es_member *request,
                        struct es_error *error)
{
    struct origin_process *processes;
    size_t count;
    const struct esi_service *service = subtree->connection->service;
    int result = read_processes(subtree, request, &processes, &count, error);

    if (result < 0)
        return result;
    subtree->own_clock = esi_clock_registry_get(service->clocks, service->host);
    result = read_list(subtree, request, processes, count, error);
    free(processes);
    return result;
}

static void free_origins(struct esi_subtree *subtree)
{
    for (struct subtree_text *next; subtree->texts; subtree->texts = next) {
        next = subtree->texts->next;
        free(subtree->texts);
    }
    free(subtree->clocks);
    free(subtree->origins.items);
    free(subtree->places.items);
}

/* --- What stages may ask for -------------------------------------------------- */

static const char *communicator_name(void *data, uint32_t origin, uint16_t communicator)
{
    struct esi_subtree *subtree = data;
    const struct es_element_view *element = subtree->origins.items[origin].element;
    struct es_communicator_info info;

    if (!element || es_segment_view_communicator(es_element_view_segment(element),
                                                 communicator, &info) < 0)
        return "";
    memcpy(subtree->communicator, info.name, sizeof subtree->communicator);
    subtree->communicator[sizeof subtree->communicator - 1] = '\0';
    return subtree->communicator;
}

static int connect_to(void *data,
                      const char *host,
                      uint64_t timeout_ns,
                      struct es_error *error,
                      struct es_link **ret_link)
{
    struct esi_subtree *subtree = data;

    return esi_servers_connect(subtree->servers, host, timeout_ns, error, ret_link);
}

static int address_of(void *data, const char *host, char *out, size_t size)
{
    struct esi_subtree *subtree = data;

    return esi_servers_address(subtree->servers, host, out, size);
}

/* Adds one host of the request. */
static int add_host(void *data, const char *host, const struct es_member *value)
{
    struct esi_subtree *subtree = data;
    const char *address = esi_member_as_text(value);

    return address ? esi_servers_add(subtree->servers, host, address) : -EINVAL;
}

static int open_servers(struct esi_subtree *subtree,
                        const struct es_member *request,
                        struct es_error *error)
{
    const char *run = subtree->connection->service->run;
    const struct es_member *hosts = esi_member_find(request, "hosts");
    struct esi_run_key key;
    bool has_key = esi_run_key_load(run, NULL, &key) == 0;

    /* A client that may not change anything here may not do so elsewhere. */
    if (has_key && esi_link_is_read_only(subtree->connection->link))
        has_key = esi_run_key_derive_read(&key, &key) == 0;
    int result = esi_servers_create(run, has_key ? &key : NULL, &subtree->servers);

    explicit_bzero(&key, sizeof key);
    if (result == 0)
        result = esi_member_foreach(hosts, add_host, subtree);
    if (result == -EINVAL)
        return es_error_set(error, result, "a host without an address");
    return result;
}

/* --- Opening ----------------------------------------------------------------- */

/* Latest tuples are read without positions: whether a pull has to find positions is
 * known from the start. */
static void find_moves(struct esi_subtree *subtree, const struct esi_stage_node *node)
{
    bool latest = false;

    for (size_t i = 0; i < node->property_count; i++)
        latest |= strcmp(node->properties[i].name, "read") == 0 &&
                  node->properties[i].value &&
                  strcmp(node->properties[i].value, "latest") == 0;
    subtree->moves |= node->origin != ES_STAGE_NO_ORIGIN && !latest;
    for (size_t i = 0; i < node->child_count; i++)
        find_moves(subtree, node->children[i]);
}

/* An element that does not exist here delivers nothing: it is replaced by a gather
 * without children.  It may exist when the subtree is opened again. */
static void blank_missing(const struct esi_subtree *subtree,
                          struct esi_stage_node *node,
                          const char *here)
{
    if (node->host && strcmp(node->host, here) != 0)
        return;
    if (node->origin != ES_STAGE_NO_ORIGIN &&
        !subtree->origins.items[node->origin].element) {
        while (node->property_count > 0)
            free(node->properties[--node->property_count].value);
        node->type = "gather";
        node->origin = ES_STAGE_NO_ORIGIN;
    }
    for (size_t i = 0; i < node->child_count; i++)
        blank_missing(subtree, node->children[i], here);
}

static int open_tree(struct esi_subtree *subtree,
                     const struct es_member *request,
                     struct es_error *error)
{
    struct esi_stage_node *node;
    const char *here;
    int result = esi_stage_node_read(esi_member_find(request, "tree"),
                                     (uint32_t)subtree->origins.count, error, &node);

    if (result < 0)
        return result;
    here = node->host ? node->host : "";
    find_moves(subtree, node);
    subtree->places.fixed = !subtree->moves;
    blank_missing(subtree, node, here);
    subtree->context = (struct es_stage_context){
        .origins = &subtree->origins,
        .places = &subtree->places,
        .communicator_name = communicator_name,
        .connect = connect_to,
        .address = address_of,
        .data = subtree,
        .run = subtree->connection->service->run,
        .reads_placed = esi_member_boolean_or(request, "placed", false)};
    result = esi_stage_node_open(node, here, &subtree->context, error, &subtree->root);
    esi_stage_node_destroy(node);
    return result;
}

/* Elements for which another process is registered are read without registration. */
static int join_readers(struct esi_subtree *subtree)
{
    int result = 0;

    subtree->readers =
        calloc(subtree->origins.count + 1, sizeof(struct esi_subtree_reader *));
    if (!subtree->readers)
        return -ENOMEM;
    for (size_t i = 0; i < subtree->origins.count && result != -ENOMEM; i++) {
        const struct es_element_view *element = subtree->origins.items[i].element;
        struct es_element_info info;

        if (!element) {
            subtree->places.items[i].registered = true; /* by another server */
            continue;
        }
        es_element_view_info(element, &info);
        /* A reader with the read-only key must not make writers wait. */
        if (info.block && !esi_link_is_read_only(subtree->connection->link))
            result = esi_subtree_reader_join(
                element, subtree->places.items[i].acknowledged, &subtree->readers[i]);
    }
    return result == -ENOMEM ? result : 0;
}

/* Both ends start with the positions in the reply. */
static int begin_positions(struct esi_subtree *subtree)
{
    size_t count = subtree->origins.count;

    subtree->positions = calloc(count + 1, sizeof *subtree->positions);
    if (!subtree->positions || esi_wire_state_init(&subtree->wire, (uint32_t)count) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        uint64_t given = subtree->places.items[i].delivered;

        subtree->wire.next[i] = given == ES_POSITION_END ? 0 : given;
    }
    return 0;
}

/* "missing" are elements to be read from their end that do not exist. */
static void write_reply(const struct esi_subtree *subtree, struct esi_json_out *reply)
{
    esi_json_out_unsigned(reply, "origins", subtree->origins.count);
    esi_json_out_begin_array(reply, "positions");
    for (size_t i = 0; i < subtree->origins.count; i++)
        esi_json_out_unsigned(reply, NULL, subtree->wire.next[i]);
    esi_json_out_end(reply);
    esi_json_out_begin_array(reply, "missing");
    for (size_t i = 0; i < subtree->origins.count; i++)
        if (!subtree->origins.items[i].element &&
            subtree->places.items[i].delivered == ES_POSITION_END)
            esi_json_out_unsigned(reply, NULL, i);
    esi_json_out_end(reply);
}

static void close_subtree(struct esi_subtree *subtree)
{
    int saved_errno = errno;

    if (!subtree)
        return;
    es_stage_close(subtree->root);
    for (size_t i = 0; subtree->readers && i < subtree->origins.count; i++)
        esi_subtree_reader_leave(subtree->readers[i]);
    es_servers_close(subtree->servers);
    es_batch_fini(&subtree->batch);
    esi_wire_buffer_fini(&subtree->buffer);
    free_origins(subtree);
    free(subtree->readers);
    free(subtree->positions);
    esi_wire_state_fini(&subtree->wire);
    free(subtree);
    errno = saved_errno;
}

/* Creates the subtree described by the request. */
static int open_subtree(struct esi_service_call *call, struct esi_subtree **ret_subtree)
{
    const struct es_member *body = call->body;
    struct esi_subtree *subtree = calloc(1, sizeof *subtree);
    int result;

    if (!subtree)
        return -ENOMEM;
    subtree->connection = call->connection;
    subtree->run = esi_service_run(call);
    result = call->code;
    if (result == 0)
        result = read_origins(subtree, body, call->error);
    if (result == 0 && esi_member_boolean_or(body, "lossless", false))
        result = join_readers(subtree);
    if (result == 0)
        result = open_servers(subtree, body, call->error);
    if (result == 0)
        result = open_tree(subtree, body, call->error);
    if (result == 0)
        result = begin_positions(subtree);
    if (result < 0) {
        close_subtree(subtree);
        return result;
    }
    write_reply(subtree, call->reply);
    *ret_subtree = subtree;
    return 0;
}

/* --- Positions --------------------------------------------------------------- */

/* Finds the first tuple of each origin that is not delivered. */
static void find_positions(struct esi_subtree *subtree)
{
    for (size_t i = 0; i < subtree->places.count; i++) {
        uint64_t position = esi_read_state_position(&subtree->places.items[i]);

        subtree->positions[i] =
            position == ES_POSITION_END ? subtree->wire.next[i] : position;
    }
}

/* Unblocks writers whose tuples the consumer has acknowledged; the next pull informs
 * the servers below this one. */
static int subtree_acknowledge(struct esi_subtree *subtree,
                               const struct esi_subtree_pull *pull)
{
    for (uint32_t i = 0; i < pull->acknowledged_count; i++) {
        struct esi_subtree_acknowledged item = esi_subtree_acknowledged_at(pull, i);

        if (item.origin >= subtree->places.count)
            return -EPROTO;
        subtree->places.items[item.origin].acknowledged = item.position;
        if (subtree->readers && subtree->readers[item.origin])
            esi_subtree_reader_acknowledge(subtree->readers[item.origin],
                                           item.position);
    }
    return 0;
}

/* --- Pulls ------------------------------------------------------------------- */

/* CPU time since the last report, including receiving and sending.  Reading it costs as
 * much as a small pull, so it is reported only now and then. */
static uint64_t spent_cpu_ns(struct esi_subtree *subtree, uint64_t monotonic_ns)
{
    uint64_t now, spent;

    if (monotonic_ns - subtree->cpu_reported_ns < CPU_EVERY_NS)
        return 0;
    subtree->cpu_reported_ns = monotonic_ns;
    now = esi_now_ns(CLOCK_THREAD_CPUTIME_ID);
    spent = now - subtree->cpu_ns;
    subtree->cpu_ns = now;
    return spent;
}

static int send_batch(struct esi_subtree *subtree,
                      uint64_t id,
                      const struct esi_wire_cost *cost)
{
    struct esi_wire_buffer *buffer = &subtree->buffer;
    int result =
        esi_batch_encode(&subtree->wire, &subtree->batch,
                         subtree->moves ? subtree->positions : NULL, cost, buffer);
    struct iovec pieces[] = {
        {.iov_base = buffer->head, .iov_len = sizeof buffer->head},
        {.iov_base = buffer->words,
         .iov_len = buffer->word_count * sizeof *buffer->words},
        {.iov_base = buffer->tail, .iov_len = buffer->tail_bytes},
    };

    if (result < 0)
        return result;
    return esi_link_send(subtree->connection->link, ES_FRAME_BATCH, id, pieces, 3,
                         SENDING_NS);
}

static int pull_stages(struct esi_subtree *subtree,
                       const struct esi_subtree_pull *asked)
{
    struct es_pull pull = {
        .serial = ++subtree->serial,
        .max = asked->max < ES_WIRE_TUPLES_MAX ? asked->max : ES_WIRE_TUPLES_MAX,
        .realtime_ns = esi_host_clock_now_ns(subtree->own_clock),
        .timeout_ns = asked->timeout_ns,
        .drain = asked->drain,
        .careful = asked->careful,
        .measure = asked->measure,
    };

    es_batch_clear(&subtree->batch);
    es_stage_ask(subtree->root, &pull);
    return es_stage_pull(subtree->root, &pull, &subtree->batch);
}

/* If stages fail, or memory runs out, the connection ends: tuples that were read and
 * not sent are read again when the subtree is reopened. */
int esi_subtree_pull(struct esi_subtree *subtree, const struct esi_frame *frame)
{
    uint64_t begun_ns = esi_now_ns(CLOCK_MONOTONIC), ended_ns;
    struct esi_subtree_pull pull;
    struct esi_wire_cost cost;
    int result = esi_subtree_pull_decode(frame, NULL, &pull);

    if (result < 0)
        return result;
    result = subtree_acknowledge(subtree, &pull);
    if (result < 0)
        return result;
    result = pull_stages(subtree, &pull);
    if (result < 0) {
        (void)esi_service_fail(subtree->connection, pull.serial, result, NULL);
        return result;
    }
    if (subtree->moves)
        find_positions(subtree);
    ended_ns = esi_now_ns(CLOCK_MONOTONIC);
    cost.cpu_ns = spent_cpu_ns(subtree, ended_ns);
    cost.wall_ns = ended_ns - begun_ns;
    return send_batch(subtree, pull.serial, &cost);
}

/* --- Requests ---------------------------------------------------------------- */

static int serve_open(struct esi_service_call *call)
{
    struct esi_service_connection *connection = call->connection;

    if (connection->subtree)
        return es_error_set(call->error, -EEXIST,
                            "this connection has opened a subtree already");
    int code = open_subtree(call, &connection->subtree);
    if (code == 0)
        atomic_fetch_add(&connection->service->subtrees, 1);
    return code;
}

void esi_subtree_end(struct esi_service_connection *connection)
{
    if (!connection->subtree)
        return;
    close_subtree(connection->subtree);
    connection->subtree = NULL;
    atomic_fetch_sub(&connection->service->subtrees, 1);
}

static int serve_close(struct esi_service_call *call)
{
    esi_subtree_end(call->connection);
    return 0;
}

/* Writes one stage, in the order of es_scope_foreach_stage(). */
static void write_row(void *data, const struct esi_stage_row *row)
{
    struct esi_json_out *out = data;

    esi_json_out_begin_object(out, NULL);
    esi_stage_row_write(row, out);
    if (row->silent)
        esi_json_out_bool(out, "silent", true);
    esi_json_out_end(out);
}

static int serve_costs(struct esi_service_call *call)
{
    const struct esi_subtree *subtree = call->connection->subtree;

    if (!subtree)
        return es_error_set(call->error, -ENOENT,
                            "this connection has opened no subtree");
    esi_json_out_begin_array(call->reply, "stages");
    esi_stage_foreach_row(subtree->root, 0, COSTS_NS, write_row, call->reply);
    esi_json_out_end(call->reply);
    return 0;
}

const struct esi_request_row esi_subtree_requests[] = {
    {"open", serve_open, false},
    {"close", serve_close, false},
    {"costs", serve_costs, false},
    {NULL, NULL, false},
};
