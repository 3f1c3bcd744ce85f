/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* element_client.h - writing to an element of another tuple server over a link of one's
 * own. */
#ifndef ES_SCOPES_ELEMENT_CLIENT_H
#define ES_SCOPES_ELEMENT_CLIENT_H

#include "scopes/remote/element_wire.h"
#include "tuplespace/transport/link.h"

/* Sends `count` tuples of header->tuple_bytes bytes each and waits for the answer,
 * `limit_ns` for each of the two.  Errors of the link, or what the server's failure
 * says. */
int esi_element_client_write(struct es_link *link,
                             uint64_t id,
                             const struct es_write_header *header,
                             const void *tuples,
                             size_t count,
                             uint64_t limit_ns,
                             struct es_tuples_header *ret_answer);

#endif
