/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* hints.h - possible explanations of a wait: a message with another tag, the same
 * operation on another communicator, and the like; and why a verdict is not certain. */
#ifndef ES_MONITORS_VERDICT_HINTS_H
#define ES_MONITORS_VERDICT_HINTS_H

#include "monitors/verdict/conditions.h"

enum { ESI_HINT_WORDS = 320 };

/* Writes one hint on the wait of this thread; false if there is none. */
bool esi_hint_find(const struct esi_conditions *conditions,
                   size_t thread,
                   char out[ESI_HINT_WORDS]);

/* Writes why a verdict on these ranks is not certain: some have threads that have never
 * called MPI but may.  False if none has. */
bool esi_hint_find_others(const struct esi_facts *facts,
                          const int *ranks,
                          size_t count,
                          char out[ESI_HINT_WORDS]);

#endif
