/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Formats JSON for people: arrays and objects that fit on one line are on one line.
 * Also sets the hash seed of the JSON library. */
#ifndef ES_PATHMAP_LAYOUT_H
#define ES_PATHMAP_LAYOUT_H

#include <jansson.h>

/* Formats JSON with a newline at the end.  Returns 0 or -ENOMEM.  The caller frees
 * *ret_text. */
int esi_layout_format(const json_t *json, char **ret_text);

/* Frees a result of json_dumps(). */
void esi_layout_free_dump(char *dump);

/* Sets the hash seed of the JSON library before several threads need it.  Call before
 * the library creates an object; only the first call costs anything.  Thread safe. */
void esi_json_seed(void);

#endif
