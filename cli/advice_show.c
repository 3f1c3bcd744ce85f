/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Prints the advice on trees, and the outcomes of changes. */
#include "config.h"

#include "cli/advice_show.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/quantity.h"
#include "base/rows.h"
#include "base/table.h"

enum { SENTENCE = 512 };

/* --- Changes ---------------------------------------------------------------------- */

/* Compares the measurements with the prediction. */
static const char *describe_outcome(const struct esi_applied_change *change)
{
    switch (change->outcome) {
    case ES_APPLIED_HELD:
        return "the prediction held";
    case ES_APPLIED_PARTLY:
        return "better, but by less than half of what was predicted";
    case ES_APPLIED_WORSE:
        return change->went_back ? "worse, so it was reverted" : "worse";
    default:
        return "no better than before";
    }
}

static void print_text(const struct esi_applied_change *change)
{
    char was[ESI_QUANTITY_BYTES];
    char predicted[ESI_QUANTITY_BYTES];
    char is[ESI_QUANTITY_BYTES];
    char sentence[SENTENCE];

    snprintf(sentence, sizeof sentence,
             "applied: %s on %s: %s instead of %s: %s before, %s predicted, ",
             esi_tree_operation_name(change->group.operation), change->communicator,
             change->after, change->before,
             esi_quantity_time(was, sizeof was, change->was.mean_ns),
             esi_quantity_time(predicted, sizeof predicted, change->advice.then_ns));
    if (change->is.count == 0)
        esi_text_prose_print(stdout, "%snot measured (%s)", sentence,
                             esi_applied_outcome_name(change->outcome));
    else
        esi_text_prose_print(stdout, "%s%s measured in %" PRIu64 " operations: %s",
                             sentence,
                             esi_quantity_time(is, sizeof is, change->is.mean_ns),
                             change->is.count, describe_outcome(change));
}

static void describe_change(struct esi_row *row, const void *record)
{
    const struct esi_applied_change *change = record;
    const struct esi_advised_group *group = &change->group;
    bool is_judged = change->is.count > 0;

    esi_row_text(row, "type", NULL, "applied");
    esi_row_text(row, "communicator", NULL, change->communicator);
    esi_row_key(row, "key", group->key);
    esi_row_text(row, "operation", NULL, esi_tree_operation_name(group->operation));
    esi_row_unsigned(row, "min_bytes", NULL, group->min_bytes);
    esi_row_unsigned(row, "max_bytes", NULL, group->max_bytes);
    esi_row_text(row, "before", NULL, change->before);
    esi_row_text(row, "after", NULL, change->after);
    esi_row_text(row, "basis", NULL, esi_advice_basis_name(change->advice.basis));
    esi_row_unsigned(row, "version", NULL, change->version);
    esi_row_unsigned(row, "before_count", NULL, change->was.count);
    esi_row_real(row, "before_ns", NULL, change->was.mean_ns);
    esi_row_real(row, "predicted_ns", NULL, change->advice.then_ns);
    esi_row_unsigned(row, "count", NULL, change->is.count);
    esi_row_real(esi_row_if(row, is_judged), "measured_ns", NULL, change->is.mean_ns);
    esi_row_text(row, "outcome", NULL, esi_applied_outcome_name(change->outcome));
    esi_row_bool(row, "went_back", NULL, change->went_back);
}

static void print_changes(const struct esi_applier *applier, enum esi_format format)
{
    size_t count;
    const struct esi_applied_change *changes = esi_applier_changes(applier, &count);

    for (size_t i = 0; i < count; i++) {
        if (format == ES_FORMAT_JSON)
            esi_rows_print_json(stdout, describe_change, &changes[i]);
        else
            print_text(&changes[i]);
    }
}

/* --- Advice ----------------------------------------------------------------------- */

void esi_advice_show(const struct esi_adviser *adviser,
                     enum esi_format format,
                     size_t top)
{
    const struct esi_applier *applier = esi_adviser_applier(adviser);
    size_t count;
    const struct esi_collectives_proposal *proposals =
        esi_adviser_proposals(adviser, &count);

    if (format != ES_FORMAT_JSON)
        puts("\nAdvice");
    for (size_t i = 0; i < count && i < top; i++) {
        if (format == ES_FORMAT_JSON)
            esi_collectives_advice_print_json(&proposals[i], stdout);
        else
            esi_collectives_advice_print_text(&proposals[i], stdout);
    }
    if (format != ES_FORMAT_JSON && count == 0)
        puts("none: no operation was seen that can use a tree");
    if (format != ES_FORMAT_JSON && !esi_adviser_is_switchable(adviser))
        esi_text_prose_print(stdout,
                             "the run's collective operations cannot be switched; "
                             "start it with --trees");
    if (applier)
        print_changes(applier, format);
}
