/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* page_assets.h - the files of the page, which are compiled in: make_assets.py writes
 * them down from cli/page/assets. */
#ifndef ES_CLI_PAGE_PAGE_ASSETS_H
#define ES_CLI_PAGE_PAGE_ASSETS_H

#include <stddef.h>

struct esi_page_asset {
    const char *path; /* "/page.css"; of index.html "/" */
    const char *type; /* of HTTP */
    const unsigned char *bytes;
    size_t length;
};

/* Ended by a path that is NULL. */
extern const struct esi_page_asset esi_page_assets[];

/* The same as one file that needs no server: what is ahead of its data, and what is
 * behind. */
extern const char *const esi_page_saved[2];

#endif
