/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * What clients may take of the shared memory for elements of a tuple server.
 *
 * Bytes are counted before they are reserved: as long as they are promised, what the
 * file system calls free does not lack them yet.
 *
 * Not thread safe: the caller's lock guards budget and shares.
 */
#ifndef ES_SCOPES_SERVER_ELEMENT_BUDGET_H
#define ES_SCOPES_SERVER_ELEMENT_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#include "eventspace/error.h"

/* Bytes of one element: its ring, whose slots are a power of two above the threshold.
 */
#define ES_BUDGET_ELEMENT_BYTES (UINT64_C(256) << 20)

enum {
    ES_BUDGET_ELEMENTS = 4096,       /* of one server */
    ES_BUDGET_SHARE_ELEMENTS = 1024, /* made over one connection */
    /* Of the shared memory's size: */
    ES_BUDGET_PERCENT = 25,       /* all elements of one server */
    ES_BUDGET_SHARE_PERCENT = 12, /* those made over one connection */
    ES_BUDGET_FREE_PERCENT = 25,  /* what stays free */
};

/* Of one server; {0} at first. */
struct esi_element_budget {
    size_t elements;   /* also those being made */
    uint64_t bytes;    /* of all of them */
    uint64_t promised; /* of those being made */
};

/* What one connection has made; {0} at first. */
struct esi_element_share {
    size_t elements;
    uint64_t bytes;
};

/* Counts an element that is going to be made, and promises its bytes.  -EDQUOT: more
 * than a limit; -ENOSPC: too little would stay free; both with words.  `share` is NULL
 * where no connection makes it, here and below. */
int esi_element_budget_add(struct esi_element_budget *budget,
                           struct esi_element_share *share,
                           uint64_t bytes,
                           struct es_error *error);
/* The same for more bytes of an element that is there. */
int esi_element_budget_extend(struct esi_element_budget *budget,
                              struct esi_element_share *share,
                              uint64_t bytes,
                              struct es_error *error);
/* The bytes are reserved, or will not be. */
void esi_element_budget_expire(struct esi_element_budget *budget, uint64_t bytes);
/* An element is gone, or was not made. */
void esi_element_budget_remove(struct esi_element_budget *budget,
                               struct esi_element_share *share,
                               uint64_t bytes);

#endif
