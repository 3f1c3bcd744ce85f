/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * run_requests.c - what there is of the run on this host, which of it is collected, and
 * the collective trees of its processes.
 *
 *   {"request": "catalog", "known": [[PID, MADE, ELEMENTS], ...]}
 *       all processes; of each the elements behind those that are known.  MADE is the
 *       realtime of the process's clock record: it tells a pid that is used again.
 *   {"request": "communicator", "pid": PID, "made": MADE, "index": INDEX}
 *       one row of a process's table, with the world ranks of its groups, as far as
 *       this host knows them
 *   {"request": "group", "key": [HEX, HEX], "size": N, "first": RANK}
 *       the world ranks of a communicator's group of this size that begins with this
 *       one (-1 = whoever), from any process here that has it
 *   {"request": "collect", "selection": {"ranks":, "thread":, "classes":,
 *    "collector":, "name":, "host":}, "enable": BOOL}
 *       or with "threshold": N or "block": BOOL instead of "enable".  What a selection
 *       leaves out it does not ask for.  The reply has how many elements "fit", how
 *       many have "changed", and in "refused" why others have not.
 *   {"request": "trees"}
 *       what is in force: scopes/collective_trees.h
 *   {"request": "trees.wish"}
 *       the newest desired rules: "rank" and "text"
 *   {"request": "trees.change", "text": ...}
 *       the rules that are to hold from now on
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/collective_trees.h"
#include "scopes/remote/subtree_wire.h"
#include "scopes/server/service.h"
#include "tuplespace/layout.h"
#include "tuplespace/plan/tree_rules.h"

/* JSON's integers end where signed ones do. */
static uint64_t catalog_requests_bounded(uint64_t value)
{
    return value < INT64_MAX ? value : INT64_MAX;
}

static uint64_t made_of(const struct es_segment_view *segment)
{
    return catalog_requests_bounded(es_segment_view_clock(segment)->base_realtime_ns);
}

/* --- Processes and elements --------------------------------------------------- */

static void write_process(const struct es_segment_info *info, struct esi_json_out *out)
{
    esi_json_out_string(out, "host", info->host);
    esi_json_out_string(out, "program", info->program);
    esi_json_out_signed(out, "pid", info->pid);
    esi_json_out_signed(out, "rank", info->rank);
    esi_json_out_signed(out, "size", info->size);
    esi_json_out_bool(out, "alive", info->alive);
    esi_json_out_signed(out, "state", info->state);
    esi_json_out_signed(out, "exit_code", info->exit_code);
    esi_json_out_signed(out, "signal", info->signal);
    esi_json_out_unsigned(out, "ended",
                          catalog_requests_bounded(info->ended_realtime_ns));
    esi_json_out_unsigned(out, "bytes", catalog_requests_bounded(info->segment_bytes));
    esi_json_out_unsigned(out, "refused", info->elements_refused);
    esi_json_out_unsigned(out, "shrunk", info->elements_shrunk);
    esi_json_out_unsigned(out, "communicators_refused", info->communicators_refused);
    esi_json_out_unsigned(out, "tuples_refused", info->tuples_refused);
}

static void write_element(const struct es_element_view *element,
                          struct esi_json_out *out)
{
    struct es_element_info info;

    es_element_view_info(element, &info);
    esi_json_out_begin_object(out, NULL);
    esi_json_out_string(out, "name", info.name);
    esi_json_out_string(out, "collector", info.collector);
    esi_json_out_signed(out, "rank", info.rank);
    esi_json_out_signed(out, "thread", info.thread);
    esi_json_out_unsigned(out, "classes", info.classes);
    esi_json_out_signed(out, "peer", info.peer);
    esi_json_out_unsigned(out, "communicator", info.communicator);
    esi_json_out_unsigned(out, "threshold", info.threshold);
    esi_json_out_unsigned(out, "capacity", info.capacity);
    esi_json_out_unsigned(out, "tuple_bytes", info.tuple_bytes);
    esi_json_out_bool(out, "shared", info.shared);
    esi_json_out_bool(out, "enabled", info.enabled);
    esi_json_out_bool(out, "block", info.block);
    esi_json_out_bool(out, "moved", info.moved);
    esi_json_out_unsigned(out, "head", catalog_requests_bounded(info.head));
    esi_json_out_unsigned(out, "oldest", catalog_requests_bounded(info.oldest));
    esi_json_out_end(out);
}

/* Elements of the process that the client has.  Its list has nearly our order, so the
 * search begins at the process's own place. */
static size_t known_elements(const struct es_member *known,
                             size_t place,
                             int pid,
                             uint64_t made)
{
    size_t entries = esi_member_count(known);

    for (size_t i = 0; i < entries; i++) {
        const struct es_member *entry = esi_member_at(known, (place + i) % entries);
        int64_t count = esi_member_as_integer(esi_member_at(entry, 2));

        if (esi_member_as_integer(esi_member_at(entry, 0)) == pid &&
            (uint64_t)esi_member_as_integer(esi_member_at(entry, 1)) == made)
            return count > 0 ? (size_t)count : 0;
    }
    return 0;
}

/* The view has been attached since the process's start; whoever hears of it now gets
 * the frequency as it can be told now, and stays with that. */
static void write_clock(const struct es_segment_view *segment, struct esi_json_out *out)
{
    struct es_clock clock = *es_segment_view_clock(segment);
    struct es_segment_info info;

    es_segment_view_info(segment, &info);
    if (!info.kept)
        es_clock_refine(&clock);
    esi_clock_write(&clock, out, "clock");
}

static int serve_catalog(struct esi_service_connection *connection,
                         const struct es_member *request,
                         struct esi_json_out *reply,
                         struct es_error *error)
{
    const struct es_member *known = esi_member_find(request, "known");
    struct es_run *run;
    int result = esi_service_run(connection, error, &run);

    if (result < 0)
        return result;
    esi_json_out_begin_array(reply, "processes");
    for (size_t i = 0; i < es_run_segment_count(run); i++) {
        const struct es_segment_view *segment = es_run_segment(run, i);
        size_t count = es_segment_view_element_count(segment);
        struct es_segment_info info;

        es_segment_view_info(segment, &info);
        size_t first = known_elements(known, i, info.pid, made_of(segment));

        esi_json_out_begin_object(reply, NULL);
        write_process(&info, reply);
        if (first == 0)
            write_clock(segment, reply);
        else
            esi_clock_write(es_segment_view_clock(segment), reply, "clock");
        esi_json_out_begin_array(reply, "elements");
        for (size_t j = first; j < count; j++)
            write_element(es_segment_view_element(segment, j), reply);
        esi_json_out_end(reply);
        esi_json_out_end(reply);
    }
    esi_json_out_end(reply);
    return 0;
}

/* --- Communicators ------------------------------------------------------------ */

static const struct es_segment_view *find_segment(const struct es_run *run,
                                                  int pid,
                                                  uint64_t made)
{
    for (size_t i = 0; i < es_run_segment_count(run); i++) {
        const struct es_segment_view *segment = es_run_segment(run, i);
        struct es_segment_info info;

        es_segment_view_info(segment, &info);
        if (info.pid == pid && made_of(segment) == made)
            return segment;
    }
    return NULL;
}

static void write_group(const struct es_run *run,
                        const struct es_segment_view *segment,
                        uint16_t index,
                        bool remote,
                        int size,
                        struct esi_json_out *out,
                        const char *key)
{
    esi_json_out_begin_array(out, key);
    for (int rank = 0; rank < size; rank++) {
        int world = es_run_world_rank(run, segment, index, remote, rank);

        esi_json_out_signed(out, NULL, world >= 0 ? world : -1);
        /* Nobody here has the list: then no member is known. */
        if (world < 0)
            break;
    }
    esi_json_out_end(out);
}

static void write_communicator(const struct es_communicator_info *info,
                               struct esi_json_out *out)
{
    char key[24];

    esi_json_out_begin_array(out, "key");
    for (int i = 0; i < 2; i++) {
        snprintf(key, sizeof key, "%" PRIx64, info->key[i]);
        esi_json_out_string(out, NULL, key);
    }
    esi_json_out_end(out);
    esi_json_out_signed(out, "rank", info->rank);
    esi_json_out_signed(out, "size", info->size);
    esi_json_out_signed(out, "remote_size", info->remote_size);
    esi_json_out_unsigned(out, "parent", info->parent);
    esi_json_out_bool(out, "freed", info->freed);
    esi_json_out_string(out, "name", info->name);
    esi_json_out_signed(out, "first", info->first);
    esi_json_out_signed(out, "remote_first", info->remote_first);
}

static int serve_communicator(struct esi_service_connection *connection,
                              const struct es_member *request,
                              struct esi_json_out *reply,
                              struct es_error *error)
{
    const struct es_segment_view *segment;
    struct es_communicator_info info;
    struct es_run *run;
    int64_t pid = 0, made = 0, index = 0;
    int result = esi_member_integer(request, "pid", 0, INT32_MAX, error, &pid);

    if (result == 0)
        result = esi_member_integer(request, "made", 0, INT64_MAX, error, &made);
    if (result == 0)
        result = esi_member_integer(request, "index", 0, UINT16_MAX, error, &index);
    if (result == 0)
        result = esi_service_run(connection, error, &run);
    if (result < 0)
        return result;
    segment = find_segment(run, (int)pid, (uint64_t)made);
    if (!segment || es_segment_view_communicator(segment, (uint16_t)index, &info) < 0)
        return es_error_set(error, -ENOENT, "there is no such communicator");
    write_communicator(&info, reply);
    write_group(run, segment, (uint16_t)index, false, info.size, reply, "ranks");
    write_group(run, segment, (uint16_t)index, true, info.remote_size, reply,
                "remote_ranks");
    return 0;
}

/* A group that is asked for. */
struct wanted {
    uint64_t key[2];
    int size;
    int first;
};

static int read_wanted(const struct es_member *request,
                       struct es_error *error,
                       struct wanted *ret_wanted)
{
    const struct es_member *key = esi_member_find(request, "key");
    int64_t size = 0, first = 0;
    int result = esi_member_integer(request, "size", 1, ES_GROUP_MAX, error, &size);

    if (result == 0)
        result = esi_member_integer(request, "first", -1, INT32_MAX, error, &first);
    for (size_t i = 0; i < 2 && result == 0; i++) {
        const char *text = esi_member_as_text(esi_member_at(key, i));

        if (!text)
            return es_error_set(error, -EINVAL, "\"key\" is not two texts");
        ret_wanted->key[i] = strtoull(text, NULL, 16);
    }
    ret_wanted->size = (int)size;
    ret_wanted->first = (int)first;
    return result;
}

/* Writes the ranks if this process knows the group.  Both sides of an intercommunicator
 * have its key and call each other remote. */
static bool write_wanted(const struct es_run *run,
                         const struct es_segment_view *segment,
                         const struct wanted *wanted,
                         struct esi_json_out *reply)
{
    size_t count = es_segment_view_communicator_count(segment);
    struct es_communicator_info info;

    for (size_t i = 0; i < count; i++) {
        if (es_segment_view_communicator(segment, (uint16_t)i, &info) < 0 ||
            memcmp(info.key, wanted->key, sizeof info.key) != 0)
            continue;
        for (int side = 0; side < 2; side++) {
            int size = side ? info.remote_size : info.size;
            int first = side ? info.remote_first : info.first;

            if (size != wanted->size ||
                (wanted->first >= 0 && first != wanted->first) ||
                es_run_world_rank(run, segment, (uint16_t)i, side, 0) < 0)
                continue;
            write_group(run, segment, (uint16_t)i, side, size, reply, "ranks");
            return true;
        }
    }
    return false;
}

static int serve_group(struct esi_service_connection *connection,
                       const struct es_member *request,
                       struct esi_json_out *reply,
                       struct es_error *error)
{
    struct wanted wanted;
    struct es_run *run;
    int result = read_wanted(request, error, &wanted);

    if (result == 0)
        result = esi_service_run(connection, error, &run);
    if (result < 0)
        return result;
    for (size_t i = 0; i < es_run_segment_count(run); i++)
        if (write_wanted(run, es_run_segment(run, i), &wanted, reply))
            return 0;
    return es_error_set(error, -ENOENT, "nobody here knows that group");
}

const struct es_request esi_catalog_requests[] = {
    {"catalog", serve_catalog, false},
    {"communicator", serve_communicator, false},
    {"group", serve_group, false},
    {NULL, NULL, false},
};

/* --- What is collected --------------------------------------------------------- */

enum { THRESHOLD_MAX = 1 << 24, REFUSED_MAX = 16 };

enum action { ACTION_ENABLE, ACTION_THRESHOLD, ACTION_BLOCK };

struct control_requests_change {
    enum action action;
    uint32_t threshold;
    bool on;
};

static int read_selection(const struct es_member *object,
                          struct es_error *error,
                          struct es_selection *ret_selection)
{
    struct es_selection selection;

    es_selection_init(&selection);
    if (object) {
        selection.ranks = esi_member_text_or(object, "ranks", NULL);
        selection.collector = esi_member_text_or(object, "collector", NULL);
        selection.name = esi_member_text_or(object, "name", NULL);
        selection.host = esi_member_text_or(object, "host", NULL);
        selection.thread =
            (int)esi_member_integer_or(object, "thread", selection.thread);
        selection.classes =
            (uint32_t)esi_member_integer_or(object, "classes", selection.classes);
    }
    int code = es_selection_check(&selection, error);
    if (code == 0)
        *ret_selection = selection;
    return code;
}

static int read_change(const struct es_member *request,
                       struct es_error *error,
                       struct control_requests_change *ret_change)
{
    struct control_requests_change change = {.action = ACTION_ENABLE};
    int64_t threshold;
    int code;

    if (esi_member_find(request, "threshold")) {
        change.action = ACTION_THRESHOLD;
        code = esi_member_integer(request, "threshold", 1, THRESHOLD_MAX, error,
                                  &threshold);
        if (code == 0)
            change.threshold = (uint32_t)threshold;
    } else if (esi_member_find(request, "block")) {
        change.action = ACTION_BLOCK;
        code = esi_member_boolean(request, "block", error, &change.on);
    } else {
        code = esi_member_boolean(request, "enable", error, &change.on);
    }
    if (code == 0)
        *ret_change = change;
    return code;
}

static int change_element(const struct control_requests_change *change,
                          const struct es_element_view *element)
{
    switch (change->action) {
    case ACTION_ENABLE:
        es_element_enable(element, change->on);
        return 0;
    case ACTION_BLOCK:
        es_element_set_block(element, change->on);
        return 0;
    case ACTION_THRESHOLD:
        break;
    }
    return es_element_set_threshold(element, change->threshold);
}

static void write_refused(const struct es_element_view *element,
                          int code,
                          struct esi_json_out *reply)
{
    struct es_element_info info;

    es_element_view_info(element, &info);
    esi_json_out_begin_object(reply, NULL);
    esi_json_out_string(reply, "element", info.name);
    esi_json_out_unsigned(reply, "threshold", info.threshold);
    esi_json_out_signed(reply, "code", -code);
    esi_json_out_end(reply);
}

/* The elements of the host that this server stands for. */
static bool is_ours(const struct esi_service_connection *connection,
                    const struct es_element_view *element)
{
    struct es_element_info info;

    es_element_view_info(element, &info);
    return strcmp(info.host, connection->service->host) == 0;
}

static int serve_collect(struct esi_service_connection *connection,
                         const struct es_member *request,
                         struct esi_json_out *reply,
                         struct es_error *error)
{
    struct es_element_view **elements = NULL;
    struct es_selection selection;
    struct control_requests_change change = {.action = ACTION_ENABLE};
    struct es_run *run;
    uint64_t fit = 0, changed = 0, refused = 0;

    int code = read_selection(esi_member_find(request, "selection"), error, &selection);
    if (code == 0)
        code = read_change(request, error, &change);
    if (code == 0)
        code = esi_service_run(connection, error, &run);
    if (code < 0)
        return code;
    int count = es_run_select(run, &selection, &elements);
    if (count < 0)
        return count;
    esi_json_out_begin_array(reply, "refused");
    for (int i = 0; i < count; i++) {
        if (!is_ours(connection, elements[i]))
            continue;
        fit++;
        code = change_element(&change, elements[i]);
        changed += code == 0;
        if (code < 0 && refused++ < REFUSED_MAX)
            write_refused(elements[i], code, reply);
    }
    esi_json_out_end(reply);
    esi_json_out_unsigned(reply, "fit", fit);
    esi_json_out_unsigned(reply, "changed", changed);
    free(elements);
    return 0;
}

const struct es_request esi_control_requests[] = {
    {"collect", serve_collect, true},
    {NULL, NULL, false},
};

/* --- Collective trees ---------------------------------------------------------- */

static int serve_trees(struct esi_service_connection *connection,
                       const struct es_member *request,
                       struct esi_json_out *reply,
                       struct es_error *error)
{
    struct es_run *run;
    int code = esi_service_run(connection, error, &run);

    (void)request;
    if (code == 0)
        esi_collective_trees_report(run, connection->service->host, reply);
    return code;
}

static int serve_desired(struct esi_service_connection *connection,
                         const struct es_member *request,
                         struct esi_json_out *reply,
                         struct es_error *error)
{
    struct es_run *run;
    int code = esi_service_run(connection, error, &run);

    (void)request;
    return code == 0 ? esi_collective_trees_report_desired(
                           run, connection->service->host, reply)
                     : code;
}

/* Nobody but the processes would see that the rules are wrong, and they could tell
 * nobody. */
static int check_rules(const char *text, struct es_error *error)
{
    struct esi_tree_plan plan;
    int code = esi_tree_plan_parse(text, "rules", error, &plan);

    if (code == 0)
        esi_tree_plan_fini(&plan);
    return code;
}

static int serve_change(struct esi_service_connection *connection,
                        const struct es_member *request,
                        struct esi_json_out *reply,
                        struct es_error *error)
{
    struct es_run *run;
    const char *text;
    int code = esi_member_text(request, "text", error, &text);

    if (code == 0)
        code = check_rules(text, error);
    if (code == 0)
        code = esi_service_run(connection, error, &run);
    if (code == 0)
        esi_collective_trees_desire(run, connection->service->host, text, reply);
    return code;
}

const struct es_request esi_tree_requests[] = {
    {"trees", serve_trees, false},
    {"trees.wish", serve_desired, false},
    {"trees.change", serve_change, true},
    {NULL, NULL, false},
};
