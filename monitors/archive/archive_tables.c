/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* archive_tables.c - the tables of an archive in memory and as JSON Lines. */
#include "config.h"

#include "monitors/archive/archive_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/input.h"
#include "base/json_out.h"
#include "base/wire.h"
#include "pathmap/message.h"

/* Format and version, checked by readers. */

#define ESI_ARCHIVE_FORMAT "eventspace-archive"
/* Must be increased if readers of the previous version would misread the file. */
#define ESI_ARCHIVE_VERSION 1

/* === In memory ==================================================================== */

void esi_archive_tables_fini(struct esi_archive_tables *tables)
{
    for (size_t i = 0; i < tables->process_count; i++)
        free(tables->processes[i].communicators);
    for (size_t i = 0; i < tables->group_count; i++)
        free(tables->groups[i].world);
    free(tables->hosts);
    free(tables->processes);
    free(tables->elements);
    free(tables->groups);
    esi_hash_fini(&tables->groups_by_key);
    free(tables->open);
    free(tables->modules);
    *tables = (struct esi_archive_tables){.hosts = NULL};
}

int esi_archive_tables_host(struct esi_archive_tables *tables,
                            const char *name,
                            uint32_t *ret_host)
{
    size_t count = tables->host_count;
    struct esi_archive_host *host;

    for (size_t i = 0; i < count; i++) {
        if (strcmp(tables->hosts[i].name, name) == 0) {
            *ret_host = (uint32_t)i;
            return 0;
        }
    }
    if (ESI_ARRAY_RESERVE(tables->hosts, tables->host_capacity, count + 1) < 0)
        return -ENOMEM;
    host = &tables->hosts[count];
    *host = (struct esi_archive_host){.clock_known = false};
    strncpy(host->name, name, sizeof host->name - 1);
    *ret_host = (uint32_t)tables->host_count++;
    return 0;
}

int esi_archive_tables_add_process(struct esi_archive_tables *tables,
                                   const struct esi_archive_process *process,
                                   uint32_t *ret_process)
{
    size_t count = tables->process_count;
    struct esi_archive_process *added;

    if (ESI_ARRAY_RESERVE(tables->processes, tables->process_capacity, count + 1) < 0)
        return -ENOMEM;
    added = &tables->processes[count];
    *added = *process;
    added->communicators = NULL;
    added->communicator_count = added->communicator_capacity = 0;
    *ret_process = (uint32_t)tables->process_count++;
    return 0;
}

int esi_archive_tables_add_element(struct esi_archive_tables *tables,
                                   const struct esi_archive_element *element,
                                   uint32_t *ret_element)
{
    size_t count = tables->element_count;

    if (ESI_ARRAY_RESERVE(tables->elements, tables->element_capacity, count + 1) < 0)
        return -ENOMEM;
    tables->elements[count] = *element;
    *ret_element = (uint32_t)tables->element_count++;
    return 0;
}

int esi_archive_tables_set_communicator(
    struct esi_archive_tables *tables,
    uint32_t process,
    uint16_t index,
    const struct esi_archive_communicator *communicator)
{
    struct esi_archive_process *owner = &tables->processes[process];
    size_t count = owner->communicator_count;

    if (index < count) {
        owner->communicators[index] = *communicator;
        return 0;
    }
    if (index > count)
        return -EINVAL;
    if (ESI_ARRAY_RESERVE(owner->communicators, owner->communicator_capacity,
                          count + 1) < 0)
        return -ENOMEM;
    owner->communicators[owner->communicator_count++] = *communicator;
    return 0;
}

static uint64_t group_hash(const uint64_t key[2], int first, size_t size)
{
    return esi_hash_mix(esi_hash_mix(esi_hash_mix(key[0], key[1]), (uint64_t)first),
                        size);
}

int esi_archive_tables_add_group(struct esi_archive_tables *tables,
                                 const struct esi_archive_group *group)
{
    size_t count = tables->group_count;
    struct esi_archive_group *added;

    if (ESI_ARRAY_RESERVE(tables->groups, tables->group_capacity, count + 1) < 0 ||
        esi_hash_reserve(&tables->groups_by_key, count + 1) < 0)
        return -ENOMEM;
    added = &tables->groups[count];
    *added = *group;
    added->world = calloc(group->size + 1, sizeof *group->world);
    if (!added->world)
        return -ENOMEM;
    if (group->size > 0)
        memcpy(added->world, group->world, group->size * sizeof *group->world);
    esi_hash_insert(&tables->groups_by_key,
                    group_hash(group->key, group->first, group->size), count);
    tables->group_count++;
    return 0;
}

int esi_archive_tables_add_open(struct esi_archive_tables *tables,
                                const struct esi_archive_open *open)
{
    size_t count = tables->open_count;

    if (ESI_ARRAY_RESERVE(tables->open, tables->open_capacity, count + 1) < 0)
        return -ENOMEM;
    tables->open[tables->open_count++] = *open;
    return 0;
}

int esi_archive_tables_add_module(struct esi_archive_tables *tables,
                                  const struct esi_archive_module *module)
{
    size_t count = tables->module_count;

    if (ESI_ARRAY_RESERVE(tables->modules, tables->module_capacity, count + 1) < 0)
        return -ENOMEM;
    tables->modules[tables->module_count++] = *module;
    return 0;
}

const struct esi_archive_group *esi_archive_tables_group(
    const struct esi_archive_tables *tables,
    const struct esi_archive_communicator *communicator,
    bool remote)
{
    int first = remote ? communicator->remote_first : communicator->first;
    size_t size = (size_t)(remote ? communicator->remote_size : communicator->size);

    ESI_HASH_FOREACH(slot, &tables->groups_by_key,
                     group_hash(communicator->key, first, size)) {
        const struct esi_archive_group *group =
            &tables->groups[esi_hash_index(&tables->groups_by_key, slot)];

        if (group->key[0] == communicator->key[0] &&
            group->key[1] == communicator->key[1] && group->first == first &&
            group->size == size)
            return group;
    }
    return NULL;
}

/* === Lines of JSON ================================================================ */

/*
 * Each kind of line has one function for both directions: the function that transfers a
 * member writes a value, or returns the value that was read.  The first member that is
 * missing or invalid makes the line an error; later members are not changed.
 */

/* Readers have arrays by rank. */
enum { GROUP_MAX = 1 << 24, RANK_MAX = GROUP_MAX - 1 };

struct line {
    struct esi_archive_tables *tables;
    struct esi_json_out *out;       /* NULL = the line is being read: */
    const struct es_member *object; /* the line or an object in it */
    struct es_error *error;
    int result; /* 0, or the first error */
};

/* --- Members ----------------------------------------------------------------- */

static void fail_line(struct line *line, const char *words)
{
    if (line->result == 0)
        line->result = es_error_set(line->error, -EINVAL, "%s", words);
}

static int64_t transfer_integer(struct line *line,
                                const char *name,
                                int64_t value,
                                int64_t low,
                                int64_t high)
{
    if (line->out)
        esi_json_out_signed(line->out, name, value);
    else if (line->result == 0)
        line->result =
            esi_member_integer(line->object, name, low, high, line->error, &value);
    return value;
}

/* Limited to what readers of JSON accept, because clocks of damaged segments may
 * contain any value. */
static uint64_t transfer_count(struct line *line,
                               const char *name,
                               uint64_t value,
                               uint64_t high)
{
    int64_t bounded = transfer_integer(line, name, (int64_t)esi_json_bounded(value), 0,
                                       (int64_t)esi_json_bounded(high));

    return line->out ? value : (uint64_t)bounded;
}

static uint64_t transfer_any(struct line *line, const char *name, uint64_t value)
{
    return transfer_count(line, name, value, INT64_MAX);
}

static bool transfer_boolean(struct line *line, const char *name, bool value)
{
    if (line->out)
        esi_json_out_bool(line->out, name, value);
    else if (line->result == 0)
        line->result = esi_member_boolean(line->object, name, line->error, &value);
    return value;
}

/* A member that is written only if it is true. */
static bool transfer_flag(struct line *line, const char *name, bool value)
{
    if (line->out ? value : esi_member_find(line->object, name) != NULL)
        value = transfer_boolean(line, name, value);
    return value;
}

/* When reading, the text must fit into `size` bytes. */
static void transfer_text(struct line *line, const char *name, char *text, size_t size)
{
    const char *value = NULL;

    if (line->out) {
        esi_json_out_string(line->out, name, text);
        return;
    }
    if (line->result == 0)
        line->result = esi_member_text(line->object, name, line->error, &value);
    if (line->result < 0)
        return;
    if (strlen(value) >= size)
        line->result = es_error_set(line->error, -EINVAL,
                                    "'%s' has more than %zu bytes", name, size - 1);
    else
        memcpy(text, value, strlen(value) + 1);
}

/* A key as 32 digits, because readers of JSON may not preserve all bits of numbers. */
static void transfer_key(struct line *line, const char *name, uint64_t pair[2])
{
    char digits[33];

    snprintf(digits, sizeof digits, "%016" PRIx64 "%016" PRIx64, pair[0], pair[1]);
    transfer_text(line, name, digits, sizeof digits);
    for (int i = 0; i < 32 && line->result == 0; i++) {
        if (esi_wire_hex_digit(digits[i]) < 0)
            line->result = es_error_set(line->error, -EINVAL,
                                        "'%s' is not 32 hexadecimal digits", name);
        else
            pair[i / 16] = pair[i / 16] << 4 | (uint64_t)esi_wire_hex_digit(digits[i]);
    }
}

/* The line's own number, which must be the next one. */
static void transfer_number(struct line *line, size_t number)
{
    if (transfer_any(line, "number", number) != number && line->result == 0)
        line->result = es_error_set(line->error, -EINVAL,
                                    "'number' is not %zu, the next one", number);
}

/* A reference to one of the first `known` rows. */
static uint32_t transfer_reference(struct line *line,
                                   const char *name,
                                   uint32_t value,
                                   size_t known)
{
    return (uint32_t)transfer_integer(line, name, value, 0, (int64_t)known - 1);
}

/* The following members, up to end_object(), belong to an object. */
static void begin_object(struct line *line, const char *name)
{
    if (line->out)
        esi_json_out_begin_object(line->out, name);
    else
        line->object = esi_member_find(line->object, name);
}

static void end_object(struct line *line, const struct es_member *outer)
{
    if (line->out)
        esi_json_out_end(line->out);
    line->object = outer;
}

/* --- Kinds of lines ---------------------------------------------------------- */

static void transfer_version(struct line *line)
{
    int64_t version =
        transfer_integer(line, "version", ESI_ARCHIVE_VERSION, 1, INT32_MAX);

    if (line->result == 0 && version > ESI_ARCHIVE_VERSION)
        line->result =
            es_error_set(line->error, -EINVAL,
                         "the archive has version %d, of a newer EventSpace; "
                         "this one reads version %d",
                         (int)version, ESI_ARCHIVE_VERSION);
}

static void transfer_facts(struct line *line, struct esi_archive_facts *facts)
{
    char format[64] = ESI_ARCHIVE_FORMAT;

    transfer_text(line, "format", format, sizeof format);
    if (strcmp(format, ESI_ARCHIVE_FORMAT) != 0)
        fail_line(line, "'format' is not '" ESI_ARCHIVE_FORMAT "'");
    transfer_version(line);
    transfer_text(line, "run", facts->run, sizeof facts->run);
    facts->begun_ns = transfer_any(line, "begun_ns", facts->begun_ns);
    facts->ended_ns = transfer_any(line, "ended_ns", facts->ended_ns);
    facts->tuples = transfer_any(line, "tuples", facts->tuples);
    facts->lost = transfer_any(line, "lost", facts->lost);
    facts->missed = transfer_any(line, "missed", facts->missed);
    transfer_text(line, "error", facts->error, sizeof facts->error);
}

static void transfer_host_clock(struct line *line, struct esi_archive_host *host)
{
    const struct es_member *outer = line->object;

    begin_object(line, "clock");
    host->clock_monotonic_ns =
        transfer_any(line, "monotonic_ns", host->clock_monotonic_ns);
    host->clock_offset_ns = transfer_integer(line, "offset_ns", host->clock_offset_ns,
                                             INT64_MIN, INT64_MAX);
    if (line->out)
        esi_json_out_real(line->out, "drift_ppb", host->clock_drift_ppb);
    else
        host->clock_drift_ppb = esi_member_real_or(line->object, "drift_ppb", 0);
    host->clock_error_ns = transfer_any(line, "error_ns", host->clock_error_ns);
    end_object(line, outer);
}

static void transfer_host(struct line *line,
                          size_t number,
                          struct esi_archive_host *host)
{
    uint64_t uuid[2] = {0, 0};

    for (int i = 0; i < 16; i++)
        uuid[i / 8] = uuid[i / 8] << 8 | host->uuid[i];
    transfer_number(line, number);
    transfer_text(line, "name", host->name, sizeof host->name);
    transfer_key(line, "uuid", uuid);
    for (int i = 0; i < 16; i++)
        host->uuid[i] = (uint8_t)(uuid[i / 8] >> (56 - i % 8 * 8));
    if (host->clock_known)
        transfer_host_clock(line, host);
}

static void transfer_clock(struct line *line, struct es_clock *clock)
{
    const struct es_member *outer = line->object;

    begin_object(line, "clock");
    if (!line->out && !line->object)
        fail_line(line, "'clock' is missing");
    clock->kind = (uint32_t)transfer_count(line, "kind", clock->kind, UINT32_MAX);
    clock->frequency_hz = transfer_any(line, "frequency_hz", clock->frequency_hz);
    clock->frequency_error_ppb =
        transfer_any(line, "frequency_error_ppb", clock->frequency_error_ppb);
    clock->base_ticks = transfer_any(line, "base_ticks", clock->base_ticks);
    clock->base_realtime_ns =
        transfer_any(line, "base_realtime_ns", clock->base_realtime_ns);
    clock->base_monotonic_ns =
        transfer_any(line, "base_monotonic_ns", clock->base_monotonic_ns);
    clock->base_error_ns = transfer_any(line, "base_error_ns", clock->base_error_ns);
    end_object(line, outer);
}

/* Transfers an int of any value. */
static int transfer_int(struct line *line, const char *name, int value)
{
    return (int)transfer_integer(line, name, value, INT32_MIN, INT32_MAX);
}

static void transfer_process(struct line *line,
                             size_t number,
                             struct esi_archive_process *process)
{
    transfer_number(line, number);
    process->host =
        transfer_reference(line, "host", process->host, line->tables->host_count);
    process->rank = (int)transfer_integer(line, "rank", process->rank, -1, RANK_MAX);
    process->size = (int)transfer_integer(line, "size", process->size, -1, RANK_MAX);
    if (!line->out && process->size > 0 && process->rank >= process->size)
        fail_line(line, "'rank' is not below 'size'");
    process->pid = transfer_int(line, "pid", process->pid);
    transfer_text(line, "program", process->program, sizeof process->program);
    transfer_text(line, "state", process->state, sizeof process->state);
    process->before_mpi = transfer_flag(line, "before_mpi", process->before_mpi);
    process->exit_code = transfer_int(line, "exit_code", process->exit_code);
    process->signal = transfer_int(line, "signal", process->signal);
    process->ended_realtime_ns =
        transfer_any(line, "ended_realtime_ns", process->ended_realtime_ns);
    transfer_clock(line, &process->clock);
}

/* The fields after the process and the index. */
static void transfer_communicator(struct line *line,
                                  struct esi_archive_communicator *communicator)
{
    transfer_key(line, "key", communicator->key);
    transfer_text(line, "name", communicator->name, sizeof communicator->name);
    communicator->rank = transfer_int(line, "rank", communicator->rank);
    communicator->size =
        (int)transfer_integer(line, "size", communicator->size, 0, GROUP_MAX);
    communicator->remote_size = (int)transfer_integer(
        line, "remote_size", communicator->remote_size, 0, GROUP_MAX);
    communicator->first =
        (int)transfer_integer(line, "first", communicator->first, -1, RANK_MAX);
    communicator->remote_first = (int)transfer_integer(
        line, "remote_first", communicator->remote_first, -1, RANK_MAX);
    communicator->parent = (uint16_t)transfer_count(
        line, "parent", communicator->parent, ES_COMMUNICATOR_NONE);
    communicator->freed = transfer_boolean(line, "freed", communicator->freed);
}

/* The fields before the members. */
static void transfer_group(struct line *line, struct esi_archive_group *group)
{
    transfer_key(line, "key", group->key);
    group->first = (int)transfer_integer(line, "first", group->first, 0, RANK_MAX);
}

static void transfer_element(struct line *line,
                             size_t number,
                             struct esi_archive_element *element)
{
    transfer_number(line, number);
    element->process = transfer_reference(line, "process", element->process,
                                          line->tables->process_count);
    if (!line->out && line->result == 0 &&
        line->tables->processes[element->process].before_mpi)
        fail_line(line, "'process' is one that had not called MPI");
    transfer_text(line, "name", element->name, sizeof element->name);
    transfer_text(line, "collector", element->collector, sizeof element->collector);
    element->thread =
        (int)transfer_integer(line, "thread", element->thread, -1, INT32_MAX);
    element->classes =
        (uint32_t)transfer_count(line, "classes", element->classes, UINT32_MAX);
    element->peer = transfer_int(line, "peer", element->peer);
    element->communicator = (uint16_t)transfer_count(
        line, "communicator", element->communicator, ES_COMMUNICATOR_NONE);
    element->threshold =
        (uint32_t)transfer_count(line, "threshold", element->threshold, UINT32_MAX);
    element->block = transfer_boolean(line, "block", element->block);
    element->missed = transfer_any(line, "missed", element->missed);
    element->lost = transfer_any(line, "lost", element->lost);
    element->off = transfer_flag(line, "off", element->off);
}

static void transfer_open(struct line *line, struct esi_archive_open *open)
{
    struct es_tuple *tuple = &open->tuple;

    open->element =
        transfer_reference(line, "element", open->element, line->tables->element_count);
    tuple->operation =
        (uint16_t)transfer_integer(line, "operation", tuple->operation, 1, UINT16_MAX);
    tuple->communicator =
        (uint16_t)transfer_count(line, "communicator", tuple->communicator, UINT16_MAX);
    tuple->start = transfer_any(line, "start", tuple->start);
    tuple->sequence =
        (uint32_t)transfer_count(line, "sequence", tuple->sequence, UINT32_MAX);
    tuple->peer = transfer_int(line, "peer", tuple->peer);
    tuple->tag = transfer_int(line, "tag", tuple->tag);
    tuple->bytes = (uint32_t)transfer_count(line, "bytes", tuple->bytes, UINT32_MAX);
    if (line->out ? open->site != 0 : esi_member_find(line->object, "site") != NULL)
        open->site = transfer_any(line, "site", open->site);
}

/* In hexadecimal digits. */
static void transfer_build_id(struct line *line, struct es_module *module)
{
    char digits[2 * ES_BUILD_ID_BYTES + 1] = "";

    for (uint32_t i = 0; line->out && i < module->build_id_bytes; i++)
        snprintf(digits + (size_t)2 * i, 3, "%02x", module->build_id[i]);
    transfer_text(line, "build_id", digits, sizeof digits);
    for (size_t i = 0; !line->out && line->result == 0 && digits[2 * i]; i++) {
        int high = esi_wire_hex_digit(digits[2 * i]),
            low = esi_wire_hex_digit(digits[2 * i + 1]);

        if (high < 0 || low < 0) {
            fail_line(line, "\"build_id\" is not pairs of hexadecimal digits");
            return;
        }
        module->build_id[i] = (uint8_t)(high << 4 | low);
        module->build_id_bytes = (uint32_t)i + 1;
    }
}

static void transfer_module(struct line *line, struct esi_archive_module *row)
{
    struct es_module *module = &row->module;

    row->process =
        transfer_reference(line, "process", row->process, line->tables->process_count);
    module->begin = transfer_any(line, "begin", module->begin);
    module->end = transfer_any(line, "end", module->end);
    module->bias = transfer_any(line, "bias", module->bias);
    transfer_build_id(line, module);
    transfer_text(line, "path", module->path, sizeof module->path);
}

/* === Writing ====================================================================== */

static void begin_line(struct line *line, const char *type)
{
    esi_json_out_begin_object(line->out, NULL);
    esi_json_out_string(line->out, "type", type);
}

static void write_process(struct line *line,
                          size_t number,
                          struct esi_archive_process *process)
{
    begin_line(line, "process");
    transfer_process(line, number, process);
    esi_json_out_end(line->out);
    for (size_t i = 0; i < process->communicator_count; i++) {
        begin_line(line, "communicator");
        esi_json_out_unsigned(line->out, "process", number);
        esi_json_out_unsigned(line->out, "index", i);
        transfer_communicator(line, &process->communicators[i]);
        esi_json_out_end(line->out);
    }
}

static void write_group(struct line *line, struct esi_archive_group *group)
{
    begin_line(line, "group");
    transfer_group(line, group);
    esi_json_out_begin_array(line->out, "world");
    for (size_t i = 0; i < group->size; i++)
        esi_json_out_signed(line->out, NULL, group->world[i]);
    esi_json_out_end(line->out);
    esi_json_out_end(line->out);
}

void esi_archive_tables_write(const struct esi_archive_tables *tables, FILE *stream)
{
    struct esi_archive_tables all = *tables; /* borrows the rows, which are not
                                                changed */
    struct esi_json_out out;
    struct line line = {.tables = &all, .out = &out};

    esi_json_out_init(&out, stream);
    begin_line(&line, "archive");
    transfer_facts(&line, &all.facts);
    esi_json_out_end(&out);
    for (size_t i = 0; i < all.host_count; i++) {
        begin_line(&line, "host");
        transfer_host(&line, i, &all.hosts[i]);
        esi_json_out_end(&out);
    }
    for (size_t i = 0; i < all.process_count; i++)
        write_process(&line, i, &all.processes[i]);
    for (size_t i = 0; i < all.group_count; i++)
        write_group(&line, &all.groups[i]);
    for (size_t i = 0; i < all.element_count; i++) {
        begin_line(&line, "element");
        transfer_element(&line, i, &all.elements[i]);
        esi_json_out_end(&out);
    }
    for (size_t i = 0; i < all.module_count; i++) {
        begin_line(&line, "module");
        transfer_module(&line, &all.modules[i]);
        esi_json_out_end(&out);
    }
    for (size_t i = 0; i < all.open_count; i++) {
        begin_line(&line, "open");
        transfer_open(&line, &all.open[i]);
        esi_json_out_end(&out);
    }
}

/* === Reading ====================================================================== */

static int read_facts(struct line *line)
{
    transfer_facts(line, &line->tables->facts);
    return line->result;
}

static int read_host(struct line *line)
{
    struct esi_archive_tables *tables = line->tables;
    struct esi_archive_host host = {.clock_known =
                                        esi_member_find(line->object, "clock") != NULL};
    size_t before = tables->host_count;
    uint32_t at;

    transfer_host(line, before, &host);
    if (line->result < 0)
        return line->result;
    line->result = esi_archive_tables_host(tables, host.name, &at);
    if (line->result == 0 && at != before)
        fail_line(line, "an earlier line has a host of this 'name'");
    if (line->result == 0)
        tables->hosts[at] = host;
    return line->result;
}

static int read_process(struct line *line)
{
    struct esi_archive_process process = {.communicators = NULL};
    uint32_t added;

    transfer_process(line, line->tables->process_count, &process);
    return line->result < 0
               ? line->result
               : esi_archive_tables_add_process(line->tables, &process, &added);
}

static int read_communicator(struct line *line)
{
    struct esi_archive_tables *tables = line->tables;
    struct esi_archive_communicator communicator = {.rank = 0};
    uint32_t process = transfer_reference(line, "process", 0, tables->process_count);
    uint64_t index = transfer_count(line, "index", 0, ES_COMMUNICATOR_NONE - 1);

    if (line->result == 0 && index != tables->processes[process].communicator_count)
        fail_line(line, "'index' is not the next one of its process");
    transfer_communicator(line, &communicator);
    return line->result < 0 ? line->result
                            : esi_archive_tables_set_communicator(
                                  tables, process, (uint16_t)index, &communicator);
}

static int read_group(struct line *line)
{
    const struct es_member *world = esi_member_find(line->object, "world");
    struct esi_archive_group group = {.world = NULL};

    transfer_group(line, &group);
    if (!world)
        fail_line(line, "'world' is missing");
    if (line->result < 0)
        return line->result;
    group.size = esi_member_count(world);
    group.world = calloc(group.size + 1, sizeof *group.world);
    if (!group.world)
        return -ENOMEM;
    for (size_t i = 0; i < group.size; i++) {
        const struct es_member *item = esi_member_at(world, i);
        int64_t rank = item ? esi_member_as_integer(item) : -1;

        group.world[i] = rank >= 0 && rank <= RANK_MAX ? (int32_t)rank : -1;
    }
    line->result = esi_archive_tables_add_group(line->tables, &group);
    free(group.world);
    return line->result;
}

static int read_element(struct line *line)
{
    struct esi_archive_element element = {.process = 0};
    uint32_t added;

    transfer_element(line, line->tables->element_count, &element);
    return line->result < 0
               ? line->result
               : esi_archive_tables_add_element(line->tables, &element, &added);
}

static int read_open(struct line *line)
{
    struct esi_archive_open open = {.element = 0};

    transfer_open(line, &open);
    return line->result < 0 ? line->result
                            : esi_archive_tables_add_open(line->tables, &open);
}

static int read_module(struct line *line)
{
    struct esi_archive_module module = {.process = 0};

    transfer_module(line, &module);
    return line->result < 0 ? line->result
                            : esi_archive_tables_add_module(line->tables, &module);
}

/* --- The file ---------------------------------------------------------------- */

static const struct {
    const char *type;
    int (*read)(struct line *line);
} kinds[] = {
    {"archive", read_facts},   {"host", read_host},
    {"process", read_process}, {"communicator", read_communicator},
    {"group", read_group},     {"element", read_element},
    {"open", read_open},       {"module", read_module},
};

static int read_kind(struct line *line, int line_number)
{
    char type[32];
    bool first = line_number == 1;

    transfer_text(line, "type", type, sizeof type);
    if (line->result == 0 && first != (strcmp(type, "archive") == 0))
        fail_line(line, first ? "this is not the first line of an archive's tables"
                              : "there is a second line of type 'archive'");
    if (line->result < 0)
        return line->result;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(type, kinds[i].type) == 0)
            return kinds[i].read(line);
    return 0; /* a line of a later version that readers of this version may ignore */
}

static int read_line(struct esi_archive_tables *tables,
                     const char *start,
                     size_t length,
                     int line_number,
                     struct es_error *error)
{
    struct line line = {.tables = tables, .error = error};
    struct es_message *message;
    int result = esi_message_parse(start, length, NULL, error, &message);

    if (result < 0)
        return result;
    line.object = esi_message_root(message);
    result = read_kind(&line, line_number);
    esi_message_destroy(message);
    return result;
}

int esi_archive_tables_read(struct esi_archive_tables *tables,
                            const char *whole,
                            size_t length,
                            const char *source,
                            struct es_error *error)
{
    const char *end = whole + length;
    int line_number = 0;
    int result = esi_input_check(whole, length, source, error);

    while (whole < end && result == 0) {
        const char *stop = memchr(whole, '\n', (size_t)(end - whole));
        struct es_error fault = {.text = ""};

        line_number++;
        result = read_line(tables, whole, (size_t)((stop ? stop : end) - whole),
                           line_number, &fault);
        if (result < 0)
            es_error_set_at(error, result, source, line_number,
                            fault.column > 0 ? fault.column : 1, "%s", fault.text);
        whole = stop ? stop + 1 : end;
    }
    if (result == 0 && line_number == 0)
        return es_error_set_at(error, -EINVAL, source, 1, 1, "the file is empty");
    return result;
}
