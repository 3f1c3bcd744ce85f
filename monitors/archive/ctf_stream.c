/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* ctf_stream.c - writes the streams and the metadata of an archive. */
#include "config.h"

#include "monitors/archive/ctf_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/now.h"
#include "eventspace/operation.h"
#include "monitors/archive/ctf_layout.h"

/* === Metadata ===================================================================== */

/*
 * The `metadata` file of a trace.
 *
 * Only the completion time is mapped to the clock, because readers use only one of two
 * mapped fields.  No event class has the number 0, so data that were never written are
 * an error, not an event.
 */

static void write_uuid(const uint8_t uuid[16], FILE *stream)
{
    for (int i = 0; i < 16; i++)
        fprintf(stream, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                uuid[i]);
}

/* Writes a quoted CTF string. */
static void write_text(const char *text, FILE *stream)
{
    putc('"', stream);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putc('\\', stream);
        putc((unsigned char)*text < ' ' ? ' ' : *text, stream);
    }
    putc('"', stream);
}

static void write_types(FILE *stream)
{
    static const struct {
        const char *name;
        int bits;
        bool is_signed;
    } types[] = {{"u8", 8, false},
                 {"u16", 16, false},
                 {"u32", 32, false},
                 {"u64", 64, false},
                 {"i32", 32, true}};

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        fprintf(stream,
                "typealias integer { size = %d; align = 8; signed = %s; } := %s;\n",
                types[i].bits, types[i].is_signed ? "true" : "false", types[i].name);
}

static void write_trace(const struct esi_ctf_trace *trace, FILE *stream)
{
    const char *order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "le" : "be";

    fprintf(stream, "\ntrace {\n    major = 1;\n    minor = 8;\n    uuid = \"");
    write_uuid(trace->uuid, stream);
    fprintf(stream,
            "\";\n    byte_order = %s;\n    packet.header := struct {\n"
            "        u32 magic;\n        u8 uuid[16];\n        u32 stream_id;\n"
            "        u64 stream_instance_id;\n    };\n};\n\nenv {\n"
            "    tracer_name = \"eventspace\";\n    hostname = ",
            order);
    write_text(trace->host, stream);
    fprintf(stream, ";\n    run = ");
    write_text(trace->run, stream);
    fprintf(stream, ";\n};\n");
}

static void write_clock(FILE *stream)
{
    fprintf(stream,
            "\nclock {\n    name = run_time;\n"
            "    description = \"nanoseconds since 1970, by the run's home server\";\n"
            "    freq = 1000000000;\n    precision = 1;\n    offset_s = 0;\n"
            "    offset = 0;\n    absolute = true;\n};\n"
            "\ntypealias integer {\n"
            "    size = 64; align = 8; signed = false; map = clock.run_time.value;\n"
            "} := run_time_t;\n");
}

static void write_stream_kind(enum esi_ctf_kind kind, FILE *stream)
{
    fprintf(stream,
            "\nstream {\n    id = %d;\n    packet.context := struct {\n"
            "        run_time_t timestamp_begin;\n"
            "        run_time_t timestamp_end;\n        u64 content_size;\n"
            "        u64 packet_size;\n        u64 packet_seq_num;\n"
            "        u64 events_discarded;\n        u64 index;\n"
            "        u64 position;\n        u32 element;\n        i32 rank;\n"
            "        i32 thread;\n    };\n    event.header := struct {\n"
            "        run_time_t timestamp;\n        u16 id;\n    };\n",
            (int)kind);
    if (kind == ESI_CTF_LATE)
        fprintf(stream, "    event.context := struct {\n        u64 index;\n    };\n");
    fprintf(stream, "};\n");
}

static void write_operations(FILE *stream)
{
    fprintf(stream, "\nstruct operation {\n    u16 communicator;\n    u64 start;\n"
                    "    u32 sequence;\n    i32 peer;\n    i32 tag;\n    u32 bytes;\n"
                    "};\n\n");
    for (unsigned code = 1; code <= UINT16_MAX; code++) {
        const struct es_operation *operation = es_operation_find((uint16_t)code);

        for (int kind = 0; operation && kind < ESI_CTF_KINDS; kind++)
            fprintf(stream,
                    "event { name = \"%s%s\"; id = %u; stream_id = %d; "
                    "fields := struct operation; };\n",
                    operation->name, code & ES_OPERATION_FAILED ? " failed" : "", code,
                    kind);
    }
}

void esi_ctf_metadata_write(const struct esi_ctf_trace *trace, FILE *stream)
{
    fprintf(stream, "/* CTF 1.8 */\n\n");
    write_types(stream);
    write_trace(trace, stream);
    write_clock(stream);
    for (int kind = 0; kind < ESI_CTF_KINDS; kind++)
        write_stream_kind((enum esi_ctf_kind)kind, stream);
    write_operations(stream);
}

/* === Streams ====================================================================== */

enum { HEAD_BYTES = sizeof(struct esi_ctf_head) };

struct esi_ctf_stream {
    int directory; /* borrowed */
    char *name;    /* owned */
    size_t packet_bytes;
    size_t record_bytes;
    struct esi_ctf_head head; /* of the packet being filled */
    uint8_t *buffer;          /* owned: the packet, beginning with its head; NULL = not
                                 allocated yet */
    size_t capacity;
    size_t used;
    uint64_t offset;    /* end of the file */
    uint64_t discarded; /* as of the last packet written */
    uint64_t last_ns;
    uint64_t next_index; /* after the newest record, like `next_position` */
    uint64_t next_position;
    uint64_t before_ns; /* time of packets before the first record */
    uint64_t begun_ns;  /* CLOCK_MONOTONIC */
};

int esi_ctf_stream_create(const struct esi_ctf_stream_config *config,
                          struct esi_ctf_stream **ret_stream)
{
    struct esi_ctf_stream *stream = calloc(1, sizeof *stream);

    if (stream)
        stream->name = strdup(config->name);
    if (!stream || !stream->name) {
        free(stream);
        return -ENOMEM;
    }
    stream->directory = config->directory;
    stream->packet_bytes = config->packet_bytes;
    stream->record_bytes = esi_ctf_record_bytes(config->kind);
    stream->used = HEAD_BYTES;
    stream->before_ns = config->begun_ns;
    stream->head = (struct esi_ctf_head){
        .magic = ESI_CTF_MAGIC,
        .kind = config->kind,
        .stream = config->stream,
        .element = config->element,
        .rank = config->rank,
        .thread = config->thread,
    };
    memcpy(stream->head.uuid, config->uuid, sizeof stream->head.uuid);
    *ret_stream = stream;
    return 0;
}

void esi_ctf_stream_destroy(struct esi_ctf_stream *stream)
{
    int saved_errno = errno;

    if (!stream)
        return;
    free(stream->buffer);
    free(stream->name);
    free(stream);
    errno = saved_errno;
}

const char *esi_ctf_stream_name(const struct esi_ctf_stream *stream)
{
    return stream->name;
}

/* --- Filling ----------------------------------------------------------------- */

uint64_t esi_ctf_stream_last_ns(const struct esi_ctf_stream *stream)
{
    return stream->last_ns;
}

static bool is_empty(const struct esi_ctf_stream *stream)
{
    return stream->used == HEAD_BYTES;
}

bool esi_ctf_stream_is_full(const struct esi_ctf_stream *stream)
{
    return !is_empty(stream) &&
           stream->used + stream->record_bytes > stream->packet_bytes;
}

static void put_late(uint8_t *at, const struct es_tuple *tuple, uint64_t index)
{
    struct esi_ctf_late_record record = {
        .stop = tuple->stop,
        .operation = tuple->operation,
        .index = index,
        .communicator = tuple->communicator,
        .start = tuple->start,
        .sequence = tuple->sequence,
        .peer = tuple->peer,
        .tag = tuple->tag,
        .bytes = tuple->bytes,
    };

    memcpy(at, &record, sizeof record);
}

int esi_ctf_stream_append(struct esi_ctf_stream *stream,
                          const struct es_tuple *tuple,
                          uint64_t index,
                          uint64_t position)
{
    int result = ESI_ARRAY_RESERVE(stream->buffer, stream->capacity,
                                   stream->used + stream->record_bytes);

    if (result < 0)
        return result;
    if (is_empty(stream)) {
        stream->head.begin_ns = tuple->stop;
        stream->head.index = index;
        stream->head.position = position;
        stream->begun_ns = esi_now_ns(CLOCK_MONOTONIC);
    }
    if (stream->head.kind == ESI_CTF_LATE)
        put_late(stream->buffer + stream->used, tuple, index);
    else
        memcpy(stream->buffer + stream->used, tuple, sizeof *tuple);
    stream->used += stream->record_bytes;
    stream->last_ns = tuple->stop;
    stream->next_index = index + 1;
    stream->next_position = position + 1;
    return 0;
}

void esi_ctf_stream_lose(struct esi_ctf_stream *stream, uint64_t lost)
{
    stream->head.discarded += lost;
}

uint64_t esi_ctf_stream_begun_ns(const struct esi_ctf_stream *stream)
{
    return is_empty(stream) ? UINT64_MAX : stream->begun_ns;
}

/* --- Writing ----------------------------------------------------------------- */

/* Writes all bytes or none. */
static int write_whole(int file, const uint8_t *bytes, size_t count, uint64_t offset)
{
    int result = lseek(file, (off_t)offset, SEEK_SET) < 0
                     ? -errno
                     : esi_file_write_all(file, (const char *)bytes, count);

    /* If this fails, readers treat the remaining bytes as an incomplete packet. */
    if (result < 0)
        (void)!ftruncate(file, (off_t)offset);
    return result;
}

static int write_packet(struct esi_ctf_stream *stream,
                        const uint8_t *bytes,
                        size_t count)
{
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
    int file = openat(stream->directory, stream->name, flags, 0600);
    int result;

    if (file < 0)
        return -errno;
    result = write_whole(file, bytes, count, stream->offset);
    if (close(file) < 0 && result == 0)
        result = -errno;
    if (result < 0 && stream->offset == 0)
        /* Leaves no empty stream. */
        unlinkat(stream->directory, stream->name, 0);
    if (result == 0)
        stream->offset += count;
    return result;
}

/* Writes a packet without records, so that the next one can report the losses before
 * it. */
static int write_empty(struct esi_ctf_stream *stream, uint64_t time_ns)
{
    struct esi_ctf_head head = stream->head;
    int result;

    head.begin_ns = time_ns;
    head.end_ns = time_ns;
    head.content_bits = head.packet_bits = HEAD_BYTES * 8;
    result = write_packet(stream, (const uint8_t *)&head, sizeof head);
    if (result == 0) {
        stream->head.number++;
        stream->discarded = head.discarded;
    }
    return result;
}

/* Readers take the count of losses in the first packet as the initial value, so the
 * first packet must have a count of 0. */
static int begin_counting(struct esi_ctf_stream *stream, uint64_t time_ns)
{
    uint64_t discarded = stream->head.discarded;
    int result = 0;

    if (stream->head.number == 0 && discarded > 0) {
        stream->head.discarded = 0;
        result = write_empty(stream, time_ns);
        stream->head.discarded = discarded;
    }
    return result;
}

int esi_ctf_stream_flush(struct esi_ctf_stream *stream)
{
    struct esi_ctf_head *head = &stream->head;
    int result;

    if (is_empty(stream))
        return 0;
    result = begin_counting(stream, head->begin_ns);
    if (result < 0)
        return result;
    head->end_ns = stream->last_ns;
    head->content_bits = head->packet_bits = stream->used * UINT64_C(8);
    memcpy(stream->buffer, head, sizeof *head);
    result = write_packet(stream, stream->buffer, stream->used);
    if (result < 0)
        return result;
    stream->used = HEAD_BYTES;
    stream->discarded = head->discarded;
    head->number++;
    return 0;
}

int esi_ctf_stream_finish(struct esi_ctf_stream *stream)
{
    int result = esi_ctf_stream_flush(stream);
    uint64_t time_ns = stream->last_ns ? stream->last_ns : stream->before_ns;

    if (result < 0 || stream->discarded == stream->head.discarded)
        return result;
    stream->head.index = stream->next_index;
    stream->head.position = stream->next_position;
    result = begin_counting(stream, time_ns);
    return result < 0 ? result : write_empty(stream, time_ns);
}
