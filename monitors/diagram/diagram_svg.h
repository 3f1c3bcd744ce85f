/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* diagram_svg.h - a window of the diagram as a picture (SVG 1.1). */
#ifndef ES_MONITORS_DIAGRAM_DIAGRAM_SVG_H
#define ES_MONITORS_DIAGRAM_DIAGRAM_SVG_H

#include <stdio.h>

#include "monitors/diagram/diagram.h"

struct esi_diagram_picture {
    struct esi_diagram_window window; /* one column per pixel */
    const uint32_t *rows;             /* from top to bottom; borrowed, like `matches` */
    size_t row_count;
    const char *title;                 /* NULL = none */
    struct es_event_id event;          /* event whose cones are drawn; index 0 = none */
    const struct es_event_id *matches; /* events that are marked */
    size_t match_count;
};

/* Draws a few calls individually, otherwise the main activity of each column; messages
 * up to a number that can be distinguished; and for collective operations the time
 * between the arrivals, if it is visible.  Returns 0, -EINVAL, -ENOMEM or -EIO. */
int esi_diagram_print_svg(struct esi_diagram *diagram,
                          const struct esi_diagram_picture *picture,
                          FILE *stream);

#endif
