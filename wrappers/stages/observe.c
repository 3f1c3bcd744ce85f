/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* observe.c - a collector for stages: records each pull that passes.
 *
 * Its tuples go to an element of this process, so a second consumer can observe the
 * first one's tree in the same way as both observe the program.  The elements are in
 * one segment per process and run, which is created with the first element in use and
 * removed with the last. */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "base/list.h"
#include "eventspace/operation.h"
#include "tuplespace/operation_codes.h"
#include "tuplespace/segment.h"
#include "tuplespace/writer.h"
#include "wrappers/stages/stage.h"

/* --- Elements of this process ----------------------------------------------------- */

enum { MAX_ELEMENTS = 1024 };

struct monitor_segment;

struct monitor_element {
    struct esi_list_link link;    /* in the elements of its home */
    struct monitor_segment *home; /* borrowed */
    struct esi_writer writer;
    uint32_t threshold;
    bool used;
    char name[64];
};

/* One per run in which this process observes itself. */
struct monitor_segment {
    struct esi_list_link link;  /* in `all` */
    struct es_segment *segment; /* owned */
    struct esi_list elements;   /* owned */
    size_t used;
    char run[64];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct esi_list all; /* of segments; protected by the lock */

static void destroy_home(struct monitor_segment *home)
{
    ESI_LIST_FOREACH_SAFE(struct monitor_element, element, &home->elements, link)
        free(element);
    esi_segment_destroy(home->segment);
    free(home);
}

static int create_home(const char *run,
                       struct es_error *error,
                       struct monitor_segment **ret_home)
{
    struct monitor_segment *home = calloc(1, sizeof *home);
    char host[ES_HOST_NAME_BYTES];
    struct esi_segment_config config;
    int result;

    if (!home)
        return -ENOMEM;
    esi_segment_config_init(&config);
    config.run = run;
    config.host = esi_host_name(host);
    config.program = program_invocation_short_name;
    config.rank = -1;
    config.size = -1;
    config.max_elements = MAX_ELEMENTS;
    config.max_communicators = 1;
    result = esi_segment_create(&config, error, &home->segment);
    if (result < 0) {
        free(home);
        return result;
    }
    snprintf(home->run, sizeof home->run, "%s", run);
    *ret_home = home;
    return 0;
}

/* Finds or creates the segment of the run. */
static int find_home(const char *run,
                     struct es_error *error,
                     struct monitor_segment **ret_home)
{
    struct monitor_segment *made;
    int result;

    ESI_LIST_FOREACH(struct monitor_segment, home, &all, link)
        if (strcmp(home->run, run) == 0) {
            *ret_home = home;
            return 0;
        }
    result = create_home(run, error, &made);
    if (result < 0)
        return result;
    esi_list_prepend(&all, &made->link);
    *ret_home = made;
    return 0;
}

/* Removes a segment without elements in use. */
static void drop_home(struct monitor_segment *home)
{
    if (home->used)
        return;
    esi_list_remove(&all, &home->link);
    destroy_home(home);
}

static struct monitor_element *find_element(const struct monitor_segment *home,
                                            const char *name)
{
    ESI_LIST_FOREACH(struct monitor_element, element, &home->elements, link)
        if (strcmp(element->name, name) == 0)
            return element;
    return NULL;
}

static int add_element(struct monitor_segment *home,
                       const char *name,
                       uint32_t threshold,
                       struct es_error *error,
                       struct monitor_element **ret_element)
{
    struct monitor_element *element = calloc(1, sizeof *element);
    struct esi_element_config config = {.kind = ES_ELEMENT_TRACE,
                                        .name = name,
                                        .collector = "observe",
                                        .rank = -1,
                                        .classes = 1u << ES_CLASS_MONITOR,
                                        .peer = ES_PEER_NONE,
                                        .communicator = ES_COMMUNICATOR_NONE,
                                        .tuple_bytes = sizeof(struct es_tuple),
                                        .threshold = threshold,
                                        .on_full = ES_ON_FULL_DISCARD,
                                        .enabled = true};
    int result;

    if (!element)
        return -ENOMEM;
    result = esi_segment_add_element(home->segment, &config, &element->writer);
    if (result < 0) {
        free(element);
        return es_error_set(error, result, "cannot make the element '%s': %s", name,
                            strerror(-result));
    }
    snprintf(element->name, sizeof element->name, "%s", name);
    element->threshold = threshold;
    element->home = home;
    esi_list_prepend(&home->elements, &element->link);
    *ret_element = element;
    return 0;
}

/* Finds or creates an unused element with this name, or with the name and a number. */
static int take_element(struct monitor_segment *home,
                        const char *name,
                        uint32_t threshold,
                        struct es_error *error,
                        struct monitor_element **ret_element)
{
    struct monitor_element *element;
    char numbered[64];

    snprintf(numbered, sizeof numbered, "%.56s", name);
    for (unsigned i = 2; (element = find_element(home, numbered)) != NULL; i++) {
        if (!element->used && element->threshold == threshold) {
            *ret_element = element;
            return 0;
        }
        snprintf(numbered, sizeof numbered, "%.56s#%u", name, i);
    }
    return add_element(home, numbered, threshold, error, ret_element);
}

/* Opens an element of class monitor.  If the name is in use, a number is appended;
 * unused elements are reused.  Returns 0, or -errno with `error` filled. */
static int open_monitor_element(const char *run,
                                const char *name,
                                uint32_t threshold,
                                struct es_error *error,
                                struct monitor_element **ret_element)
{
    struct monitor_segment *home;
    int result;

    pthread_mutex_lock(&lock);
    result = find_home(run, error, &home);
    if (result == 0) {
        result = take_element(home, name, threshold, error, ret_element);
        if (result == 0) {
            (*ret_element)->used = true;
            home->used++;
        }
        drop_home(home);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static void close_monitor_element(struct monitor_element *element)
{
    pthread_mutex_lock(&lock);
    element->used = false;
    element->home->used--;
    drop_home(element->home);
    pthread_mutex_unlock(&lock);
}

/* --- The stage -------------------------------------------------------------------- */

enum { PROPERTY_NAME, PROPERTY_RUN, PROPERTY_THRESHOLD };
static const struct es_property_schema properties[] = {
    [PROPERTY_NAME] = {.name = "name",
                       .type = ES_PROPERTY_TEXT,
                       .fallback = "scope",
                       .minimum = 1,
                       .maximum = 31,
                       .help = "name of the scope, part of the element's name"},
    [PROPERTY_RUN] = {.name = "run",
                      .type = ES_PROPERTY_TEXT,
                      .fallback = "",
                      .maximum = 63,
                      .help = "run that the element belongs to; empty = the one that "
                              "is observed"},
    [PROPERTY_THRESHOLD] = {.name = "threshold",
                            .type = ES_PROPERTY_INTEGER,
                            .fallback = "4095",
                            .minimum = 15,
                            .maximum = 1 << 20,
                            .help = "pulls kept before the oldest are discarded"},
};

struct observe {
    struct monitor_element *element; /* owned */
    enum es_clock_kind clock;
    uint32_t count; /* number of pulls */
};

static int open_observe(struct es_stage *stage,
                        const struct es_property_value *values,
                        struct es_error *error)
{
    const char *run = values[PROPERTY_RUN].text;
    struct observe *observe;
    char name[64];
    int result;

    if (!*run && stage->context && stage->context->run)
        run = stage->context->run;
    if (!*run)
        return es_error_set(error, -EINVAL,
                            "observe: the run is not known: set the property 'run'");
    observe = calloc(1, sizeof *observe);
    if (!observe)
        return -ENOMEM;
    snprintf(name, sizeof name, "scope/%.20s/%.29s", values[PROPERTY_NAME].text,
             *stage->label ? stage->label : stage->children[0]->label);
    result =
        open_monitor_element(run, name, (uint32_t)values[PROPERTY_THRESHOLD].integer,
                             error, &observe->element);
    if (result < 0) {
        free(observe);
        return result;
    }
    observe->clock = es_clock_kind();
    stage->state = observe;
    return 0;
}

static void close_observe(struct es_stage *stage)
{
    struct observe *observe = stage->state;

    close_monitor_element(observe->element);
    free(observe);
}

static int pull_observe(struct es_stage *stage,
                        const struct es_pull *pull,
                        struct es_batch *batch)
{
    struct observe *observe = stage->state;
    struct esi_writer *writer = &observe->element->writer;
    struct es_tuple tuple = {.operation = ES_OP_EventSpace_pull,
                             .communicator = ES_COMMUNICATOR_NONE,
                             .start = es_clock_ticks_of(observe->clock),
                             .sequence = ++observe->count,
                             .peer = ES_PEER_NONE};
    size_t first = batch->count;
    int result;

    esi_writer_open(writer, &tuple);
    result = es_stage_pull(stage->children[0], pull, batch);
    tuple.stop = es_clock_ticks_of(observe->clock);
    tuple.tag = -result;
    tuple.bytes = (uint32_t)(batch->count - first);
    esi_writer_write(writer, &tuple);
    return result;
}

const struct es_stage_ops esi_stage_observe = {
    .name = "observe",
    .help = "records each pull that passes as a tuple of an element",
    .properties = properties,
    .property_count = sizeof properties / sizeof *properties,
    .min_children = 1,
    .max_children = 1,
    .open = open_observe,
    .pull = pull_observe,
    .ask = esi_stage_ask_child,
    .close = close_observe,
};
