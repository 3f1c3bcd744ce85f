/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The name of the host this process runs on. */
#ifndef ES_BASE_HOST_H
#define ES_BASE_HOST_H

#define ES_HOST_NAME_BYTES 64

/* Writes the node name of the UTS namespace of this process, without lookup or domain,
 * in a form that can be part of a file name: characters other than letters, digits,
 * '.', '-' and '_' become '_'.  "unknown" if there is none.  Returns `out`. */
const char *esi_host_name(char out[ES_HOST_NAME_BYTES]);

#endif
