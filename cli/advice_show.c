/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Advice on trees, and what became of the changes. */
#include "config.h"

#include "cli/advice_show.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/json_out.h"
#include "base/plain.h"
#include "monitors/follow/describe.h"

enum { WORDS = 64 };

/* --- Changes ---------------------------------------------------------------------- */

static const char *describe_ns(char *out, double ns)
{
    return esi_describe_time(out, WORDS, ns);
}

static void print_text(const struct esi_applied_change *change)
{
    bool is_judged = change->is.count > 0;
    char was[WORDS];
    char predicted[WORDS];
    char is[WORDS];

    esi_plain_print(
        stdout, "applied: %s on %s: %s instead of %s: %s before, %s predicted, ",
        esi_tree_operation_name(change->group.operation), change->communicator,
        change->after, change->before, describe_ns(was, change->was.mean_ns),
        describe_ns(predicted, change->advice.then_ns));
    if (!is_judged) {
        esi_plain_print(stdout, "not measured (%s)\n",
                        esi_applied_outcome_name(change->outcome));
        return;
    }
    esi_plain_print(stdout, "%s measured in %" PRIu64 " operations: ",
                    describe_ns(is, change->is.mean_ns), change->is.count);
    if (change->outcome == ES_APPLIED_HELD)
        puts("the prediction held");
    else if (change->outcome == ES_APPLIED_PARTLY)
        puts("better, but by less than half of what was predicted");
    else if (change->outcome == ES_APPLIED_WORSE)
        esi_plain_print(stdout, "worse%s\n",
                        change->went_back ? ", so it was taken back" : "");
    else
        puts("no better than before");
}

static void print_json(const struct esi_applied_change *change)
{
    const struct esi_advised_group *group = &change->group;
    bool is_judged = change->is.count > 0;
    struct esi_json_out out;
    char key[40];

    snprintf(key, sizeof key, "%016" PRIx64 "%016" PRIx64, group->key[0],
             group->key[1]);
    esi_json_out_init(&out, stdout);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "type", "applied");
    esi_json_out_string(&out, "communicator", change->communicator);
    esi_json_out_string(&out, "key", key);
    esi_json_out_string(&out, "operation", esi_tree_operation_name(group->operation));
    esi_json_out_unsigned(&out, "min_bytes", group->min_bytes);
    esi_json_out_unsigned(&out, "max_bytes", group->max_bytes);
    esi_json_out_string(&out, "before", change->before);
    esi_json_out_string(&out, "after", change->after);
    esi_json_out_string(&out, "basis", esi_advice_basis_name(change->advice.basis));
    esi_json_out_unsigned(&out, "version", change->version);
    esi_json_out_unsigned(&out, "before_count", change->was.count);
    esi_json_out_real(&out, "before_ns", change->was.mean_ns);
    esi_json_out_real(&out, "predicted_ns", change->advice.then_ns);
    esi_json_out_unsigned(&out, "count", change->is.count);
    esi_json_out_real(&out, "measured_ns",
                      is_judged ? change->is.mean_ns : (double)NAN);
    esi_json_out_string(&out, "outcome", esi_applied_outcome_name(change->outcome));
    esi_json_out_bool(&out, "went_back", change->went_back);
    esi_json_out_end(&out);
}

static void print_changes(const struct esi_applier *applier, enum esi_format format)
{
    size_t count;
    const struct esi_applied_change *changes = esi_applier_changes(applier, &count);

    for (size_t i = 0; i < count; i++) {
        if (format == ES_FORMAT_JSON)
            print_json(&changes[i]);
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
        puts("none: no operation was seen that trees are built for");
    if (format != ES_FORMAT_JSON && !esi_adviser_is_switchable(adviser))
        puts("the run's collective operations cannot be switched; start it with "
             "--trees");
    if (applier)
        print_changes(applier, format);
}
