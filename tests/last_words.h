/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What a test program reports if a thread ends it.
 *
 * In the thread of a test a failed assertion or a crash ends the test. In any other
 * thread cmocka calls exit(-1) without a message: it keeps the message for the end of a
 * test that this thread does not run. The message of the test is lost, too.
 */
#ifndef ES_TESTS_LAST_WORDS_H
#define ES_TESTS_LAST_WORDS_H

/* Called by the thread that runs the tests. From now on exit() prints the signal that
 * is being handled, and the backtraces of the calling thread and of this one. Borrows
 * the name. */
void last_words_begin(const char *name);
/* From now on the program may exit. Does not return if another thread is ending it. */
void last_words_end(void);

#endif
