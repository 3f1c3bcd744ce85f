/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* ctf_metadata.h - says in the language of CTF 1.8 what ctf_layout.h says in C. */
#ifndef ES_MONITORS_ARCHIVE_CTF_METADATA_H
#define ES_MONITORS_ARCHIVE_CTF_METADATA_H

#include <stdint.h>
#include <stdio.h>

struct esi_ctf_trace {
    const char *host;
    const char *run;
    uint8_t uuid[16];
};

/* Writes the metadata of one host's trace: a class of events for each operation of the
 * table.  Errors stay in the stream. */
void esi_ctf_metadata_write(const struct esi_ctf_trace *trace, FILE *stream);

#endif
