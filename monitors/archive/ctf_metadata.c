/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * ctf_metadata.c - the text `metadata` of a trace.
 *
 * Only the completion time is mapped to the clock: of two mapped fields readers take
 * one.  No class has the number 0, so that what was never written is an error and no
 * event.
 */
#include "config.h"

#include "monitors/archive/ctf_metadata.h"

#include "eventspace/operation.h"
#include "monitors/archive/ctf_layout.h"

static void write_uuid(const uint8_t uuid[16], FILE *stream)
{
    for (int i = 0; i < 16; i++)
        fprintf(stream, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                uuid[i]);
}

/* As a text of CTF, quoted. */
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
                    "event { name = \"%s\"; id = %u; stream_id = %d; "
                    "fields := struct operation; };\n",
                    operation->name, code, kind);
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
