/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Sums over all calls of a scope's processes on all hosts (scope_origins.c). */
#ifndef ES_SCOPES_SCOPE_PROFILE_H
#define ES_SCOPES_SCOPE_PROFILE_H

#include <stdint.h>

struct es_scope;
struct esi_profile;

/* The current profile of an origin's process, read from its segment or requested from
 * the tuple server of its host.  Times are ticks of the origin's clock.  Free with
 * esi_profile_fini().  Returns 0; -ENOENT if there is none, or the server does not
 * support profiles; or the error of a host that did not answer. */
int esi_scope_read_profile(const struct es_scope *scope,
                           uint32_t origin,
                           struct esi_profile *ret_profile);

#endif
