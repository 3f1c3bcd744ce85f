/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Prints the results of `eventspace collectives --advise` and `--apply`. */
#ifndef ES_CLI_ADVICE_SHOW_H
#define ES_CLI_ADVICE_SHOW_H

#include <stddef.h>

#include "monitors/advice/adviser.h"
#include "cli/command.h"

/* Prints the advice on at most `top` groups, and the outcomes of changes. */
void esi_advice_show(const struct esi_adviser *adviser,
                     enum esi_format format,
                     size_t top);

#endif
