/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* plain_engine.h - an engine that tries everything, for tests of the
 * code around engines. */
#ifndef ES_TESTS_SEARCH_PLAIN_ENGINE_H
#define ES_TESTS_SEARCH_PLAIN_ENGINE_H

#include "monitors/search/engine.h"

extern const struct esi_engine_ops plain_engine;

/* Maximum number of assignments, including universal variables, that a search may try;
 * then it fails with -E2BIG. */
void plain_engine_set_limit(uint64_t limit);

#endif
