/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* live_domains.h - the classes that a live search sorts its events into. */
#ifndef ES_MONITORS_PATTERNS_LIVE_DOMAINS_H
#define ES_MONITORS_PATTERNS_LIVE_DOMAINS_H

#include "monitors/patterns/domains.h"
#include "monitors/patterns/live.h"

/* Borrowed as long as the search: names of traces, types of the events that are still
 * kept, and whether attributes are asked for. */
const struct es_domains *es_live_domains(const struct es_live *live);

#endif
