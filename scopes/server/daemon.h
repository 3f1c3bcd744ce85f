/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The parts of `eventspaced`: options, detaching, watching, registering, serving. */
#ifndef ES_SCOPES_SERVER_DAEMON_H
#define ES_SCOPES_SERVER_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock_fit.h"
#include "scopes/remote/clock_registry.h"
#include "scopes/server/host_registry.h"
#include "scopes/server/server_location.h"
#include "scopes/server/service.h"

enum { ES_DAEMON_ADDRESSES = 8 };

/* Exit statuses, as those of the commands. */
enum { ES_DAEMON_OK = 0, ES_DAEMON_FAULT = 2 };

struct esi_daemon_options {
    const char *run;
    const char *home; /* addresses of the home server, with commas; NULL = this is it */
    const char *addresses[ES_DAEMON_ADDRESSES + 1]; /* to listen on */
    size_t address_count;
    const char *former;    /* to try in place of the last one, where a server of this
                              host and run was killed; NULL = there was none */
    const char *advertise; /* host by which others reach it; NULL = they find out */
    const char *log;
    const char *host;
    const char *cluster;
    const char *gateway;
    uint64_t grace_ns;      /* without a process of the run */
    uint64_t keep_grace_ns; /* after a bad end */
    bool foreground;
};

/* --- Detaching: daemon_detach.c --- */

/* Leaves the caller's session, descriptors and folder behind; only `keep` (a
 * descriptor) stays open.  Returns in the new process, with the descriptor to tell
 * through when it is ready.  The process that called never returns: it prints what it
 * is told and ends with 0, or with 2 where it is told of a fault. */
int esi_daemon_detach(int keep);
/* Tells that it is ready (fault NULL) with the text to print, or what is wrong. */
void esi_daemon_report(int ready, const char *fault, const char *text);
/* Makes the process one that does not disturb: nice, on any CPU. */
void esi_daemon_step_back(void);

/* --- Watching the processes of the run on this host: daemon_watch.c --- */

struct esi_watch;

/* Watches through `segments`, which have to live longer. */
int esi_watch_create(struct esi_segment_set *segments,
                     const char *host,
                     struct esi_watch **ret_watch);
/* Accepts NULL. */
void esi_watch_destroy(struct esi_watch *watch);
/* Looks at all; `lose` is called once for each process that has vanished.  Returns how
 * many live. */
int esi_watch_scan(struct esi_watch *watch,
                   void (*lose)(void *data, const struct esi_lost_rank *lost),
                   void *data);

/* --- Registering with the home server: daemon_register.c --- */

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
/* Whether the home server has answered of late. */
/* Waits until the first try has led there or failed, half a second at most: so that a
 * home server knows all hosts of a program that ends at once. */
void esi_registration_await(struct esi_registration *registration);
bool esi_registration_is_up(struct esi_registration *registration);
/* The address that has led to the home server; false: none has yet. */
bool esi_registration_home(struct esi_registration *registration,
                           char out[ES_ADDRESS_BYTES]);
/* Says that this server ends.  Accepts NULL. */
void esi_registration_stop(struct esi_registration *registration);

/* --- The own clock against the home server's: daemon_clock.c --- */

/* Asks the home server again and again what time it is there. */
struct esi_clock_asking {
    const char *host;                  /* borrowed, as the next */
    struct esi_clock_registry *clocks; /* where the estimate is kept */
    struct esi_clock_fit fit;
    struct esi_clock_estimate estimate;
    uint64_t next_ns;  /* not to be asked before, CLOCK_MONOTONIC */
    uint64_t pause_ns; /* between bursts; 0 = there was none */
    uint64_t told_ns;  /* the last knot that the home server was told; 0 = none */
    bool is_refused;   /* this home server knows no clocks */
};

/* The connection to the home server is new: it may be another one. */
void esi_clock_begin(struct esi_clock_asking *asking);
/* Whether it is time for a burst of exchanges. */
bool esi_clock_is_due(const struct esi_clock_asking *asking);
/* Makes one over this connection, on which nothing else is under way; `id` counts its
 * requests.  A failure is one of the connection. */
int esi_clock_ask(struct esi_clock_asking *asking,
                  struct es_link *link,
                  uint64_t *id,
                  struct es_error *error);
/* For the home server: makes its clock the one that counts. */
int esi_clock_be_home(struct esi_clock_registry *clocks, const char *host);
/* Writes the estimate as member "clock" if the home server does not have it, and counts
 * it as told. */
void esi_clock_report(struct esi_clock_asking *asking, struct esi_json_out *out);

/* --- Serving: daemon_serve.c --- */

/* Serves until there is nothing to serve for any more.  `lock` is held; `ready` as of
 * esi_daemon_detach(), or -1 to print to standard output.  Returns the exit status. */
int esi_daemon_serve(const struct esi_daemon_options *options,
                     const struct esi_server_location *place,
                     int lock,
                     int ready);

#endif
