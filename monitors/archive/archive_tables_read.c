/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * archive_tables_read.c - the tables of an archive, read and checked.
 *
 * Each kind of line has a function that takes the members out; the first member that is
 * missing or wrong makes the line a fault, and those behind it are not looked at.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/input.h"
#include "monitors/archive/archive_lines.h"
#include "monitors/archive/archive_tables.h"
#include "pathmap/message.h"

enum { GROUP_MAX = 1 << 24, RANK_MAX = INT32_MAX };

struct line {
    struct es_archive_tables *tables;
    const struct es_member *root;
    struct es_error *error;
    int result; /* 0, or what the first fault was */
};

/* --- Members ----------------------------------------------------------------- */

static int fail(struct line *line, const char *words)
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

static int64_t integer(struct line *line, const char *name, int64_t low, int64_t high)
{
    return integer_of(line, line->root, name, low, high);
}

static uint64_t count(struct line *line, const char *name)
{
    return (uint64_t)integer(line, name, 0, INT64_MAX);
}

static bool boolean(struct line *line, const char *name)
{
    bool value = false;

    if (line->result == 0)
        line->result = esi_member_boolean(line->root, name, line->error, &value);
    return value;
}

/* Copies a text that must fit. */
static void text(struct line *line, const char *name, char *out, size_t size)
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
static void hexadecimal(struct line *line, const char *name, uint64_t ret_pair[2])
{
    char digits[33] = "";

    ret_pair[0] = ret_pair[1] = 0;
    text(line, name, digits, sizeof digits);
    for (int i = 0; i < 32 && line->result == 0; i++) {
        if (digit_of(digits[i]) < 0)
            line->result = es_error_set(line->error, -EINVAL,
                                        "\"%s\" is not 32 hexadecimal digits", name);
        else
            ret_pair[i / 16] = ret_pair[i / 16] << 4 | (uint64_t)digit_of(digits[i]);
    }
}

/* The number that the line says of itself must be the next one. */
static void number(struct line *line, size_t expected)
{
    uint64_t value = count(line, "number");

    if (line->result == 0 && value != expected)
        line->result = es_error_set(line->error, -EINVAL,
                                    "\"number\" is not %zu, the next one", expected);
}

/* A reference to one of `known` rows that stand above. */
static uint32_t reference(struct line *line, const char *name, size_t known)
{
    return (uint32_t)integer(line, name, 0, (int64_t)known - 1);
}

/* --- Lines ------------------------------------------------------------------- */

static int read_facts(struct line *line)
{
    struct es_archive_facts *facts = &line->tables->facts;
    char format[64];

    text(line, "format", format, sizeof format);
    if (line->result == 0 && strcmp(format, ESI_ARCHIVE_FORMAT) != 0)
        return fail(line, "\"format\" is not \"" ESI_ARCHIVE_FORMAT "\"");
    if (integer(line, "version", 1, INT32_MAX) > ESI_ARCHIVE_VERSION)
        return fail(line, "the archive was written by a newer EventSpace");
    text(line, "run", facts->run, sizeof facts->run);
    facts->begun_ns = count(line, "begun_ns");
    facts->ended_ns = count(line, "ended_ns");
    facts->tuples = count(line, "tuples");
    facts->lost = count(line, "lost");
    facts->missed = count(line, "missed");
    text(line, "error", facts->error, sizeof facts->error);
    return line->result;
}

static void read_host_clock(struct line *line,
                            const struct es_member *clock,
                            struct es_archive_host *host)
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
    struct es_archive_tables *tables = line->tables;
    const struct es_member *clock = esi_member_find(line->root, "clock");
    struct es_archive_host host = {.clock_known = false};
    size_t before = tables->host_count;
    uint64_t uuid[2];
    uint32_t at;

    number(line, before);
    text(line, "name", host.name, sizeof host.name);
    hexadecimal(line, "uuid", uuid);
    if (clock)
        read_host_clock(line, clock, &host);
    if (line->result < 0)
        return line->result;
    for (int i = 0; i < 16; i++)
        host.uuid[i] = (uint8_t)(uuid[i / 8] >> (56 - i % 8 * 8));
    line->result = es_archive_tables_host(tables, host.name, &at);
    if (line->result == 0 && at != before)
        return fail(line, "a host of this \"name\" stands above");
    if (line->result == 0)
        tables->hosts[at] = host;
    return line->result;
}

static void read_clock(struct line *line, struct es_clock *clock)
{
    const struct es_member *object = esi_member_find(line->root, "clock");

    if (!object) {
        fail(line, "\"clock\" is missing");
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
    struct es_archive_tables *tables = line->tables;
    struct es_archive_process process = {.communicators = NULL};
    uint32_t added;

    number(line, tables->process_count);
    process.host = reference(line, "host", tables->host_count);
    process.rank = (int)integer(line, "rank", -1, RANK_MAX);
    process.size = (int)integer(line, "size", -1, RANK_MAX);
    process.pid = (int)integer(line, "pid", INT32_MIN, INT32_MAX);
    text(line, "program", process.program, sizeof process.program);
    text(line, "state", process.state, sizeof process.state);
    process.exit_code = (int)integer(line, "exit_code", INT32_MIN, INT32_MAX);
    process.signal = (int)integer(line, "signal", INT32_MIN, INT32_MAX);
    process.ended_realtime_ns = count(line, "ended_realtime_ns");
    read_clock(line, &process.clock);
    if (line->result == 0)
        line->result = es_archive_tables_add_process(tables, &process, &added);
    return line->result;
}

static int read_communicator(struct line *line)
{
    struct es_archive_tables *tables = line->tables;
    struct es_archive_communicator communicator = {.rank = 0};
    uint32_t process = reference(line, "process", tables->process_count);
    size_t known =
        line->result == 0 ? tables->processes[process].communicator_count : 0;
    uint16_t index = (uint16_t)integer(line, "index", 0, ES_COMMUNICATOR_NONE - 1);

    if (line->result == 0 && index != known)
        return fail(line, "\"index\" is not the next one of its process");
    hexadecimal(line, "key", communicator.key);
    text(line, "name", communicator.name, sizeof communicator.name);
    communicator.rank = (int)integer(line, "rank", INT32_MIN, RANK_MAX);
    communicator.size = (int)integer(line, "size", 0, GROUP_MAX);
    communicator.remote_size = (int)integer(line, "remote_size", 0, GROUP_MAX);
    communicator.first = (int)integer(line, "first", -1, RANK_MAX);
    communicator.remote_first = (int)integer(line, "remote_first", -1, RANK_MAX);
    communicator.parent = (uint16_t)integer(line, "parent", 0, ES_COMMUNICATOR_NONE);
    communicator.freed = boolean(line, "freed");
    if (line->result == 0)
        line->result =
            es_archive_tables_set_communicator(tables, process, index, &communicator);
    return line->result;
}

static int read_group(struct line *line)
{
    const struct es_member *world = esi_member_find(line->root, "world");
    struct es_archive_group group = {.world = NULL};

    hexadecimal(line, "key", group.key);
    group.first = (int)integer(line, "first", 0, RANK_MAX);
    if (!world)
        return fail(line, "\"world\" is missing");
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
    line->result = es_archive_tables_add_group(line->tables, &group);
    free(group.world);
    return line->result;
}

static int read_element(struct line *line)
{
    struct es_archive_tables *tables = line->tables;
    struct es_archive_element element = {.process = 0};
    uint32_t added;

    number(line, tables->element_count);
    element.process = reference(line, "process", tables->process_count);
    text(line, "name", element.name, sizeof element.name);
    text(line, "collector", element.collector, sizeof element.collector);
    element.thread = (int)integer(line, "thread", -1, INT32_MAX);
    element.classes = (uint32_t)integer(line, "classes", 0, UINT32_MAX);
    element.peer = (int)integer(line, "peer", INT32_MIN, INT32_MAX);
    element.communicator =
        (uint16_t)integer(line, "communicator", 0, ES_COMMUNICATOR_NONE);
    element.threshold = (uint32_t)integer(line, "threshold", 0, UINT32_MAX);
    element.block = boolean(line, "block");
    element.missed = count(line, "missed");
    element.lost = count(line, "lost");
    if (line->result == 0)
        line->result = es_archive_tables_add_element(tables, &element, &added);
    return line->result;
}

static int read_open(struct line *line)
{
    struct es_archive_tables *tables = line->tables;
    struct es_archive_open open = {.element = 0};

    open.element = reference(line, "element", tables->element_count);
    open.tuple = (struct es_tuple){
        .operation = (uint16_t)integer(line, "operation", 1, UINT16_MAX),
        .communicator = (uint16_t)integer(line, "communicator", 0, UINT16_MAX),
        .start = count(line, "start"),
        .sequence = (uint32_t)integer(line, "sequence", 0, UINT32_MAX),
        .peer = (int32_t)integer(line, "peer", INT32_MIN, INT32_MAX),
        .tag = (int32_t)integer(line, "tag", INT32_MIN, INT32_MAX),
        .bytes = (uint32_t)integer(line, "bytes", 0, UINT32_MAX),
    };
    if (line->result == 0)
        line->result = es_archive_tables_add_open(tables, &open);
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

    text(line, "type", type, sizeof type);
    if (line->result < 0)
        return line->result;
    if (first != (strcmp(type, "archive") == 0))
        return fail(line, first ? "this is not the first line of an archive's tables"
                                : "there is a second line of type \"archive\"");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(type, kinds[i].type) == 0)
            return kinds[i].read(line);
    return 0; /* of a later version that readers of this one need not know */
}

static int read_line(struct es_archive_tables *tables,
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

int es_archive_tables_read(struct es_archive_tables *tables,
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
