/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Where in the program an operation is called: the address behind the call.
 *
 * The exported wrappers leave their return address and their frame with the thread.
 * While calls come from one module, that is all.  A module that calls MPI for the first
 * time is registered in the segment.
 *
 * Fortran programs call MPI through MPI's Fortran library, so that the return address
 * lies there.  Then the site is the first return address above it that does not.  Where
 * on the stack that stands, as seen from the frame below, is the same in each call from
 * one place: it is found by unwinding, some times in a row to be sure, and then known.
 *
 * Known calls take no lock, allocate nothing and do not unwind.  All functions are
 * thread safe.
 */
#ifndef ES_WRAPPERS_MPI_SITES_H
#define ES_WRAPPERS_MPI_SITES_H

#include <stdint.h>

#include "wrappers/mpi/thread.h"

/* What an exported wrapper leaves on entry: its return address, and its frame as the
 * caller sees it (the stack pointer at the call). */
ES_HOT void esi_site_enter(const void *address, const void *frame)
{
    esi_thread_self.entered = (uintptr_t)address;
    esi_thread_self.frame = (uintptr_t)frame;
}

/* Finds the site of a call that does not come from the module that the thread's calls
 * came from so far. */
void esi_site_find(struct esi_thread *thread);

/* The site of the call that is entered: thread->site. */
ES_HOT void esi_site_take(struct esi_thread *thread)
{
    thread->site = thread->entered;
    if (ESI_UNLIKELY(thread->site - thread->module_begin >= thread->module_bytes))
        esi_site_find(thread);
}

/*
 * Records of requests have room for 16 bits: sites that post requests are numbered.  At
 * most 4,096 of them, not all if their hashes are alike; 0 stands for others.
 */
uint16_t esi_site_number_slowly(uint64_t site);
/* Sites by number less one; NULL until one is numbered. */
extern _Atomic(_Atomic uint64_t *) esi_site_numbers
    __attribute__((visibility("hidden")));

enum { ESI_SITE_NUMBERS_LOG2 = 12, ESI_SITE_NUMBERS = 1 << ESI_SITE_NUMBERS_LOG2 };

/* The site of a number; `other` for 0. */
ES_HOT uint64_t esi_site_of(uint16_t number, uint64_t other)
{
    /* Pairs with the release where they are made: they are zero. */
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
