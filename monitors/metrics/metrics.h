/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * metrics.h - formats observations of runs as text for Prometheus.
 *
 * Computes nothing beyond the observations; metrics.c has the table.  Each series has
 * the label "run". Values per rank and the like are shown as minimum, median and
 * maximum, or only for the first of an order, so a run has at most ESI_METRICS_SERIES
 * series.
 */
#ifndef ES_MONITORS_METRICS_METRICS_H
#define ES_MONITORS_METRICS_METRICS_H

#include <stdio.h>

#include "monitors/top/top.h"

enum { ESI_METRICS_SERIES = 80 };

enum esi_metrics_format {
    ESI_METRICS_OPENMETRICS, /* 1.0; ends in "# EOF" */
    ESI_METRICS_PROMETHEUS,  /* text 0.0.4, for node_exporter's textfile collector
                                and promtool */
};

/* The content type of OpenMetrics over HTTP. */
#define ESI_METRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* Writes all metrics; those without a series have only their headings.  The
 * observations must have profiles (esi_top_want_profiles()); NULL ones are skipped.
 * Returns 0 or -ENOMEM; write errors remain in the stream's error state. */
int esi_metrics_print(const struct esi_top_look *const *looks,
                      size_t count,
                      enum esi_metrics_format format,
                      FILE *stream);

#endif
