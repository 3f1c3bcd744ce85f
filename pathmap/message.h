/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * JSON messages between tuple servers and their clients, read (base/json_out.h writes
 * them).  The JSON library's types stay inside.
 *
 * A message is checked as it is read: a member that is missing or of another type is an
 * error that names it, never a crash.  Different threads may read one message.
 */
#ifndef ES_PATHMAP_MESSAGE_H
#define ES_PATHMAP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_out.h"
#include "eventspace/error.h"

struct es_message; /* the document: owned by who parsed it */
struct es_member;  /* a value within it: borrowed from the document */

/* `source` names where it came from in errors.  -EINVAL with line and column. */
int esi_message_parse(const char *text,
                      size_t length,
                      const char *source,
                      struct es_error *error,
                      struct es_message **ret_message);
/* Accepts NULL. */
void esi_message_destroy(struct es_message *message);

/* The object that is the whole message. */
const struct es_member *esi_message_root(const struct es_message *message);

/* A member of an object by its name; NULL when it is not there. */
const struct es_member *esi_member_find(const struct es_member *object,
                                        const char *name);
/* Items of an array (0 for anything else), members of an object. */
size_t esi_member_count(const struct es_member *list);
const struct es_member *esi_member_at(const struct es_member *list, size_t index);
/* Calls for each member of an object in the order of the text; stops at the first
 * result that is not 0 and returns it. */
int esi_member_foreach(const struct es_member *object,
                       int (*visit)(void *data,
                                    const char *name,
                                    const struct es_member *value),
                       void *data);

/* Members of an object with their type.  -EINVAL with words when missing or of another
 * type or out of range.  Text is borrowed from the message. */
int esi_member_text(const struct es_member *object,
                    const char *name,
                    struct es_error *error,
                    const char **ret_text);
int esi_member_integer(const struct es_member *object,
                       const char *name,
                       int64_t minimum,
                       int64_t maximum,
                       struct es_error *error,
                       int64_t *ret_value);
int esi_member_boolean(const struct es_member *object,
                       const char *name,
                       struct es_error *error,
                       bool *ret_value);
/* The same, with a value for what is not there; another type gives the fallback too. */
const char *esi_member_text_or(const struct es_member *object,
                               const char *name,
                               const char *fallback);
int64_t esi_member_integer_or(const struct es_member *object,
                              const char *name,
                              int64_t fallback);
bool esi_member_boolean_or(const struct es_member *object,
                           const char *name,
                           bool fallback);
double esi_member_real_or(const struct es_member *object,
                          const char *name,
                          double fallback);

/* The same for an integer from `minimum` to `maximum`; the fallback for others. */
int64_t esi_member_integer_within(const struct es_member *object,
                                  const char *name,
                                  int64_t minimum,
                                  int64_t maximum,
                                  int64_t fallback);
/* The same for what counts from 0; 0 when it is not there. */
uint64_t esi_member_counter(const struct es_member *object, const char *name);

/* JSON's integers end where signed ones do: the number that can be written. */
static inline uint64_t esi_json_bounded(uint64_t value)
{
    return value < INT64_MAX ? value : INT64_MAX;
}

/* Whether the value is an integer or a boolean: then it is put there, a boolean as 0 or
 * 1. */
bool esi_member_number(const struct es_member *value, int64_t *ret_number);

/* A message of its own from an object within another.  -EINVAL: it is no object (NULL
 * counts as none); -ENOMEM. */
int esi_message_copy(const struct es_member *object, struct es_message **ret_message);
/* Writes the value, whatever it holds, as a member of what is being written. */
void esi_member_write(const struct es_member *value,
                      struct esi_json_out *out,
                      const char *key);

/* The value itself as text or number, for items of arrays; NULL and 0 for other types.
 */
const char *esi_member_as_text(const struct es_member *value);
int64_t esi_member_as_integer(const struct es_member *value);

#endif
