/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * monitor_segment.h - elements in which a consumer records what it does itself.
 *
 * They lie in one segment per process and run, which is made with the first element in
 * use and removed with the last.  Any thread may call these.
 */
#ifndef ES_WRAPPERS_STAGES_MONITOR_SEGMENT_H
#define ES_WRAPPERS_STAGES_MONITOR_SEGMENT_H

#include "eventspace/error.h"
#include "tuplespace/writer.h"

struct esi_monitor_element;

/* An element of class monitor.  Where the name is in use it gets a number behind it; an
 * element that nobody uses any more is used again.  -errno with words. */
int esi_monitor_element_open(const char *run,
                             const char *name,
                             uint32_t threshold,
                             struct es_error *error,
                             struct esi_monitor_element **ret_element);

/* For one thread at a time. */
struct esi_writer *esi_monitor_element_writer(struct esi_monitor_element *element);

/* Accepts NULL. */
void esi_monitor_element_close(struct esi_monitor_element *element);

#endif
