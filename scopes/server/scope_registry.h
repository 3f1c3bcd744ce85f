/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * The live scopes of a run, as its home server knows them.
 *
 * A consumer registers each of its named scopes over a connection of its own and polls
 * for commands when it pulls.  A client leaves a command and waits for the answer;
 * scopes/scope_control.h has the commands.  A scope whose connection has ended is
 * deregistered.
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
/* Nobody waits for answers any more: the server ends. */
void esi_scope_registry_close(struct esi_scope_registry *registry);
/* No scope may be registered any more.  Accepts NULL. */
void esi_scope_registry_destroy(struct esi_scope_registry *registry);

/* A consumer registers a scope; where the name is taken "-2" or so is put behind it.
 * -EINVAL with words. */
int esi_scope_registry_register(struct esi_scope_registry *registry,
                                const struct es_member *request,
                                struct es_error *error,
                                struct esi_scope_entry **ret_entry);
/* A command that waits for it fails. */
void esi_scope_registry_deregister(struct esi_scope_registry *registry,
                                   struct esi_scope_entry *entry);

/* The consumer reports its figures and polls for a command: writes "command" and "id"
 * if there is one. */
void esi_scope_registry_poll(struct esi_scope_registry *registry,
                             struct esi_scope_entry *entry,
                             const struct es_member *request,
                             struct esi_json_out *reply);
/* The answer to the command with that id. */
int esi_scope_registry_answer(struct esi_scope_registry *registry,
                              struct esi_scope_entry *entry,
                              const struct es_member *request,
                              struct es_error *error);

/* Leaves a command (an object, copied) for the scope and waits for the answer, which
 * the caller destroys.  A consumer that has fetched it by then has half the time again.
 * -EINVAL: no object; -ENOENT: no such scope; -EBUSY: somebody else waits;
 * -ETIMEDOUT: it has not pulled, or not answered; -EPIPE: it is gone; -ESHUTDOWN: the
 * registry was closed; all with words. */
int esi_scope_registry_command(struct esi_scope_registry *registry,
                               const char *name,
                               const struct es_member *command,
                               uint64_t timeout_ns,
                               struct es_error *error,
                               struct es_message **ret_answer);

#endif
