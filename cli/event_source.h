/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* event_source.h - reads an event set for a command, with progress on a terminal. */
#ifndef ES_CLI_EVENT_SOURCE_H
#define ES_CLI_EVENT_SOURCE_H

#include <argp.h>
#include <stdbool.h>

#include "cli/consumer.h"
#include "monitors/causality/set_source.h"

struct esi_causality_scope;

/* With all other members zero, reads the events present now, on all hosts. */
struct esi_event_source {
    const char *path; /* an event set SET or archive DIR, "-", or the name of a RUN;
                         NULL = the only live run; borrowed */
    bool follow;      /* for a run: read until it is over, or an interrupt */
    /* Ends following early; called between readings; may be NULL. */
    bool (*is_enough)(void *data);
    void *enough_data; /* borrowed */
    /* Called between readings of a followed run, with its reader and the run time up to
     * which it was read.  A negative result ends following; may be NULL. */
    int (*paused)(void *data,
                  const struct esi_causality_scope *reading,
                  uint64_t now_ns);
    void *paused_data;                    /* borrowed */
    struct esi_consumer_options consumer; /* for a run */
    /* For an archive or a run.  After an interrupt it may end the reading with
     * -ECANCELED. */
    struct esi_causal_listener listener;
    /* Receives the results of matching for an archive or a run; may be NULL. */
    void (*found)(void *data, const struct esi_causality *causality);
    void *found_data; /* borrowed */
    /* Set by esi_event_source_keep(). */
    char *kept; /* NULL: nothing is kept */
    int descriptor;
    struct esi_set_source_facts facts;
};

/* SET|DIR|RUN, --follow, --server and --local, for use as a child parser; its input is
 * a struct esi_event_source *. */
extern const struct argp esi_event_source_argp;

/* Determines the kind of the path.  Returns 0, or the exit status after a message if
 * nothing was found. */
int esi_event_source_find(const struct esi_event_source *source,
                          enum esi_set_source_kind *ret_kind);

/* Prints a line on standard error if the recording of an archive ended before the
 * run. */
void esi_event_source_tell_end(const char *directory);

/* For users of listeners, which are not called for event sets.  Returns 0 for an
 * archive or a run, otherwise the exit status after a message. */
int esi_event_source_refuse_set(const struct esi_event_source *source);

enum { ES_SOURCE_SINKS = 4 };

/* Reads everything into each of `count` sinks (sinks.h), at most ES_SOURCE_SINKS.
 * `ret_facts` may be NULL. Returns 0, or the exit status after a message: ES_EXIT_LOST
 * if contact with a run was lost. */
int esi_event_source_read(const struct esi_event_source *source,
                          bool attributes,
                          const struct es_set_sink *sinks,
                          size_t count,
                          struct esi_set_source_facts *ret_facts);

/* Whether all traces precede the first event. */
bool esi_event_source_tells_traces_first(const struct esi_event_source *source);

/* For reading twice: copies the events of a run or of standard input to an unnamed
 * file, from which they are read from now on.  Returns 0, or the exit status after a
 * message. */
int esi_event_source_keep(struct esi_event_source *source);
void esi_event_source_fini(struct esi_event_source *source);

enum { ES_MISSING_BYTES = 512 };

/* Returns whether anything is missing from an archive or a run, with a comma-separated
 * list. */
bool esi_event_source_format_missing(const struct esi_set_source_facts *facts,
                                     char ret_text[ES_MISSING_BYTES]);
/* The consequence for answers. */
extern const char esi_event_source_lower_bound[];
/* Prints both on standard error, if anything is missing. */
void esi_event_source_tell_missing(const struct esi_set_source_facts *facts);

#endif
