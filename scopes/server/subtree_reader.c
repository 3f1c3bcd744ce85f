/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* subtree_reader.c - readers for whom writers wait, shared by all subtrees in this
 * process. */
#include "config.h"

#include "scopes/server/subtree_reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

/* An element at which this process is registered.  Connections may map it at different
 * addresses, so it is identified by process, host and name. */
struct subtree_reader_shared {
    struct esi_list_link link; /* in `all` */
    struct esi_list readers;
    bool is_held; /* stays without readers */
    int pid;
    char name[];
};

struct esi_subtree_reader {
    struct esi_list_link link; /* among the readers of this element */
    struct subtree_reader_shared *shared;
    const struct es_element_view *element; /* borrowed */
    uint64_t position;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct esi_list all; /* struct subtree_reader_shared; protected by `lock` */

static int pid_of(const struct es_element_view *element)
{
    struct es_segment_info info;

    es_segment_view_info(es_element_view_segment(element), &info);
    return info.pid;
}

static struct subtree_reader_shared *find_shared(const char *name, int pid)
{
    ESI_LIST_FOREACH(struct subtree_reader_shared, shared, &all, link)
        if (shared->pid == pid && strcmp(shared->name, name) == 0)
            return shared;
    return NULL;
}

/* Registers this process at an element at which it was not registered. */
static int add_shared(const struct es_element_view *element,
                      const struct es_element_info *info,
                      int pid,
                      uint64_t position,
                      struct subtree_reader_shared **ret_shared)
{
    size_t bytes = strlen(info->name) + 1;
    struct subtree_reader_shared *shared = calloc(1, sizeof *shared + bytes);
    int result;

    if (!shared)
        return -ENOMEM;
    result = es_element_register_reader(element, position);
    if (result < 0) {
        free(shared);
        return result;
    }
    shared->pid = pid;
    memcpy(shared->name, info->name, bytes);
    esi_list_prepend(&all, &shared->link);
    *ret_shared = shared;
    return 0;
}

/* Ends the registration: nobody reads the element any more. */
static void end_shared(struct subtree_reader_shared *shared,
                       const struct es_element_view *element)
{
    es_element_unregister_reader(element);
    esi_list_remove(&all, &shared->link);
    free(shared);
}

/* The slowest reader decides. */
static void subtree_reader_acknowledge(const struct subtree_reader_shared *shared,
                                       const struct es_element_view *element)
{
    uint64_t least = UINT64_MAX;

    ESI_LIST_FOREACH(const struct esi_subtree_reader, reader, &shared->readers, link)
        least = reader->position < least ? reader->position : least;
    es_element_acknowledge(element, least);
}

int esi_subtree_reader_join(const struct es_element_view *element,
                            uint64_t position,
                            struct esi_subtree_reader **ret_reader)
{
    struct esi_subtree_reader *reader = calloc(1, sizeof *reader);
    struct es_element_info info;
    struct subtree_reader_shared *shared;
    int pid = pid_of(element);
    int result = 0;

    if (!reader)
        return -ENOMEM;
    es_element_view_info(element, &info);
    pthread_mutex_lock(&lock);
    shared = find_shared(info.name, pid);
    if (!shared)
        result = add_shared(element, &info, pid, position, &shared);
    if (result == 0) {
        *reader = (struct esi_subtree_reader){
            .shared = shared, .element = element, .position = position};
        esi_list_prepend(&shared->readers, &reader->link);
        subtree_reader_acknowledge(shared, element);
    }
    pthread_mutex_unlock(&lock);
    if (result < 0) {
        free(reader);
        return result;
    }
    *ret_reader = reader;
    return 0;
}

void esi_subtree_reader_acknowledge(struct esi_subtree_reader *reader,
                                    uint64_t position)
{
    pthread_mutex_lock(&lock);
    if (position > reader->position) {
        reader->position = position;
        subtree_reader_acknowledge(reader->shared, reader->element);
    }
    pthread_mutex_unlock(&lock);
}

void esi_subtree_reader_leave(struct esi_subtree_reader *reader)
{
    if (!reader)
        return;
    pthread_mutex_lock(&lock);
    esi_list_remove(&reader->shared->readers, &reader->link);
    if (reader->shared->readers.first)
        subtree_reader_acknowledge(reader->shared, reader->element);
    else if (!reader->shared->is_held)
        end_shared(reader->shared, reader->element);
    pthread_mutex_unlock(&lock);
    free(reader);
}

int esi_subtree_reader_hold(const struct es_element_view *element)
{
    int pid = pid_of(element);
    struct es_element_info info;
    struct subtree_reader_shared *shared;
    int result = 0;

    es_element_view_info(element, &info);
    pthread_mutex_lock(&lock);
    shared = find_shared(info.name, pid);
    if (!shared)
        result = add_shared(element, &info, pid, 0, &shared);
    if (result == 0)
        shared->is_held = true;
    pthread_mutex_unlock(&lock);
    return result;
}

void esi_subtree_reader_release(const struct es_element_view *element)
{
    int pid = pid_of(element);
    struct es_element_info info;
    struct subtree_reader_shared *shared;

    es_element_view_info(element, &info);
    pthread_mutex_lock(&lock);
    shared = find_shared(info.name, pid);
    if (shared && shared->is_held) {
        shared->is_held = false;
        if (!shared->readers.first)
            end_shared(shared, element);
    }
    pthread_mutex_unlock(&lock);
}
