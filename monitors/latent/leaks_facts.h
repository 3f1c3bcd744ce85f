/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* leaks_facts.h - the leaks of a run, from the facts of an observation
 * (verdict/facts.h). */
#ifndef ES_MONITORS_LATENT_LEAKS_FACTS_H
#define ES_MONITORS_LATENT_LEAKS_FACTS_H

#include "monitors/latent/leaks.h"
#include "monitors/verdict/facts.h"

/* The leaks borrow names from the facts.  Returns 0 or -ENOMEM. */
int esi_leaks_find_in_facts(const struct esi_facts *facts, struct esi_leaks *ret_leaks);

#endif
