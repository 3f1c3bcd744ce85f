/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Elements that a tuple server holds for consumers' own data: bounded sequences of
 * tuples of one size, that many write and read, on whichever host.
 *
 *   es_server_element_create(servers, "node7", "results", 16, 1000, &error, &element);
 *   es_server_element_append(element, &result, 1);
 *   ...
 *   struct es_cursor cursor = {0};
 *   count = es_server_element_read(element, &cursor, results, 100, timeout_ns);
 *
 * Any element of the host can be opened and read, also the program's trace elements.
 * Who is on the same host finds them through eventspace/run.h as well.
 *
 * Each handle has a connection of its own, and is used by one thread at a time.
 * Positions count the tuples ever written, from 0.  Tuples of 36 bytes are taken for
 * trace tuples and come in the reader's byte order, others as they were written.
 */
#ifndef EVENTSPACE_SERVER_ELEMENT_H
#define EVENTSPACE_SERVER_ELEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "eventspace/api.h"
#include "eventspace/error.h"
#include "eventspace/run.h"
#include "eventspace/servers.h"

struct es_server_element;

/* Makes an element on `host` (NULL = the home server's) that keeps `threshold` tuples
 * of `tuple_bytes`, a multiple of 4, and opens it.  It lives until it is removed or the
 * server ends.  -EEXIST when there is one of that name, -EINVAL; -EDQUOT: more than the
 * server allows (docs/servers.md); -ENOSPC: too little shared memory would stay free;
 * all with words; or as connecting fails. */
ES_API int es_server_element_create(struct es_servers *servers,
                                    const char *host,
                                    const char *name,
                                    uint32_t tuple_bytes,
                                    uint32_t threshold,
                                    struct es_error *error,
                                    struct es_server_element **ret_element);

/* Opens one.  -ENOENT. */
ES_API int es_server_element_open(struct es_servers *servers,
                                  const char *host,
                                  const char *name,
                                  struct es_error *error,
                                  struct es_server_element **ret_element);

/* Closes the handle; the element stays.  Accepts NULL. */
ES_API void es_server_element_close(struct es_server_element *element);

/* Bytes of one tuple. */
ES_API uint32_t es_server_element_tuple_bytes(const struct es_server_element *element);

/* Appends `count` tuples, one behind the other but for what others append meanwhile.
 * -EINVAL: a trace element; -EPIPE, -ETIMEDOUT: the server does not answer, or the
 * element blocks and its reader takes nothing; -EBUSY: another writer is inside.  Then
 * what was appended of them is not known. */
ES_API int es_server_element_append(struct es_server_element *element,
                                    const void *tuples,
                                    size_t count);

/* Reads at most `max` tuples from the cursor on and moves it; what was overwritten or
 * discarded is added to cursor->lost.  Waits up to `timeout_ns` for the first.  Returns
 * their number, 0 = nothing came, or -errno: then the cursor is as it was. */
ES_API int es_server_element_read(struct es_server_element *element,
                                  struct es_cursor *cursor,
                                  void *ret_tuples,
                                  size_t max,
                                  uint64_t timeout_ns);

/* Discards everything below `position`: no reader sees it again. */
ES_API int es_server_element_discard(struct es_server_element *element,
                                     uint64_t position);

/* Removes an element of consumers.  -ENOENT: there is none of that name. */
ES_API int es_server_element_remove(struct es_servers *servers,
                                    const char *host,
                                    const char *name,
                                    struct es_error *error);

#endif
