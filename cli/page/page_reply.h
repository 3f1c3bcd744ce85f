/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * page_reply.h - replies to the requests of the page.  Thread safe.
 */
#ifndef ES_CLI_PAGE_PAGE_REPLY_H
#define ES_CLI_PAGE_PAGE_REPLY_H

#include <stddef.h>

#include "cli/page/page_feed.h"
#include "cli/page/page_query.h"

struct esi_page_watch;

/* The data for replies; borrowed. */
struct esi_page_model {
    struct esi_page_feed *feed;
    struct esi_page_watch *watch; /* NULL = no verdict is computed */
};

struct esi_page_reply {
    int status;       /* HTTP status */
    const char *type; /* static, like `file` */
    const char *file; /* file name for saving; NULL = to be displayed */
    char *bytes;      /* owned */
    size_t length;
};

void esi_page_reply_fini(struct esi_page_reply *reply);

/* Makes {"error": ...}; or 503 without text if out of memory even for that. */
void esi_page_reply_fail(struct esi_page_reply *reply,
                         int status,
                         const char *format,
                         ...) __attribute__((format(printf, 3, 4)));

/* Makes the reply to a checked request, except for streams. */
void esi_page_reply_make(const struct esi_page_model *model,
                         const struct esi_page_query *query,
                         struct esi_page_reply *ret_reply);

/* The state of a stream at its last update. */
struct esi_page_update {
    size_t stream; /* its number, below ESI_PAGE_STREAMS */
    uint64_t changes;
    uint64_t end_ns;
    bool is_over;
    bool is_read;
};

/* Makes an update of a stream, an object, if something has changed.  Returns 1; 0 if
 * nothing has changed; or -ENOMEM. The caller frees *ret_text. */
int esi_page_reply_update(const struct esi_page_model *model,
                          struct esi_page_update *update,
                          char **ret_text);

#endif
