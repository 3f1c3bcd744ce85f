/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* text_file.h - reads, writes and compares whole text files, for tests with golden
 * data. A failed write or comparison ends the test. */
#ifndef ES_TESTS_TEXT_FILE_H
#define ES_TESTS_TEXT_FILE_H

/* Returns the text, or NULL if the file cannot be opened. The caller frees it. */
char *text_file_read(const char *path);
/* Creates or overwrites the file. */
void text_file_write(const char *path, const char *text);

/* Fails the test unless the file contains `text`. If UPDATE_GOLDEN is in the
 * environment, writes the file instead. */
void text_file_compare(const char *path, const char *text);

#endif
