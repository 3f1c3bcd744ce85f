/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The location of the files of a host's tuple server: RUNDIR/server.sock, server.lock,
 * server.json and so on.  If hosts share the run directory, all servers except the home
 * server have their host in these names: server.HOST.sock.
 */
#ifndef ES_SCOPES_SERVER_SERVER_LOCATION_H
#define ES_SCOPES_SERVER_SERVER_LOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include "eventspace/error.h"
#include "tuplespace/transport/link.h"
#include "tuplespace/run_directory.h"

/* Origin of the run directory.  `eventspace run` creates it with a file run.json. */
enum esi_run_directory_kind {
    ES_RUN_DIRECTORY_OWN,    /* created for this host's server */
    ES_RUN_DIRECTORY_HOME,   /* the run was started here */
    ES_RUN_DIRECTORY_SHARED, /* started on another host, which shares the directory */
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

/* Name of a file, without the directory: "server.KIND", or "eventspaced.log".  Returns
 * `out`. */
const char *esi_server_file(const struct esi_server_location *location,
                            const char *kind,
                            char out[96]);
/* Path of such a file. */
int esi_server_path(const struct esi_server_location *location,
                    const char *kind,
                    struct es_error *error,
                    char out[ES_RUN_PATH_BYTES]);

/* "unix:" and the path of the server's socket.  Returns 0 or -ENAMETOOLONG. */
int esi_server_socket(const struct esi_server_location *location,
                      struct es_error *error,
                      char out[ES_ADDRESS_BYTES]);

/* The address with this prefix on which the server listened that wrote server.json.  A
 * server that ends normally removes the file.  Returns 0 or -ENOENT. */
int esi_server_former(const struct esi_server_location *location,
                      const char *prefix,
                      char out[ES_ADDRESS_BYTES]);

/* --- Lock files: as long as a process holds one, it is there --- */

/* Takes the lock, which is released when the last process closes the descriptor.
 * Returns -EWOULDBLOCK if it is taken. */
int esi_run_lock_take(const char *run,
                      const char *file,
                      struct es_error *error,
                      int *ret_lock);

/* Takes a shared lock on an existing file, which is released when the last process
 * closes the descriptor.  Returns -1 on failure. */
int esi_run_lock_share(const char *run, const char *file);

/* Waits until nobody holds or shares the lock, or until the timeout. */
void esi_run_lock_await_free(const char *run, const char *file, uint64_t timeout_ns);

/* Returns true if a process holds the lock. */
bool esi_run_lock_is_taken(const char *run, const char *file);

/* Returns true if the file of a held lock has been removed from its directory. */
bool esi_run_lock_is_orphan(int lock);

#endif
