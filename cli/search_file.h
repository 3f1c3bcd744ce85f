/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* search_file.h - the pattern file of a command, and the predicates that it is to
 * search. */
#ifndef ES_CLI_SEARCH_FILE_H
#define ES_CLI_SEARCH_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"
#include "monitors/search/domains/vocabulary_check.h"
#include "monitors/search/language/pattern.h"

struct esi_search_file {
    char *path; /* owned: where it was found */
    struct es_pattern_file *file;
    uint32_t *predicates; /* owned: to be searched, in this order */
    uint32_t predicate_count;
    /* Owned: what these reach, as esi_pattern_reach() tells. */
    bool *is_predicate_needed;
    bool *is_class_needed;
};

/* Reads the file that -p names, and chooses `names`, or if there are none the
 * predicates that no other uses.  0, or the exit status after the message.  To be ended
 * with _fini in each case. */
int esi_search_file_open(const char *patterns,
                         const char *const *names,
                         unsigned name_count,
                         struct esi_search_file *ret_file);
void esi_search_file_fini(struct esi_search_file *file);

/* Prints what the predicates to be searched mean, or of `all` predicates also where
 * they are.  0, or the exit status after the message. */
int esi_search_file_list(const struct esi_search_file *file,
                         bool all,
                         enum esi_format format);

/* Makes what knows the attributes that the predicates to be searched ask for.  The
 * caller destroys it.  0, or the exit status after the message. */
int esi_search_file_ask(const struct esi_search_file *file,
                        struct esi_vocabulary_check **ret_check);
/* Says what is wrong with the patterns' words, if `result` is negative.  0, or the exit
 * status after the message. */
int esi_search_file_refuse(int result, const struct es_error *error);

/* Whether each predicate can be searched.  0, or the exit status after the message. */
int esi_search_file_check(const struct esi_search_file *file);

/* Where the patterns lie that came with us. */
const char *esi_search_pattern_folder(void);

#endif
