/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* JSON as text that people read: what fits on a line stands on one; and the JSON
 * library's seed. */
#ifndef ES_PATHMAP_LAYOUT_H
#define ES_PATHMAP_LAYOUT_H

#include <jansson.h>

/* The text ends in a newline.  Caller frees *ret_text.  -ENOMEM. */
int esi_layout_format(const json_t *json, char **ret_text);

/* Frees what json_dumps() gave. */
void esi_layout_free_dump(char *dump);

/* Chooses the JSON library's hash seed before several threads want it.  To be called
 * before the library makes an object; all but the first call cost next to nothing.
 * Thread safe. */
void esi_json_seed(void);

#endif
