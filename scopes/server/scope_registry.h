/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The live scopes of a run, as known to its home server.
 *
 * A consumer registers each of its named scopes over a separate connection, and polls
 * for commands when it pulls.  A client submits a command and waits for the answer
 * (scopes/scope_control.h).  A scope is deregistered when its connection ends.
 *
 * Thread safe.
 */
#ifndef ES_SCOPES_SERVER_SCOPE_REGISTRY_H
#define ES_SCOPES_SERVER_SCOPE_REGISTRY_H

#include <stdint.h>

#include "base/json_out.h"
#include "eventspace/error.h"
#include "pathmap/message.h"

struct esi_scope_registry;
struct esi_scope_entry; /* one live scope */

int esi_scope_registry_create(struct esi_scope_registry **ret_registry);
/* Ends all waits for answers: the server ends. */
void esi_scope_registry_close(struct esi_scope_registry *registry);
/* No scope may be registered any more.  Accepts NULL. */
void esi_scope_registry_destroy(struct esi_scope_registry *registry);

/* Registers a scope of a consumer.  If the name is taken, a suffix such as "-2" is
 * appended.  Returns 0, or -EINVAL with a text. */
int esi_scope_registry_register(struct esi_scope_registry *registry,
                                const struct es_member *request,
                                struct es_error *error,
                                struct esi_scope_entry **ret_entry);
/* A command that waits for the scope fails. */
void esi_scope_registry_deregister(struct esi_scope_registry *registry,
                                   struct esi_scope_entry *entry);

/* Stores the consumer's figures and writes "command" and "id" if a command is
 * pending. */
void esi_scope_registry_poll(struct esi_scope_registry *registry,
                             struct esi_scope_entry *entry,
                             const struct es_member *request,
                             struct esi_json_out *reply);
/* Stores the answer to the command with that id. */
int esi_scope_registry_answer(struct esi_scope_registry *registry,
                              struct esi_scope_entry *entry,
                              const struct es_member *request,
                              struct es_error *error);

/* Submits a command (an object, copied) to the scope and waits for the answer, which
 * the caller destroys.  If the consumer has fetched the command by the timeout, it has
 * half the time more.  Returns -EINVAL if it is no object; -ENOENT if there is no such
 * scope; -EBUSY if another client waits; -ETIMEDOUT if the scope has not pulled or
 * answered; -EPIPE if it is gone; -ESHUTDOWN if the registry was closed; all with a
 * text. */
int esi_scope_registry_command(struct esi_scope_registry *registry,
                               const char *name,
                               const struct es_member *command,
                               uint64_t timeout_ns,
                               struct es_error *error,
                               struct es_message **ret_answer);

#endif
