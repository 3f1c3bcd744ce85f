/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* seed.h - the JSON library's hash seed, chosen before several threads want it. */
#ifndef ES_PATHMAP_SEED_H
#define ES_PATHMAP_SEED_H

/* To be called before the JSON library makes an object; all but the first call cost
 * next to nothing.  Thread safe. */
void esi_json_seed(void);

#endif
