/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * vocabulary.h - what the events of sets of one origin may say: their attributes, and
 * the texts of those attributes that have only some.
 *
 * Constant data of who makes such sets, for those who check what is asked of them.
 */
#ifndef ES_MONITORS_EVENTSET_VOCABULARY_H
#define ES_MONITORS_EVENTSET_VOCABULARY_H

#include <stddef.h>

struct esi_vocabulary_word {
    const char *name; /* of an attribute, or "type" */
    /* The texts that it may have, from number 0 on; NULL behind the last.  No function:
     * any text. */
    const char *(*value)(size_t number);
    const char *const *endings; /* one of these may follow; NULL behind the last */
};

struct esi_vocabulary {
    const struct esi_vocabulary_word *words;
    size_t count;
    const char *mark;   /* the attribute that all events of this origin have */
    const char *prefix; /* with which a type begins that can be of this origin only */
};

#endif
