/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* made_archive.h - creates archives for tests, in temporary directories. */
#ifndef ES_TESTS_MADE_ARCHIVE_H
#define ES_TESTS_MADE_ARCHIVE_H

#include "monitors/archive/archive.h"
#include "monitors/archive/archive_read.h"

enum { MADE_PACKET_BYTES = 108 + 4 * 36 };

struct made_archive {
    char folder[64];    /* temporary; made_archive_remove() removes it */
    char directory[96]; /* of the archive */
    struct esi_archive *archive;
};

/* Creates an archive with packets of four tuples. It has one host "made" with `ranks`
 * processes; each has MPI_COMM_WORLD and one element "R.0/all". */
void made_archive_begin(struct made_archive *made, int ranks);
/* Ends the recording. */
void made_archive_close(struct made_archive *made);
void made_archive_remove(struct made_archive *made);

/* Appends MPI_Send with this tag, from stop - 10 to `stop`. */
void made_archive_append(struct made_archive *made,
                         uint32_t element,
                         uint64_t stop,
                         int tag);

/* Returns the tags of an element's tuples in the order of a cursor, with "L<n>" for
 * losses, and "!" at the end if the stream is damaged. Valid until the next call. */
const char *made_archive_tags(const struct made_archive *made, uint32_t element);

/* Returns the path of a file of the archive; valid until the next call. */
const char *made_archive_path(const struct made_archive *made, const char *file);

/* Returns the contents of a file of the archive; caller frees. */
char *made_archive_load(const struct made_archive *made,
                        const char *file,
                        size_t *ret_length);
void made_archive_store(const struct made_archive *made,
                        const char *file,
                        const char *bytes,
                        size_t length);

#endif
