/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Determines which data of events the predicates of a file use, by class: times for
 * `within`, partners for `=>`, attributes for comparisons.
 */
#ifndef ES_MONITORS_SEARCH_DOMAINS_DOMAINS_ASK_H
#define ES_MONITORS_SEARCH_DOMAINS_DOMAINS_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "monitors/search/domains/domain_columns.h"
#include "monitors/search/language/pattern.h"

struct esi_ask {
    bool is_value; /* the class of some occurrence, not only a partner class */
    struct esi_keeps keeps;
};

/* Adds the needs of one predicate to `asks`, which has an initially zeroed element for
 * each class of the file.  Returns 0, -EINVAL with a message, or -ENOMEM.  After an
 * error, earlier additions remain. */
int esi_ask_predicate(const struct es_pattern_file *file,
                      uint32_t predicate,
                      struct esi_ask *asks,
                      struct es_error *error);
void esi_ask_fini(struct esi_ask *ask);

#endif
