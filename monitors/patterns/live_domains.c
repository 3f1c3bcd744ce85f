/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* live_domains.c - the classes that a live search sorts its events into. */
#include "config.h"

#include "monitors/patterns/live_domains.h"

#include "monitors/patterns/live_private.h"

const struct es_domains *es_live_domains(const struct es_live *live)
{
    return live->domains;
}
