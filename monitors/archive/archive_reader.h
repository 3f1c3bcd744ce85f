/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* archive_reader.h - what the parts of the reader share. */
#ifndef ES_MONITORS_ARCHIVE_ARCHIVE_READER_H
#define ES_MONITORS_ARCHIVE_ARCHIVE_READER_H

#include "monitors/archive/archive_read.h"
#include "monitors/archive/ctf_reader.h"

struct es_archive_reader {
    struct es_archive_tables tables;
    char *path; /* owned */
    int root;   /* descriptors; -1 = none */
    int *hosts; /* of the hosts' directories, -1 = there is none; owned */
};

/* A stream of an element; `late` 0: the ordered one.  -ENOENT: there is none. */
int esi_archive_stream_open(const struct es_archive_reader *reader,
                            uint32_t element,
                            unsigned late,
                            struct es_error *error,
                            struct esi_ctf_reader **ret_stream);

#endif
