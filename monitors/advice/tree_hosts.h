/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Queries and changes the collective trees of a run on all its hosts, through their
 * tuple servers. */
#ifndef ES_MONITORS_ADVICE_TREE_HOSTS_H
#define ES_MONITORS_ADVICE_TREE_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/run.h"
#include "eventspace/servers.h"

/* The run, and a callback for warnings. */
struct esi_tree_hosts {
    struct es_run *run;         /* borrowed, like the servers */
    struct es_servers *servers; /* NULL: this host only */
    void (*note)(const char *text);
};

/* Formats a text for `note`. */
void esi_tree_hosts_note(const struct esi_tree_hosts *hosts, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A rule in force on a communicator, or a communicator without rules. */
struct esi_tree_row {
    char communicator[64];
    int size;
    int rank;     /* world rank of its rank 0 */
    size_t order; /* order of arrival of the rows */
    bool alive;
    uint32_t wish;       /* requested version; 0 = none */
    uint32_t version;    /* in force; 0 = the initial rules, or none */
    bool has_rule;       /* the members below are valid */
    int64_t since;       /* the communicator's first operation under it */
    uint32_t operations; /* bits of tuplespace/plan/tree_rules.h */
    char bytes[48];      /* "0-4096" */
    char name[32];
    char tree[88]; /* short description */
};

struct esi_tree_rows {
    struct esi_tree_row *rows; /* owned */
    size_t count;
    size_t capacity;
    int processes; /* number that can switch their trees */
    int alive;     /* number of these that are alive */
    int silent;    /* hosts that did not answer */
};

/* Queries all hosts; reports those that do not answer to `note`. Returns 0 or
 * -ENOMEM. */
int esi_tree_rows_ask(const struct esi_tree_hosts *hosts,
                      struct esi_tree_rows *ret_rows);
void esi_tree_rows_fini(struct esi_tree_rows *rows);

/* Queries the newest request, from the process of lowest rank that knows one; *ret_text
 * is NULL if there is none.  The caller frees it.  Returns 0 or -ENOMEM. */
int esi_tree_wish_ask(const struct esi_tree_hosts *hosts, char **ret_text);

struct esi_tree_change {
    int fit;     /* living processes that can switch their trees */
    int changed; /* number of these that were changed */
    int silent;  /* hosts that did not answer */
};

/* Sends the rules to all processes; reports those that did not accept them to `note`.
 * Returns 0 or -ENOMEM. */
int esi_tree_change(const struct esi_tree_hosts *hosts,
                    const char *text,
                    struct esi_tree_change *ret_change);

#endif
