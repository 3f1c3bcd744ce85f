/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* archive_tables_write.c - the tables of an archive as JSON Lines. */
#include "config.h"

#include <inttypes.h>

#include "base/json_out.h"
#include "monitors/archive/archive_lines.h"
#include "monitors/archive/archive_tables.h"

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

static void write_facts(struct esi_json_out *out, const struct es_archive_facts *facts)
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
                       const struct es_archive_host *host)
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
                          const struct es_archive_process *process)
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
                               const struct es_archive_communicator *communicator)
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

static void write_group(struct esi_json_out *out, const struct es_archive_group *group)
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
                          const struct es_archive_element *element)
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

static void write_open(struct esi_json_out *out, const struct es_archive_open *open)
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

void es_archive_tables_write(const struct es_archive_tables *tables, FILE *stream)
{
    struct esi_json_out out;

    esi_json_out_init(&out, stream);
    write_facts(&out, &tables->facts);
    for (size_t i = 0; i < tables->host_count; i++)
        write_host(&out, i, &tables->hosts[i]);
    for (size_t i = 0; i < tables->process_count; i++) {
        const struct es_archive_process *process = &tables->processes[i];

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
