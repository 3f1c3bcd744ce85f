/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The tree control, for the process with the trees and for others. */
#include "config.h"

#include "tuplespace/tree_control.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tuplespace/process_word.h"
#include "tuplespace/segment_private.h"
#include "tuplespace/view_private.h"

#define TRIES 100

/* `bytes` is a multiple of 4. */
static void words_load(void *out, const _Atomic uint32_t *words, size_t bytes)
{
    uint32_t *copies = out;

    for (size_t i = 0; i < bytes / 4; i++)
        copies[i] = atomic_load_explicit(&words[i], memory_order_relaxed);
}

static void words_store(_Atomic uint32_t *words, const char *in, size_t bytes)
{
    for (size_t i = 0; i < bytes / 4; i++) {
        uint32_t word;

        memcpy(&word, in + 4 * i, sizeof word);
        atomic_store_explicit(&words[i], word, memory_order_relaxed);
    }
}

static _Atomic uint32_t *desired_place(const char *places,
                                       uint32_t desired_bytes,
                                       uint32_t version)
{
    return (void *)(places + (uint64_t)(version % 2) * desired_bytes);
}

/* Returns false if the text does not belong to the version. */
static bool copy_version(const struct esi_tree_control_layout *control,
                         const char *places,
                         uint32_t desired_bytes,
                         uint32_t version,
                         char *out)
{
    uint32_t length = atomic_load_explicit(&control->desired_length[version % 2],
                                           memory_order_relaxed);
    uint32_t now;

    /* Its writer may have been faulty. */
    if (length >= desired_bytes || length >= ES_TREE_DESIRED_BYTES)
        return false;
    words_load(out, desired_place(places, desired_bytes, version),
               (length + 3) / 4 * 4);
    /* Pairs with the fence in write_desired(): a reader that sees a word of the rules
     * after the next sees that the next came into force. */
    atomic_thread_fence(memory_order_acquire);
    now = atomic_load_explicit(&control->desired_version, memory_order_relaxed);
    if (now != version)
        return false;
    out[length] = '\0';
    return true;
}

/* Copies the newest desired rules and returns their version; 0 if there are none, or if
 * they changed all the time.  `places` are the two places of `desired_bytes` each;
 * `out` has ES_TREE_DESIRED_BYTES. */
static uint32_t copy_desired(const struct esi_tree_control_layout *control,
                             const char *places,
                             uint32_t desired_bytes,
                             char *out)
{
    for (int i = 0; i < TRIES; i++) {
        /* Pairs with the release in write_desired(): the text is complete. */
        uint32_t version =
            atomic_load_explicit(&control->desired_version, memory_order_acquire);

        if (version == 0)
            return 0;
        if (copy_version(control, places, desired_bytes, version, out))
            return version;
    }
    return 0;
}

/* --- The observed process --------------------------------------------------------- */

/* The caller holds the lock. */
static int add_control(struct es_segment *segment)
{
    struct esi_tree_control_layout *control;
    uint64_t bytes =
        esi_tree_control_bytes(sizeof *control, ES_TREE_DESIRED_BYTES,
                               sizeof(struct esi_tree_log_entry), ES_TREE_LOG_SLOTS);
    uint64_t offset;
    int rc = esi_segment_allocate(segment, bytes, ES_CACHE_LINE, &offset);

    if (rc != 0)
        return -ENOSPC;
    control = (void *)(segment->base + offset);
    control->header_bytes = sizeof *control;
    control->desired_bytes = ES_TREE_DESIRED_BYTES;
    control->entry_bytes = sizeof(struct esi_tree_log_entry);
    control->log_slots = ES_TREE_LOG_SLOTS;
    segment->trees = control;
    /* Pairs with the acquire in find_control(): the header is complete. */
    atomic_store_explicit(&segment->layout->tree_control_offset, offset,
                          memory_order_release);
    return 0;
}

int esi_segment_add_tree_control(struct es_segment *segment)
{
    int rc = 0;

    pthread_mutex_lock(&segment->lock);
    if (!segment->trees)
        rc = add_control(segment);
    pthread_mutex_unlock(&segment->lock);
    return rc;
}

uint32_t esi_tree_desired_version(const struct es_segment *segment)
{
    return segment->trees ? atomic_load_explicit(&segment->trees->desired_version,
                                                 memory_order_acquire)
                          : 0;
}

uint32_t esi_tree_desired_read(const struct es_segment *segment, char *out)
{
    return segment->trees
               ? copy_desired(segment->trees, (const char *)(segment->trees + 1),
                              ES_TREE_DESIRED_BYTES, out)
               : 0;
}

/* --- The log ---------------------------------------------------------------------- */

static void add_entry(struct esi_tree_control_layout *control,
                      const struct esi_tree_log_entry *entry)
{
    char *log = (char *)(control + 1) + UINT64_C(2) * ES_TREE_DESIRED_BYTES;
    uint64_t head = atomic_load_explicit(&control->log_head, memory_order_relaxed);
    uint64_t offset = head % ES_TREE_LOG_SLOTS * sizeof *entry;

    /* Readers that see a word of this entry also see the head before it, which shows
     * that the old entry of the slot is gone.  Pairs with the fence in copy_entry(). */
    atomic_thread_fence(memory_order_release);
    words_store((void *)(log + offset), (const char *)entry, sizeof *entry);
    /* Pairs with the acquire in esi_segment_view_tree_log(): the entry is complete. */
    atomic_store_explicit(&control->log_head, head + 1, memory_order_release);
}

void esi_tree_log_add(struct es_segment *segment,
                      const struct esi_tree_log_entry *entry)
{
    if (!segment->trees)
        return;
    pthread_mutex_lock(&segment->lock);
    add_entry(segment->trees, entry);
    pthread_mutex_unlock(&segment->lock);
}

/* --- Observers -------------------------------------------------------------------- */

/* The layout stated by the control is checked each time. */

/* More than EventSpace writes; prevents overflow of sums. */
#define GREATEST_BYTES (1u << 24)
#define GREATEST_SLOTS (1u << 20)

/* The header of the control, copied once and checked. */
struct control {
    struct esi_tree_control_layout *layout;
    char *desired;
    uint32_t desired_bytes;
    char *log;
    uint32_t entry_bytes;
    uint32_t log_slots;
};

static bool are_sound(uint32_t header_bytes, const struct control *found)
{
    return header_bytes >= sizeof(struct esi_tree_control_layout) &&
           header_bytes % 8 == 0 && header_bytes <= GREATEST_BYTES &&
           found->desired_bytes >= 8 && found->desired_bytes % 8 == 0 &&
           found->desired_bytes <= GREATEST_BYTES &&
           found->entry_bytes >= sizeof(struct esi_tree_log_entry) &&
           found->entry_bytes % 8 == 0 && found->entry_bytes <= GREATEST_BYTES &&
           found->log_slots >= 2 && found->log_slots <= GREATEST_SLOTS;
}

/* Offset of the header; 0 if there is none. */
static uint64_t find_header(const struct es_segment_view *view)
{
    uint64_t offset;

    if (!view->may_have_trees)
        return 0;
    /* Pairs with the release in esi_segment_add_tree_control(): the header is
     * complete. */
    offset =
        atomic_load_explicit(&view->layout->tree_control_offset, memory_order_acquire);
    return offset >= ES_SEGMENT_HEADER_BYTES && offset % ES_CACHE_LINE == 0 &&
                   offset <= view->bytes &&
                   view->bytes - offset >= sizeof(struct esi_tree_control_layout)
               ? offset
               : 0;
}

static bool find_control(const struct es_segment_view *view,
                         struct control *ret_control)
{
    uint64_t offset = find_header(view);
    struct esi_tree_control_layout *layout = (void *)(view->base + offset);
    struct control found;
    uint32_t header_bytes;

    if (offset == 0)
        return false;
    header_bytes = layout->header_bytes;
    found = (struct control){.layout = layout,
                             .desired_bytes = layout->desired_bytes,
                             .entry_bytes = layout->entry_bytes,
                             .log_slots = layout->log_slots};
    if (!are_sound(header_bytes, &found) ||
        esi_tree_control_bytes(header_bytes, found.desired_bytes, found.entry_bytes,
                               found.log_slots) > view->bytes - offset)
        return false;
    found.desired = (char *)layout + header_bytes;
    found.log = found.desired + UINT64_C(2) * found.desired_bytes;
    *ret_control = found;
    return true;
}

bool esi_segment_view_has_trees(const struct es_segment_view *segment)
{
    struct control control;

    return find_control(segment, &control);
}

/* --- Desired rules -------------------------------------------------------------- */

uint32_t esi_segment_view_desired_version(const struct es_segment_view *segment)
{
    struct control control;

    return find_control(segment, &control)
               ? atomic_load_explicit(&control.layout->desired_version,
                                      memory_order_relaxed)
               : 0;
}

uint32_t esi_segment_view_read_desired(const struct es_segment_view *segment, char *out)
{
    struct control control;

    return find_control(segment, &control)
               ? copy_desired(control.layout, control.desired, control.desired_bytes,
                              out)
               : 0;
}

/* If a writer died, the previous rules remain in force, and its place is taken. */
static int begin_writing(struct esi_tree_control_layout *control, uint64_t word)
{
    uint64_t writer = atomic_load_explicit(&control->writer, memory_order_relaxed);

    do {
        if (esi_process_word_is_alive(writer))
            return -EBUSY;
    } while (!atomic_compare_exchange_weak_explicit(
        &control->writer, &writer, word, memory_order_acquire, memory_order_relaxed));
    return 0;
}

static void end_writing(struct esi_tree_control_layout *control, uint64_t word)
{
    atomic_compare_exchange_strong_explicit(&control->writer, &word, 0,
                                            memory_order_release, memory_order_relaxed);
}

/* The last word of the text is padded with zeros. */
static void write_text(_Atomic uint32_t *place, const char *text, size_t length)
{
    uint32_t last = 0;
    size_t whole = length / 4;

    words_store(place, text, 4 * whole);
    memcpy(&last, text + 4 * whole, length % 4);
    atomic_store_explicit(&place[whole], last, memory_order_relaxed);
}

static uint32_t write_desired(const struct control *control,
                              const char *text,
                              size_t length)
{
    struct esi_tree_control_layout *layout = control->layout;
    uint32_t version =
        (atomic_load_explicit(&layout->desired_version, memory_order_relaxed) + 1) &
        INT32_MAX;

    /* 0 means none, and a returned version must not be negative. */
    if (version == 0)
        version = 2;
    /* Readers that see a word of these rules also see the version before it.  Pairs
     * with the fence in copy_version(). */
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&layout->desired_length[version % 2], (uint32_t)length,
                          memory_order_relaxed);
    write_text(
        (void *)(control->desired + (uint64_t)(version % 2) * control->desired_bytes),
        text, length);
    /* Pairs with the acquire in copy_desired(): the text is complete. */
    atomic_store_explicit(&layout->desired_version, version, memory_order_release);
    return version;
}

int esi_segment_view_desired(struct es_segment_view *segment, const char *text)
{
    uint64_t word = esi_process_word(getpid());
    size_t length = strlen(text);
    struct control control;
    uint32_t version;
    int rc;

    if (!find_control(segment, &control))
        return -ENOENT;
    if (length >= control.desired_bytes || length >= ES_TREE_DESIRED_BYTES)
        return -EMSGSIZE;
    rc = begin_writing(control.layout, word);
    if (rc != 0)
        return rc;
    version = write_desired(&control, text, length);
    end_writing(control.layout, word);
    return (int)version;
}

/* --- The log ---------------------------------------------------------------------- */

/* Returns false if the slot contains a newer entry or is being overwritten. */
static bool copy_entry(const struct control *control,
                       uint64_t number,
                       struct esi_tree_log_entry *ret_entry)
{
    uint64_t offset = number % control->log_slots * control->entry_bytes;
    struct esi_tree_log_entry entry;
    uint64_t head;

    words_load(&entry, (void *)(control->log + offset), sizeof entry);
    /* Pairs with the fence in add_entry(). */
    atomic_thread_fence(memory_order_acquire);
    head = atomic_load_explicit(&control->layout->log_head, memory_order_relaxed);
    if (head - number >= control->log_slots)
        return false;
    entry.name[sizeof entry.name - 1] = '\0';
    entry.text[sizeof entry.text - 1] = '\0';
    *ret_entry = entry;
    return true;
}

size_t esi_segment_view_tree_log(const struct es_segment_view *segment,
                                 struct esi_tree_log_entry *ret_entries,
                                 size_t max)
{
    struct control control;
    uint64_t head, first;
    size_t count = 0;

    if (!find_control(segment, &control))
        return 0;
    /* Pairs with the release in esi_tree_log_add(): entries below are complete. */
    head = atomic_load_explicit(&control.layout->log_head, memory_order_acquire);
    first = head < control.log_slots ? 0 : head - control.log_slots + 1;
    if (head - first > max)
        first = head - max;
    for (uint64_t number = first; number != head; number++)
        if (copy_entry(&control, number, &ret_entries[count]))
            count++;
    return count;
}
