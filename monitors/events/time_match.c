/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* time_match.c - counts the ends and the users of each match. */
#include "config.h"

#include "monitors/events/time_match.h"

#include <errno.h>

/* Removes a match if there are too many.  A match in use is skipped, and becomes the
 * newest. */
static void bound_matches(struct esi_ends *matches)
{
    struct esi_time_match *oldest = esi_ends_excess(matches);

    if (!oldest)
        return;
    if (oldest->users == 0)
        esi_ends_forget(matches, &oldest->end);
    else
        esi_ends_wait(matches, &oldest->end, 1);
}

static struct esi_time_match *make_match(struct esi_ends *matches,
                                         const struct esi_ends_key *key,
                                         uint32_t members,
                                         uint32_t befores)
{
    struct esi_time_match *match = esi_ends_add(matches, key);

    if (!match)
        return NULL;
    match->members = members;
    match->members_left = members;
    match->befores_left = befores;
    esi_ends_wait(matches, &match->end, 1);
    bound_matches(matches);
    return match;
}

struct esi_time_match *esi_time_match_meet(struct esi_ends *matches,
                                           const struct esi_ends_key *key,
                                           uint32_t members,
                                           uint32_t befores,
                                           int *ret_result)
{
    struct esi_time_match *match = esi_ends_find(matches, key);

    *ret_result = 0;
    if (match && (match->members_left == 0 || match->members != members))
        return NULL;
    if (!match)
        match = make_match(matches, key, members, befores);
    if (!match) {
        *ret_result = -ENOMEM;
        return NULL;
    }
    match->members_left--;
    match->users++;
    return match;
}

void esi_time_match_leave(struct esi_ends *matches, struct esi_time_match *match)
{
    match->users--;
    if (match->users == 0 && match->members_left == 0)
        esi_ends_forget(matches, &match->end);
}
