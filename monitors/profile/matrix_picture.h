/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * matrix_picture.h - who sends to whom, as a file: a table (CSV), or a picture with
 * senders from top to bottom and receivers from left to right, darker where more bytes
 * went, in powers of two.
 */
#ifndef ES_MONITORS_PROFILE_MATRIX_PICTURE_H
#define ES_MONITORS_PROFILE_MATRIX_PICTURE_H

#include <stdio.h>

#include "monitors/profile/profile_report.h"

enum esi_matrix_format {
    ESI_MATRIX_CSV, /* a line for each pair that has messages */
    ESI_MATRIX_SVG,
    ESI_MATRIX_PNG,
};

/* By the end of the file's name.  -EINVAL: none of them; -ENOTSUP: built without PNG.
 */
int esi_matrix_format_find(const char *path, enum esi_matrix_format *ret_format);

/* Writes the sorted report's matrix.  -ENOMEM, -EIO. */
int esi_matrix_write(const struct esi_profile_report *report,
                     const char *run,
                     enum esi_matrix_format format,
                     FILE *stream);

#endif
