/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* matches_proof.h - what need not be remembered of matches, since it cannot come twice.
 */
#ifndef ES_MONITORS_SEARCH_MATCHES_PROOF_H
#define ES_MONITORS_SEARCH_MATCHES_PROOF_H

#include <stdbool.h>

#include "monitors/search/domains/domain.h"
#include "monitors/search/domains/domains.h"
#include "monitors/search/language/program.h"

/* All of assignments that engines give, each of a support once. */
struct esi_matches_proof {
    bool are_sets_distinct;   /* no two of them return the same events */
    bool are_tuples_distinct; /* no two have the same values of returned occurrences */
    bool do_sets_tell_tuples; /* two that return the same events have the same values */
};

/* `growing`: what the domains belong to while events arrive; it holds of assignments
 * whose events have come until esi_domains_meetings() is another.  NULL: domains are
 * complete. */
struct esi_matches_proof esi_matches_prove(const struct esi_program *program,
                                           const struct esi_domain *const *domains,
                                           const struct esi_domains *growing);

#endif
