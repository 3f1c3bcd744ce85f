/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* JSON as text that people read: what fits on a line stands on one. */
#ifndef ES_PATHMAP_LAYOUT_H
#define ES_PATHMAP_LAYOUT_H

#include <jansson.h>

/* The text ends in a newline.  Caller frees *ret_text.  -ENOMEM. */
int esi_layout_format(const json_t *json, char **ret_text);

/* Frees what json_dumps() gave. */
void esi_layout_free_dump(char *dump);

#endif
