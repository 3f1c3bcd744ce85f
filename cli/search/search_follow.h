/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_follow.h - searches a run as its events arrive. */
#ifndef ES_CLI_SEARCH_FOLLOW_H
#define ES_CLI_SEARCH_FOLLOW_H

#include "cli/search/search_file.h"
#include "cli/search/search_options.h"

/* Searches until the run is over, all predicates have enough matches, the time limit,
 * or an interrupt.  Returns the exit status. */
int esi_search_follow(struct esi_search_options *given,
                      const struct esi_search_file *file);

#endif
