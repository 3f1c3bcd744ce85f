/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* consumer.h - what commands need to read a run: its segments on this host, and its
 * tuple servers. */
#ifndef ES_CLI_CONSUMER_H
#define ES_CLI_CONSUMER_H

#include <argp.h>
#include <stdbool.h>

#include "eventspace/run.h"
#include "eventspace/scope.h"
#include "eventspace/servers.h"
#include "eventspace/stage_batch.h"
#include "monitors/advice/tree_hosts.h"
#include "monitors/follow/follower.h"

/* --server ADDRESS and --local, for use as a child parser; its input is a struct
 * esi_consumer_options *. */
struct esi_consumer_options {
    const char *server; /* address of the home server; NULL = automatic */
    bool local;         /* this host only */
};
extern const struct argp esi_consumer_argp;

/* --shape NAME and --set SETTING=VALUE, likewise; its input is a struct
 * es_scope_config *. */
extern const struct argp esi_settings_argp;

struct esi_consumer {
    struct es_run *run;
    struct es_servers *servers; /* NULL: this host only */
};

/* Opens RUN; NULL means the only live run.  Returns 0, or the exit status after a
 * message. */
int esi_consumer_open(const char *run,
                      const struct esi_consumer_options *options,
                      struct esi_consumer *ret_consumer);
/* Opens only the servers, which must exist. */
int esi_consumer_open_servers(const char *run,
                              const char *server,
                              struct es_servers **ret_servers);
void esi_consumer_close(struct esi_consumer *consumer);

/* For queries of trees; notes go to standard error.  Valid as long as the consumer. */
struct esi_tree_hosts esi_consumer_tree_hosts(const struct esi_consumer *consumer);

/* Prints on standard error which parts do not deliver data, once per change. */
struct esi_notices {
    char parts[16][64];
    size_t count;
};
void esi_notices_show(struct esi_notices *notices,
                      const struct es_notice *items,
                      size_t count);
/* Likewise for a follower's notices until its run is over: the servers end with it. */
void esi_notices_follow(struct esi_notices *notices,
                        const struct esi_follower *follower);

#endif
