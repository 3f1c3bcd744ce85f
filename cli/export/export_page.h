/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* export_page.h - exports a window of a run as a page that needs no server: one HTML
 * file with all its data. */
#ifndef ES_CLI_EXPORT_PAGE_H
#define ES_CLI_EXPORT_PAGE_H

#include "cli/export/export_picture.h"

/* Reads all events and writes the page; ignores options for pictures only.  Returns 0,
 * or the exit status after a message. */
int esi_export_page(struct esi_event_source *source,
                    const struct esi_export_picture *wanted);

#endif
