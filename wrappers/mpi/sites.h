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
/* The site of a number; `other` for 0. */
uint64_t esi_site_of(uint16_t number, uint64_t other);

ES_HOT uint16_t esi_site_number(struct esi_thread *thread)
{
    if (ESI_UNLIKELY(thread->numbered_site != thread->site)) {
        thread->site_number = esi_site_number_slowly(thread->site);
        thread->numbered_site = thread->site;
    }
    return thread->site_number;
}

#endif
