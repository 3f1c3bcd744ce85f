/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* top_print.h - prints an observation as text and as JSON. */
#ifndef ES_MONITORS_TOP_TOP_PRINT_H
#define ES_MONITORS_TOP_TOP_PRINT_H

#include <stdio.h>

#include "monitors/top/top.h"

enum { ESI_TOP_HEAD_LINES = 3, ESI_TOP_HEAD_BYTES = 256 };

/* Formats line 0 to 2 of the heading: name and size of the run; ranks by verdict; rates
 * and cost.  Returns `out`. */
const char *esi_top_head(const struct esi_top_look *look,
                         unsigned line,
                         char out[ESI_TOP_HEAD_BYTES]);

/* Prints the heading, the verdicts and the table of the list.  Returns 0, -ENOMEM or
 * -EIO. */
int esi_top_print_text(const struct esi_top_look *look,
                       const struct esi_top_list *list,
                       FILE *stream);

/* Prints one object on one line.  Returns 0 or -EIO. */
int esi_top_print_json(const struct esi_top_look *look,
                       const struct esi_top_list *list,
                       FILE *stream);

#endif
