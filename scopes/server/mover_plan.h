/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Which elements are to be moved where: what the mover takes from the collection plan.
 */
#ifndef ES_SCOPES_SERVER_MOVER_PLAN_H
#define ES_SCOPES_SERVER_MOVER_PLAN_H

#include <stdbool.h>

#include "eventspace/run.h"
#include "eventspace/servers.h"
#include "tuplespace/plan/plan.h"

/* Loads the run's plan: from the run directory, else from the home server, over
 * *servers, which is opened if it is NULL.  -errno: it is not to be had now. */
int esi_mover_load_plan(const char *run,
                        const char *home,
                        struct es_servers **servers,
                        struct es_plan *ret_plan);

/* Whether a collector's elements may have to leave this host. */
bool esi_mover_has_work(const struct es_plan *plan, const char *here);

/* The host the element is to lie on if that is not this one, else NULL.  Borrowed. */
const char *esi_mover_host(const struct es_plan *plan,
                           const struct es_element_view *element,
                           const char *here);

#endif
