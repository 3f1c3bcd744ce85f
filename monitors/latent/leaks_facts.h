/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* leaks_facts.h - what is left over of a run, as a look at it shows (verdict/facts.h).
 */
#ifndef ES_MONITORS_LATENT_LEAKS_FACTS_H
#define ES_MONITORS_LATENT_LEAKS_FACTS_H

#include "monitors/latent/leaks.h"
#include "monitors/verdict/facts.h"

/* Names of the leaks are borrowed from the facts.  0 or -ENOMEM. */
int esi_leaks_find_in_facts(const struct esi_facts *facts, struct esi_leaks *ret_leaks);

#endif
