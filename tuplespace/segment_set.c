/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* segment_set.c - attaches the segments of a run once for all readers. */
#include "config.h"

#include "tuplespace/segment_set.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/process.h"
#include "tuplespace/view_private.h"

struct esi_segment_set {
    char run[64];
    pthread_mutex_t lock; /* protects everything below, and the use of the views */
    struct es_segment_view **items; /* owned; in the order of attaching */
    size_t count;
    size_t capacity;
    struct esi_hash by_file;     /* of the items */
    uint64_t serial;             /* of the newest item */
    _Atomic uint64_t scans;      /* scans begun; also read without the lock */
    struct es_error *unreadable; /* owned: errors of the last scan */
    size_t unreadable_count;
    size_t unreadable_capacity;
};

int esi_segment_set_create(const char *run, struct esi_segment_set **ret_set)
{
    struct esi_segment_set *set = calloc(1, sizeof *set);

    if (!set)
        return -ENOMEM;
    snprintf(set->run, sizeof set->run, "%s", run);
    pthread_mutex_init(&set->lock, NULL);
    *ret_set = set;
    return 0;
}

const char *esi_segment_set_run(const struct esi_segment_set *set)
{
    return set->run;
}

void esi_segment_set_destroy(struct esi_segment_set *set)
{
    int saved_errno = errno;

    if (!set)
        return;
    for (size_t i = 0; i < set->count; i++)
        esi_segment_view_detach(set->items[i]);
    esi_hash_fini(&set->by_file);
    pthread_mutex_destroy(&set->lock);
    free(set->items);
    free(set->unreadable);
    free(set);
    errno = saved_errno;
}

/* --- Scanning: called with the lock held ---------------------------------------- */

static uint64_t hash_file(uint64_t inode, int pid)
{
    return esi_hash_mix(esi_hash_u64(inode), (uint64_t)pid);
}

static struct es_segment_view *find_view(const struct esi_segment_set *set,
                                         uint64_t inode,
                                         int pid)
{
    ESI_HASH_FOREACH(slot, &set->by_file, hash_file(inode, pid)) {
        struct es_segment_view *view = set->items[esi_hash_index(&set->by_file, slot)];

        if (view->inode == inode && view->name.pid == pid)
            return view;
    }
    return NULL;
}

static int note_unreadable(struct esi_segment_set *set, const struct es_error *error)
{
    if (ESI_ARRAY_RESERVE(set->unreadable, set->unreadable_capacity,
                          set->unreadable_count + 1) < 0)
        return -ENOMEM;
    set->unreadable[set->unreadable_count++] = *error;
    return 0;
}

static int attach_segment(struct esi_segment_set *set,
                          const struct esi_segment_name *name)
{
    struct es_error error = {.text = ""};
    struct es_segment_view *view;
    int rc;

    if (ESI_ARRAY_RESERVE(set->items, set->capacity, set->count + 1) < 0 ||
        esi_hash_reserve(&set->by_file, set->count + 1) < 0)
        return -ENOMEM;
    rc = esi_segment_view_attach(name, &error, &view);
    if (rc == -ENOMEM)
        return rc;
    /* Segments being created, or just removed, are ignored. */
    if (rc == -ENOENT || (rc == -EAGAIN && esi_process_is_alive(name->pid, 0)))
        return 0;
    if (rc != 0)
        return note_unreadable(set, &error);
    view->serial = ++set->serial;
    view->seen = set->scans;
    esi_hash_insert(&set->by_file, hash_file(view->inode, view->name.pid), set->count);
    set->items[set->count++] = view;
    return 0;
}

static int visit_segment(const struct esi_segment_name *name,
                         const struct stat *status,
                         void *context)
{
    struct esi_segment_set *set = context;
    struct es_segment_view *view = find_view(set, status->st_ino, name->pid);

    if (!view)
        return attach_segment(set, name);
    view->seen = set->scans;
    return esi_segment_view_refresh(view, status);
}

/* Returns whether the file of the view existed at the last scan. */
static bool is_there(const struct esi_segment_set *set,
                     const struct es_segment_view *view)
{
    return view->seen == set->scans;
}

/* Detaches segments that are gone and not referenced. */
static void drop_unused(struct esi_segment_set *set)
{
    size_t kept = 0;

    for (size_t i = 0; i < set->count; i++) {
        struct es_segment_view *view = set->items[i];

        if (view->references > 0 || is_there(set, view))
            set->items[kept++] = view;
        else
            esi_segment_view_detach(view);
    }
    if (kept == set->count)
        return;
    set->count = kept;
    esi_hash_clear(&set->by_file);
    /* There is room: it held more. */
    for (size_t i = 0; i < kept; i++)
        esi_hash_insert(&set->by_file,
                        hash_file(set->items[i]->inode, set->items[i]->name.pid), i);
}

/* Processes whose files are gone may still add elements. */
static int refresh_gone(struct esi_segment_set *set)
{
    int rc = 0;

    for (size_t i = 0; i < set->count && rc == 0; i++)
        if (!is_there(set, set->items[i]))
            rc = esi_segment_view_refresh(set->items[i], NULL);
    return rc;
}

static int segment_set_scan(struct esi_segment_set *set)
{
    int rc;

    atomic_fetch_add_explicit(&set->scans, 1, memory_order_relaxed);
    set->unreadable_count = 0;
    rc = esi_segment_name_foreach(set->run, visit_segment, set);
    if (rc != 0) {
        /* An aborted scan does not show which are gone. */
        for (size_t i = 0; i < set->count; i++)
            set->items[i]->seen = set->scans;
        return rc;
    }
    drop_unused(set);
    return refresh_gone(set);
}

/* --- Lists: called with the lock held ------------------------------------------- */

static void ref_view(struct es_segment_view *view, bool reads)
{
    view->references++;
    if (reads && view->readers++ == 0)
        esi_segment_view_refine_clock(view);
}

static void unref_view(struct es_segment_view *view, bool reads)
{
    view->references--;
    if (reads && --view->readers == 0)
        esi_segment_view_end_watch(view);
}

static int take_new(const struct esi_segment_set *set, struct esi_segment_list *list)
{
    size_t first = set->count;

    while (first > 0 && set->items[first - 1]->serial > list->serial)
        first--;
    if (ESI_ARRAY_RESERVE(list->items, list->capacity,
                          list->count + set->count - first) < 0)
        return -ENOMEM;
    for (size_t i = first; i < set->count; i++) {
        if (!is_there(set, set->items[i]))
            continue;
        ref_view(set->items[i], list->reads);
        list->items[list->count++] = (struct esi_listed_segment){.view = set->items[i]};
    }
    list->serial = set->serial;
    return 0;
}

static int copy_unreadable(const struct esi_segment_set *set,
                           struct esi_segment_list *list)
{
    size_t count = set->unreadable_count;

    if (ESI_ARRAY_RESERVE(list->unreadable, list->unreadable_capacity, count) < 0)
        return -ENOMEM;
    if (count > 0)
        memcpy(list->unreadable, set->unreadable, count * sizeof *list->unreadable);
    list->unreadable_count = count;
    return 0;
}

/* Updates the counts.  Returns the number of elements that are new to the list. */
static size_t update_counts(struct esi_segment_list *list)
{
    size_t found = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct esi_listed_segment *item = &list->items[i];
        uint32_t count = esi_segment_view_count(item->view);

        found += count - item->elements;
        item->elements = count;
        item->scanned = item->view->scanned;
    }
    return found;
}

int esi_segment_set_update(struct esi_segment_set *set, struct esi_segment_list *list)
{
    uint64_t scans = atomic_load_explicit(&set->scans, memory_order_relaxed);
    size_t before = list->count;
    int rc = 0;

    pthread_mutex_lock(&set->lock);
    /* A scan that began after this call has found everything that this one would. */
    if (set->scans == scans)
        rc = segment_set_scan(set);
    if (rc == 0)
        rc = take_new(set, list);
    if (rc == 0)
        rc = copy_unreadable(set, list);
    if (rc == 0)
        rc = (int)(list->count - before + update_counts(list));
    pthread_mutex_unlock(&set->lock);
    return rc;
}

void esi_segment_set_release(struct esi_segment_set *set, struct esi_segment_list *list)
{
    pthread_mutex_lock(&set->lock);
    for (size_t i = 0; i < list->count; i++)
        unref_view(list->items[i].view, list->reads);
    drop_unused(set);
    pthread_mutex_unlock(&set->lock);
    free(list->items);
    free(list->unreadable);
    *list = (struct esi_segment_list){.reads = list->reads};
}
