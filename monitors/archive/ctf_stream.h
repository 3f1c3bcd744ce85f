/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Writes one stream of an archive: collects records and writes them in whole packets.
 *
 * A packet is written at the end of the file by one write.  If it cannot be written
 * completely, the file is truncated again, so a stream always ends with a complete
 * packet, whatever happens to the writer.  The file is closed between packets, because
 * there may be more streams than file descriptors.
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
    int directory;    /* descriptor; borrowed for the life of the stream */
    const char *name; /* of the file in `directory`; copied */
    enum esi_ctf_kind kind;
    const uint8_t *uuid; /* 16 bytes, copied */
    uint64_t stream;
    uint32_t element;
    int rank;
    int thread;
    uint64_t begun_ns; /* start of recording: the time of losses if no other time is
                          known */
    size_t packet_bytes;
};

struct esi_ctf_stream;

/* Creates a stream; writes nothing yet.  Returns 0 or -ENOMEM. */
int esi_ctf_stream_create(const struct esi_ctf_stream_config *config,
                          struct esi_ctf_stream **ret_stream);
/* Discards what was not written.  Accepts NULL. */
void esi_ctf_stream_destroy(struct esi_ctf_stream *stream);

const char *esi_ctf_stream_name(const struct esi_ctf_stream *stream);

/* Returns the completion time of the newest record, 0 if there is none; later records
 * must not complete earlier. */
uint64_t esi_ctf_stream_last_ns(const struct esi_ctf_stream *stream);

/* Returns whether the packet has no room for another record. */
bool esi_ctf_stream_is_full(const struct esi_ctf_stream *stream);

/* Adds a record to the packet, which must not be full.  Returns 0 or -ENOMEM. */
int esi_ctf_stream_append(struct esi_ctf_stream *stream,
                          const struct es_tuple *tuple,
                          uint64_t index,
                          uint64_t position);

/* Records that `lost` tuples are missing after the last record; the packet must be
 * empty. */
void esi_ctf_stream_lose(struct esi_ctf_stream *stream, uint64_t lost);

/* Writes the packet unless it is empty.  Returns 0 or -errno, which leaves the file
 * unchanged. */
int esi_ctf_stream_flush(struct esi_ctf_stream *stream);
/* Like esi_ctf_stream_flush(), at the end; also writes losses after the last record. */
int esi_ctf_stream_finish(struct esi_ctf_stream *stream);

/* Returns when the packet was begun, by CLOCK_MONOTONIC; UINT64_MAX if it is empty. */
uint64_t esi_ctf_stream_begun_ns(const struct esi_ctf_stream *stream);

/* A trace, as described by its metadata. */

struct esi_ctf_trace {
    const char *host;
    const char *run;
    uint8_t uuid[16];
};

/* Writes the metadata of a host's trace: what ctf_layout.h defines, in the language of
 * CTF 1.8, with an event class for each operation of the table.  Errors are left in the
 * stream's error indicator. */
void esi_ctf_metadata_write(const struct esi_ctf_trace *trace, FILE *stream);

#endif
