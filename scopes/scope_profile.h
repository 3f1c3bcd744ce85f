/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Sums over all calls of the processes of a scope, wherever they run
 * (scope_origins.c). */
#ifndef ES_SCOPES_SCOPE_PROFILE_H
#define ES_SCOPES_SCOPE_PROFILE_H

#include <stdint.h>

struct es_scope;
struct esi_profile;

/* The profile of an origin's process as it is now: read from its segment, or asked for
 * at the tuple server of its host.  Its times are ticks of the origin's clock.  Free
 * with esi_profile_fini().  -ENOENT: it has none, or its server does not know profiles;
 * or why its host did not answer. */
int esi_scope_read_profile(const struct es_scope *scope,
                           uint32_t origin,
                           struct esi_profile *ret_profile);

#endif
