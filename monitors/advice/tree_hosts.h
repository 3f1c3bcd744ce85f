/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The collective trees of a run on all its hosts, asked for and changed through their
 * tuple servers. */
#ifndef ES_MONITORS_ADVICE_TREE_HOSTS_H
#define ES_MONITORS_ADVICE_TREE_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventspace/run.h"
#include "eventspace/servers.h"

/* Whose trees they are, and who is told what did not work. */
struct esi_tree_hosts {
    struct es_run *run;         /* borrowed, as the servers */
    struct es_servers *servers; /* NULL: this host only */
    void (*note)(const char *text);
};

/* Formats a text for `note`. */
void esi_tree_hosts_note(const struct esi_tree_hosts *hosts, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A rule in force on a communicator, or a communicator that has none. */
struct esi_tree_row {
    char communicator[64];
    int size;
    int rank;     /* world rank of its rank 0 */
    size_t order; /* in which the rows came */
    bool alive;
    uint32_t wish;       /* version that is wished for; 0 = none */
    uint32_t version;    /* in force; 0 = the rules that the run began with, or none */
    bool has_rule;       /* the members below say something */
    int64_t since;       /* first of the communicator's operations under it */
    uint32_t operations; /* bits of tuplespace/plan/tree_rules.h */
    char bytes[48];      /* "0-4096" */
    char name[32];
    char tree[88]; /* in short */
};

struct esi_tree_rows {
    struct esi_tree_row *rows; /* owned */
    size_t count;
    size_t capacity;
    int processes; /* that can change their trees */
    int alive;     /* of them */
    int silent;    /* hosts that could not be asked */
};

/* Hosts that do not answer are noted.  -ENOMEM. */
int esi_tree_rows_ask(const struct esi_tree_hosts *hosts,
                      struct esi_tree_rows *ret_rows);
void esi_tree_rows_fini(struct esi_tree_rows *rows);

/* The newest wish, of the process of lowest rank that knows one; *ret_text NULL = there
 * is none.  Caller frees it.  -ENOMEM. */
int esi_tree_wish_ask(const struct esi_tree_hosts *hosts, char **ret_text);

struct esi_tree_change {
    int fit;     /* living processes that can change their trees */
    int changed; /* of them */
    int silent;  /* hosts that could not be asked */
};

/* Hands the rules to all processes; notes who did not take them.  -ENOMEM. */
int esi_tree_change(const struct esi_tree_hosts *hosts,
                    const char *text,
                    struct esi_tree_change *ret_change);

#endif
