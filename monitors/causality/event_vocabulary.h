/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* event_vocabulary.h - the attributes of events of runs and archives
 * (docs/event-sets.md). */
#ifndef ES_MONITORS_CAUSALITY_EVENT_VOCABULARY_H
#define ES_MONITORS_CAUSALITY_EVENT_VOCABULARY_H

#include "monitors/eventset/vocabulary.h"

extern const struct esi_vocabulary esi_event_vocabulary;

#endif
