/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * applier.c - a change is chosen, switched to, measured and judged.
 *
 * Choosing and measuring use the advice, while the monitor is paused; hosts are
 * contacted in between.
 */
#include "config.h"

#include "monitors/advice/applier.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "monitors/advice/tree_change.h"

/* Communicators switch at their next agreement, about twice a second. */
#define WAIT_NS UINT64_C(5000000000)
/* Minimum number of operations for a judgement. */
enum { LEAST = 8 };
/* Relative losses below this do not count. */
#define LEAST_LOSS 0.05

static const char *const outcome_names[] = {
    [ES_APPLIED_CHOSEN] = "chosen",       [ES_APPLIED_SWITCHING] = "switching",
    [ES_APPLIED_MEASURING] = "measuring", [ES_APPLIED_HELD] = "held",
    [ES_APPLIED_PARTLY] = "partly",       [ES_APPLIED_MISSED] = "missed",
    [ES_APPLIED_WORSE] = "worse",         [ES_APPLIED_REFUSED] = "refused",
};

struct esi_applier {
    const struct esi_tree_hosts *hosts;
    size_t after;
    struct esi_applied_change *changes; /* owned */
    size_t count;
    size_t capacity;
};

int esi_applier_create(const struct esi_tree_hosts *hosts,
                       size_t after,
                       struct esi_applier **ret_applier)
{
    struct esi_applier *applier = calloc(1, sizeof *applier);

    if (!applier)
        return -ENOMEM;
    applier->hosts = hosts;
    applier->after = after;
    *ret_applier = applier;
    return 0;
}

void esi_applier_destroy(struct esi_applier *applier)
{
    if (!applier)
        return;
    for (size_t i = 0; i < applier->count; i++)
        free(applier->changes[i].rules_before);
    free(applier->changes);
    free(applier);
}

/* --- Choosing --------------------------------------------------------------------- */

static bool is_same(const struct esi_advised_group *a,
                    const struct esi_advised_group *b)
{
    return a->operation == b->operation && a->min_bytes == b->min_bytes &&
           memcmp(a->key, b->key, sizeof a->key) == 0;
}

static struct esi_applied_change *under_way(const struct esi_applier *applier)
{
    struct esi_applied_change *last =
        applier->count > 0 ? &applier->changes[applier->count - 1] : NULL;

    return last && last->outcome <= ES_APPLIED_MEASURING ? last : NULL;
}

/* The index of a group; the number of groups if it no longer exists. */
static size_t find_group(const struct esi_tree_advisor *advisor,
                         const struct esi_advised_group *group)
{
    size_t count = esi_tree_advisor_count(advisor);
    struct esi_advised_group other;
    size_t i = 0;

    for (; i < count; i++) {
        esi_tree_advisor_group(advisor, i, &other);
        if (is_same(&other, group))
            break;
    }
    return i;
}

static bool was_changed(const struct esi_applier *applier,
                        const struct esi_advised_group *group)
{
    for (size_t i = 0; i < applier->count; i++)
        if (is_same(&applier->changes[i].group, group))
            return true;
    return false;
}

/* Measurements of a group with a tree of that version, or the library. */
static struct esi_advised_past past_of(const struct esi_tree_advisor *advisor,
                                       const struct esi_advised_group *group,
                                       bool tree,
                                       uint32_t version)
{
    size_t index = find_group(advisor, group);
    struct esi_advised_past past = {.count = 0};

    if (index < esi_tree_advisor_count(advisor))
        esi_tree_advisor_past(advisor, index, tree, version, &past);
    return past;
}

static bool is_sure(const struct esi_applier *applier,
                    const struct esi_collectives_proposal *proposal,
                    const struct esi_tree_advisor *advisor)
{
    const struct esi_advised_group *group = &proposal->group;

    return proposal->advice.verdict == ES_ADVICE_BETTER && proposal->command &&
           !was_changed(applier, group) &&
           past_of(advisor, group, group->tree, group->version).count >= applier->after;
}

static void begin_change(struct esi_applier *applier,
                         const struct esi_collectives_proposal *proposal,
                         const struct esi_tree_advisor *advisor)
{
    const struct esi_advised_group *group = &proposal->group;
    struct esi_applied_change *change;

    if (ESI_ARRAY_RESERVE(applier->changes, applier->capacity, applier->count + 1) < 0)
        return;
    change = &applier->changes[applier->count++];
    *change = (struct esi_applied_change){.group = *group, .advice = proposal->advice};
    memcpy(change->before, proposal->in_force, sizeof change->before);
    memcpy(change->after, proposal->then, sizeof change->after);
    snprintf(change->communicator, sizeof change->communicator, "%s",
             group->communicator);
    change->was = past_of(advisor, group, group->tree, group->version);
}

void esi_applier_choose(struct esi_applier *applier,
                        const struct esi_collectives_proposal *proposals,
                        size_t count,
                        const struct esi_tree_advisor *advisor)
{
    const struct esi_collectives_proposal *best = NULL;
    double most_ns = 0;

    if (under_way(applier))
        return;
    for (size_t i = 0; i < count; i++) {
        double saved_ns =
            proposals[i].advice.gain_ns * (double)proposals[i].group.instances;

        if (saved_ns > most_ns && is_sure(applier, &proposals[i], advisor)) {
            best = &proposals[i];
            most_ns = saved_ns;
        }
    }
    if (best)
        begin_change(applier, best, advisor);
}

/* --- Measuring -------------------------------------------------------------------- */

static bool is_library(const struct esi_applied_change *change)
{
    return change->advice.rule.shape == ES_TREE_LIBRARY;
}

static void classify_change(struct esi_applied_change *change)
{
    double chance_ns = 2 * hypot(change->was.chance_ns, change->is.chance_ns);
    double gain_ns = change->was.mean_ns - change->is.mean_ns;

    if (gain_ns >= change->advice.gain_ns / 2)
        change->outcome = ES_APPLIED_HELD;
    else if (gain_ns > chance_ns)
        change->outcome = ES_APPLIED_PARTLY;
    else if (-gain_ns > chance_ns && -gain_ns > LEAST_LOSS * change->was.mean_ns)
        change->outcome = ES_APPLIED_WORSE;
    else
        change->outcome = ES_APPLIED_MISSED;
}

void esi_applier_measure(struct esi_applier *applier,
                         const struct esi_tree_advisor *advisor,
                         bool over)
{
    struct esi_applied_change *change = under_way(applier);
    struct esi_advised_past past;
    uint64_t seen;

    if (!change || change->outcome == ES_APPLIED_CHOSEN)
        return;
    past = past_of(advisor, &change->group, !is_library(change),
                   ES_ADVICE_VERSION(change->version));
    seen = past.count > change->seen ? past.count - change->seen : 0;
    if (change->outcome == ES_APPLIED_SWITCHING && seen > 0)
        change->outcome = ES_APPLIED_MEASURING;
    if (seen < (over ? LEAST : applier->after))
        return;
    change->is = past;
    change->is.count = seen;
    classify_change(change);
}

/* --- Acting ----------------------------------------------------------------------- */

/* Sends rules to all processes.  Returns 0, or -errno after a message. */
static int hand_out(const struct esi_applier *applier, const char *text)
{
    struct esi_tree_change done = {.fit = 0};
    int code = esi_tree_change(applier->hosts, text, &done);

    if (code == 0 && done.changed == 0)
        code = -ESRCH;
    if (code < 0)
        esi_tree_hosts_note(applier->hosts, "cannot change the trees: %s",
                            strerror(-code));
    return code;
}

/* The version that the change will have. */
static uint32_t wished_version(const struct esi_tree_rows *rows,
                               const struct esi_applied_change *change)
{
    uint32_t version = 0;

    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].size == change->group.size &&
            strcmp(rows->rows[i].communicator, change->communicator) == 0)
            version = rows->rows[i].wish;
    return version;
}

/* Waits, with a time limit, until the rule's communicators have switched. */
static int wait_for_it(const struct esi_applier *applier,
                       struct esi_applied_change *change)
{
    struct esi_tree_rows rows = {.rows = NULL};
    bool is_behind = false;
    int code =
        esi_tree_wait(applier->hosts, change->advice.rule.communicator, WAIT_NS, &rows);

    if (code < 0)
        return code;
    for (size_t i = 0; i < rows.count; i++)
        is_behind |=
            esi_tree_is_behind(&rows.rows[i], change->advice.rule.communicator);
    change->version = wished_version(&rows, change);
    esi_tree_rows_fini(&rows);
    if (!is_behind)
        change->outcome = ES_APPLIED_MEASURING;
    return 0;
}

static int put_in_force(const struct esi_applier *applier,
                        struct esi_applied_change *change)
{
    struct es_error error = {.text = ""};
    struct esi_tree_plan plan;
    char *text = NULL;
    int code = esi_tree_plan_load(applier->hosts, false, &error, &plan);

    if (code < 0)
        return code;
    code = esi_tree_plan_text(&plan, &error, &change->rules_before);
    if (code == 0)
        code = esi_tree_rules_put(&plan.rules, &change->advice.rule);
    if (code == 0)
        code = esi_tree_plan_text(&plan, &error, &text);
    esi_tree_plan_fini(&plan);
    if (code == 0)
        code = hand_out(applier, text);
    free(text);
    return code;
}

static int start_change(struct esi_applier *applier, struct esi_applied_change *change)
{
    int code = put_in_force(applier, change);

    if (code < 0) {
        change->outcome = ES_APPLIED_REFUSED;
        return code == -ENOMEM ? code : 0;
    }
    esi_tree_hosts_note(
        applier->hosts, "%s on %s: %s replaces %s after %" PRIu64 " operations",
        esi_tree_operation_name(change->group.operation), change->communicator,
        change->after, change->before, change->was.count);
    change->outcome = ES_APPLIED_SWITCHING;
    /* Earlier measurements of the library count for `was`, not for `is`. */
    change->seen = is_library(change) ? change->group.instances : 0;
    return wait_for_it(applier, change);
}

static int go_back(struct esi_applier *applier, struct esi_applied_change *change)
{
    int code = hand_out(applier, change->rules_before);

    if (code < 0)
        return code == -ENOMEM ? code : 0;
    change->went_back = true;
    esi_tree_hosts_note(applier->hosts, "%s on %s: back to %s, since %s took longer",
                        esi_tree_operation_name(change->group.operation),
                        change->communicator, change->before, change->after);
    return 0;
}

int esi_applier_act(struct esi_applier *applier)
{
    struct esi_applied_change *last =
        applier->count > 0 ? &applier->changes[applier->count - 1] : NULL;

    if (!last)
        return 0;
    if (last->outcome == ES_APPLIED_CHOSEN)
        return start_change(applier, last);
    if (last->outcome == ES_APPLIED_SWITCHING)
        return wait_for_it(applier, last);
    if (last->outcome == ES_APPLIED_WORSE && !last->went_back)
        return go_back(applier, last);
    return 0;
}

/* --- Outcomes --------------------------------------------------------------------- */

const struct esi_applied_change *esi_applier_changes(const struct esi_applier *applier,
                                                     size_t *ret_count)
{
    *ret_count = applier->count;
    return applier->changes;
}

const char *esi_applied_outcome_name(enum esi_applied_outcome outcome)
{
    return outcome_names[outcome];
}
