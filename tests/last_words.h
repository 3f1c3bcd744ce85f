/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What a program of suites says when a thread ends it.
 *
 * In the thread of a test a failed assertion or a crash ends the test. In any other
 * thread cmocka calls exit(-1) and says nothing: it keeps the message for the end of a
 * test that this thread does not run. The message of the test is lost, too.
 */
#ifndef ES_TESTS_LAST_WORDS_H
#define ES_TESTS_LAST_WORDS_H

/* Called by the thread of the tests. From now on exit() prints the signal that was
 * being handled, and where this thread and the one that called exit() were. Borrows the
 * name. */
void last_words_begin(const char *name);
/* The program may end. */
void last_words_end(void);

#endif
