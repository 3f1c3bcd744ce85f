/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* rewritten.h - predicates of a text in rewritten form, for tests. */
#ifndef ES_TESTS_SEARCH_REWRITTEN_H
#define ES_TESTS_SEARCH_REWRITTEN_H

#include "monitors/search/truth/cnf.h"
#include "monitors/search/language/program.h"

/* Declares $a, *a, ~a of a class A, and likewise up to F. */
extern const char rewritten_classes[];

struct rewritten {
    struct es_pattern_file *file;
    struct esi_program *program;
    struct esi_cnf *cnf;
};

/* Disjunct 0 of predicate Q of a text that is appended to rewritten_classes; fails the
 * test if that is impossible. */
struct rewritten rewritten_of(const char *text);
void rewritten_free(struct rewritten *rewritten);

/* Fails unless it prints as `expected`, one line for each clause. */
void check_rewritten(const struct rewritten *rewritten, const char *expected);

#endif
