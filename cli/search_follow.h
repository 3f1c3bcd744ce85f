/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_follow.h - searching a run while its events come. */
#ifndef ES_CLI_SEARCH_FOLLOW_H
#define ES_CLI_SEARCH_FOLLOW_H

#include "cli/search_file.h"
#include "cli/search_options.h"

/* Until the run is over, all predicates have enough, the time is, or an interrupt
 * comes.  The exit status. */
int esi_search_follow(struct esi_search_options *given,
                      const struct esi_search_file *file);

#endif
