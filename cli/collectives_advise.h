/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * `eventspace collectives --advise` and --apply: joins what the monitor has measured
 * with the trees in force, and changes them.
 */
#ifndef ES_CLI_COLLECTIVES_ADVISE_H
#define ES_CLI_COLLECTIVES_ADVISE_H

#include <stdbool.h>
#include <stddef.h>

struct esi_collectives_advise {
    bool wanted;
    bool apply;
    size_t after; /* operations that a change is based on, and judged by */
};

#endif
