/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * A server's log.  Refusals are at most one line a second: those in between are
 * counted, so that strangers can neither fill the disk nor hide anything.  Any thread
 * may log.
 */
#ifndef ES_TUPLESPACE_TRANSPORT_ACCEPTOR_LOG_H
#define ES_TUPLESPACE_TRANSPORT_ACCEPTOR_LOG_H

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

enum { ESI_LOG_REFUSAL_BYTES = 512 };

struct esi_server_log {
    void (*write)(void *data, const char *line); /* NULL: there is none */
    void *data;
    pthread_mutex_t lock; /* guards what follows, and is held while writing */
    uint64_t refusal_ns;  /* when a refusal was last written */
    size_t unwritten;     /* refusals since then */
    char last[ESI_LOG_REFUSAL_BYTES]; /* the last of them */
};

void esi_server_log_init(struct esi_server_log *log,
                         void (*write)(void *data, const char *line),
                         void *data);
void esi_server_log_fini(struct esi_server_log *log);

/* Writes a line, with the time in front. */
__attribute__((format(printf, 2, 0))) void esi_server_log_list(
    struct esi_server_log *log,
    const char *format,
    va_list arguments);
/* A refusal: written now, or counted. */
void esi_server_log_refusal(struct esi_server_log *log,
                            const char *peer,
                            const char *reason);
/* Writes what was counted if it is time.  Returns the milliseconds until it will be;
 * -1: there is nothing to write. */
int esi_server_log_flush(struct esi_server_log *log);

#endif
