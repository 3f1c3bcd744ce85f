/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * page_reply.h - what the page is told: replies to its requests, made of what is known
 * of the run.  Any threads may make replies together.
 */
#ifndef ES_CLI_PAGE_PAGE_REPLY_H
#define ES_CLI_PAGE_PAGE_REPLY_H

#include <stddef.h>

#include "cli/page/page_feed.h"
#include "cli/page/page_query.h"

struct esi_page_watch;

/* What replies are made of; borrowed. */
struct esi_page_model {
    struct esi_page_feed *feed;
    struct esi_page_watch *watch; /* NULL = nobody looks for a verdict */
};

struct esi_page_reply {
    int status;       /* of HTTP */
    const char *type; /* static, as the next */
    const char *file; /* to be saved under this name; NULL = to be shown */
    char *bytes;      /* owned */
    size_t length;
};

void esi_page_reply_fini(struct esi_page_reply *reply);

/* {"error": ...}; 503 and no words where there is no memory even for that. */
void esi_page_reply_fail(struct esi_page_reply *reply,
                         int status,
                         const char *format,
                         ...) __attribute__((format(printf, 3, 4)));

/* The reply to a request whose parameters are checked, but for streams. */
void esi_page_reply_make(const struct esi_page_model *model,
                         const struct esi_page_query *query,
                         struct esi_page_reply *ret_reply);

/* What a stream was told last. */
struct esi_page_update {
    size_t stream; /* its number, below ESI_PAGE_STREAMS */
    uint64_t changes;
    uint64_t end_ns;
    bool is_over;
    bool is_read;
};

/* Makes an update of a stream, an object, if there is something new.  1; 0: there is
 * not; -ENOMEM.  Caller frees *ret_text. */
int esi_page_reply_update(const struct esi_page_model *model,
                          struct esi_page_update *update,
                          char **ret_text);

#endif
