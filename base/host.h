/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The name of the host this process runs on. */
#ifndef ES_BASE_HOST_H
#define ES_BASE_HOST_H

#define ES_HOST_NAME_BYTES 64

/* Writes the node name as the kernel's UTS name space of this process has it (no
 * look-up, no domain added), fit to be part of a file name: other characters than
 * letters, digits, '.',
 * '-' and '_' become '_'.  "unknown" when there is none.  Returns out. */
const char *esi_host_name(char out[ES_HOST_NAME_BYTES]);

#endif
