/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* view_options.h - the options that select a part of a run's events. */
#ifndef ES_CLI_VIEW_OPTIONS_H
#define ES_CLI_VIEW_OPTIONS_H

#include <argp.h>
#include <stdint.h>

#include "eventspace/scope.h"

/* --rank, --thread, --host, --class, --operation, --comm and --filter, for use as a
 * child parser; its input is a struct es_view *, which borrows the texts.  They are in
 * group 1, with its heading. */
extern const struct argp esi_view_argp;

/* Parses operation classes, "send,receive", to bits: 1 << enum es_class. */
uint32_t esi_option_classes(const char *text, struct argp_state *state);

#endif
