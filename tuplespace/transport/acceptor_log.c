/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Lines with the time, and refusals that are counted rather than written. */
#include "config.h"

#include "tuplespace/transport/acceptor_log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/now.h"

enum { LINE_BYTES = 1024 };

#define SECOND_NS UINT64_C(1000000000)
#define MS_NS UINT64_C(1000000)

void esi_server_log_init(struct esi_server_log *log,
                         void (*write)(void *data, const char *line),
                         void *data)
{
    *log = (struct esi_server_log){.write = write, .data = data};
    pthread_mutex_init(&log->lock, NULL);
}

/* Called with the lock held. */
static void write_line(struct esi_server_log *log, const char *words)
{
    char line[LINE_BYTES];
    struct timespec now;
    struct tm parts;

    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &parts);
    size_t length = strftime(line, sizeof line, "%Y-%m-%d %H:%M:%S", &parts);
    snprintf(line + length, sizeof line - length, ".%03ld %s", now.tv_nsec / 1000000,
             words);
    log->write(log->data, line);
}

void esi_server_log_list(struct esi_server_log *log,
                         const char *format,
                         va_list arguments)
{
    char words[LINE_BYTES - 64];

    if (!log->write)
        return;
    vsnprintf(words, sizeof words, format, arguments);
    pthread_mutex_lock(&log->lock);
    write_line(log, words);
    pthread_mutex_unlock(&log->lock);
}

/* Called with the lock held. */
static void write_refusals(struct esi_server_log *log)
{
    char words[ESI_LOG_REFUSAL_BYTES + 64];

    if (log->unwritten == 1)
        snprintf(words, sizeof words, "refused %s", log->last);
    else
        snprintf(words, sizeof words, "refused %zu connections, the last of them %s",
                 log->unwritten, log->last);
    log->unwritten = 0;
    log->refusal_ns = esi_now_ns(CLOCK_MONOTONIC);
    write_line(log, words);
}

/* Called with the lock held. */
static int flush_refusals(struct esi_server_log *log)
{
    if (log->unwritten == 0)
        return -1;
    uint64_t since_ns = esi_now_ns(CLOCK_MONOTONIC) - log->refusal_ns;
    if (log->refusal_ns != 0 && since_ns < SECOND_NS)
        return (int)((SECOND_NS - since_ns) / MS_NS) + 1;
    write_refusals(log);
    return -1;
}

void esi_server_log_refusal(struct esi_server_log *log,
                            const char *peer,
                            const char *reason)
{
    if (!log->write)
        return;
    pthread_mutex_lock(&log->lock);
    log->unwritten++;
    snprintf(log->last, sizeof log->last, "%s: %s", peer, reason);
    flush_refusals(log);
    pthread_mutex_unlock(&log->lock);
}

int esi_server_log_flush(struct esi_server_log *log)
{
    pthread_mutex_lock(&log->lock);
    int left_ms = flush_refusals(log);
    pthread_mutex_unlock(&log->lock);
    return left_ms;
}

void esi_server_log_fini(struct esi_server_log *log)
{
    if (log->unwritten > 0)
        write_refusals(log);
    pthread_mutex_destroy(&log->lock);
}
