/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* live_candidates.c - matches that are not decided: kept, and looked at again when a
 * value joins that may decide them. */
#include "config.h"

#include "monitors/search/live/live_private.h"

#include <errno.h>
#include <stdlib.h>

enum { SWEEP_MIN = 1024 };

static void destroy_candidate(struct esi_candidate *candidate)
{
    free(candidate->ids);
    free(candidate->is_open);
    free(candidate->counts);
}

static void remove_candidate(struct esi_live_part *part, size_t at)
{
    part->eager_count -= !part->supports[part->candidates[at].support].is_lazy;
    destroy_candidate(&part->candidates[at]);
    part->candidates[at] = part->candidates[--part->candidate_count];
    part->live->candidates--;
}

void esi_live_candidates_fini(struct esi_live_part *part)
{
    while (part->candidate_count > 0)
        remove_candidate(part, part->candidate_count - 1);
    free(part->candidates);
    part->candidates = NULL;
    part->candidate_capacity = 0;
}

uint64_t esi_live_candidates_bytes(const struct esi_live_part *part)
{
    uint64_t one =
        part->program->variable_count * sizeof(struct es_event_id) +
        part->program->support_count * sizeof(bool) +
        (part->has_counts ? part->program->atom_count : 0u) * sizeof(uint64_t);

    return part->candidate_capacity * sizeof *part->candidates +
           part->candidate_count * one;
}

/* --- What a candidate has --------------------------------------------------------- */

static int make_room(struct esi_live_part *part)
{
    size_t capacity = 2 * part->candidate_capacity + 8;
    struct esi_candidate *candidates;

    if (part->candidate_count < part->candidate_capacity)
        return 0;
    candidates = realloc(part->candidates, capacity * sizeof *candidates);
    if (!candidates)
        return -ENOMEM;
    part->candidates = candidates;
    part->candidate_capacity = capacity;
    return 0;
}

static void take_ids(const struct esi_live_part *part,
                     uint64_t variables,
                     struct es_event_id *ids)
{
    for (uint64_t left = variables; left; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);
        const struct esi_formula_binding *binding = &part->check.bindings[v];

        ids[v] = esi_domain_is_single(part->domains[v])
                     ? binding->one
                     : (struct es_event_id){ES_PATTERN_NONE, binding->value.position};
    }
}

/* What its variables have, into the part's bindings.  False: a value that is needed was
 * lost. */
static bool bind_variables(struct esi_live_part *part,
                           const struct esi_candidate *candidate)
{
    uint64_t left = part->supports[candidate->support].support->variables;

    part->check.counts = candidate->counts;
    for (; left; left &= left - 1) {
        uint32_t v = (uint32_t)__builtin_ctzll(left);
        struct esi_formula_binding *binding = &part->check.bindings[v];
        struct es_event_id id = candidate->ids[v];
        struct esi_domain_value value = {0, id.index};

        if (id.trace == ES_PATTERN_NONE) {
            esi_live_bind(part, v, value);
            continue;
        }
        *binding = (struct esi_formula_binding){.one = id, .count = 1};
        binding->events = &binding->one;
        if (!(part->needs_rows & UINT64_C(1) << v))
            continue;
        if (!esi_domain_find(part->domains[v], id, &value))
            return false;
        binding->value = value;
        binding->has_value = true;
    }
    return true;
}

/* --- What is counted -------------------------------------------------------------- */

/* Of the values that were searched for: those that wait come one by one. */
static uint64_t count_now(struct esi_live_part *part, uint32_t number)
{
    const struct esi_live *live = part->live;
    const struct esi_atom *atom = &part->program->atoms[number];
    const struct esi_domain *counted = part->counted[number];
    uint64_t most =
        (uint64_t)atom->node->number + 1 + live->queue_count - live->queue_from;
    uint64_t found = esi_formula_count(&part->check, number, most);

    for (size_t i = live->queue_from; i < live->queue_count; i++) {
        struct esi_domain_value value;

        if (esi_joined_is_of(&live->queue[i], atom->counted, atom->counted_predicate) &&
            esi_joined_find(counted, &live->queue[i], &value))
            found -= esi_formula_is_counted(&part->check, number, value);
    }
    return found;
}

/* What its variables have is in the part's bindings. */
static void count_all(struct esi_live_part *part, struct esi_candidate *candidate)
{
    uint64_t variables = part->supports[candidate->support].support->variables;

    for (uint32_t a = 0; a < part->program->atom_count; a++) {
        const struct esi_atom *atom = &part->program->atoms[a];

        candidate->counts[a] = atom->kind == ES_ATOM_COUNT && !(atom->left & ~variables)
                                   ? count_now(part, a)
                                   : ES_FORMULA_UNCOUNTED;
    }
}

/* One value more, of those that atoms count.  Whether a count may have changed. */
static bool count_joined(struct esi_live_part *part,
                         struct esi_candidate *candidate,
                         const struct esi_joined *joined)
{
    bool has_changed = false;

    for (uint32_t a = 0; part->has_counts && a < part->program->atom_count; a++) {
        const struct esi_atom *atom = &part->program->atoms[a];
        struct esi_domain_value value;

        if (atom->kind != ES_ATOM_COUNT ||
            !esi_joined_is_of(joined, atom->counted, atom->counted_predicate))
            continue;
        if (candidate->counts[a] == ES_FORMULA_UNCOUNTED) {
            has_changed = true;
        } else if (esi_joined_find(part->counted[a], joined, &value) &&
                   esi_formula_is_counted(&part->check, a, value)) {
            candidate->counts[a]++;
            has_changed = true;
        }
    }
    return has_changed;
}

/* --- Refusing --------------------------------------------------------------------- */

void esi_live_candidates_sweep(struct esi_live_part *part)
{
    for (size_t i = part->candidate_count; i > 0; i--) {
        struct esi_candidate *candidate = &part->candidates[i - 1];
        struct esi_live_support *support = &part->supports[candidate->support];
        uint64_t unknown = part->live->precedence.unknown;
        bool is_refused = false, is_lost;

        if (!support->is_lazy)
            continue;
        is_lost = !bind_variables(part, candidate);
        if (!is_lost)
            is_refused =
                esi_live_support_status(part, support, true, false) == ESI_LIVE_FAILS;
        is_lost |= part->live->precedence.unknown != unknown;
        part->lost_candidates += is_lost;
        if (is_refused || is_lost)
            remove_candidate(part, i - 1);
    }
    part->next_sweep = 2 * part->candidate_count + SWEEP_MIN;
}

/* When they have doubled, and at the limit when a quarter of it is new. */
static void sweep_if_many(struct esi_live_part *part)
{
    struct esi_live *live = part->live;
    uint64_t limit = live->config.kept_candidates;

    if (part->candidate_count < part->next_sweep &&
        (live->candidates < limit || live->events < part->next_room))
        return;
    esi_live_candidates_sweep(part);
    part->next_room = live->events + limit / 4;
}

/* --- Keeping ---------------------------------------------------------------------- */

/* What its variables have is in the part's bindings. */
static int keep_candidate(struct esi_live_part *part,
                          uint32_t number,
                          bool is_held,
                          const bool *is_open)
{
    const struct esi_program_support *support = part->supports[number].support;
    struct esi_candidate candidate = {.support = number, .is_held = is_held};

    if (part->live->candidates >= part->live->config.kept_candidates) {
        part->lost_candidates++;
        return 0;
    }
    candidate.ids = calloc(part->program->variable_count + 1u, sizeof *candidate.ids);
    candidate.is_open = calloc(support->lesser_count + 1, sizeof *candidate.is_open);
    if (part->has_counts)
        candidate.counts = calloc(part->program->atom_count, sizeof *candidate.counts);
    if (!candidate.ids || !candidate.is_open ||
        (part->has_counts && !candidate.counts) || make_room(part) < 0) {
        destroy_candidate(&candidate);
        return -ENOMEM;
    }
    if (part->has_counts)
        count_all(part, &candidate);
    take_ids(part, support->variables, candidate.ids);
    for (size_t i = 0; i < support->lesser_count; i++)
        candidate.is_open[i] = is_open[i];
    part->candidates[part->candidate_count++] = candidate;
    part->eager_count += !part->supports[number].is_lazy;
    part->live->candidates++;
    return 0;
}

/* What lesser supports say: one that holds makes the match none.  `is_end`: only those
 * that are open are looked at, of which the certain clauses hold. */
static enum esi_live_status lesser_status(struct esi_live_part *part,
                                          const struct esi_program_support *support,
                                          bool is_end,
                                          bool *is_open)
{
    enum esi_live_status all = ESI_LIVE_HOLDS;

    for (size_t i = 0; i < support->lesser_count; i++) {
        enum esi_live_status one;
        if (is_end && !is_open[i])
            continue;
        one = esi_live_support_status(part, &part->supports[support->lesser[i]], is_end,
                                      is_end);
        if (one == ESI_LIVE_HOLDS)
            return ESI_LIVE_FAILS;
        is_open[i] = one == ESI_LIVE_OPEN;
        if (is_open[i])
            all = ESI_LIVE_OPEN;
    }
    return all;
}

/* What is forgotten is taken for not ordered: once a search has met that, what it finds
 * is asked again, and is no match if it cannot be told. */
int esi_live_found(struct esi_live_part *part, uint32_t number)
{
    struct esi_live_support *support = &part->supports[number];
    bool is_sure = !support->search || esi_indexed_unknown(support->search) == 0;
    uint64_t unknown = part->live->precedence.unknown;
    bool is_open[ES_PROGRAM_SUPPORTS];
    enum esi_live_status own, lesser;

    part->check.counts = NULL;
    own = esi_live_support_status(part, support, is_sure, false);
    if (own == ESI_LIVE_FAILS)
        return 0;
    lesser = lesser_status(part, support->support, false, is_open);
    if (lesser == ESI_LIVE_FAILS || part->live->precedence.unknown != unknown)
        return 0;
    if (own == ESI_LIVE_HOLDS && lesser == ESI_LIVE_HOLDS)
        return esi_live_part_tell(part, support->support->variables);
    return keep_candidate(part, number, own == ESI_LIVE_HOLDS, is_open);
}

/* --- Deciding --------------------------------------------------------------------- */

static enum esi_live_status update_candidates(struct esi_live_part *part,
                                              struct esi_candidate *candidate,
                                              const struct esi_joined *joined)
{
    struct esi_live_support *support = &part->supports[candidate->support];
    bool is_counted = count_joined(part, candidate, joined);
    bool is_any_open = false;

    if (!candidate->is_held) {
        enum esi_live_status own =
            esi_live_support_update(part, support, joined, is_counted);
        if (own == ESI_LIVE_FAILS)
            return own;
        candidate->is_held = own == ESI_LIVE_HOLDS;
    }
    for (size_t i = 0; i < support->support->lesser_count; i++) {
        enum esi_live_status lesser;
        if (!candidate->is_open[i])
            continue;
        lesser = esi_live_support_update(
            part, &part->supports[support->support->lesser[i]], joined, is_counted);
        if (lesser == ESI_LIVE_HOLDS)
            return ESI_LIVE_FAILS;
        candidate->is_open[i] = lesser == ESI_LIVE_OPEN;
        is_any_open |= candidate->is_open[i];
    }
    return candidate->is_held && !is_any_open ? ESI_LIVE_HOLDS : ESI_LIVE_OPEN;
}

static bool is_asked_for(const struct esi_live_part *part,
                         const struct esi_joined *joined)
{
    for (uint32_t v = 0; v < part->program->variable_count; v++) {
        const struct esi_program_variable *variable = &part->program->variables[v];
        if (variable->is_universal &&
            esi_joined_is_of(joined, variable->class_number, variable->predicate))
            return true;
    }
    for (uint32_t a = 0; a < part->program->atom_count; a++) {
        const struct esi_atom *atom = &part->program->atoms[a];
        if (atom->kind == ES_ATOM_COUNT &&
            esi_joined_is_of(joined, atom->counted, atom->counted_predicate))
            return true;
    }
    return false;
}

int esi_live_candidates_update(struct esi_live_part *part,
                               const struct esi_joined *joined)
{
    bool is_many;
    int result = 0;

    if (part->candidate_count == 0)
        return 0;
    sweep_if_many(part);
    if (!is_asked_for(part, joined))
        return part->failure;
    if (part->eager_count == 0 &&
        part->candidate_count > part->live->config.asked_candidates)
        return part->failure;
    is_many = part->candidate_count > part->live->config.asked_candidates;
    for (size_t i = part->candidate_count; result == 0 && i > 0; i--) {
        struct esi_candidate *candidate = &part->candidates[i - 1];
        uint64_t unknown = part->live->precedence.unknown;
        enum esi_live_status status = ESI_LIVE_FAILS;
        bool is_bound;

        if (is_many && part->supports[candidate->support].is_lazy)
            continue;
        is_bound = bind_variables(part, candidate);
        if (is_bound)
            status = update_candidates(part, candidate, joined);
        if (!is_bound || part->live->precedence.unknown != unknown) {
            part->lost_candidates++;
            remove_candidate(part, i - 1);
            continue;
        }
        if (status == ESI_LIVE_HOLDS)
            result = esi_live_part_tell(
                part, part->supports[candidate->support].support->variables);
        if (status != ESI_LIVE_OPEN)
            remove_candidate(part, i - 1);
    }
    return result;
}

int esi_live_candidates_end(struct esi_live_part *part)
{
    int result = 0;

    while (result == 0 && part->candidate_count > 0) {
        const struct esi_candidate *candidate =
            &part->candidates[part->candidate_count - 1];
        struct esi_live_support *support = &part->supports[candidate->support];
        uint64_t unknown = part->live->precedence.unknown;
        bool is_bound = bind_variables(part, candidate);
        bool is_match =
            is_bound &&
            esi_live_support_status(part, support, true, true) == ESI_LIVE_HOLDS &&
            lesser_status(part, support->support, true, candidate->is_open) ==
                ESI_LIVE_HOLDS;

        if (!is_bound || part->live->precedence.unknown != unknown)
            part->lost_candidates++;
        else if (is_match)
            result = esi_live_part_tell(part, support->support->variables);
        remove_candidate(part, part->candidate_count - 1);
    }
    return result < 0 ? result : part->failure;
}

void esi_live_candidates_prune(struct esi_live_part *part)
{
    for (size_t i = part->candidate_count; i > 0; i--)
        if (!bind_variables(part, &part->candidates[i - 1])) {
            part->lost_candidates++;
            remove_candidate(part, i - 1);
        }
}
