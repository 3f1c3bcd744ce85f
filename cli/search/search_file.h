/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_file.h - the pattern file of a command, and the predicates to search. */
#ifndef ES_CLI_SEARCH_FILE_H
#define ES_CLI_SEARCH_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"
#include "monitors/search/domains/vocabulary_check.h"
#include "monitors/search/language/pattern.h"

struct esi_search_file {
    char *path; /* owned: path where it was found */
    struct es_pattern_file *file;
    uint32_t *predicates; /* owned: to be searched, in this order */
    uint32_t predicate_count;
    /* Owned: what these refer to, from esi_pattern_reach(). */
    bool *is_predicate_needed;
    bool *is_class_needed;
};

/* Reads the file given by -p, and selects `names`, or else the predicates that no other
 * uses.  Returns 0, or the exit status after a message.  Call _fini in all cases. */
int esi_search_file_open(const char *patterns,
                         const char *const *names,
                         unsigned name_count,
                         struct esi_search_file *ret_file);
void esi_search_file_fini(struct esi_search_file *file);

/* Prints descriptions of the selected predicates, or with `all` of all predicates and
 * their positions.  Returns 0, or the exit status after a message. */
int esi_search_file_list(const struct esi_search_file *file,
                         bool all,
                         enum esi_format format);

/* Creates the check for the attributes that the selected predicates use.  The caller
 * destroys it.  Returns 0, or the exit status after a message. */
int esi_search_file_ask(const struct esi_search_file *file,
                        struct esi_vocabulary_check **ret_check);
/* Prints what is wrong with the words of the patterns, if `result` is negative.
 * Returns 0, or the exit status after a message. */
int esi_search_file_refuse(int result, const struct es_error *error);

/* Checks that each predicate can be searched.  Returns 0, or the exit status after a
 * message. */
int esi_search_file_check(const struct esi_search_file *file);

/* The folder of the installed patterns. */
const char *esi_search_pattern_folder(void);

#endif
