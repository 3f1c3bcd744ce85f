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

struct es_sockets;

/* -errno: there is no map that can be read. */
int es_sockets_load(struct es_servers *servers, struct es_sockets **ret_sockets);
/* Accepts NULL. */
void es_sockets_destroy(struct es_sockets *sockets);

/* The function of struct es_sites; `data` is a struct es_sockets *.  -1: not known. */
int es_sockets_find(void *data, int rank);

#endif
