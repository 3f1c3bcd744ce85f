/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* verdict_print.h - prints verdicts as text and as JSON. */
#ifndef ES_MONITORS_VERDICT_VERDICT_PRINT_H
#define ES_MONITORS_VERDICT_VERDICT_PRINT_H

#include <stdio.h>

#include "base/rows.h"
#include "monitors/verdict/verdict.h"

struct esi_verdict_style {
    bool all;   /* also items that are otherwise omitted */
    bool waits; /* what each of the ranks waits for */
    bool calm;  /* a line also if nothing is wrong, or nothing is known */
};

/* Prints each verdict in a few lines, certain ones first, and the ranks that hold up
 * others.  Returns 0 or -EIO. */
int esi_diagnosis_print_text(const struct esi_diagnosis *diagnosis,
                             const struct esi_verdict_style *style,
                             FILE *stream);

/* Adds the members `verdicts` and `held_up_by` to a record. */
void esi_diagnosis_describe(struct esi_row *row, const struct esi_diagnosis *diagnosis);

/* Prints one object on one line.  Returns 0 or -EIO. */
int esi_diagnosis_print_json(const struct esi_diagnosis *diagnosis, FILE *stream);

#endif
