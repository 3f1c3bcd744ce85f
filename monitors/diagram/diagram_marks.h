/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * diagram_marks.h - serializes the running sums of run time, for storage beside an
 * archive (docs/formats.md).
 *
 * Marks and rows are stored, but no calls and no events.  Cells are exact at marks and
 * interpolated between them.
 *
 * The input is not trusted.
 */
#ifndef ES_MONITORS_DIAGRAM_DIAGRAM_MARKS_H
#define ES_MONITORS_DIAGRAM_DIAGRAM_MARKS_H

#include "eventspace/error.h"
#include "monitors/diagram/diagram.h"

#define ESI_DIAGRAM_MARKS_MAX ((size_t)1 << 24) /* maximum input size in bytes */

/* Serializes the sums of all rows into at most `room` bytes, with fewer marks if
 * necessary.  `archive` identifies the archive.  The caller frees *ret_bytes.  Returns
 * 0; -ENOSPC if even the rows do not fit; -EINVAL if a name cannot be stored; or
 * -ENOMEM. */
int esi_diagram_save_marks(struct esi_diagram *diagram,
                           uint64_t archive,
                           size_t room,
                           unsigned char **ret_bytes,
                           size_t *ret_length);

/* Creates a diagram with only rows and cells of run time.  Returns 0; -ESTALE if the
 * bytes belong to another archive or version; -EINVAL with `error` filled; or
 * -ENOMEM. */
int esi_diagram_load_marks(const void *bytes,
                           size_t length,
                           uint64_t archive,
                           struct es_error *error,
                           struct esi_diagram **ret_diagram);

#endif
