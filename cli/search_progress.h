/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_progress.h - a line on a terminal that a search goes on, and how many matches
 * it has found. */
#ifndef ES_CLI_SEARCH_PROGRESS_H
#define ES_CLI_SEARCH_PROGRESS_H

struct esi_search_progress;

/* NULL where there is no terminal to show it on, or no thread to do so: all of these
 * accept it. */
struct esi_search_progress *esi_search_progress_start(const char *pattern);
/* Takes the line away, and ends. */
void esi_search_progress_stop(struct esi_search_progress *progress);

/* One more match. */
void esi_search_progress_count(struct esi_search_progress *progress);
/* Something else is about to be printed. */
void esi_search_progress_clear(struct esi_search_progress *progress);

#endif
