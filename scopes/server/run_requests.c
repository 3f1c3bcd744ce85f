/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * run_requests.c - requests about the run on this host, the collection of its elements,
 * and the collective trees of its processes.
 *
 *   {"request": "catalog", "known": [[PID, MADE, ELEMENTS], ...]}
 *       all processes, each with its elements beyond those that are known.  MADE is the
 *       realtime of the process's clock record, which differs when a pid is reused.
 *   {"request": "communicator", "pid": PID, "made": MADE, "index": INDEX}
 *       one row of a process's table, with the world ranks of its groups, as far as
 *       this host knows them
 *   {"request": "ledger", "pid": PID, "made": MADE}
 *       the outstanding operations of the process (scopes/ledger_json.h)
 *   {"request": "profile", "pid": PID, "made": MADE}
 *       sums over all its calls (scopes/profile_json.h)
 *   {"request": "modules", "pid": PID, "made": MADE}
 *       the modules of a process that have called MPI
 *   {"request": "group", "key": [HEX, HEX], "size": N, "first": RANK}
 *       the world ranks of a communicator's group of this size with this first rank
 *       (-1: any), from any process here that has it
 *   {"request": "collect", "selection": {"ranks":, "thread":, "classes":,
 *    "collector":, "name":, "host":}, "enable": BOOL}
 *       or with "threshold": N or "block": BOOL instead of "enable".  Missing members
 *       of a selection match everything.  The reply has the number of elements that
 *       "fit", the number "changed", and in "refused" the reasons for the others.
 *   {"request": "trees"}
 *       the rules in force: scopes/collective_trees.h
 *   {"request": "trees.wish"}
 *       the newest desired rules: "rank" and "text"
 *   {"request": "trees.change", "text": ...}
 *       sets the desired rules
 *   {"request": "file", "name": NAME}
 *       a file of the run's directory
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/collective_trees.h"
#include "scopes/ledger_json.h"
#include "scopes/profile_json.h"
#include "scopes/remote/clock_registry.h"
#include "scopes/server/service.h"
#include "tuplespace/layout.h"
#include "tuplespace/ledger.h"
#include "tuplespace/plan/tree_rules.h"
#include "tuplespace/profile.h"
#include "tuplespace/run_directory.h"

static uint64_t made_of(const struct es_segment_view *segment)
{
    return esi_json_bounded(es_segment_view_clock(segment)->base_realtime_ns);
}

/* --- Processes and elements --------------------------------------------------- */

static void write_process(const struct es_segment_info *info, struct esi_json_out *out)
{
    esi_json_out_string(out, "host", info->host);
    esi_json_out_string(out, "program", info->program);
    esi_json_out_string(out, "job", info->job);
    esi_json_out_string(out, "launcher", info->launcher);
    esi_json_out_signed(out, "pid", info->pid);
    esi_json_out_signed(out, "rank", info->rank);
    esi_json_out_signed(out, "size", info->size);
    esi_json_out_bool(out, "alive", info->alive);
    esi_json_out_signed(out, "state", info->state);
    esi_json_out_signed(out, "exit_code", info->exit_code);
    esi_json_out_signed(out, "signal", info->signal);
    esi_json_out_unsigned(out, "ended", esi_json_bounded(info->ended_realtime_ns));
    esi_json_out_unsigned(out, "bytes", esi_json_bounded(info->segment_bytes));
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
    esi_json_out_unsigned(out, "head", esi_json_bounded(info.head));
    esi_json_out_unsigned(out, "oldest", esi_json_bounded(info.oldest));
    esi_json_out_end(out);
}

/* Number of elements of the process that the client has.  Its list has nearly the same
 * order as the segments, so the search begins at the process's own index. */
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

/* The record is from the start of the process.  A copy is refined here, because clients
 * keep the frequency of their first request. */
static void write_clock(const struct es_segment_view *segment, struct esi_json_out *out)
{
    struct es_clock clock = *es_segment_view_clock(segment);
    struct es_segment_info info;

    es_segment_view_info(segment, &info);
    if (!info.kept)
        es_clock_refine(&clock);
    esi_clock_write(&clock, out, "clock");
}

static int serve_catalog(struct esi_service_call *call)
{
    const struct es_member *known = esi_member_find(call->body, "known");
    const struct es_run *run = esi_service_run(call);
    struct esi_json_out *reply = call->reply;

    if (call->code < 0)
        return call->code;
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
        /* The list is not known on this host: no member is known. */
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

static int serve_communicator(struct esi_service_call *call)
{
    int pid = (int)esi_service_integer(call, "pid", 0, INT32_MAX);
    uint64_t made = (uint64_t)esi_service_integer(call, "made", 0, INT64_MAX);
    uint16_t index = (uint16_t)esi_service_integer(call, "index", 0, UINT16_MAX);
    const struct es_run *run = esi_service_run(call);
    struct esi_json_out *reply = call->reply;
    const struct es_segment_view *segment;
    struct es_communicator_info info;

    if (call->code < 0)
        return call->code;
    segment = find_segment(run, pid, made);
    if (!segment || es_segment_view_communicator(segment, index, &info) < 0)
        return es_error_set(call->error, -ENOENT, "there is no such communicator");
    write_communicator(&info, reply);
    write_group(run, segment, index, false, info.size, reply, "ranks");
    write_group(run, segment, index, true, info.remote_size, reply, "remote_ranks");
    return 0;
}

static int serve_ledger(struct esi_service_call *call)
{
    int pid = (int)esi_service_integer(call, "pid", 0, INT32_MAX);
    uint64_t made = (uint64_t)esi_service_integer(call, "made", 0, INT64_MAX);
    const struct es_run *run = esi_service_run(call);
    const struct es_segment_view *segment;
    struct esi_ledger ledger;
    int code;

    if (call->code < 0)
        return call->code;
    segment = find_segment(run, pid, made);
    code = segment ? esi_ledger_read(segment, &ledger) : -ENOENT;
    if (code < 0)
        return es_error_set(call->error, code, "there is no ledger of such a process");
    esi_ledger_json_write(&ledger, call->reply);
    esi_ledger_fini(&ledger);
    return 0;
}

static int serve_profile(struct esi_service_call *call)
{
    int pid = (int)esi_service_integer(call, "pid", 0, INT32_MAX);
    uint64_t made = (uint64_t)esi_service_integer(call, "made", 0, INT64_MAX);
    const struct es_run *run = esi_service_run(call);
    const struct es_segment_view *segment;
    struct esi_profile profile;
    int code;

    if (call->code < 0)
        return call->code;
    segment = find_segment(run, pid, made);
    code = segment ? esi_profile_read(segment, &profile) : -ENOENT;
    if (code < 0)
        return es_error_set(call->error, code, "there is no profile of such a process");
    esi_profile_json_write(&profile, call->reply);
    esi_profile_fini(&profile);
    return 0;
}

static void write_hex(struct esi_json_out *out, const char *name, uint64_t value)
{
    char text[20];

    snprintf(text, sizeof text, "%" PRIx64, value);
    esi_json_out_string(out, name, text);
}

static void write_module(const struct es_module *module, struct esi_json_out *out)
{
    char id[2 * ES_BUILD_ID_BYTES + 1] = "";

    for (uint32_t i = 0; i < module->build_id_bytes; i++)
        snprintf(id + (size_t)2 * i, 3, "%02x", module->build_id[i]);
    esi_json_out_begin_object(out, NULL);
    write_hex(out, "begin", module->begin);
    write_hex(out, "end", module->end);
    write_hex(out, "bias", module->bias);
    esi_json_out_string(out, "build_id", id);
    esi_json_out_string(out, "path", module->path);
    esi_json_out_end(out);
}

static int serve_modules(struct esi_service_call *call)
{
    int pid = (int)esi_service_integer(call, "pid", 0, INT32_MAX);
    uint64_t made = (uint64_t)esi_service_integer(call, "made", 0, INT64_MAX);
    const struct es_run *run = esi_service_run(call);
    const struct es_segment_view *segment;
    struct es_module *modules;
    int count;

    if (call->code < 0)
        return call->code;
    segment = find_segment(run, pid, made);
    if (!segment)
        return es_error_set(call->error, -ENOENT, "there is no such process");
    count = es_segment_view_modules(segment, &modules);
    if (count < 0)
        return count;
    esi_json_out_begin_array(call->reply, "modules");
    for (int i = 0; i < count; i++)
        write_module(&modules[i], call->reply);
    esi_json_out_end(call->reply);
    free(modules);
    return 0;
}

/* A requested group. */
struct wanted {
    uint64_t key[2];
    int size;
    int first;
};

static void read_wanted(struct esi_service_call *call, struct wanted *ret_wanted)
{
    const struct es_member *key = esi_member_find(call->body, "key");

    ret_wanted->size = (int)esi_service_integer(call, "size", 1, ES_GROUP_MAX);
    ret_wanted->first = (int)esi_service_integer(call, "first", -1, INT32_MAX);
    for (size_t i = 0; i < 2 && call->code == 0; i++) {
        const char *text = esi_member_as_text(esi_member_at(key, i));

        if (text)
            ret_wanted->key[i] = strtoull(text, NULL, 16);
        else
            call->code = es_error_set(call->error, -EINVAL, "'key' is not two texts");
    }
}

/* Writes the ranks if this process knows the group.  Both sides of an intercommunicator
 * have the same key, and each calls the other remote. */
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

static int serve_group(struct esi_service_call *call)
{
    struct wanted wanted;
    const struct es_run *run;

    read_wanted(call, &wanted);
    run = esi_service_run(call);
    if (call->code < 0)
        return call->code;
    for (size_t i = 0; i < es_run_segment_count(run); i++)
        if (write_wanted(run, es_run_segment(run, i), &wanted, call->reply))
            return 0;
    return es_error_set(call->error, -ENOENT, "that group is not known here");
}

/* --- What is collected --------------------------------------------------------- */

enum { THRESHOLD_MAX = 1 << 24, REFUSED_MAX = 16, FILE_BYTES_MAX = 16 << 20 };

enum action { ACTION_ENABLE, ACTION_THRESHOLD, ACTION_BLOCK };

struct element_change {
    enum action action;
    uint32_t threshold;
    bool on;
};

static void read_selection(struct esi_service_call *call,
                           struct es_selection *ret_selection)
{
    const struct es_member *object = esi_member_find(call->body, "selection");

    es_selection_init(ret_selection);
    ret_selection->ranks = esi_member_text_or(object, "ranks", NULL);
    ret_selection->collector = esi_member_text_or(object, "collector", NULL);
    ret_selection->name = esi_member_text_or(object, "name", NULL);
    ret_selection->host = esi_member_text_or(object, "host", NULL);
    ret_selection->thread =
        (int)esi_member_integer_or(object, "thread", ret_selection->thread);
    ret_selection->classes =
        (uint32_t)esi_member_integer_or(object, "classes", ret_selection->classes);
    call->code = es_selection_check(ret_selection, call->error);
}

static void read_change(struct esi_service_call *call,
                        struct element_change *ret_change)
{
    *ret_change = (struct element_change){.action = ACTION_ENABLE};
    if (esi_member_find(call->body, "threshold")) {
        ret_change->action = ACTION_THRESHOLD;
        ret_change->threshold =
            (uint32_t)esi_service_integer(call, "threshold", 1, THRESHOLD_MAX);
    } else if (esi_member_find(call->body, "block")) {
        ret_change->action = ACTION_BLOCK;
        ret_change->on = esi_service_boolean(call, "block");
    } else {
        ret_change->on = esi_service_boolean(call, "enable");
    }
}

static int change_element(const struct element_change *change,
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
    esi_json_out_unsigned(reply, "threshold", info.threshold_max);
    esi_json_out_signed(reply, "code", -code);
    esi_json_out_end(reply);
}

/* Returns true if the element belongs to the host of this server. */
static bool is_ours(const struct esi_service_call *call,
                    const struct es_element_view *element)
{
    struct es_element_info info;

    es_element_view_info(element, &info);
    return strcmp(info.host, call->connection->service->host) == 0;
}

static int serve_collect(struct esi_service_call *call)
{
    struct esi_json_out *reply = call->reply;
    struct es_element_view **elements = NULL;
    struct es_selection selection;
    struct element_change change;
    const struct es_run *run;
    uint64_t fit = 0, changed = 0, refused = 0;

    read_selection(call, &selection);
    read_change(call, &change);
    run = esi_service_run(call);
    if (call->code < 0)
        return call->code;
    int count = es_run_select(run, &selection, &elements);
    if (count < 0)
        return count;
    esi_json_out_begin_array(reply, "refused");
    for (int i = 0; i < count; i++) {
        if (!is_ours(call, elements[i]))
            continue;
        fit++;
        int code = change_element(&change, elements[i]);
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

/* --- Collective trees ---------------------------------------------------------- */

static int serve_trees(struct esi_service_call *call)
{
    const struct es_run *run = esi_service_run(call);

    if (run)
        esi_collective_trees_report(run, call->connection->service->host, call->reply);
    return call->code;
}

static int serve_desired(struct esi_service_call *call)
{
    const struct es_run *run = esi_service_run(call);

    return run ? esi_collective_trees_report_desired(
                     run, call->connection->service->host, call->reply)
               : call->code;
}

/* Checks the rules here, because the processes could not report an error to anybody. */
static void check_rules(struct esi_service_call *call, const char *text)
{
    struct esi_tree_plan plan;

    call->code = esi_tree_plan_parse(text, "rules", call->error, &plan);
    if (call->code == 0)
        esi_tree_plan_fini(&plan);
}

static int serve_change(struct esi_service_call *call)
{
    const char *text = esi_service_text(call, "text");
    const struct es_run *run;

    if (text)
        check_rules(call, text);
    run = esi_service_run(call);
    if (run)
        esi_collective_trees_desire(run, call->connection->service->host, text,
                                    call->reply);
    return call->code;
}

/* --- Files -------------------------------------------------------------------- */

static bool is_allowed(const char *name)
{
    static const char *const names[] = {"collect.plan", "collect.trees", "map.json",
                                        "run.json"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static int serve_file(struct esi_service_call *call)
{
    const char *name = esi_service_text(call, "name");
    struct es_error fault = {.text = ""};
    size_t length;
    char *text;

    if (!name)
        return call->code;
    if (!is_allowed(name))
        return es_error_set(call->error, -EINVAL,
                            "'%.64s' is not a file that clients may read", name);
    int code =
        esi_run_file_read(call->connection->service->run, name, &fault, &text, &length);
    if (code == 0 && length > FILE_BYTES_MAX) {
        free(text);
        code = -EFBIG;
    }
    if (code < 0)
        return es_error_set(call->error, code, "%s: %s", name,
                            fault.text[0] ? fault.text : strerror(-code));
    esi_json_out_string(call->reply, "text", text);
    free(text);
    return 0;
}

const struct esi_request_row esi_run_requests[] = {
    {"catalog", serve_catalog, false},    {"communicator", serve_communicator, false},
    {"modules", serve_modules, false},    {"ledger", serve_ledger, false},
    {"profile", serve_profile, false},    {"group", serve_group, false},
    {"collect", serve_collect, true},     {"trees", serve_trees, false},
    {"trees.wish", serve_desired, false}, {"trees.change", serve_change, true},
    {"file", serve_file, false},          {NULL, NULL, false},
};
