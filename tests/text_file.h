/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* text_file.h - whole files as texts, for tests with golden data.  What fails ends the
 * test. */
#ifndef ES_TESTS_TEXT_FILE_H
#define ES_TESTS_TEXT_FILE_H

/* NULL: there is no such file.  The caller frees. */
char *text_file_read(const char *path);
/* Makes the file, or empties it before. */
void text_file_write(const char *path, const char *text);

/* For tests of cmocka: fails unless the file holds `text`; with UPDATE_GOLDEN in the
 * environment writes it instead. */
void text_file_compare(const char *path, const char *text);

#endif
