/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The classes of MPI's errors (MPI-4.1, section 9.4).  The values of some differ
 * between MPIs, so tuples and ledgers have the number of a class in this list, from 1.
 * New ones are appended.
 */
#ifndef ES_TUPLESPACE_ERROR_CLASSES_H
#define ES_TUPLESPACE_ERROR_CLASSES_H

/* The number of all other classes. */
#define ESI_ERROR_UNKNOWN UINT16_MAX

#define ESI_ERROR_CLASSES(X) /* of MPI-3.1, then newer ones */                         \
    X(BUFFER)                                                                          \
    X(COUNT)                                                                           \
    X(TYPE)                                                                            \
    X(TAG)                                                                             \
    X(COMM)                                                                            \
    X(RANK)                                                                            \
    X(REQUEST)                                                                         \
    X(ROOT)                                                                            \
    X(GROUP)                                                                           \
    X(OP)                                                                              \
    X(TOPOLOGY)                                                                        \
    X(DIMS)                                                                            \
    X(ARG)                                                                             \
    X(UNKNOWN)                                                                         \
    X(TRUNCATE)                                                                        \
    X(OTHER)                                                                           \
    X(INTERN)                                                                          \
    X(IN_STATUS)                                                                       \
    X(PENDING)                                                                         \
    X(KEYVAL)                                                                          \
    X(NO_MEM)                                                                          \
    X(BASE)                                                                            \
    X(INFO_KEY)                                                                        \
    X(INFO_VALUE)                                                                      \
    X(INFO_NOKEY)                                                                      \
    X(INFO)                                                                            \
    X(SPAWN)                                                                           \
    X(PORT)                                                                            \
    X(SERVICE)                                                                         \
    X(NAME)                                                                            \
    X(WIN)                                                                             \
    X(SIZE)                                                                            \
    X(DISP)                                                                            \
    X(LOCKTYPE)                                                                        \
    X(ASSERT)                                                                          \
    X(RMA_CONFLICT)                                                                    \
    X(RMA_SYNC)                                                                        \
    X(RMA_RANGE)                                                                       \
    X(RMA_ATTACH)                                                                      \
    X(RMA_SHARED)                                                                      \
    X(RMA_FLAVOR)                                                                      \
    X(FILE)                                                                            \
    X(NOT_SAME)                                                                        \
    X(AMODE)                                                                           \
    X(UNSUPPORTED_DATAREP)                                                             \
    X(UNSUPPORTED_OPERATION)                                                           \
    X(NO_SUCH_FILE)                                                                    \
    X(FILE_EXISTS)                                                                     \
    X(BAD_FILE)                                                                        \
    X(ACCESS)                                                                          \
    X(NO_SPACE)                                                                        \
    X(QUOTA)                                                                           \
    X(READ_ONLY)                                                                       \
    X(FILE_IN_USE)                                                                     \
    X(DUP_DATAREP)                                                                     \
    X(CONVERSION)                                                                      \
    X(IO)                                                                              \
    X(SESSION)                                                                         \
    X(PROC_ABORTED)                                                                    \
    X(VALUE_TOO_LARGE)                                                                 \
    X(ERRHANDLER)

#define ESI_ONE(name) +1
enum { ESI_ERROR_COUNT = 0 ESI_ERROR_CLASSES(ESI_ONE) };
#undef ESI_ONE

#endif
