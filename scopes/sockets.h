/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The sockets (packages) that ranks run on, as the run's map says.
 *
 * The map is that of the run directory, or the home server's where this host has none.
 */
#ifndef ES_SCOPES_SOCKETS_H
#define ES_SCOPES_SOCKETS_H

#include "eventspace/servers.h"

struct esi_sockets;

/* -errno: there is no map that can be read. */
int esi_sockets_load(struct es_servers *servers, struct esi_sockets **ret_sockets);
/* Accepts NULL. */
void esi_sockets_destroy(struct esi_sockets *sockets);

/* The function of struct esi_host_infos; `data` is a struct esi_sockets *.  -1: not
 * known. */
int esi_sockets_find(void *data, int rank);

#endif
