/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Lines of an event set, written; what is as the format assumes it is left out.
 */
#ifndef ES_MONITORS_EVENTSET_SET_FORMAT_H
#define ES_MONITORS_EVENTSET_SET_FORMAT_H

#include <stdint.h>
#include <stdio.h>

#include "monitors/eventset/event.h"

/* Write errors stay in the stream. */
void esi_set_format_header(FILE *stream, char *const *names, uint32_t count);
void esi_set_format_event(FILE *stream, const struct es_set_event *event);

#endif
