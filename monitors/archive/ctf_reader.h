/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Reads one stream of an archive from its beginning, in pieces of a few KiB.
 *
 * The file is not trusted.  The stream ends before the first incomplete packet; a
 * complete packet with invalid contents is an error.  The file is closed between
 * pieces, because there may be more streams than file descriptors.
 *
 * Not thread safe.
 */
#ifndef ES_MONITORS_ARCHIVE_CTF_READER_H
#define ES_MONITORS_ARCHIVE_CTF_READER_H

#include <stdbool.h>

#include "eventspace/error.h"
#include "monitors/archive/ctf_layout.h"

struct esi_ctf_reader_config {
    int directory;       /* descriptor; borrowed for the life of the reader */
    const char *name;    /* copied */
    const uint8_t *uuid; /* 16 bytes; expected in packets; copied */
    enum esi_ctf_kind kind;
    uint32_t element; /* expected in packets */
};

struct esi_ctf_reader;

/* Returns 0, -ENOENT if there is no such stream, -ENOMEM or another negative errno. */
int esi_ctf_reader_create(const struct esi_ctf_reader_config *config,
                          struct esi_ctf_reader **ret_reader);
/* Accepts NULL. */
void esi_ctf_reader_destroy(struct esi_ctf_reader *reader);

/* The current record. */
struct esi_ctf_record {
    struct es_tuple tuple;
    uint64_t index;     /* among the element's recorded tuples; in an ordered stream,
                           correct only if no late tuple precedes it in its packet */
    uint64_t lost;      /* tuples lost since the previous record */
    bool begins_packet; /* if true, `index` is exact */
};

/* Reads the current record.  Returns 1; 0 at the end; -EBADMSG with a message; or
 * -errno.  The record is borrowed until esi_ctf_reader_next(). */
int esi_ctf_reader_peek(struct esi_ctf_reader *reader,
                        const struct esi_ctf_record **ret_record,
                        struct es_error *error);
/* Advances to the next record. */
void esi_ctf_reader_next(struct esi_ctf_reader *reader);

/* Returns the losses before the current record and resets them to 0. */
uint64_t esi_ctf_reader_take_lost(struct esi_ctf_reader *reader);

/* At the end: returns the number of tuples lost after the last record. */
uint64_t esi_ctf_reader_lost_at_end(const struct esi_ctf_reader *reader);

/* Returns the end position of the last packet that was read completely. */
uint64_t esi_ctf_reader_end(const struct esi_ctf_reader *reader);

#endif
