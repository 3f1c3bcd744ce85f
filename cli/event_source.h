/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* event_source.h - reading an event set for a command, with progress on a terminal. */
#ifndef ES_CLI_EVENT_SOURCE_H
#define ES_CLI_EVENT_SOURCE_H

#include <argp.h>
#include <stdbool.h>

#include "cli/consumer.h"
#include "monitors/causality/set_source.h"

struct esi_causality_scope;

/* Zeros, but for the path, are what there is now, on all hosts. */
struct esi_event_source {
    const char *path; /* of an event set SET or archive DIR, "-", or the name of a RUN;
                         NULL = the only live run; borrowed */
    bool follow;      /* a run: until it is over, or an interrupt */
    /* Ends following earlier; asked between readings; NULL: nothing does. */
    bool (*is_enough)(void *data);
    void *enough_data; /* borrowed */
    /* Is called between readings of a run that is followed, with what reads it and the
     * run time up to which it was read.  A negative result ends following; NULL: nobody
     * is. */
    int (*paused)(void *data,
                  const struct esi_causality_scope *reading,
                  uint64_t now_ns);
    void *paused_data;                    /* borrowed */
    struct esi_consumer_options consumer; /* of a run */
    /* Of an archive or a run.  After an interrupt it may end reading by -ECANCELED. */
    struct esi_causal_listener listener;
    /* Looks at what was found of an archive or a run; NULL: nobody does. */
    void (*found)(void *data, const struct esi_causality *causality);
    void *found_data; /* borrowed */
    /* Of esi_event_source_keep(). */
    char *kept; /* NULL: nothing was kept */
    int descriptor;
    struct esi_set_source_facts facts;
};

/* SET|DIR|RUN, --follow, --server and --local, to be included as a child parser; its
 * input is a struct esi_event_source *. */
extern const struct argp esi_event_source_argp;

/* What the path is.  0, or the exit status after the message that nothing is there. */
int esi_event_source_find(const struct esi_event_source *source,
                          enum esi_set_source_kind *ret_kind);

/* For listeners, which event sets have nothing for.  0 where it is an archive or a run,
 * else the exit status after the message. */
int esi_event_source_refuse_set(const struct esi_event_source *source);

enum { ES_SOURCE_SINKS = 4 };

/* Reads all into each of `count` sinks (sinks.h), at most ES_SOURCE_SINKS.  `ret_facts`
 * may be NULL.  0, or the exit status after the message: ES_EXIT_LOST where contact
 * with a run was lost. */
int esi_event_source_read(const struct esi_event_source *source,
                          bool attributes,
                          const struct es_set_sink *sinks,
                          size_t count,
                          struct esi_set_source_facts *ret_facts);

/* Whether all traces are told ahead of the first event. */
bool esi_event_source_tells_traces_first(const struct esi_event_source *source);

/* For what is read twice: the events of a run or of standard input are written to a
 * file without a name, from which they are read from now on.  0, or the exit status
 * after the message. */
int esi_event_source_keep(struct esi_event_source *source);
void esi_event_source_fini(struct esi_event_source *source);

enum { ES_MISSING_BYTES = 512 };

/* Whether anything is missing of an archive or a run; lists what, with commas. */
bool esi_event_source_format_missing(const struct esi_set_source_facts *facts,
                                     char ret_text[ES_MISSING_BYTES]);
/* What that means for answers. */
extern const char esi_event_source_lower_bound[];
/* Says both on standard error, if anything is missing. */
void esi_event_source_tell_missing(const struct esi_set_source_facts *facts);

#endif
