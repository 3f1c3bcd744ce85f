/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * metrics.h - looks at runs as text that Prometheus reads.
 *
 * Nothing is computed here that a look does not have: metrics.c has the table.  Each
 * series has the label "run".  What grows with a run is shown as minimum, median and
 * maximum, or as the first of an order, so a run has at most ESI_METRICS_SERIES series.
 */
#ifndef ES_MONITORS_METRICS_METRICS_H
#define ES_MONITORS_METRICS_METRICS_H

#include <stdio.h>

#include "monitors/top/top.h"

enum { ESI_METRICS_SERIES = 80 };

enum esi_metrics_format {
    ESI_METRICS_OPENMETRICS, /* 1.0; ends in "# EOF" */
    ESI_METRICS_PROMETHEUS,  /* text 0.0.4, as node_exporter's textfile collector and
                                promtool read it */
};

/* Of OpenMetrics over HTTP. */
#define ESI_METRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Writes all metrics, with their heads also those without a series.  Looks have
 * profiles (esi_top_want_profiles()); a NULL is skipped.  0 or -ENOMEM; write errors
 * stay in the stream. */
int esi_metrics_print(const struct esi_top_look *const *looks,
                      size_t count,
                      enum esi_metrics_format format,
                      FILE *stream);

#endif
