/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * diagram_marks.h - the running sums of run time as bytes, which are kept beside an
 * archive (docs/formats.md).
 *
 * Marks and what is said of rows are kept, no calls and no events.  Where marks lie,
 * cells are exact; between two of them an even share is taken.
 *
 * Nothing of the bytes is trusted.
 */
#ifndef ES_MONITORS_DIAGRAM_DIAGRAM_MARKS_H
#define ES_MONITORS_DIAGRAM_DIAGRAM_MARKS_H

#include "eventspace/error.h"
#include "monitors/diagram/diagram.h"

#define ESI_DIAGRAM_MARKS_MAX ((size_t)1 << 24) /* bytes that are read */

/* The sums of all rows in at most `room` bytes: fewer marks where they do not fit.
 * `archive` tells of what they are.  Caller frees *ret_bytes.  -ENOSPC: the rows alone
 * do not fit; -EINVAL: a name cannot be kept; -ENOMEM. */
int esi_diagram_save_marks(struct esi_diagram *diagram,
                           uint64_t archive,
                           size_t room,
                           unsigned char **ret_bytes,
                           size_t *ret_length);

/* A diagram that has rows and cells of run time only.  -ESTALE: they are of something
 * else, or have another form; -EINVAL with words; -ENOMEM. */
int esi_diagram_load_marks(const void *bytes,
                           size_t length,
                           uint64_t archive,
                           struct es_error *error,
                           struct esi_diagram **ret_diagram);

#endif
