/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Call sites: the return address of an operation in the program.
 *
 * The exported wrappers store their return address and frame in the thread.  That is
 * sufficient while all calls come from one module.  A module that calls MPI for the
 * first time is registered in the segment.
 *
 * Fortran programs call MPI through MPI's Fortran library, which contains the return
 * address.  Then the site is the first return address above it in another module.  Its
 * position on the stack, relative to the frame below, is the same in each call from one
 * place: it is found by unwinding, repeated a few times for confirmation, and then
 * reused.
 *
 * Known calls take no lock, allocate nothing and do not unwind.  Thread safe.
 */
#ifndef ES_WRAPPERS_MPI_SITES_H
#define ES_WRAPPERS_MPI_SITES_H

#include <stdint.h>

#include "wrappers/mpi/thread.h"

/* Called by exported wrappers on entry: stores the return address and the frame as seen
 * by the caller (the stack pointer at the call). */
ES_HOT void esi_site_enter(const void *address, const void *frame)
{
    esi_thread_self.entered = (uintptr_t)address;
    esi_thread_self.frame = (uintptr_t)frame;
}

/* Finds the site of a call from a module other than that of the thread's previous
 * calls. */
void esi_site_find(struct esi_thread *thread);

/* Sets thread->site to the site of the call being entered. */
ES_HOT void esi_site_take(struct esi_thread *thread)
{
    thread->site = thread->entered;
    if (ESI_UNLIKELY(thread->site - thread->module_begin >= thread->module_bytes))
        esi_site_find(thread);
}

/*
 * Records of requests only have 16 bits for the site, so sites that post requests are
 * numbered.  At most 4,096, fewer if their hashes collide; 0 stands for others.
 */
uint16_t esi_site_number_slowly(uint64_t site);
/* Sites by number minus one; NULL until one is numbered. */
extern _Atomic(_Atomic uint64_t *) esi_site_numbers
    __attribute__((visibility("hidden")));

enum { ESI_SITE_NUMBERS_LOG2 = 12, ESI_SITE_NUMBERS = 1 << ESI_SITE_NUMBERS_LOG2 };

/* The site with a number; `other` for 0. */
ES_HOT uint64_t esi_site_of(uint16_t number, uint64_t other)
{
    /* Pairs with the release where they are created: they are zero. */
    const _Atomic uint64_t *numbers =
        atomic_load_explicit(&esi_site_numbers, memory_order_acquire);

    return number == 0 || number > ESI_SITE_NUMBERS || numbers == NULL
               ? other
               : atomic_load_explicit(&numbers[number - 1], memory_order_relaxed);
}

ES_HOT uint16_t esi_site_number(struct esi_thread *thread)
{
    struct esi_numbered_site *known =
        &thread->numbered[(thread->site ^ thread->site >> 4) % ESI_SITE_CACHE];

    if (ESI_UNLIKELY(known->site != thread->site)) {
        known->number = esi_site_number_slowly(thread->site);
        known->site = thread->site;
    }
    return known->number;
}

#endif
