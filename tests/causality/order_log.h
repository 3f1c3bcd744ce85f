/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The log of a thread of a rank; order_truth.c describes its contents.
 */
#ifndef ES_TESTS_ORDER_LOG_H
#define ES_TESTS_ORDER_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

extern int rank; /* world rank, and number of ranks */
extern int size;
extern _Thread_local int thread;
extern _Thread_local FILE *log_file;
extern _Thread_local int log_calls; /* incremented by the callers */

/* Ends the program. */
void die(const char *why);
/* Returns zeroed memory, never NULL. */
void *allocate(size_t bytes);

void log_open(const char *directory);
void log_close(void);
/* Returns the number of this thread of a rank in the logs. */
int log_name(int of);
/* Begins a line and returns its number. */
int log_put(char kind, const char *name, int number);
/* Adds to the line from which rank and line data were received. */
void log_hear(bool *is_first, int from, int line);
/* Logs the begin or end of a collective call of the setup; the end depends on all
 * begins. */
void log_made(const char *name, int begins);

#endif
