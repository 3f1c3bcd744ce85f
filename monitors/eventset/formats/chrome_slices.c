/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Which operations of a thread can be shown as slices that nest. */
#include "config.h"

#include "monitors/eventset/formats/chrome_slices.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void esi_chrome_slices_fini(struct esi_chrome_slices *slices)
{
    free(slices->around.slices);
    free(slices->entered.slices);
}

static int push_slice(struct esi_chrome_list *list, const char *name, uint32_t index)
{
    struct esi_chrome_slice *slice;

    if (ESI_ARRAY_RESERVE(list->slices, list->capacity, list->count + 1) < 0)
        return -ENOMEM;
    slice = &list->slices[list->count++];
    *slice = (struct esi_chrome_slice){.index = index};
    snprintf(slice->name, sizeof slice->name, "%s", name);
    return 0;
}

static bool is_called(const struct esi_chrome_slice *slice, const char *name)
{
    return strncmp(slice->name, name, sizeof slice->name - 1) == 0;
}

bool esi_chrome_slices_add(struct esi_chrome_slices *slices,
                           const char *name,
                           const struct esi_chrome_span *span)
{
    struct esi_chrome_list *around = &slices->around;

    if (slices->any && span->start_ns < slices->last_start_ns)
        return false;
    while (around->count > 0 &&
           around->slices[around->count - 1].span.stop_ns <= span->start_ns)
        around->count--;
    if (around->count > 0 &&
        around->slices[around->count - 1].span.stop_ns < span->stop_ns)
        return false;
    if (push_slice(around, name, 0) < 0)
        return false;
    around->slices[around->count - 1].span = *span;
    slices->last_start_ns = span->start_ns;
    slices->any = true;
    return true;
}

bool esi_chrome_slices_has(const struct esi_chrome_slices *slices,
                           const char *name,
                           const struct esi_chrome_span *span)
{
    const struct esi_chrome_list *around = &slices->around;

    for (size_t i = around->count; i-- > 0;) {
        const struct esi_chrome_slice *slice = &around->slices[i];

        if (slice->span.start_ns == span->start_ns &&
            slice->span.stop_ns == span->stop_ns && is_called(slice, name))
            return true;
    }
    return false;
}

int esi_chrome_slices_enter(struct esi_chrome_slices *slices,
                            const char *name,
                            uint32_t index,
                            int64_t start_ns)
{
    struct esi_chrome_list *entered = &slices->entered;

    if (push_slice(entered, name, index) < 0)
        return -ENOMEM;
    entered->slices[entered->count - 1].span =
        (struct esi_chrome_span){start_ns, start_ns};
    return 0;
}

struct esi_chrome_slice *esi_chrome_slices_last(const struct esi_chrome_slices *slices)
{
    const struct esi_chrome_list *entered = &slices->entered;

    return entered->count > 0 ? &entered->slices[entered->count - 1] : NULL;
}

void esi_chrome_slices_drop_last(struct esi_chrome_slices *slices)
{
    slices->entered.count--;
}

struct esi_chrome_slice *esi_chrome_slices_pending(
    const struct esi_chrome_slices *slices)
{
    struct esi_chrome_slice *last = esi_chrome_slices_last(slices);

    return last && !last->shown ? last : NULL;
}

const struct esi_chrome_slice *esi_chrome_slices_entered(
    const struct esi_chrome_slices *slices,
    const char *name)
{
    const struct esi_chrome_list *entered = &slices->entered;

    for (size_t i = 0; i < entered->count; i++)
        if (is_called(&entered->slices[i], name))
            return &entered->slices[i];
    return NULL;
}

bool esi_chrome_slices_leave(struct esi_chrome_slices *slices,
                             const char *name,
                             struct esi_chrome_slice *ret_slice)
{
    struct esi_chrome_list *entered = &slices->entered;
    const struct esi_chrome_slice *left = esi_chrome_slices_entered(slices, name);
    size_t at;

    if (!left)
        return false;
    at = (size_t)(left - entered->slices);
    *ret_slice = *left;
    entered->count--;
    memmove(&entered->slices[at], &entered->slices[at + 1],
            (entered->count - at) * sizeof *entered->slices);
    return true;
}

bool esi_chrome_is_nonblocking(const char *name)
{
    static const char *const others[] = {"MPI_Init",       "MPI_Intercomm", "MPI_Info",
                                         "MPI_Improbe",    "MPI_Iprobe",    "MPI_Is_",
                                         "MPI_Initialized"};

    if (strncmp(name, "MPI_I", 5) != 0 || !islower((unsigned char)name[5]))
        return false;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            return false;
    return true;
}
