/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* export_picture.h - exports a window of the process-time diagram as a picture. */
#ifndef ES_CLI_EXPORT_PICTURE_H
#define ES_CLI_EXPORT_PICTURE_H

#include "cli/event_source.h"
#include "monitors/diagram/diagram.h"
#include "tuplespace/plan/plan.h"

struct esi_export_picture {
    const char *path; /* of the file; "-" = standard output; borrowed, like `cone` */
    enum esi_diagram_axis axis;
    uint64_t begin_ns; /* after the start of the run; 0 = from the start */
    uint64_t end_ns;   /* likewise; 0 = to the end */
    uint64_t since_ns; /* before the end; 0 = all */
    uint32_t width;    /* pixels of the diagram; 0 = 1,200 */
    const char *cone;  /* event "TRACE:INDEX" whose past and future are drawn; NULL =
                          none */
    const struct esi_rank_range *ranges; /* selected ranks */
    size_t range_count;                  /* 0 = all */
};

/* The selected run time of a run of this extent.  Returns false, after a message, if it
 * contains nothing. */
bool esi_export_picture_span(const struct esi_export_picture *picture,
                             const struct esi_diagram_extent *extent,
                             uint64_t *ret_begin_ns,
                             uint64_t *ret_end_ns);

/* Maximum number of calls kept. */
#define ESI_EXPORT_CALLS ((size_t)1 << 24)

/* The rows of the selected ranks, by number.  Returns 0 or -ENOMEM; the caller frees
 * *ret_rows. */
int esi_export_picture_rows(const struct esi_export_picture *picture,
                            struct esi_diagram *diagram,
                            uint32_t **ret_rows,
                            size_t *ret_count);

/* Reads all events and writes the picture.  Returns 0, or the exit status after a
 * message. */
int esi_export_picture(struct esi_event_source *source,
                       const struct esi_export_picture *picture);

#endif
