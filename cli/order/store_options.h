/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Options of the stores of an order, and what they need to know of the events. */
#ifndef ES_CLI_STORE_OPTIONS_H
#define ES_CLI_STORE_OPTIONS_H

#include <argp.h>

#include "cli/event_source.h"
#include "monitors/eventset/set_texts.h"
#include "monitors/order/cluster/cluster_tuning.h"

struct esi_store_options {
    struct esi_order_config config;
    struct esi_cluster_tuning cluster; /* of the store "cluster" */
    unsigned sizes;                    /* number given */
    bool clusters;                     /* some option of clusters was given */
    bool threshold;                    /* was given */
    bool seed_hosts;
    /* Of the first pass over the events. */
    struct esi_communications *communications; /* NULL: not needed */
    struct esi_texts hosts;
    uint32_t *host_of; /* per trace; UINT32_MAX = not known yet */
    size_t traces;
    size_t capacity;
};

/* The input is an initialized struct esi_store_options. */
extern const struct argp esi_store_options_argp;

void esi_store_options_init(struct esi_store_options *given);
void esi_store_options_fini(struct esi_store_options *given);

/* Completes the configuration, or ends with an error.  To be called once, after all
 * options. */
void esi_store_options_check(struct esi_store_options *given, struct argp_state *state);

/* Reads the whole source if the store must know its events before, so that it can be
 * read again.  Returns an exit status, after a message if it is not success. */
int esi_store_options_prepare(struct esi_store_options *given,
                              struct esi_event_source *source);

#endif
