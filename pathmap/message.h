/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Parses JSON messages of tuple servers and their clients; base/json_out.h writes them.
 * The types of the JSON library are not exposed.
 *
 * Members are checked when they are read: a missing member or one of another type
 * causes an error that names it.  Different threads may read the same message.
 */
#ifndef ES_PATHMAP_MESSAGE_H
#define ES_PATHMAP_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_out.h"
#include "eventspace/error.h"

struct es_message; /* the document: owned by whoever parsed it */
struct es_member;  /* a value in it: borrowed from the document */

/* Parses a message.  `source` names its origin in errors.  Returns 0; or -EINVAL, with
 * line and column in `error`. */
int esi_message_parse(const char *text,
                      size_t length,
                      const char *source,
                      struct es_error *error,
                      struct es_message **ret_message);
/* Frees the message and its members.  Accepts NULL. */
void esi_message_destroy(struct es_message *message);

/* The top-level object of the message. */
const struct es_member *esi_message_root(const struct es_message *message);

/* Finds a member of an object by name; NULL if there is none. */
const struct es_member *esi_member_find(const struct es_member *object,
                                        const char *name);
/* Number of items of an array or members of an object; 0 for other types. */
size_t esi_member_count(const struct es_member *list);
const struct es_member *esi_member_at(const struct es_member *list, size_t index);
/* Calls `visit` for each member of an object in the order of the text.  Stops at the
 * first nonzero result and returns it. */
int esi_member_foreach(const struct es_member *object,
                       int (*visit)(void *data,
                                    const char *name,
                                    const struct es_member *value),
                       void *data);

/* Get a member of an object with its type.  Return 0; or -EINVAL (with `error` filled)
 * if it is missing, of another type, or out of range.  Text is borrowed from the
 * message. */
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
/* Like these, with a fallback for members that are missing or of another type. */
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

/* Like esi_member_integer_or(), and returns the fallback for integers outside of
 * `minimum` to `maximum`. */
int64_t esi_member_integer_within(const struct es_member *object,
                                  const char *name,
                                  int64_t minimum,
                                  int64_t maximum,
                                  int64_t fallback);
/* An integer of at least 0; 0 if it is missing. */
uint64_t esi_member_counter(const struct es_member *object, const char *name);

/* Limits a value to the range of JSON integers, which are signed. */
static inline uint64_t esi_json_bounded(uint64_t value)
{
    return value < INT64_MAX ? value : INT64_MAX;
}

/* If the value is an integer or a boolean, stores it (a boolean as 0 or 1) and returns
 * true. */
bool esi_member_number(const struct es_member *value, int64_t *ret_number);

/* Copies an object within a message to a message of its own.  Returns 0; -EINVAL if it
 * is not an object or is NULL; or -ENOMEM. */
int esi_message_copy(const struct es_member *object, struct es_message **ret_message);
/* Writes the value, of any type, as a member. */
void esi_member_write(const struct es_member *value,
                      struct esi_json_out *out,
                      const char *key);

/* The value as text or number, for items of arrays; NULL or 0 for other types. */
const char *esi_member_as_text(const struct es_member *value);
int64_t esi_member_as_integer(const struct es_member *value);

#endif
