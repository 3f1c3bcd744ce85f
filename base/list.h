/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * list.h - intrusive doubly linked lists.
 *
 *     struct job {
 *         struct esi_list_link link;
 *         int number;
 *     };
 *
 *     esi_list_append(&queue, &job->link);
 *     ESI_LIST_FOREACH(struct job, job, &queue, link)
 *         printf("%d\n", job->number);
 *
 * The list does not own its items.  Zero is an empty list; links need no
 * initialization.  All operations take constant time.  No locks: any number of threads
 * may iterate, or one may modify.
 */
#ifndef ES_BASE_LIST_H
#define ES_BASE_LIST_H

#include <stddef.h>

struct esi_list_link {
    struct esi_list_link *next; /* NULL if last */
    struct esi_list_link *previous;
};

struct esi_list {
    struct esi_list_link *first;
    struct esi_list_link *last;
};

/* Inserts a link before `next`, or at the end if that is NULL. */
static inline void esi_list_insert(struct esi_list *list,
                                   struct esi_list_link *link,
                                   struct esi_list_link *next)
{
    struct esi_list_link *previous = next ? next->previous : list->last;

    link->next = next;
    link->previous = previous;
    *(previous ? &previous->next : &list->first) = link;
    *(next ? &next->previous : &list->last) = link;
}

static inline void esi_list_append(struct esi_list *list, struct esi_list_link *link)
{
    esi_list_insert(list, link, NULL);
}

static inline void esi_list_prepend(struct esi_list *list, struct esi_list_link *link)
{
    esi_list_insert(list, link, list->first);
}

/* Removes a link from its list. */
static inline void esi_list_remove(struct esi_list *list, struct esi_list_link *link)
{
    *(link->previous ? &link->previous->next : &list->first) = link->next;
    *(link->next ? &link->next->previous : &list->last) = link->previous;
}

/* The item that contains a link; NULL for NULL. */
#define ESI_LIST_ITEM(type, link_pointer, member)                                      \
    ((type *)esi_list_item((link_pointer), offsetof(type, member)))

static inline void *esi_list_item(const struct esi_list_link *link, size_t offset)
{
    return link ? (char *)link - offset : NULL;
}

/* The first item; NULL if the list is empty. */
#define ESI_LIST_FIRST(type, list, member) ESI_LIST_ITEM(type, (list)->first, member)

/* Removes and returns the first item; NULL if the list is empty. */
#define ESI_LIST_POP(type, list, member)                                               \
    ((type *)esi_list_item(esi_list_pop(list), offsetof(type, member)))

static inline struct esi_list_link *esi_list_pop(struct esi_list *list)
{
    struct esi_list_link *first = list->first;

    if (first)
        esi_list_remove(list, first);
    return first;
}

/* Iterates over the items.  The list must not change. */
#define ESI_LIST_FOREACH(type, item, list, member)                                     \
    for (type *item = ESI_LIST_FIRST(type, list, member); item;                        \
         item = ESI_LIST_ITEM(type, (item)->member.next, member))

/* Like ESI_LIST_FOREACH(), but `item` may be removed and freed. */
#define ESI_LIST_FOREACH_SAFE(type, item, list, member)                                \
    for (type *item = ESI_LIST_FIRST(type, list, member),                              \
              *item##_next = item ? ESI_LIST_ITEM(type, item->member.next, member)     \
                                  : NULL;                                              \
         item; item = item##_next,                                                     \
              item##_next = item ? ESI_LIST_ITEM(type, item->member.next, member)      \
                                 : NULL)

#endif
