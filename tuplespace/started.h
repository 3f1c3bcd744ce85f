/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Segments of processes that have not called MPI yet.
 *
 * `eventspace exec` makes the segment of its process before it becomes the program.  At
 * the first call of MPI the collector continues that segment, so that readers need not
 * attach another one.  If the process is a script, and a child of it calls MPI, the
 * child makes its own segment, and removes the first one: its process is no rank.
 *
 * Until then the segment has one element, without tuples, which represents the
 * process's first thread, and is selected on request only.
 */
#ifndef ES_TUPLESPACE_STARTED_H
#define ES_TUPLESPACE_STARTED_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"

struct esi_segment_config;
struct es_segment_view;

/* States of such segments, besides those of enum esi_segment_state. */
enum {
    ES_SEGMENT_STARTED = 4, /* the process has not called MPI */
    ES_SEGMENT_PASSED = 5,  /* its file was removed: a child is the rank,
                              or nothing is known of its calls */
};

/* The class of the element. */
#define ES_CLASSES_STARTED (UINT32_C(1) << 31)

/* Contains the name of the segment, for the process and its children.  The first
 * process that calls MPI removes it from its environment. */
#define ES_STARTED_VARIABLE "EVENTSPACE_STARTED"

/* Makes the segment of this process, and sets the variable.  Returns as
 * esi_segment_create() does. */
int esi_segment_create_started(const struct esi_segment_config *config,
                               struct es_error *error);

/* Removes the segment, if there is one: this process calls MPI, but is not
 * collected. */
void esi_segment_pass_on(void);

/* Whether the process has not called MPI, or had not when it ended. */
bool esi_segment_view_is_before_mpi(const struct es_segment_view *view);

#endif
