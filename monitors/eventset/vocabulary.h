/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * vocabulary.h - the attributes of event sets of one origin, and their possible values.
 *
 * Constant data, provided by each producer of such sets and used to check queries.
 */
#ifndef ES_MONITORS_EVENTSET_VOCABULARY_H
#define ES_MONITORS_EVENTSET_VOCABULARY_H

#include <stddef.h>

struct esi_vocabulary_word {
    const char *name; /* name of an attribute, or "type" */
    /* The possible values, from number 0 on; NULL after the last.  No function: any
     * text. */
    const char *(*value)(size_t number);
    const char *const *endings; /* one of these may follow; NULL after the last */
};

struct esi_vocabulary {
    const struct esi_vocabulary_word *words;
    size_t count;
    const char *mark;   /* an attribute of all events of this origin */
    const char *prefix; /* prefix of types that only this origin uses */
};

#endif
