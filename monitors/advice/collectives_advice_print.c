/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collectives_advice_print.c - prints proposals as text and as JSON. */
#include "config.h"

#include <inttypes.h>

#include "base/plain.h"
#include "base/quantity.h"
#include "base/rows.h"
#include "base/table.h"
#include "monitors/advice/collectives_advice.h"
#include "monitors/follow/describe.h"

enum { SENTENCE = 512 };

/* " of 8 bytes", " of 8 to 64 bytes". */
static void append_sizes(const struct esi_advised_group *group, char out[SENTENCE])
{
    if (group->max_bytes == 0)
        return;
    if (group->min_bytes == group->max_bytes)
        esi_describe_append(out, SENTENCE, " of %" PRIu64 " byte%s", group->min_bytes,
                            group->min_bytes == 1 ? "" : "s");
    else
        esi_describe_append(out, SENTENCE, " of %" PRIu64 " to %" PRIu64 " bytes",
                            group->min_bytes, group->max_bytes);
}

static void append_times(const struct esi_collectives_proposal *proposal,
                         char out[SENTENCE])
{
    const struct esi_tree_advice *advice = &proposal->advice;
    char now[ESI_QUANTITY_BYTES];
    char then[ESI_QUANTITY_BYTES];
    char gain[ESI_QUANTITY_BYTES];

    esi_quantity_time(now, sizeof now, advice->now_ns);
    esi_quantity_time(then, sizeof then, advice->then_ns);
    esi_quantity_time(gain, sizeof gain, advice->gain_ns);
    if (advice->verdict == ES_ADVICE_BETTER)
        esi_describe_append(
            out, SENTENCE,
            "%s would take %s instead of %s with %s: %s less each (%.0f %%)",
            proposal->then, then, now, proposal->in_force, gain, advice->gain * 100);
    else if (advice->now_ns > 0)
        esi_describe_append(out, SENTENCE, "%s takes %s", proposal->in_force, now);
    else
        esi_describe_append(out, SENTENCE, "%s", proposal->in_force);
}

void esi_collectives_advice_print_text(const struct esi_collectives_proposal *proposal,
                                       FILE *stream)
{
    const struct esi_advised_group *group = &proposal->group;
    char sentence[SENTENCE];

    snprintf(sentence, sizeof sentence, "%s: %s on %s",
             esi_advice_verdict_name(proposal->advice.verdict),
             esi_tree_operation_name(group->operation),
             group->communicator[0] ? group->communicator : "(no name)");
    append_sizes(group, sentence);
    esi_describe_append(sentence, sizeof sentence, ": ");
    append_times(proposal, sentence);
    esi_text_prose_print(stream, "%s", sentence);
    esi_text_prose_print(stream, "    %s", proposal->advice.reason);
    if (proposal->command) /* stays on one line, for copying */
        esi_plain_print(stream, "    %s\n", proposal->command);
}

/* --- JSON ------------------------------------------------------------------------- */

static void describe_forecast(struct esi_row *row,
                              const struct esi_collectives_proposal *proposal)
{
    const struct esi_tree_advice *advice = &proposal->advice;
    bool is_known = advice->verdict != ES_ADVICE_UNKNOWN;

    esi_row_text(row, "basis", NULL,
                 is_known ? esi_advice_basis_name(advice->basis) : NULL);
    esi_row_text(esi_row_if(row, is_known), "then", NULL, proposal->then);
    esi_row_real(esi_row_if(row, advice->samples), "now_ns", NULL, advice->now_ns);
    esi_row_real(esi_row_if(row, is_known), "then_ns", NULL, advice->then_ns);
    esi_row_real(esi_row_if(row, is_known), "gain_ns", NULL, advice->gain_ns);
    esi_row_real(esi_row_if(row, is_known), "gain", NULL, advice->gain);
    esi_row_real(esi_row_if(row, is_known), "doubt_ns", NULL, advice->doubt_ns);
    esi_row_real(esi_row_if(row, is_known), "scale", NULL, advice->scale);
}

static void describe_candidates(struct esi_row *row,
                                const struct esi_tree_advice *advice)
{
    esi_row_begin_array(row, "candidates");
    for (size_t i = 0; i < advice->candidate_count; i++) {
        const struct esi_advice_candidate *candidate = &advice->candidates[i];

        esi_row_begin_object(row, NULL);
        esi_row_text(row, "tree", NULL, candidate->name);
        esi_row_real(esi_row_if(row, candidate->possible), "then_ns", NULL,
                     candidate->then_ns);
        esi_row_end(row);
    }
    esi_row_end(row);
}

static void describe_proposal(struct esi_row *row, const void *record)
{
    const struct esi_collectives_proposal *proposal = record;
    const struct esi_advised_group *group = &proposal->group;
    const struct esi_tree_advice *advice = &proposal->advice;

    esi_row_text(row, "type", NULL, "advice");
    esi_row_text(esi_row_if(row, group->communicator[0]), "communicator", NULL,
                 group->communicator);
    esi_row_key(row, "key", group->key);
    esi_row_text(row, "operation", NULL, esi_tree_operation_name(group->operation));
    esi_row_signed(row, "size", NULL, group->size);
    esi_row_unsigned(row, "min_bytes", NULL, group->min_bytes);
    esi_row_unsigned(row, "max_bytes", NULL, group->max_bytes);
    esi_row_text(row, "verdict", NULL, esi_advice_verdict_name(advice->verdict));
    esi_row_text(row, "in_force", NULL, proposal->in_force);
    esi_row_bool(row, "tree", NULL, group->tree);
    esi_row_unsigned(row, "version", NULL, group->version);
    describe_forecast(row, proposal);
    esi_row_unsigned(row, "samples", NULL, advice->samples);
    esi_row_unsigned(row, "count", NULL, group->instances);
    esi_row_text(row, "reason", NULL, advice->reason);
    esi_row_text(row, "command", NULL, proposal->command);
    describe_candidates(row, advice);
}

void esi_collectives_advice_print_json(const struct esi_collectives_proposal *proposal,
                                       FILE *stream)
{
    esi_rows_print_json(stream, describe_proposal, proposal);
}
