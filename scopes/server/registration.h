/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Keeps a tuple server registered with the home server, and estimates its clock
 * relative to that of the home server.
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
    const struct esi_daemon_options *options; /* borrowed, like all members below */
    struct esi_host_registry *registry;
    struct esi_clock_registry *clocks;
    const struct esi_run_key *key;
    struct esi_server *server; /* for its log */
};

/* Starts a thread that keeps this server registered. */
int esi_registration_start(const struct esi_registration_config *config,
                           struct esi_registration **ret_registration);
/* Waits until the first attempt has succeeded or failed, at most half a second, so that
 * the home server knows all hosts even of a program that ends at once. */
void esi_registration_await(struct esi_registration *registration);
/* Returns true if the home server has answered recently. */
bool esi_registration_is_up(struct esi_registration *registration);
/* The address that reached the home server; returns false if none has yet. */
bool esi_registration_home(struct esi_registration *registration,
                           char out[ES_ADDRESS_BYTES]);
/* Reports the end of this server and stops.  Accepts NULL. */
void esi_registration_stop(struct esi_registration *registration);

/* For the home server: makes its clock the reference. */
int esi_clock_be_home(struct esi_clock_registry *clocks, const char *host);

#endif
