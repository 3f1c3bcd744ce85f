/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Elements for consumers' own data, held by tuple servers: bounded sequences of tuples
 * of one size, written and read by any number of consumers on any host.
 *
 *   es_server_element_create(servers, "node7", "results", 16, 1000, &error, &element);
 *   es_server_element_append(element, &result, 1);
 *   ...
 *   struct es_cursor cursor = {0};
 *   count = es_server_element_read(element, &cursor, results, 100, timeout_ns);
 *
 * Any element of the host can be opened and read, including trace elements.  Consumers
 * on the same host can also read the elements through eventspace/run.h.
 *
 * Each handle has its own connection and may be used by one thread at a time.  A
 * position is the number of tuples written before this one.  Tuples of 36 bytes are
 * assumed to be trace tuples and are converted to the reader's byte order; others are
 * not converted.
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

/* Creates an element on `host` (NULL for the home server's) that keeps `threshold`
 * tuples of `tuple_bytes` bytes, a multiple of 4, and opens it.  The element exists
 * until it is removed or the server ends.  Returns 0; -EEXIST if the name is taken;
 * -EINVAL; -EDQUOT if the server's limit is exceeded (docs/servers.md); -ENOSPC if too
 * little shared memory would stay free; or an error of the connection.  All errors fill
 * `error`.  The caller closes the handle. */
ES_API int es_server_element_create(struct es_servers *servers,
                                    const char *host,
                                    const char *name,
                                    uint32_t tuple_bytes,
                                    uint32_t threshold,
                                    struct es_error *error,
                                    struct es_server_element **ret_element);

/* Opens an existing element.  Returns 0; -ENOENT; or an error of the connection. */
ES_API int es_server_element_open(struct es_servers *servers,
                                  const char *host,
                                  const char *name,
                                  struct es_error *error,
                                  struct es_server_element **ret_element);

/* Closes the handle; the element stays.  Accepts NULL. */
ES_API void es_server_element_close(struct es_server_element *element);

/* Size of one tuple in bytes. */
ES_API uint32_t es_server_element_tuple_bytes(const struct es_server_element *element);

/* Appends `count` tuples in order; tuples of other writers may come between them.
 * Returns 0; -EINVAL for a trace element; -EPIPE or -ETIMEDOUT if the server does not
 * answer, or if the element blocks and its reader does not advance; or -EBUSY if
 * another writer is inside.  After an error it is not known how many tuples were
 * appended. */
ES_API int es_server_element_append(struct es_server_element *element,
                                    const void *tuples,
                                    size_t count);

/* Reads up to `max` tuples and advances the cursor.  Tuples that were overwritten or
 * discarded are added to cursor->lost.  Waits up to `timeout_ns` for the first tuple.
 * Returns the number read, 0 after the timeout; or -errno, and then leaves the cursor
 * unchanged. */
ES_API int es_server_element_read(struct es_server_element *element,
                                  struct es_cursor *cursor,
                                  void *ret_tuples,
                                  size_t max,
                                  uint64_t timeout_ns);

/* Discards all tuples before `position`, for all readers.  Returns 0 or -errno. */
ES_API int es_server_element_discard(struct es_server_element *element,
                                     uint64_t position);

/* Removes an element of consumers.  Returns 0; -ENOENT if there is none of that name;
 * or an error of the connection. */
ES_API int es_server_element_remove(struct es_servers *servers,
                                    const char *host,
                                    const char *name,
                                    struct es_error *error);

#endif
