/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Keeps a tuple server registered with the home server, and its clock estimated against
 * that one's.
 */
#ifndef ES_SCOPES_SERVER_REGISTRATION_H
#define ES_SCOPES_SERVER_REGISTRATION_H

#include <stdbool.h>

#include "scopes/remote/clock_registry.h"
#include "scopes/server/daemon.h"
#include "scopes/server/host_registry.h"
#include "tuplespace/transport/acceptor.h"

struct esi_registration;

struct esi_registration_config {
    const struct esi_daemon_options *options; /* borrowed, as all that follows */
    struct esi_host_registry *registry;
    struct esi_clock_registry *clocks;
    const struct esi_run_key *key;
    struct esi_server *server; /* for its log */
};

/* Starts a thread that keeps this server registered. */
int esi_registration_start(const struct esi_registration_config *config,
                           struct esi_registration **ret_registration);
/* Waits until the first try has led there or failed, half a second at most: so that a
 * home server knows all hosts of a program that ends at once. */
void esi_registration_await(struct esi_registration *registration);
/* Whether the home server has answered of late. */
bool esi_registration_is_up(struct esi_registration *registration);
/* The address that has led to the home server; false: none has yet. */
bool esi_registration_home(struct esi_registration *registration,
                           char out[ES_ADDRESS_BYTES]);
/* Says that this server ends.  Accepts NULL. */
void esi_registration_stop(struct esi_registration *registration);

/* For the home server: makes its clock the one that counts. */
int esi_clock_be_home(struct esi_clock_registry *clocks, const char *host);

#endif
