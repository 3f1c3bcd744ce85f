/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Reads one stream of an archive from its beginning, in pieces of a few KiB.
 *
 * Nothing in the file is trusted.  The stream ends before the first packet that is not
 * there as a whole; a packet that is there and makes no sense is damage.  Between
 * pieces the file is closed: there may be more streams than descriptors.
 *
 * Not thread safe.
 */
#ifndef ES_MONITORS_ARCHIVE_CTF_READER_H
#define ES_MONITORS_ARCHIVE_CTF_READER_H

#include <stdbool.h>

#include "eventspace/error.h"
#include "monitors/archive/ctf_layout.h"

struct esi_ctf_reader_config {
    int directory;       /* descriptor; borrowed for the reader's life */
    const char *name;    /* copied */
    const uint8_t *uuid; /* 16 bytes that packets must have; copied */
    enum esi_ctf_kind kind;
    uint32_t element; /* that packets must be of */
};

struct esi_ctf_reader;

/* -ENOENT: there is no such stream.  -errno, -ENOMEM. */
int esi_ctf_reader_create(const struct esi_ctf_reader_config *config,
                          struct esi_ctf_reader **ret_reader);
/* Accepts NULL. */
void esi_ctf_reader_destroy(struct esi_ctf_reader *reader);

/* What a reader stands before. */
struct esi_ctf_record {
    struct es_tuple tuple;
    uint64_t index;     /* among the element's recorded tuples; of an ordered stream:
                           what it is if no late one comes before it in its packet */
    uint64_t lost;      /* tuples lost since the record before */
    bool begins_packet; /* then `index` is so for sure */
};

/* The next record: 1, or 0 at the end, or -EBADMSG with words, -errno.  The record is
 * borrowed, valid until esi_ctf_reader_next(). */
int esi_ctf_reader_peek(struct esi_ctf_reader *reader,
                        const struct esi_ctf_record **ret_record,
                        struct es_error *error);
/* Steps over what was peeked at. */
void esi_ctf_reader_next(struct esi_ctf_reader *reader);

/* Forgets the losses before the record that was peeked at, and returns them. */
uint64_t esi_ctf_reader_take_lost(struct esi_ctf_reader *reader);

/* Tuples lost behind the last record; at the end. */
uint64_t esi_ctf_reader_lost_at_end(const struct esi_ctf_reader *reader);

/* Where the last packet ends that was read to its end. */
uint64_t esi_ctf_reader_end(const struct esi_ctf_reader *reader);

#endif
