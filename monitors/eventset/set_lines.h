/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A file, line by line, each in memory that may be changed.
 */
#ifndef ES_MONITORS_EVENTSET_SET_LINES_H
#define ES_MONITORS_EVENTSET_SET_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Caller's memory; `number` and `bytes` may be read. */
struct esi_set_lines {
    FILE *stream; /* borrowed */
    char *buffer;
    size_t capacity;
    size_t from; /* what is read and not given yet */
    size_t to;
    uint64_t number; /* of the line that was given last, from 1 */
    uint64_t bytes;  /* that were read */
};

/* 0 or -ENOMEM. */
int esi_set_lines_init(struct esi_set_lines *lines, FILE *stream);
void esi_set_lines_fini(struct esi_set_lines *lines);

/* The first bytes, at least 512 where the file has so many; before the first line is
 * given, which has them, too.  0; -ENOMEM; -errno of the stream. */
int esi_set_lines_peek(struct esi_set_lines *lines,
                       const char **ret_text,
                       size_t *ret_length);

/* The next line without its end; a 0 stands behind it.  It may be changed, and is there
 * until the next call.  1; 0 at the end; -ENOMEM; -errno of the stream. */
int esi_set_lines_next(struct esi_set_lines *lines,
                       char **ret_text,
                       size_t *ret_length);

#endif
