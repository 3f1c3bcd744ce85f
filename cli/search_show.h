/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_show.h - what a search took, for people and programs. */
#ifndef ES_CLI_SEARCH_SHOW_H
#define ES_CLI_SEARCH_SHOW_H

#include "cli/search_events.h"

void esi_search_show(const char *pattern,
                     const struct esi_search_options *given,
                     const struct esi_search_events *events,
                     const struct es_search_statistics *statistics);

#endif
