/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* unmatched.h - the channels on which messages were left without their other end. */
#ifndef ES_CLI_UNMATCHED_H
#define ES_CLI_UNMATCHED_H

#include <stddef.h>

#include "base/json_out.h"
#include "monitors/causality/causality.h"

/* Zeros are none. */
struct esi_unmatched {
    struct esi_causal_channel *items; /* owned, as their names are */
    size_t count;
};

void esi_unmatched_fini(struct esi_unmatched *unmatched);

/* Replaces what is there by the channels of a search, those first that lack most.  0 or
 * -ENOMEM: then there are none. */
int esi_unmatched_take(struct esi_unmatched *unmatched,
                       const struct esi_causality *causality);

/* A line each for the first of them, on standard output. */
void esi_unmatched_print(const struct esi_unmatched *unmatched);
/* A list named "unmatched" in the innermost object. */
void esi_unmatched_json(const struct esi_unmatched *unmatched,
                        struct esi_json_out *out);

#endif
