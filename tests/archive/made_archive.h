/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_archive.h - archives made by tests, in directories of their own. */
#ifndef ES_TESTS_MADE_ARCHIVE_H
#define ES_TESTS_MADE_ARCHIVE_H

#include "monitors/archive/archive.h"
#include "monitors/archive/archive_read.h"

enum { MADE_PACKET_BYTES = 108 + 4 * 36 };

struct made_archive {
    char folder[64];    /* removed at the end, with all in it */
    char directory[96]; /* of the archive */
    struct esi_archive *archive;
};

/* Begins an archive with packets of four tuples, of one host "made" with `ranks`
 * processes, each with one element "R.0/all" and MPI_COMM_WORLD. */
void made_archive_begin(struct made_archive *made, int ranks);
/* Ends the recording. */
void made_archive_close(struct made_archive *made);
void made_archive_remove(struct made_archive *made);

/* Appends MPI_Send with this tag, from stop - 10 to `stop`. */
void made_archive_append(struct made_archive *made,
                         uint32_t element,
                         uint64_t stop,
                         int tag);

/* Tags of an element in the order of a cursor, "L<n>" for losses; "!" at its end where
 * the stream is damaged.  Valid until the next call. */
const char *made_archive_tags(const struct made_archive *made, uint32_t element);

/* Whole path of a file of the archive; valid until the next call. */
const char *made_archive_path(const struct made_archive *made, const char *file);

/* The bytes of a file of the archive; caller frees. */
char *made_archive_load(const struct made_archive *made,
                        const char *file,
                        size_t *ret_length);
void made_archive_store(const struct made_archive *made,
                        const char *file,
                        const char *bytes,
                        size_t length);

#endif
