/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* verdict_print.h - shows verdicts to people and to programs. */
#ifndef ES_MONITORS_VERDICT_VERDICT_PRINT_H
#define ES_MONITORS_VERDICT_VERDICT_PRINT_H

#include <stdio.h>

#include "base/rows.h"
#include "monitors/verdict/verdict.h"

struct esi_verdict_style {
    bool all;   /* also the many that are left out */
    bool waits; /* what each of the ranks waits for */
};

/* Each verdict in a few lines, the certain ones first, and who holds up others.  0 or
 * -EIO. */
int esi_diagnosis_print_text(const struct esi_diagnosis *diagnosis,
                             const struct esi_verdict_style *style,
                             FILE *stream);

/* The members `verdicts` and `held_up_by` of a record. */
void esi_diagnosis_describe(struct esi_row *row, const struct esi_diagnosis *diagnosis);

/* One object on one line.  0 or -EIO. */
int esi_diagnosis_print_json(const struct esi_diagnosis *diagnosis, FILE *stream);

#endif
