/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* plain_engine.h - an engine that tries everything, for tests of what is around
 * engines. */
#ifndef ES_TESTS_SEARCH_PLAIN_ENGINE_H
#define ES_TESTS_SEARCH_PLAIN_ENGINE_H

#include "monitors/search/engine.h"

extern const struct esi_engine_ops plain_engine;

/* Assignments, of universal variables too, that one search may try before it gives up
 * with -E2BIG. */
void plain_engine_set_limit(uint64_t limit);

#endif
