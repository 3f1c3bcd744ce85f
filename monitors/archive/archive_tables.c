/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* archive_tables.c - what an archive says beside its tuples. */
#include "config.h"

#include "monitors/archive/archive_tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/input.h"
#include "base/json_out.h"
#include "pathmap/message.h"

/* What writer and reader of an archive's tables agree on. */

#define ESI_ARCHIVE_FORMAT "eventspace-archive"
/* Goes up when readers of the version before would be wrong. */
#define ESI_ARCHIVE_VERSION 1

/* === In memory ==================================================================== */

void esi_archive_tables_init(struct esi_archive_tables *tables)
{
    *tables = (struct esi_archive_tables){.hosts = NULL};
}

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
    free(tables->open);
    esi_archive_tables_init(tables);
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

int esi_archive_tables_add_group(struct esi_archive_tables *tables,
                                 const struct esi_archive_group *group)
{
    size_t count = tables->group_count;
    struct esi_archive_group *added;

    if (ESI_ARRAY_RESERVE(tables->groups, tables->group_capacity, count + 1) < 0)
        return -ENOMEM;
    added = &tables->groups[count];
    *added = *group;
    added->world = calloc(group->size + 1, sizeof *group->world);
    if (!added->world)
        return -ENOMEM;
    if (group->size > 0)
        memcpy(added->world, group->world, group->size * sizeof *group->world);
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

const struct esi_archive_group *esi_archive_tables_group(
    const struct esi_archive_tables *tables,
    const struct esi_archive_communicator *communicator,
    bool remote)
{
    int first = remote ? communicator->remote_first : communicator->first;
    int size = remote ? communicator->remote_size : communicator->size;

    for (size_t i = 0; i < tables->group_count && first >= 0; i++) {
        const struct esi_archive_group *group = &tables->groups[i];

        if (group->key[0] == communicator->key[0] &&
            group->key[1] == communicator->key[1] && group->first == first &&
            group->size == (size_t)size)
            return group;
    }
    return NULL;
}

/* === Written as JSON Lines ======================================================== */

/* No larger than readers of JSON take: clocks of damaged segments may say anything. */
static void write_count(struct esi_json_out *out, const char *name, uint64_t value)
{
    esi_json_out_unsigned(out, name, value <= INT64_MAX ? value : INT64_MAX);
}

static void write_type(struct esi_json_out *out, const char *type)
{
    esi_json_out_begin_object(out, NULL);
    esi_json_out_string(out, "type", type);
}

/* A number that readers of JSON may not keep in all its bits: as hexadecimal text. */
static void write_hexadecimal(struct esi_json_out *out,
                              const char *name,
                              uint64_t high,
                              uint64_t low)
{
    char text[33];

    snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, high, low);
    esi_json_out_string(out, name, text);
}

static void write_facts(struct esi_json_out *out, const struct esi_archive_facts *facts)
{
    write_type(out, "archive");
    esi_json_out_string(out, "format", ESI_ARCHIVE_FORMAT);
    esi_json_out_signed(out, "version", ESI_ARCHIVE_VERSION);
    esi_json_out_string(out, "run", facts->run);
    write_count(out, "begun_ns", facts->begun_ns);
    write_count(out, "ended_ns", facts->ended_ns);
    write_count(out, "tuples", facts->tuples);
    write_count(out, "lost", facts->lost);
    write_count(out, "missed", facts->missed);
    esi_json_out_string(out, "error", facts->error);
    esi_json_out_end(out);
}

static void write_host(struct esi_json_out *out,
                       size_t number,
                       const struct esi_archive_host *host)
{
    uint64_t high = 0;
    uint64_t low = 0;

    for (int i = 0; i < 8; i++) {
        high = high << 8 | host->uuid[i];
        low = low << 8 | host->uuid[i + 8];
    }
    write_type(out, "host");
    write_count(out, "number", number);
    esi_json_out_string(out, "name", host->name);
    write_hexadecimal(out, "uuid", high, low);
    if (host->clock_known) {
        esi_json_out_begin_object(out, "clock");
        write_count(out, "monotonic_ns", host->clock_monotonic_ns);
        esi_json_out_signed(out, "offset_ns", host->clock_offset_ns);
        esi_json_out_real(out, "drift_ppb", host->clock_drift_ppb);
        write_count(out, "error_ns", host->clock_error_ns);
        esi_json_out_end(out);
    }
    esi_json_out_end(out);
}

static void write_clock(struct esi_json_out *out, const struct es_clock *clock)
{
    esi_json_out_begin_object(out, "clock");
    write_count(out, "kind", clock->kind);
    write_count(out, "frequency_hz", clock->frequency_hz);
    write_count(out, "frequency_error_ppb", clock->frequency_error_ppb);
    write_count(out, "base_ticks", clock->base_ticks);
    write_count(out, "base_realtime_ns", clock->base_realtime_ns);
    write_count(out, "base_monotonic_ns", clock->base_monotonic_ns);
    write_count(out, "base_error_ns", clock->base_error_ns);
    esi_json_out_end(out);
}

static void write_process(struct esi_json_out *out,
                          size_t number,
                          const struct esi_archive_process *process)
{
    write_type(out, "process");
    write_count(out, "number", number);
    write_count(out, "host", process->host);
    esi_json_out_signed(out, "rank", process->rank);
    esi_json_out_signed(out, "size", process->size);
    esi_json_out_signed(out, "pid", process->pid);
    esi_json_out_string(out, "program", process->program);
    esi_json_out_string(out, "state", process->state);
    esi_json_out_signed(out, "exit_code", process->exit_code);
    esi_json_out_signed(out, "signal", process->signal);
    write_count(out, "ended_realtime_ns", process->ended_realtime_ns);
    write_clock(out, &process->clock);
    esi_json_out_end(out);
}

static void write_communicator(struct esi_json_out *out,
                               size_t process,
                               size_t index,
                               const struct esi_archive_communicator *communicator)
{
    write_type(out, "communicator");
    write_count(out, "process", process);
    write_count(out, "index", index);
    write_hexadecimal(out, "key", communicator->key[0], communicator->key[1]);
    esi_json_out_string(out, "name", communicator->name);
    esi_json_out_signed(out, "rank", communicator->rank);
    esi_json_out_signed(out, "size", communicator->size);
    esi_json_out_signed(out, "remote_size", communicator->remote_size);
    esi_json_out_signed(out, "first", communicator->first);
    esi_json_out_signed(out, "remote_first", communicator->remote_first);
    write_count(out, "parent", communicator->parent);
    esi_json_out_bool(out, "freed", communicator->freed);
    esi_json_out_end(out);
}

static void write_group(struct esi_json_out *out, const struct esi_archive_group *group)
{
    write_type(out, "group");
    write_hexadecimal(out, "key", group->key[0], group->key[1]);
    esi_json_out_signed(out, "first", group->first);
    esi_json_out_begin_array(out, "world");
    for (size_t i = 0; i < group->size; i++)
        esi_json_out_signed(out, NULL, group->world[i]);
    esi_json_out_end(out);
    esi_json_out_end(out);
}

static void write_element(struct esi_json_out *out,
                          size_t number,
                          const struct esi_archive_element *element)
{
    write_type(out, "element");
    write_count(out, "number", number);
    write_count(out, "process", element->process);
    esi_json_out_string(out, "name", element->name);
    esi_json_out_string(out, "collector", element->collector);
    esi_json_out_signed(out, "thread", element->thread);
    write_count(out, "classes", element->classes);
    esi_json_out_signed(out, "peer", element->peer);
    write_count(out, "communicator", element->communicator);
    write_count(out, "threshold", element->threshold);
    esi_json_out_bool(out, "block", element->block);
    write_count(out, "missed", element->missed);
    write_count(out, "lost", element->lost);
    esi_json_out_end(out);
}

static void write_open(struct esi_json_out *out, const struct esi_archive_open *open)
{
    const struct es_tuple *tuple = &open->tuple;

    write_type(out, "open");
    write_count(out, "element", open->element);
    write_count(out, "operation", tuple->operation);
    write_count(out, "communicator", tuple->communicator);
    write_count(out, "start", tuple->start);
    write_count(out, "sequence", tuple->sequence);
    esi_json_out_signed(out, "peer", tuple->peer);
    esi_json_out_signed(out, "tag", tuple->tag);
    write_count(out, "bytes", tuple->bytes);
    esi_json_out_end(out);
}

void esi_archive_tables_write(const struct esi_archive_tables *tables, FILE *stream)
{
    struct esi_json_out out;

    esi_json_out_init(&out, stream);
    write_facts(&out, &tables->facts);
    for (size_t i = 0; i < tables->host_count; i++)
        write_host(&out, i, &tables->hosts[i]);
    for (size_t i = 0; i < tables->process_count; i++) {
        const struct esi_archive_process *process = &tables->processes[i];

        write_process(&out, i, process);
        for (size_t j = 0; j < process->communicator_count; j++)
            write_communicator(&out, i, j, &process->communicators[j]);
    }
    for (size_t i = 0; i < tables->group_count; i++)
        write_group(&out, &tables->groups[i]);
    for (size_t i = 0; i < tables->element_count; i++)
        write_element(&out, i, &tables->elements[i]);
    for (size_t i = 0; i < tables->open_count; i++)
        write_open(&out, &tables->open[i]);
}

/* === Read and checked ============================================================= */

/*
 * The tables of an archive, read and checked.
 *
 * Each kind of line has a function that takes the members out; the first member that is
 * missing or wrong makes the line a fault, and those behind it are not looked at.
 */

enum { GROUP_MAX = 1 << 24, RANK_MAX = INT32_MAX };

struct line {
    struct esi_archive_tables *tables;
    const struct es_member *root;
    struct es_error *error;
    int result; /* 0, or what the first fault was */
};

/* --- Members ----------------------------------------------------------------- */

static int read_fail(struct line *line, const char *words)
{
    if (line->result == 0)
        line->result = es_error_set(line->error, -EINVAL, "%s", words);
    return line->result;
}

static int64_t integer_of(struct line *line,
                          const struct es_member *object,
                          const char *name,
                          int64_t minimum,
                          int64_t maximum)
{
    int64_t value = 0;

    if (line->result == 0)
        line->result =
            esi_member_integer(object, name, minimum, maximum, line->error, &value);
    return value;
}

static int64_t read_integer(struct line *line,
                            const char *name,
                            int64_t low,
                            int64_t high)
{
    return integer_of(line, line->root, name, low, high);
}

static uint64_t read_count(struct line *line, const char *name)
{
    return (uint64_t)read_integer(line, name, 0, INT64_MAX);
}

static bool read_boolean(struct line *line, const char *name)
{
    bool value = false;

    if (line->result == 0)
        line->result = esi_member_boolean(line->root, name, line->error, &value);
    return value;
}

/* Copies a text that must fit. */
static void read_text(struct line *line, const char *name, char *out, size_t size)
{
    const char *value = NULL;

    if (line->result == 0)
        line->result = esi_member_text(line->root, name, line->error, &value);
    if (line->result < 0)
        return;
    if (strlen(value) >= size)
        line->result = es_error_set(line->error, -EINVAL,
                                    "\"%s\" has more than %zu bytes", name, size - 1);
    else
        memcpy(out, value, strlen(value) + 1);
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 32 digits as two numbers. */
static void read_hexadecimal(struct line *line, const char *name, uint64_t ret_pair[2])
{
    char digits[33] = "";

    ret_pair[0] = ret_pair[1] = 0;
    read_text(line, name, digits, sizeof digits);
    for (int i = 0; i < 32 && line->result == 0; i++) {
        if (digit_of(digits[i]) < 0)
            line->result = es_error_set(line->error, -EINVAL,
                                        "\"%s\" is not 32 hexadecimal digits", name);
        else
            ret_pair[i / 16] = ret_pair[i / 16] << 4 | (uint64_t)digit_of(digits[i]);
    }
}

/* The number that the line says of itself must be the next one. */
static void read_number(struct line *line, size_t expected)
{
    uint64_t value = read_count(line, "number");

    if (line->result == 0 && value != expected)
        line->result = es_error_set(line->error, -EINVAL,
                                    "\"number\" is not %zu, the next one", expected);
}

/* A reference to one of `known` rows that stand above. */
static uint32_t read_reference(struct line *line, const char *name, size_t known)
{
    return (uint32_t)read_integer(line, name, 0, (int64_t)known - 1);
}

/* --- Lines ------------------------------------------------------------------- */

static int read_facts(struct line *line)
{
    struct esi_archive_facts *facts = &line->tables->facts;
    char format[64];

    read_text(line, "format", format, sizeof format);
    if (line->result == 0 && strcmp(format, ESI_ARCHIVE_FORMAT) != 0)
        return read_fail(line, "\"format\" is not \"" ESI_ARCHIVE_FORMAT "\"");
    if (read_integer(line, "version", 1, INT32_MAX) > ESI_ARCHIVE_VERSION)
        return read_fail(line, "the archive was written by a newer EventSpace");
    read_text(line, "run", facts->run, sizeof facts->run);
    facts->begun_ns = read_count(line, "begun_ns");
    facts->ended_ns = read_count(line, "ended_ns");
    facts->tuples = read_count(line, "tuples");
    facts->lost = read_count(line, "lost");
    facts->missed = read_count(line, "missed");
    read_text(line, "error", facts->error, sizeof facts->error);
    return line->result;
}

static void read_host_clock(struct line *line,
                            const struct es_member *clock,
                            struct esi_archive_host *host)
{
    host->clock_known = true;
    host->clock_monotonic_ns =
        (uint64_t)integer_of(line, clock, "monotonic_ns", 0, INT64_MAX);
    host->clock_offset_ns = integer_of(line, clock, "offset_ns", INT64_MIN, INT64_MAX);
    host->clock_drift_ppb = esi_member_real_or(clock, "drift_ppb", 0);
    host->clock_error_ns = (uint64_t)integer_of(line, clock, "error_ns", 0, INT64_MAX);
}

static int read_host(struct line *line)
{
    struct esi_archive_tables *tables = line->tables;
    const struct es_member *clock = esi_member_find(line->root, "clock");
    struct esi_archive_host host = {.clock_known = false};
    size_t before = tables->host_count;
    uint64_t uuid[2];
    uint32_t at;

    read_number(line, before);
    read_text(line, "name", host.name, sizeof host.name);
    read_hexadecimal(line, "uuid", uuid);
    if (clock)
        read_host_clock(line, clock, &host);
    if (line->result < 0)
        return line->result;
    for (int i = 0; i < 16; i++)
        host.uuid[i] = (uint8_t)(uuid[i / 8] >> (56 - i % 8 * 8));
    line->result = esi_archive_tables_host(tables, host.name, &at);
    if (line->result == 0 && at != before)
        return read_fail(line, "a host of this \"name\" stands above");
    if (line->result == 0)
        tables->hosts[at] = host;
    return line->result;
}

static void read_clock(struct line *line, struct es_clock *clock)
{
    const struct es_member *object = esi_member_find(line->root, "clock");

    if (!object) {
        read_fail(line, "\"clock\" is missing");
        return;
    }
    clock->kind = (uint32_t)integer_of(line, object, "kind", 0, UINT32_MAX);
    clock->frequency_hz =
        (uint64_t)integer_of(line, object, "frequency_hz", 0, INT64_MAX);
    clock->frequency_error_ppb =
        (uint64_t)integer_of(line, object, "frequency_error_ppb", 0, INT64_MAX);
    clock->base_ticks = (uint64_t)integer_of(line, object, "base_ticks", 0, INT64_MAX);
    clock->base_realtime_ns =
        (uint64_t)integer_of(line, object, "base_realtime_ns", 0, INT64_MAX);
    clock->base_monotonic_ns =
        (uint64_t)integer_of(line, object, "base_monotonic_ns", 0, INT64_MAX);
    clock->base_error_ns =
        (uint64_t)integer_of(line, object, "base_error_ns", 0, INT64_MAX);
}

static int read_process(struct line *line)
{
    struct esi_archive_tables *tables = line->tables;
    struct esi_archive_process process = {.communicators = NULL};
    uint32_t added;

    read_number(line, tables->process_count);
    process.host = read_reference(line, "host", tables->host_count);
    process.rank = (int)read_integer(line, "rank", -1, RANK_MAX);
    process.size = (int)read_integer(line, "size", -1, RANK_MAX);
    process.pid = (int)read_integer(line, "pid", INT32_MIN, INT32_MAX);
    read_text(line, "program", process.program, sizeof process.program);
    read_text(line, "state", process.state, sizeof process.state);
    process.exit_code = (int)read_integer(line, "exit_code", INT32_MIN, INT32_MAX);
    process.signal = (int)read_integer(line, "signal", INT32_MIN, INT32_MAX);
    process.ended_realtime_ns = read_count(line, "ended_realtime_ns");
    read_clock(line, &process.clock);
    if (line->result == 0)
        line->result = esi_archive_tables_add_process(tables, &process, &added);
    return line->result;
}

static int read_communicator(struct line *line)
{
    struct esi_archive_tables *tables = line->tables;
    struct esi_archive_communicator communicator = {.rank = 0};
    uint32_t process = read_reference(line, "process", tables->process_count);
    size_t known =
        line->result == 0 ? tables->processes[process].communicator_count : 0;
    uint16_t index = (uint16_t)read_integer(line, "index", 0, ES_COMMUNICATOR_NONE - 1);

    if (line->result == 0 && index != known)
        return read_fail(line, "\"index\" is not the next one of its process");
    read_hexadecimal(line, "key", communicator.key);
    read_text(line, "name", communicator.name, sizeof communicator.name);
    communicator.rank = (int)read_integer(line, "rank", INT32_MIN, RANK_MAX);
    communicator.size = (int)read_integer(line, "size", 0, GROUP_MAX);
    communicator.remote_size = (int)read_integer(line, "remote_size", 0, GROUP_MAX);
    communicator.first = (int)read_integer(line, "first", -1, RANK_MAX);
    communicator.remote_first = (int)read_integer(line, "remote_first", -1, RANK_MAX);
    communicator.parent =
        (uint16_t)read_integer(line, "parent", 0, ES_COMMUNICATOR_NONE);
    communicator.freed = read_boolean(line, "freed");
    if (line->result == 0)
        line->result =
            esi_archive_tables_set_communicator(tables, process, index, &communicator);
    return line->result;
}

static int read_group(struct line *line)
{
    const struct es_member *world = esi_member_find(line->root, "world");
    struct esi_archive_group group = {.world = NULL};

    read_hexadecimal(line, "key", group.key);
    group.first = (int)read_integer(line, "first", 0, RANK_MAX);
    if (!world)
        return read_fail(line, "\"world\" is missing");
    if (line->result < 0)
        return line->result;
    group.size = esi_member_count(world);
    group.world = calloc(group.size + 1, sizeof *group.world);
    if (!group.world)
        return line->result = -ENOMEM;
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
    struct esi_archive_tables *tables = line->tables;
    struct esi_archive_element element = {.process = 0};
    uint32_t added;

    read_number(line, tables->element_count);
    element.process = read_reference(line, "process", tables->process_count);
    read_text(line, "name", element.name, sizeof element.name);
    read_text(line, "collector", element.collector, sizeof element.collector);
    element.thread = (int)read_integer(line, "thread", -1, INT32_MAX);
    element.classes = (uint32_t)read_integer(line, "classes", 0, UINT32_MAX);
    element.peer = (int)read_integer(line, "peer", INT32_MIN, INT32_MAX);
    element.communicator =
        (uint16_t)read_integer(line, "communicator", 0, ES_COMMUNICATOR_NONE);
    element.threshold = (uint32_t)read_integer(line, "threshold", 0, UINT32_MAX);
    element.block = read_boolean(line, "block");
    element.missed = read_count(line, "missed");
    element.lost = read_count(line, "lost");
    if (line->result == 0)
        line->result = esi_archive_tables_add_element(tables, &element, &added);
    return line->result;
}

static int read_open(struct line *line)
{
    struct esi_archive_tables *tables = line->tables;
    struct esi_archive_open open = {.element = 0};

    open.element = read_reference(line, "element", tables->element_count);
    open.tuple = (struct es_tuple){
        .operation = (uint16_t)read_integer(line, "operation", 1, UINT16_MAX),
        .communicator = (uint16_t)read_integer(line, "communicator", 0, UINT16_MAX),
        .start = read_count(line, "start"),
        .sequence = (uint32_t)read_integer(line, "sequence", 0, UINT32_MAX),
        .peer = (int32_t)read_integer(line, "peer", INT32_MIN, INT32_MAX),
        .tag = (int32_t)read_integer(line, "tag", INT32_MIN, INT32_MAX),
        .bytes = (uint32_t)read_integer(line, "bytes", 0, UINT32_MAX),
    };
    if (line->result == 0)
        line->result = esi_archive_tables_add_open(tables, &open);
    return line->result;
}

/* --- The file ---------------------------------------------------------------- */

static const struct {
    const char *type;
    int (*read)(struct line *line);
} kinds[] = {
    {"archive", read_facts},   {"host", read_host},
    {"process", read_process}, {"communicator", read_communicator},
    {"group", read_group},     {"element", read_element},
    {"open", read_open},
};

static int read_kind(struct line *line, int line_number)
{
    char type[32];
    bool first = line_number == 1;

    read_text(line, "type", type, sizeof type);
    if (line->result < 0)
        return line->result;
    if (first != (strcmp(type, "archive") == 0))
        return read_fail(line, first
                                   ? "this is not the first line of an archive's tables"
                                   : "there is a second line of type \"archive\"");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(type, kinds[i].type) == 0)
            return kinds[i].read(line);
    return 0; /* of a later version that readers of this one need not know */
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
    line.root = esi_message_root(message);
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
