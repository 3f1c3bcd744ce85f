/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Layout of the streams of an archive: a sequence of packets, each with a head and
 * records.  ctf_stream.h writes the same description in the language of CTF.
 *
 * All numbers are in the byte order of the host that wrote the archive.
 */
#ifndef ES_MONITORS_ARCHIVE_CTF_LAYOUT_H
#define ES_MONITORS_ARCHIVE_CTF_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/tuple.h"

#define ESI_CTF_MAGIC UINT32_C(0xC1FC1FC1)

/* Kinds of streams. */
enum esi_ctf_kind {
    ESI_CTF_ORDERED = 0, /* records are tuples */
    ESI_CTF_LATE = 1,    /* records are tuples that were published after later ones,
                            with their index */
    ESI_CTF_KINDS
};

struct esi_ctf_head {
    /* Packet header. */
    uint32_t magic;
    uint8_t uuid[16]; /* of the host's trace */
    uint32_t kind;    /* enum esi_ctf_kind; CTF's stream_id */
    uint64_t stream;  /* number of the stream in the trace; CTF's stream_instance_id */
    /* Packet context. */
    uint64_t begin_ns; /* completion time of the first and the last record */
    uint64_t end_ns;
    uint64_t content_bits; /* used bits of the packet, including this head */
    uint64_t packet_bits;
    uint64_t number;    /* of the packet in its stream, from 0 */
    uint64_t discarded; /* tuples lost in this stream so far */
    uint64_t index;     /* of the first record, among the element's recorded tuples */
    uint64_t position;  /* of the first record, among all tuples of the element */
    uint32_t element;   /* row in the tables */
    int32_t rank;
    int32_t thread;
} __attribute__((packed));

_Static_assert(sizeof(struct esi_ctf_head) == 108, "the head of a packet");
_Static_assert(offsetof(struct esi_ctf_head, begin_ns) == 32, "the header's end");

/* A record of a late stream: event header, event context and payload. */
struct esi_ctf_late_record {
    uint64_t stop;
    uint16_t operation;
    uint64_t index; /* among the element's recorded tuples */
    uint16_t communicator;
    uint64_t start;
    uint32_t sequence;
    int32_t peer;
    int32_t tag;
    uint32_t bytes;
} __attribute__((packed));

_Static_assert(sizeof(struct esi_ctf_late_record) == sizeof(struct es_tuple) + 8,
               "a tuple and its index");

static inline size_t esi_ctf_record_bytes(enum esi_ctf_kind kind)
{
    return kind == ESI_CTF_LATE ? sizeof(struct esi_ctf_late_record)
                                : sizeof(struct es_tuple);
}

enum { ESI_CTF_PACKET_BYTES = 65536, ESI_CTF_PACKET_MAX = 1 << 24 };

/* Whether the times of a tuple can be those of an operation that is complete: in order,
 * and differences of any two of them fit into 64 bits with a sign. */
static inline bool esi_ctf_has_times(const struct es_tuple *tuple)
{
    return tuple->start <= tuple->stop && tuple->stop <= INT64_MAX;
}

#endif
