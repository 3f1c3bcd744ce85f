/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* matches_proof.h - proves that matches or assignments cannot be duplicated, so that
 * they need not be remembered. */
#ifndef ES_MONITORS_SEARCH_MATCHES_PROOF_H
#define ES_MONITORS_SEARCH_MATCHES_PROOF_H

#include <stdbool.h>

#include "monitors/search/domains/domain.h"
#include "monitors/search/domains/domains.h"
#include "monitors/search/language/program.h"

/* Properties of all assignments that an engine reports, each at most once per
 * disjunct. */
struct esi_matches_proof {
    bool are_sets_distinct;   /* no two return the same events */
    bool are_tuples_distinct; /* no two have the same values of returned occurrences */
    bool do_sets_tell_tuples; /* two that return the same events have the same values */
};

/* Finds the properties that hold.  While events arrive, `growing` is the owner of the
 * domains, and the result holds for the events so far until esi_domains_meetings()
 * changes.  NULL means that the domains are complete. */
struct esi_matches_proof esi_matches_prove(const struct esi_program *program,
                                           const struct esi_domain *const *domains,
                                           const struct esi_domains *growing);

#endif
