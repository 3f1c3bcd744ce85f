/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* profile_print.h - a report as tables, JSON Lines (docs/formats.md) and CSV. */
#ifndef ES_MONITORS_PROFILE_PROFILE_PRINT_H
#define ES_MONITORS_PROFILE_PROFILE_PRINT_H

#include <stdio.h>

#include "base/rows.h"
#include "monitors/profile/profile_report.h"

/* Parts of a report, as bits. */
enum esi_profile_part {
    ESI_PROFILE_RANKS = 1,
    ESI_PROFILE_OPERATIONS = 2,
    ESI_PROFILE_SITES_PART = 4,
    ESI_PROFILE_SIZES_PART = 8,
    ESI_PROFILE_MESSAGES = 16,
    ESI_PROFILE_ALL = 31,
};

struct esi_profile_style {
    enum esi_rows_format format; /* ESI_ROWS_CSV: one part only */
    unsigned parts;
    size_t limit; /* maximum lines of a table; 0 = all */
    const char *run;
};

/* Prints the sorted report.  Returns 0, -ENOMEM or -EIO. */
int esi_profile_print(const struct esi_profile_report *report,
                      const struct esi_profile_style *style,
                      FILE *stream);

#endif
