/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The log of what a thread of a rank knows (order_truth.c says what is in it).
 */
#ifndef ES_TESTS_ORDER_LOG_H
#define ES_TESTS_ORDER_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

extern int rank; /* own, of the world, and how many there are */
extern int size;
extern _Thread_local int thread;
extern _Thread_local FILE *log_file;
extern _Thread_local int log_calls; /* to be counted by who calls */

/* Ends the program. */
void die(const char *why);
/* Zeroed; never NULL. */
void *allocate(size_t bytes);

void log_open(const char *directory);
void log_close(void);
/* What this thread of a rank is called in the logs. */
int log_name(int of);
/* Begins a line and returns its number. */
int log_put(char kind, const char *name, int number);
/* Goes on with a line: from whom was heard. */
void log_hear(bool *is_first, int from, int line);
/* A collective call of the setting up, in which nobody is told anything. */
void log_made(const char *name, int begins);

#endif
