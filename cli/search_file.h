/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_file.h - the pattern file of a command, and the predicates that it is to
 * search. */
#ifndef ES_CLI_SEARCH_FILE_H
#define ES_CLI_SEARCH_FILE_H

#include <stdint.h>

#include "cli/command.h"
#include "monitors/search/language/pattern.h"

struct esi_search_file {
    char *path; /* owned: where it was found */
    struct es_pattern_file *file;
    uint32_t *predicates; /* owned: to be searched, in this order */
    uint32_t predicate_count;
};

/* Reads the file that -p names, and chooses `names`, or if there are none the
 * predicates that no other uses.  0, or the exit status after the message.  To be ended
 * with _fini in each case. */
int esi_search_file_open(const char *patterns,
                         const char *const *names,
                         unsigned name_count,
                         struct esi_search_file *ret_file);
void esi_search_file_fini(struct esi_search_file *file);

/* Prints all predicates with their places. */
void esi_search_file_list(const struct esi_search_file *file, enum esi_format format);

/* Whether each predicate can be searched.  0, or the exit status after the message. */
int esi_search_file_check(const struct esi_search_file *file);

#endif
