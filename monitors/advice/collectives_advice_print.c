/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* collectives_advice_print.c - proposals, for people and for programs. */
#include "config.h"

#include <inttypes.h>
#include <math.h>

#include "base/json_out.h"
#include "base/plain.h"
#include "monitors/advice/collectives_advice.h"
#include "monitors/follow/describe.h"

enum { WORDS = 64 };

static const char *describe_ns(char *out, size_t size, double ns)
{
    return esi_describe_time(out, size, ns);
}

static void print_sizes(const struct esi_advised_group *group, FILE *stream)
{
    if (group->max_bytes == 0)
        return;
    if (group->min_bytes == group->max_bytes)
        fprintf(stream, " of %" PRIu64 " byte", group->min_bytes);
    else
        fprintf(stream, " of %" PRIu64 " to %" PRIu64 " bytes", group->min_bytes,
                group->max_bytes);
}

static void print_times(const struct esi_collectives_proposal *proposal, FILE *stream)
{
    const struct esi_tree_advice *advice = &proposal->advice;
    char now[WORDS];
    char then[WORDS];
    char gain[WORDS];

    describe_ns(now, sizeof now, advice->now_ns);
    describe_ns(then, sizeof then, advice->then_ns);
    describe_ns(gain, sizeof gain, advice->gain_ns);
    if (advice->verdict == ES_ADVICE_BETTER)
        esi_plain_print(
            stream, "%s would take %s instead of %s with %s: %s less each (%.0f %%)",
            proposal->then, then, now, proposal->in_force, gain, advice->gain * 100);
    else if (advice->now_ns > 0)
        esi_plain_print(stream, "%s takes %s", proposal->in_force, now);
    else
        esi_plain_write(stream, proposal->in_force);
}

void esi_collectives_advice_print_text(const struct esi_collectives_proposal *proposal,
                                       FILE *stream)
{
    const struct esi_advised_group *group = &proposal->group;

    esi_plain_print(stream, "%s: %s on %s",
                    esi_advice_verdict_name(proposal->advice.verdict),
                    esi_tree_operation_name(group->operation),
                    group->communicator[0] ? group->communicator : "(no name)");
    print_sizes(group, stream);
    fputs(": ", stream);
    print_times(proposal, stream);
    esi_plain_print(stream, "\n    %s\n", proposal->advice.reason);
    if (proposal->command)
        esi_plain_print(stream, "    %s\n", proposal->command);
}

/* --- JSON ------------------------------------------------------------------------- */

static void put_forecast(struct esi_json_out *out,
                         const struct esi_collectives_proposal *proposal)
{
    const struct esi_tree_advice *advice = &proposal->advice;
    bool is_known = advice->verdict != ES_ADVICE_UNKNOWN;
    double nothing = (double)NAN; /* becomes null */

    esi_json_out_string(out, "basis",
                        is_known ? esi_advice_basis_name(advice->basis) : NULL);
    esi_json_out_string(out, "then", is_known ? proposal->then : NULL);
    esi_json_out_real(out, "now_ns", advice->samples > 0 ? advice->now_ns : nothing);
    esi_json_out_real(out, "then_ns", is_known ? advice->then_ns : nothing);
    esi_json_out_real(out, "gain_ns", is_known ? advice->gain_ns : nothing);
    esi_json_out_real(out, "gain", is_known ? advice->gain : nothing);
    esi_json_out_real(out, "doubt_ns", is_known ? advice->doubt_ns : nothing);
    esi_json_out_real(out, "scale", is_known ? advice->scale : nothing);
}

static void put_candidates(struct esi_json_out *out,
                           const struct esi_tree_advice *advice)
{
    esi_json_out_begin_array(out, "candidates");
    for (size_t i = 0; i < advice->candidate_count; i++) {
        const struct esi_advice_candidate *candidate = &advice->candidates[i];

        esi_json_out_begin_object(out, NULL);
        esi_json_out_string(out, "tree", candidate->name);
        esi_json_out_real(out, "then_ns",
                          candidate->possible ? candidate->then_ns : (double)NAN);
        esi_json_out_end(out);
    }
    esi_json_out_end(out);
}

void esi_collectives_advice_print_json(const struct esi_collectives_proposal *proposal,
                                       FILE *stream)
{
    const struct esi_advised_group *group = &proposal->group;
    struct esi_json_out out;
    char key[40];

    snprintf(key, sizeof key, "%016" PRIx64 "%016" PRIx64, group->key[0],
             group->key[1]);
    esi_json_out_init(&out, stream);
    esi_json_out_begin_object(&out, NULL);
    esi_json_out_string(&out, "type", "advice");
    esi_json_out_string(&out, "communicator",
                        group->communicator[0] ? group->communicator : NULL);
    esi_json_out_string(&out, "key", key);
    esi_json_out_string(&out, "operation", esi_tree_operation_name(group->operation));
    esi_json_out_signed(&out, "size", group->size);
    esi_json_out_unsigned(&out, "min_bytes", group->min_bytes);
    esi_json_out_unsigned(&out, "max_bytes", group->max_bytes);
    esi_json_out_string(&out, "verdict",
                        esi_advice_verdict_name(proposal->advice.verdict));
    esi_json_out_string(&out, "in_force", proposal->in_force);
    esi_json_out_bool(&out, "tree", group->tree);
    esi_json_out_unsigned(&out, "version", group->version);
    put_forecast(&out, proposal);
    esi_json_out_unsigned(&out, "samples", proposal->advice.samples);
    esi_json_out_unsigned(&out, "count", group->instances);
    esi_json_out_string(&out, "reason", proposal->advice.reason);
    esi_json_out_string(&out, "command", proposal->command);
    put_candidates(&out, &proposal->advice);
    esi_json_out_end(&out);
}
