/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* diagram_svg.h - a window of the diagram as a picture (SVG 1.1). */
#ifndef ES_MONITORS_DIAGRAM_DIAGRAM_SVG_H
#define ES_MONITORS_DIAGRAM_DIAGRAM_SVG_H

#include <stdio.h>

#include "monitors/diagram/diagram.h"

struct esi_diagram_picture {
    struct esi_diagram_window window; /* a column is a pixel */
    const uint32_t *rows;             /* from top to bottom; borrowed, as the next */
    size_t row_count;
    const char *title;                 /* NULL = none */
    struct es_event_id event;          /* its cones are drawn; index 0 = none */
    const struct es_event_id *matches; /* that are marked */
    size_t match_count;
};

/* Calls are drawn one by one where they are few, else what most of a column was;
 * messages up to a number that can still be told apart; of collective operations how
 * long their members took to come, where that shows.  0, -EINVAL, -ENOMEM, -EIO. */
int esi_diagram_print_svg(struct esi_diagram *diagram,
                          const struct esi_diagram_picture *picture,
                          FILE *stream);

#endif
