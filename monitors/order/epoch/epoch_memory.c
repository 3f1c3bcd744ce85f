/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* epoch_memory.c - eras, and how they are spilled or forgotten. */
#include "config.h"

#include "monitors/order/epoch/epoch_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "eventspace/error.h"
#include "monitors/order/epoch/epoch_private.h"

/*
 * Memory whose contents move to an unnamed file and stay readable at the same address.
 *
 * Readers may read during the move: they find the same bytes before and after.
 */

struct esi_spill;

static void spill_free(struct esi_spill *spill, uint64_t at, uint64_t bytes);

/* === Moving pages to a file ======================================================= */

struct esi_spill {
    int file;
    uint64_t end;
};

/* Fallback for file systems without O_TMPFILE. */
static int open_named(const char *folder)
{
    char *path = NULL;
    int file;

    if (asprintf(&path, "%s/eventspace-order-XXXXXX", folder) < 0)
        return -ENOMEM;
    file = mkostemp(path, O_CLOEXEC);
    file = file < 0 ? -errno : file;
    if (file >= 0)
        unlink(path);
    free(path);
    return file;
}

/* Creates a file in a folder; it disappears when the process ends in any way.  Returns
 * 0, or a negative errno with a message. */
static int spill_create(const char *folder,
                        struct es_error *error,
                        struct esi_spill **ret_spill)
{
    struct esi_spill *spill = calloc(1, sizeof *spill);

    if (!spill)
        return es_error_set(error, -ENOMEM, "out of memory");
    spill->file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (spill->file < 0)
        spill->file = open_named(folder);
    if (spill->file < 0) {
        int code = spill->file;

        free(spill);
        return es_error_set(error, code, "cannot spill to %s: %s", folder,
                            strerror(-code));
    }
    *ret_spill = spill;
    return 0;
}

/* Memory that was written stays readable.  Accepts NULL. */
static void spill_destroy(struct esi_spill *spill)
{
    if (!spill)
        return;
    close(spill->file);
    free(spill);
}

/* Returns the position of the next write. */
static uint64_t spill_end(const struct esi_spill *spill)
{
    return spill->end;
}

static int write_all(const struct esi_spill *spill, const char *memory, size_t bytes)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t count = pwrite(spill->file, memory + done, bytes - done,
                               (off_t)(spill->end + done));

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count < 0 ? -errno : -ENOSPC;
        done += (size_t)count;
    }
    return 0;
}

/* Maps the file's pages over the memory; atomic for readers. */
static int spill_replace(const struct esi_spill *spill, void *memory, size_t bytes)
{
    void *pages =
        mmap(NULL, bytes, PROT_READ, MAP_SHARED, spill->file, (off_t)spill->end);
    int code = 0;

    if (pages == MAP_FAILED)
        return -errno;
    if (memcmp(pages, memory, bytes) != 0)
        code = -EIO;
    else if (mremap(pages, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, memory) ==
             MAP_FAILED)
        code = -errno;
    if (code < 0)
        munmap(pages, bytes);
    else /* A hint: the pages need not stay in memory. */
        (void)madvise(memory, bytes, MADV_DONTNEED);
    return code;
}

/* Writes whole pages of anonymous memory, verifies them by reading them back, and maps
 * the file in their place.  They must not be written any more.  Returns 0, or a
 * negative errno (-ENOSPC: the disk is full, -EIO: other bytes were read back), which
 * leaves the memory unchanged. */
static int spill_write(struct esi_spill *spill, void *memory, size_t bytes)
{
    int code = write_all(spill, memory, bytes);

    if (code >= 0)
        code = spill_replace(spill, memory, bytes);
    if (code < 0)
        spill_free(spill, spill->end, bytes);
    else
        spill->end += bytes;
    return code;
}

/* Frees disk space. */
static void spill_free(struct esi_spill *spill, uint64_t at, uint64_t bytes)
{
    /* If this is not supported, the space is freed at the end. */
    (void)fallocate(spill->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at,
                    (off_t)bytes);
}

/* === Eras ========================================================================= */

/* The size of an era is 1/ERAS of the limit, but at least LEAST_ERA bytes, and
 * LEAST_OF_TRACE bytes per trace, because an era has a cost per trace.  About
 * SPILLED_ERAS eras are in the file, since each is a mapping. */
enum { ERAS = 8, LEAST_ERA = 512, LEAST_OF_TRACE = 32, SPILLED_ERAS = 4096 };

struct era {
    struct era *newer;
    struct esi_epoch_arena blocks, cuts;
    uint32_t *ends; /* number of events of each trace at its end; in `cuts` */
    uint32_t traces;
    bool is_spilled;
    uint64_t written; /* its bytes in the file, from this position */
    uint64_t written_at;
    bool is_seen[2]; /* that side had no readers at some time since the era was
                        dropped */
};

struct esi_memory {
    uint64_t limit;
    struct esi_spill *spill; /* NULL = eras are forgotten */
    struct era *oldest, *newest;
    struct era *oldest_held; /* the oldest era that is not spilled; NULL = none */
    struct era *gone;        /* dropped eras that readers may still use */
    _Atomic uint64_t held;   /* bytes of eras in memory, including dropped ones */
    _Atomic uint64_t spilled;
    _Atomic uint64_t forgotten;
    _Atomic int error;
    /* New readers enter on `side`; the other side drains. */
    _Atomic unsigned side;
    _Atomic uint32_t readers[2];
};

/* --- Creation and destruction ----------------------------------------------------- */

int esi_memory_create(const struct esi_order_config *config,
                      struct es_error *error,
                      struct esi_memory **ret_memory)
{
    struct esi_memory *memory;
    int code = 0;

    *ret_memory = NULL;
    if (config->memory_bytes == 0)
        return 0;
    memory = calloc(1, sizeof *memory);
    if (!memory)
        return es_error_set(error, -ENOMEM, "out of memory");
    memory->limit = config->memory_bytes;
    if (config->spill_folder)
        code = spill_create(config->spill_folder, error, &memory->spill);
    if (code < 0) {
        free(memory);
        return code;
    }
    *ret_memory = memory;
    return 0;
}

static void free_era(struct esi_memory *memory, struct era *era)
{
    uint64_t bytes = esi_arena_bytes(&era->blocks) + esi_arena_bytes(&era->cuts);

    esi_arena_fini(&era->blocks);
    esi_arena_fini(&era->cuts);
    if (era->written)
        spill_free(memory->spill, era->written_at, era->written);
    atomic_fetch_sub_explicit(era->is_spilled ? &memory->spilled : &memory->held, bytes,
                              memory_order_relaxed);
    free(era);
}

static void free_eras(struct esi_memory *memory, struct era *era)
{
    while (era) {
        struct era *newer = era->newer;

        free_era(memory, era);
        era = newer;
    }
}

void esi_memory_destroy(struct esi_memory *memory)
{
    if (!memory)
        return;
    free_eras(memory, memory->oldest);
    free_eras(memory, memory->gone);
    spill_destroy(memory->spill);
    free(memory);
}

/* --- Readers ---------------------------------------------------------------------- */

/* Everything here is sequentially consistent: either the writer sees the reader, or the
 * reader sees what was forgotten. */

unsigned esi_memory_enter(struct esi_memory *memory)
{
    unsigned side = atomic_load_explicit(&memory->side, memory_order_relaxed);

    atomic_fetch_add_explicit(&memory->readers[side], 1, memory_order_seq_cst);
    return side;
}

void esi_memory_leave(struct esi_memory *memory, unsigned side)
{
    /* Pairs with the load in look_at_readers(). */
    atomic_fetch_sub_explicit(&memory->readers[side], 1, memory_order_acq_rel);
}

/* Records which sides have been empty since eras were dropped; sends new readers to the
 * other side if the present side is never empty. */
static void look_at_readers(struct esi_memory *memory)
{
    unsigned side = atomic_load_explicit(&memory->side, memory_order_relaxed);
    bool is_empty[2];

    for (int i = 0; i < 2; i++)
        is_empty[i] =
            atomic_load_explicit(&memory->readers[i], memory_order_seq_cst) == 0;
    for (struct era *era = memory->gone; era; era = era->newer)
        for (int i = 0; i < 2; i++)
            era->is_seen[i] = era->is_seen[i] || is_empty[i];
    if (!is_empty[side] && is_empty[1 - side])
        atomic_store_explicit(&memory->side, 1 - side, memory_order_relaxed);
}

static void free_gone(struct esi_memory *memory)
{
    struct era **link = &memory->gone;

    look_at_readers(memory);
    while (*link) {
        struct era *era = *link;

        if (era->is_seen[0] && era->is_seen[1]) {
            *link = era->newer;
            free_era(memory, era);
        } else {
            link = &era->newer;
        }
    }
}

/* --- Forgetting ------------------------------------------------------------------- */

/* Returns the number of the trace's events that are forgotten with an era. */
static uint32_t end_of(const struct era *era, uint32_t trace)
{
    return trace < era->traces ? era->ends[trace] : 0;
}

/* Copies the cuts that are still in use out of the era. */
static int carry_cuts(struct esi_epoch_store *store, const struct era *era)
{
    struct esi_cuts *cuts = &store->cuts;
    int code = esi_cuts_carry(cuts, 0);

    if (code >= 0)
        code = esi_cuts_carry(cuts, esi_cuts_last(cuts));
    for (uint32_t i = 0; i < store->trace_count && code >= 0; i++) {
        const struct esi_epoch_trace *trace = esi_epoch_trace_at(store, i);
        uint32_t cut = esi_trace_cut(trace);

        if (trace->count > end_of(era, i) &&
            esi_cut_at(cuts, cut)->era <= era->cuts.era)
            code = esi_cuts_carry(cuts, cut);
    }
    return code;
}

/* A trace without later events need not know anything. */
static void forget_of_trace(struct esi_epoch_store *store,
                            struct esi_epoch_trace *trace)
{
    uint64_t table_bytes = esi_table_bytes(&trace->known);

    esi_trace_forget(trace, &store->logs);
    esi_store_add(&store->table_bytes, (uint64_t)0 - table_bytes);
}

/* Forgets everything that had been appended at the end of an era, and the eras up to
 * that one.  Returns false if there is no memory for what must be kept of them. */
static bool era_forget(struct esi_epoch_store *store, struct era *era)
{
    struct esi_memory *memory = store->memory;
    struct era *last = era->newer, **link = &memory->gone;
    uint64_t events = 0;

    if (carry_cuts(store, era) < 0)
        return false;
    /* A reader that finds something forgotten then sees all announcements when it has
     * its answer. */
    for (uint32_t i = 0; i < era->traces; i++)
        atomic_store_explicit(&esi_epoch_trace_at(store, i)->announced, era->ends[i],
                              memory_order_seq_cst);
    for (uint32_t i = 0; i < era->traces; i++) {
        struct esi_epoch_trace *trace = esi_epoch_trace_at(store, i);

        events += era->ends[i];
        atomic_store_explicit(&trace->forgotten, era->ends[i], memory_order_seq_cst);
    }
    atomic_store_explicit(&memory->forgotten, events, memory_order_relaxed);
    for (uint32_t i = 0; i < era->traces; i++) {
        struct esi_epoch_trace *trace = esi_epoch_trace_at(store, i);

        if (trace->count == era->ends[i])
            forget_of_trace(store, trace);
    }
    while (*link)
        link = &(*link)->newer;
    *link = memory->oldest;
    era->newer = NULL;
    memory->oldest = memory->oldest_held = last;
    if (!last)
        memory->newest = NULL;
    return true;
}

/* --- Spilling --------------------------------------------------------------------- */

static int spill_chunk(void *data, void *memory, size_t bytes)
{
    return spill_write(data, memory, bytes);
}

static int era_spill(struct esi_memory *memory, struct era *era)
{
    uint64_t bytes = esi_arena_bytes(&era->blocks) + esi_arena_bytes(&era->cuts);
    int code;

    era->written_at = spill_end(memory->spill);
    code = esi_arena_each(&era->blocks, spill_chunk, memory->spill);
    if (code == 0)
        code = esi_arena_each(&era->cuts, spill_chunk, memory->spill);
    era->written = spill_end(memory->spill) - era->written_at;
    if (code < 0) {
        atomic_store_explicit(&memory->error, code, memory_order_relaxed);
        return code;
    }
    era->is_spilled = true;
    memory->oldest_held = era->newer;
    atomic_fetch_sub_explicit(&memory->held, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&memory->spilled, bytes, memory_order_relaxed);
    return 0;
}

/* --- Eras ------------------------------------------------------------------------- */

static uint64_t era_bytes(const struct esi_epoch_store *store)
{
    const struct esi_memory *memory = store->memory;
    uint64_t bytes = memory->limit / ERAS;
    uint64_t of_traces = (uint64_t)store->trace_count * LEAST_OF_TRACE;
    uint64_t of_file =
        atomic_load_explicit(&memory->spilled, memory_order_relaxed) / SPILLED_ERAS;

    bytes = bytes > LEAST_ERA ? bytes : LEAST_ERA;
    bytes = bytes > of_traces ? bytes : of_traces;
    return bytes > of_file ? bytes : of_file;
}

static int end_era(struct esi_epoch_store *store)
{
    struct esi_memory *memory = store->memory;
    struct era *era = calloc(1, sizeof *era);
    uint64_t bytes;

    if (!era)
        return -ENOMEM;
    era->traces = store->trace_count;
    era->ends = esi_arena_take(&store->cuts.arena, era->traces * sizeof *era->ends);
    if (!era->ends) {
        free(era);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < era->traces; i++)
        era->ends[i] = esi_epoch_trace_at(store, i)->count;
    esi_arena_renew(&store->blocks, &era->blocks);
    esi_arena_renew(&store->cuts.arena, &era->cuts);
    bytes = esi_arena_bytes(&era->blocks) + esi_arena_bytes(&era->cuts);
    atomic_fetch_add_explicit(&memory->held, bytes, memory_order_relaxed);
    if (memory->newest)
        memory->newest->newer = era;
    else
        memory->oldest = era;
    if (!memory->oldest_held)
        memory->oldest_held = era;
    memory->newest = era;
    return 0;
}

static uint64_t all_bytes(const struct esi_epoch_store *store)
{
    struct esi_order_statistics statistics = {0};

    esi_epoch_statistics(store, &statistics);
    return statistics.stored_bytes + statistics.writer_bytes;
}

void esi_memory_tend(struct esi_epoch_store *store)
{
    struct esi_memory *memory = store->memory;
    uint64_t bytes;

    if (memory->gone)
        free_gone(memory);
    bytes = era_bytes(store);
    if (store->blocks.used + store->cuts.arena.used < bytes || end_era(store) < 0)
        return;
    esi_arena_use_pages(&store->blocks, bytes / ERAS);
    esi_arena_use_pages(&store->cuts.arena, bytes / ERAS);
    while (memory->oldest_held && all_bytes(store) + bytes > memory->limit) {
        struct era *era = memory->oldest_held;

        /* An era of which only a part could be spilled is not spilled again; it is
         * still here because there was no memory to forget it. */
        if (memory->spill && !era->written && era_spill(memory, era) == 0)
            continue;
        if (!era_forget(store, era))
            break;
        free_gone(memory);
    }
}

void esi_memory_statistics(const struct esi_memory *memory,
                           struct esi_order_statistics *statistics)
{
    statistics->stored_bytes +=
        atomic_load_explicit(&memory->held, memory_order_relaxed);
    statistics->spilled_bytes =
        atomic_load_explicit(&memory->spilled, memory_order_relaxed);
    statistics->forgotten_events =
        atomic_load_explicit(&memory->forgotten, memory_order_relaxed);
    statistics->spill_error =
        atomic_load_explicit(&memory->error, memory_order_relaxed);
}
