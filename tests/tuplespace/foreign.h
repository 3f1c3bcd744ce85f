/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* What the recorded segment of the other byte order holds: for its recorder and its
 * test. */
#ifndef ES_TESTS_TUPLESPACE_FOREIGN_H
#define ES_TESTS_TUPLESPACE_FOREIGN_H

#include "fixture.h"

#define FOREIGN_HOST "foreign.example"
#define FOREIGN_PROGRAM "/opt/foreign/program"
#define FOREIGN_WRAPPED "5.0/wrapped" /* 100 tuples, more than it keeps */
#define FOREIGN_OPEN "5.0/open"       /* 5 tuples and an operation under way */
#define FOREIGN_EMPTY "5.0/empty"
#define FOREIGN_SHARED "5.0/shared" /* FOREIGN_DATA, once */
#define FOREIGN_DATA "8 bytes"      /* with the terminating one */
#define FOREIGN_KEY UINT64_C(0x0123456789abcdef)

enum {
    FOREIGN_RANK = 5,
    FOREIGN_SIZE = 9,
    FOREIGN_PEER = 3,
    FOREIGN_THRESHOLD = 31,
};

#endif
