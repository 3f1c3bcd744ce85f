/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Writes one stream of an archive: gathers records and writes them as whole packets.
 *
 * A packet is one write behind the last one.  Where it cannot be written whole the file
 * is cut back, so that a stream ends with a complete packet whatever happens to the
 * writer.  Between packets the file is closed: there may be more streams than
 * descriptors.
 *
 * Not thread safe.
 */
#ifndef ES_MONITORS_ARCHIVE_CTF_STREAM_H
#define ES_MONITORS_ARCHIVE_CTF_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "monitors/archive/ctf_layout.h"

struct esi_ctf_stream_config {
    int directory;    /* descriptor; borrowed for the stream's life */
    const char *name; /* of the file there; copied */
    enum esi_ctf_kind kind;
    const uint8_t *uuid; /* 16 bytes, copied */
    uint64_t stream;
    uint32_t element;
    int rank;
    int thread;
    uint64_t begun_ns; /* of the recording: the time of losses where nothing else is */
    size_t packet_bytes;
};

struct esi_ctf_stream;

/* Nothing is written yet.  -ENOMEM. */
int esi_ctf_stream_create(const struct esi_ctf_stream_config *config,
                          struct esi_ctf_stream **ret_stream);
/* What was not written is gone.  Accepts NULL. */
void esi_ctf_stream_destroy(struct esi_ctf_stream *stream);

const char *esi_ctf_stream_name(const struct esi_ctf_stream *stream);

/* Completion of the newest record, 0 before it: the next one's must not be smaller. */
uint64_t esi_ctf_stream_last_ns(const struct esi_ctf_stream *stream);

/* Whether the packet has no room for another record. */
bool esi_ctf_stream_is_full(const struct esi_ctf_stream *stream);

/* Adds a record to the packet, which is not full.  -ENOMEM. */
int esi_ctf_stream_append(struct esi_ctf_stream *stream,
                          const struct es_tuple *tuple,
                          uint64_t index,
                          uint64_t position);

/* `lost` tuples are missing behind what was written: the packet must be empty. */
void esi_ctf_stream_lose(struct esi_ctf_stream *stream, uint64_t lost);

/* Writes the packet, unless there is nothing in it.  -errno: the file ends as it did
 * before. */
int esi_ctf_stream_flush(struct esi_ctf_stream *stream);
/* The same at the end: also losses behind the last record. */
int esi_ctf_stream_finish(struct esi_ctf_stream *stream);

/* When the packet was begun, by CLOCK_MONOTONIC; UINT64_MAX: it is empty. */
uint64_t esi_ctf_stream_begun_ns(const struct esi_ctf_stream *stream);

/* Says in the language of CTF 1.8 what ctf_layout.h says in C. */

struct esi_ctf_trace {
    const char *host;
    const char *run;
    uint8_t uuid[16];
};

/* Writes the metadata of one host's trace: a class of events for each operation of the
 * table.  Errors stay in the stream. */
void esi_ctf_metadata_write(const struct esi_ctf_trace *trace, FILE *stream);

#endif
