/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* servers_find.h - finds a run's home server, and this host's own, through the run's
 * directory. */
#ifndef ES_SCOPES_REMOTE_SERVERS_FIND_H
#define ES_SCOPES_REMOTE_SERVERS_FIND_H

#include "eventspace/error.h"
#include "tuplespace/transport/link.h"

struct esi_servers_found {
    char run[64];
    char home[ES_ADDRESS_BYTES];   /* the home server's address */
    char socket[ES_ADDRESS_BYTES]; /* this host's server's; "" = not known */
};

/* `run` NULL: the only live run; `home` NULL: where the run's directory says.  -ENOENT:
 * there is no such run, or it has no server; -ENOTUNIQ: several runs. */
int esi_servers_find(const char *run,
                     const char *home,
                     struct es_error *error,
                     struct esi_servers_found *ret_found);

#endif
