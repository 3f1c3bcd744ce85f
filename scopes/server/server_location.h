/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Where a host's tuple server keeps its files: RUNDIR/server.sock, server.lock,
 * server.json and so on.  Where hosts share the run directory, the names of all but the
 * home server have the host in them: server.HOST.sock.
 */
#ifndef ES_SCOPES_SERVER_SERVER_LOCATION_H
#define ES_SCOPES_SERVER_SERVER_LOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "tuplespace/transport/link.h"
#include "tuplespace/run_directory.h"

/* Whose the run directory is: that of `eventspace run` has a file run.json. */
enum esi_run_directory_kind {
    ES_RUN_DIRECTORY_OWN,    /* made for this host's server */
    ES_RUN_DIRECTORY_HOME,   /* the run was started here */
    ES_RUN_DIRECTORY_SHARED, /* started on another host, which has it, too */
};

struct esi_server_location {
    char run[64];
    char host[64];
    char suffix[72];                  /* "" or ".HOST" */
    enum esi_run_directory_kind kind; /* of the run directory */
};

void esi_server_location_find(const char *run,
                              const char *host,
                              struct esi_server_location *ret_location);

/* A file's name, without the directory: "server.KIND", but "eventspaced.log".  Returns
 * out. */
const char *esi_server_file(const struct esi_server_location *location,
                            const char *kind,
                            char out[96]);
/* Its path. */
int esi_server_path(const struct esi_server_location *location,
                    const char *kind,
                    struct es_error *error,
                    char out[ES_RUN_PATH_BYTES]);

/* "unix:" and the path of the server's socket.  -ENAMETOOLONG. */
int esi_server_socket(const struct esi_server_location *location,
                      struct es_error *error,
                      char out[ES_ADDRESS_BYTES]);

/* The address that begins so and on which the server listened that wrote server.json;
 * one that ends well removes the file.  -ENOENT. */
int esi_server_former(const struct esi_server_location *location,
                      const char *prefix,
                      char out[ES_ADDRESS_BYTES]);

/* --- Lock files: as long as a process holds one, it is there --- */

/* Takes the lock; it goes with the last process that has the descriptor.  -EWOULDBLOCK:
 * somebody has it. */
int esi_run_lock_take(const char *run,
                      const char *file,
                      struct es_error *error,
                      int *ret_lock);

/* Shares the lock of a file that is there; it goes with the last process that has the
 * descriptor.  -1: it cannot be had. */
int esi_run_lock_share(const char *run, const char *file);

/* Waits until nobody holds or shares the lock, or until the time is up. */
void esi_run_lock_await_free(const char *run, const char *file, uint64_t timeout_ns);

/* Whether somebody holds it. */
bool esi_run_lock_is_taken(const char *run, const char *file);

/* Whether the file of a lock that is held lies in its directory no more. */
bool esi_run_lock_is_orphan(int lock);

#endif
