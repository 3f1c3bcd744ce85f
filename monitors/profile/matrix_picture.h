/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * matrix_picture.h - the communication matrix as a file: a table (CSV), or a picture
 * with senders from top to bottom and receivers from left to right, darker for more
 * bytes, in powers of two.
 */
#ifndef ES_MONITORS_PROFILE_MATRIX_PICTURE_H
#define ES_MONITORS_PROFILE_MATRIX_PICTURE_H

#include <stdio.h>

#include "monitors/profile/profile_report.h"

enum esi_matrix_format {
    ESI_MATRIX_CSV, /* one line for each pair with messages */
    ESI_MATRIX_SVG,
    ESI_MATRIX_PNG,
};

/* Selects the format by the file name extension.  Returns 0; -EINVAL for an unknown
 * one; -ENOTSUP if built without PNG. */
int esi_matrix_format_find(const char *path, enum esi_matrix_format *ret_format);

/* Writes the sorted report's matrix.  Returns 0, -ENOMEM or -EIO. */
int esi_matrix_write(const struct esi_profile_report *report,
                     const char *run,
                     enum esi_matrix_format format,
                     FILE *stream);

#endif
