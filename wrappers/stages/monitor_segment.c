/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* monitor_segment.c - the segments of this process that stages record into. */
#include "config.h"

#include "wrappers/stages/monitor_segment.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/host.h"
#include "base/list.h"
#include "eventspace/operation.h"
#include "tuplespace/segment.h"

enum { MAX_ELEMENTS = 1024 };

struct monitor_segment;

struct esi_monitor_element {
    struct esi_list_link link;    /* in the elements of its home */
    struct monitor_segment *home; /* borrowed */
    struct esi_writer writer;
    uint32_t threshold;
    bool used;
    char name[64];
};

/* One per run that this process observes itself in. */
struct monitor_segment {
    struct esi_list_link link;  /* in `all` */
    struct es_segment *segment; /* owned */
    struct esi_list elements;   /* owned */
    size_t used;
    char run[64];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct esi_list all; /* of segments; under lock */

struct esi_writer *esi_monitor_element_writer(struct esi_monitor_element *element)
{
    return &element->writer;
}

static void destroy_home(struct monitor_segment *home)
{
    ESI_LIST_FOREACH_SAFE(struct esi_monitor_element, element, &home->elements, link)
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

/* The segment of the run, made if need be. */
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

/* Removes a segment of which nothing is in use. */
static void drop_home(struct monitor_segment *home)
{
    if (home->used)
        return;
    esi_list_remove(&all, &home->link);
    destroy_home(home);
}

static struct esi_monitor_element *find_element(const struct monitor_segment *home,
                                                const char *name)
{
    ESI_LIST_FOREACH(struct esi_monitor_element, element, &home->elements, link)
        if (strcmp(element->name, name) == 0)
            return element;
    return NULL;
}

static int add_element(struct monitor_segment *home,
                       const char *name,
                       uint32_t threshold,
                       struct es_error *error,
                       struct esi_monitor_element **ret_element)
{
    struct esi_monitor_element *element = calloc(1, sizeof *element);
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
        return es_error_set(error, result, "cannot make the element \"%s\": %s", name,
                            strerror(-result));
    }
    snprintf(element->name, sizeof element->name, "%s", name);
    element->threshold = threshold;
    element->home = home;
    esi_list_prepend(&home->elements, &element->link);
    *ret_element = element;
    return 0;
}

/* An element of this name, or of the name with a number, that nobody uses. */
static int take_element(struct monitor_segment *home,
                        const char *name,
                        uint32_t threshold,
                        struct es_error *error,
                        struct esi_monitor_element **ret_element)
{
    struct esi_monitor_element *element;
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

int esi_monitor_element_open(const char *run,
                             const char *name,
                             uint32_t threshold,
                             struct es_error *error,
                             struct esi_monitor_element **ret_element)
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

void esi_monitor_element_close(struct esi_monitor_element *element)
{
    if (!element)
        return;
    pthread_mutex_lock(&lock);
    element->used = false;
    element->home->used--;
    drop_home(element->home);
    pthread_mutex_unlock(&lock);
}
