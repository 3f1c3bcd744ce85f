/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Attaches segments for reading, and checks all their contents before use.
 *
 * The mapping has the size of the file when it was attached.  If the file is truncated
 * later, the missing part is replaced by zeros at the next refresh.  The table of
 * communicators is read here, too.
 */
#include "config.h"

#include "tuplespace/view_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "eventspace/run.h"
#include "tuplespace/segment.h"
#include "tuplespace/started.h"

#define GREATEST_CAPACITY (1u << 25)

static void copy_text(char *out, size_t size, const char *text)
{
    size_t length = strnlen(text, size - 1);

    memcpy(out, text, length);
    out[length] = '\0';
}

/* --- Checks ----------------------------------------------------------------------- */

/* The number of entries of `stride` bytes at `offset` that fit into the mapping; 0 if
 * offset or stride are invalid. */
static uint32_t count_that_fit(const struct es_segment_view *view,
                               uint64_t offset,
                               uint32_t stride,
                               uint32_t max)
{
    uint64_t fit;

    if (offset > view->bytes)
        return 0;
    fit = (view->bytes - offset) / stride;
    return fit < max ? (uint32_t)fit : max;
}

static int check_header(const struct esi_segment_layout *header, const char **ret_fault)
{
    if (header->endian != ES_SEGMENT_ENDIAN)
        *ret_fault = "the byte order mark is broken";
    else if (header->major != ES_SEGMENT_MAJOR)
        *ret_fault = "written by another version of EventSpace";
    else if (header->header_bytes < ES_SEGMENT_HEADER_BYTES ||
             header->element_bytes < sizeof(struct esi_element_layout) ||
             header->element_bytes % ES_CACHE_LINE != 0 ||
             header->element_bytes > (1u << 20) ||
             header->communicator_bytes < sizeof(struct esi_communicator_layout) ||
             header->communicator_bytes % 8 != 0 ||
             header->communicator_bytes > (1u << 20))
        *ret_fault = "sizes in the header are broken";
    else if (header->elements_offset % ES_CACHE_LINE != 0 ||
             header->communicators_offset % 8 != 0)
        *ret_fault = "offsets in the header are broken";
    else
        return 0;
    return -EPROTO;
}

/* Copies the fields of a checked header. */
static void take_header(struct es_segment_view *view,
                        const struct esi_segment_layout *header)
{
    view->elements_offset = header->elements_offset;
    view->communicators_offset = header->communicators_offset;
    view->element_bytes = header->element_bytes;
    view->communicator_bytes = header->communicator_bytes;
    view->max_elements = count_that_fit(view, header->elements_offset,
                                        header->element_bytes, header->max_elements);
    view->max_communicators =
        count_that_fit(view, header->communicators_offset, header->communicator_bytes,
                       header->max_communicators);
    view->may_have_trees = header->minor >= 1;
    view->may_have_ledger = header->minor >= 2;
    view->kept = (header->flags & ES_SEGMENT_KEPT) != 0;
    view->pid = header->pid;
    view->pid_start = header->pid_start;
    view->folder = header->folder;
    view->record = header->clock;
    view->clock = header->clock;
    copy_text(view->host, sizeof view->host, header->host);
    copy_text(view->program, sizeof view->program, header->program);
    if (header->header_bytes >= sizeof *header) {
        copy_text(view->job, sizeof view->job, header->job);
        copy_text(view->launcher, sizeof view->launcher, header->launcher);
    }
}

/* --- Attaching -------------------------------------------------------------------- */

static void note_allocated(struct es_segment_view *view, const struct stat *status)
{
    atomic_store_explicit(&view->allocated, (uint64_t)status->st_blocks * 512,
                          memory_order_relaxed);
}

static int map_file(struct es_segment_view *view, int fd)
{
    struct stat status;
    void *base;

    if (fstat(fd, &status) != 0)
        return -errno;
    if (status.st_size < (off_t)sizeof(struct esi_segment_layout))
        /* A file also has this state between its creation and being sized. */
        return status.st_size == 0 ? -EAGAIN : -EPROTO;
    view->bytes = (uint64_t)status.st_size;
    view->inode = status.st_ino;
    note_allocated(view, &status);
    base = mmap(NULL, view->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        return -errno;
    view->base = base;
    view->layout = base;
    return 0;
}

static int read_header(struct es_segment_view *view, const char **ret_fault)
{
    struct esi_segment_layout header;
    /* Pairs with the release in esi_segment_create(). */
    uint64_t magic = __atomic_load_n(&view->layout->magic, __ATOMIC_ACQUIRE);
    int rc;

    if (magic == 0)
        return -EAGAIN;
    if (magic != ES_SEGMENT_MAGIC) {
        *ret_fault =
            magic == __builtin_bswap64(ES_SEGMENT_MAGIC)
                ? "written by a machine of the other byte order; read it on that one"
                : "not a segment of EventSpace";
        return -EPROTO;
    }
    memcpy(&header, view->layout, sizeof header);
    rc = check_header(&header, ret_fault);
    if (rc == 0)
        take_header(view, &header);
    return rc;
}

/* The mapping needs no descriptor: a process may read more segments than it may have
 * open files. */
static int segment_view_attach(struct es_segment_view *view,
                               const char *file,
                               const char **ret_fault)
{
    int fd = shm_open(file, O_RDWR | O_CLOEXEC, 0);
    int rc;

    if (fd < 0)
        return -errno;
    rc = map_file(view, fd);
    close(fd);
    if (rc == 0)
        rc = read_header(view, ret_fault);
    return rc != 0 ? rc : esi_segment_view_refresh(view, NULL);
}

int esi_segment_view_attach(const struct esi_segment_name *name,
                            struct es_error *error,
                            struct es_segment_view **ret_view)
{
    struct es_segment_view *view;
    char file[ES_SEGMENT_NAME_BYTES];
    const char *fault = NULL;
    int rc = esi_segment_name_format(name, file);

    if (rc != 0)
        return rc;
    view = calloc(1, sizeof *view);
    if (!view)
        return -ENOMEM;
    view->name = *name;
    rc = segment_view_attach(view, file, &fault);
    if (rc != 0) {
        esi_segment_view_detach(view);
        if (!fault)
            fault = rc == -EPROTO ? "the file is too short" : NULL;
        if (!fault)
            fault = rc == -EAGAIN ? "is still being made" : strerror(-rc);
        return es_error_set_at(error, rc, file, 0, 0, "%s", fault);
    }
    *ret_view = view;
    return 0;
}

/* The frequency was measured in a short time when the process started; by now it can be
 * measured better.  Done while nobody reads, so that no reader sees the times of a
 * process change.  Elements held for processes of other hosts have the clocks of
 * those. */
void esi_segment_view_refine_clock(struct es_segment_view *view)
{
    view->clock = view->record;
    if (!view->kept)
        es_clock_refine(&view->clock);
}

void esi_segment_view_begin_watch(struct es_segment_view *view)
{
    atomic_fetch_add_explicit(&view->layout->watchers, 1, memory_order_seq_cst);
    /* Pairs with the fences in take_reusable() and communicator_table_sweep() of the
     * writer: a writer that reuses an index sees this, or we see no tuple that names
     * the old one. */
    atomic_thread_fence(memory_order_seq_cst);
    /* Counted before others rely on it; one watch serves all of them. */
    if (atomic_exchange_explicit(&view->watches, true, memory_order_acq_rel))
        atomic_fetch_sub_explicit(&view->layout->watchers, 1, memory_order_release);
}

void esi_segment_view_end_watch(struct es_segment_view *view)
{
    if (atomic_exchange_explicit(&view->watches, false, memory_order_relaxed))
        /* Release: everything was read before. */
        atomic_fetch_sub_explicit(&view->layout->watchers, 1, memory_order_release);
}

/* Block and index of an element. */
static struct es_element_view **slot_of(const struct es_segment_view *view,
                                        uint32_t index,
                                        unsigned *ret_block)
{
    uint32_t number = index / ES_VIEW_BLOCK + 1;
    unsigned block = 31 - (unsigned)__builtin_clz(number);

    *ret_block = block;
    return view->blocks[block] ? view->blocks[block] + index -
                                     (size_t)ES_VIEW_BLOCK * ((1u << block) - 1)
                               : NULL;
}

static struct es_element_view *element_at(const struct es_segment_view *view,
                                          uint32_t index)
{
    unsigned block;

    return *slot_of(view, index, &block);
}

void esi_segment_view_detach(struct es_segment_view *view)
{
    int saved_errno = errno;

    if (!view)
        return;
    if (view->layout)
        esi_segment_view_end_watch(view);
    for (uint32_t i = 0; i < esi_segment_view_count(view); i++)
        free(element_at(view, i));
    for (size_t i = 0; i < ES_VIEW_BLOCKS; i++)
        free(view->blocks[i]);
    if (view->base)
        munmap(view->base, view->bytes);
    free(view);
    errno = saved_errno;
}

/* --- Elements --------------------------------------------------------------------- */

/* The description of a ring, copied once. */
struct ring_facts {
    uint64_t offset;
    uint64_t sites_offset;
    uint32_t capacity;
    uint32_t tuple_bytes;
    uint32_t kind;
};

static struct ring_facts ring_facts(const struct esi_element_layout *layout)
{
    return (struct ring_facts){.offset = layout->ring_offset,
                               .sites_offset = layout->sites_offset,
                               .capacity = layout->capacity,
                               .tuple_bytes = layout->tuple_bytes,
                               .kind = layout->kind};
}

static bool is_sound(const struct es_segment_view *view, const struct ring_facts *ring)
{
    uint64_t ring_bytes = (uint64_t)ring->capacity * ring->tuple_bytes;

    if (ring->capacity < 2 || ring->capacity > GREATEST_CAPACITY ||
        (ring->capacity & (ring->capacity - 1)) != 0)
        return false;
    if (ring->tuple_bytes < 4 || ring->tuple_bytes > 65532 ||
        ring->tuple_bytes % 4 != 0)
        return false;
    if (ring->kind != ES_ELEMENT_SHARED &&
        (ring->kind != ES_ELEMENT_TRACE ||
         ring->tuple_bytes != sizeof(struct es_tuple)))
        return false;
    return ring->offset % 4 == 0 && ring->offset <= view->bytes &&
           ring_bytes <= view->bytes - ring->offset;
}

/* Tuples are readable even if the call sites are not. */
static bool has_sites(const struct es_segment_view *view, const struct ring_facts *ring)
{
    uint64_t bytes = (uint64_t)ring->capacity * sizeof(uint64_t);

    return ring->kind == ES_ELEMENT_TRACE && ring->sites_offset != 0 &&
           ring->sites_offset % 8 == 0 && ring->sites_offset <= view->bytes &&
           bytes <= view->bytes - ring->sites_offset;
}

/* Consumers use ranks as counts: implausible ones are not known. */
static int sane_rank(int rank)
{
    return rank >= 0 && rank < ES_GROUP_MAX ? rank : -1;
}

static int sane_size(int size)
{
    return size >= 0 && size <= ES_GROUP_MAX ? size : -1;
}

/* The slot of the next element; NULL if out of memory. */
static struct es_element_view **make_slot(struct es_segment_view *view, uint32_t index)
{
    unsigned block;
    struct es_element_view **slot = slot_of(view, index, &block);

    if (slot)
        return slot;
    view->blocks[block] =
        calloc((size_t)ES_VIEW_BLOCK << block, sizeof *view->blocks[block]);
    return slot_of(view, index, &block);
}

/* Corrupt entries are omitted.  Returns 0 or -ENOMEM. */
static int add_element(struct es_segment_view *view, uint32_t index)
{
    struct esi_element_layout *layout = (void *)(view->base + view->elements_offset +
                                                 (uint64_t)index * view->element_bytes);
    struct ring_facts ring = ring_facts(layout);
    uint32_t count = esi_segment_view_count(view);
    struct es_element_view **slot;
    struct es_element_view *element;

    if (!is_sound(view, &ring))
        return 0;
    slot = make_slot(view, count);
    element = slot ? malloc(sizeof *element) : NULL;
    if (!element)
        return -ENOMEM;
    *element = (struct es_element_view){
        .segment = view,
        .layout = layout,
        .ring = (void *)(view->base + ring.offset),
        .sites =
            has_sites(view, &ring) ? (void *)(view->base + ring.sites_offset) : NULL,
        .mask = ring.capacity - 1,
        .words = ring.tuple_bytes / 4,
        .threshold = layout->threshold,
        .kind = ring.kind,
        .classes = layout->classes,
        .rank = sane_rank(layout->rank),
        .thread = layout->thread,
        .peer = layout->peer,
        .communicator = layout->communicator,
    };
    copy_text(element->name, sizeof element->name, layout->name);
    copy_text(element->collector, sizeof element->collector, layout->collector);
    *slot = element;
    /* Pairs with the acquire in esi_segment_view_count(). */
    atomic_store_explicit(&view->element_count, count + 1, memory_order_release);
    return 0;
}

/* Maps zeros in place of the missing part of the file, so that views remain usable. */
static void cover_missing_tail(struct es_segment_view *view, const struct stat *status)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t left;

    if ((uint64_t)status->st_size >= view->bytes)
        return;
    left = ((uint64_t)status->st_size + page - 1) / page * page;
    if (left < view->bytes)
        mmap(view->base + left, view->bytes - left, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

int esi_segment_view_refresh(struct es_segment_view *view, const struct stat *status)
{
    uint32_t count;
    int rc = 0;

    if (status) {
        cover_missing_tail(view, status);
        note_allocated(view, status);
    }
    /* Pairs with the release in esi_segment_add_element(): entries below are complete.
     */
    count = atomic_load_explicit(&view->layout->element_count, memory_order_acquire);
    if (count > view->max_elements)
        count = view->max_elements;
    for (; view->scanned < count && rc == 0; view->scanned += rc == 0)
        rc = add_element(view, view->scanned);
    return rc;
}

size_t es_segment_view_element_count(const struct es_segment_view *segment)
{
    return esi_segment_view_count(segment);
}

struct es_element_view *es_segment_view_element(const struct es_segment_view *segment,
                                                size_t index)
{
    return index < esi_segment_view_count(segment)
               ? element_at(segment, (uint32_t)index)
               : NULL;
}

/* --- Facts about the process ------------------------------------------------------ */

const struct es_clock *es_segment_view_clock(const struct es_segment_view *segment)
{
    return &segment->clock;
}

static bool has_ended(const struct es_segment_view *view)
{
    /* Pairs with the release in es_run_note_exit(): exit_status is valid. */
    return atomic_load_explicit(&view->layout->ended, memory_order_acquire) == 1;
}

bool esi_segment_view_is_alive(const struct es_segment_view *view)
{
    return !has_ended(view) &&
           esi_process_is_alive(view->kept ? view->name.pid : view->pid,
                                view->pid_start);
}

bool esi_segment_view_is_before_mpi(const struct es_segment_view *view)
{
    return atomic_load_explicit(&view->layout->state, memory_order_relaxed) ==
           ES_SEGMENT_STARTED;
}

static enum es_process_state find_state(const struct es_segment_view *view,
                                        const struct es_segment_info *info,
                                        bool ended)
{
    uint32_t state = atomic_load_explicit(&view->layout->state, memory_order_relaxed);

    if (state == ES_SEGMENT_ABORTED)
        return ES_PROCESS_ABORTED;
    if (info->signal != 0)
        return ES_PROCESS_KILLED;
    if (state == ES_SEGMENT_FINALIZED)
        return ES_PROCESS_FINALIZED;
    if (info->alive)
        return ES_PROCESS_RUNNING;
    return ended ? ES_PROCESS_EXITED : ES_PROCESS_LOST;
}

void es_segment_view_info(const struct es_segment_view *segment,
                          struct es_segment_info *ret_info)
{
    struct esi_segment_layout *layout = segment->layout;
    bool ended = has_ended(segment);
    int status = atomic_load_explicit(&layout->exit_status, memory_order_relaxed);
    struct es_segment_info info = {
        .host = segment->host,
        .program = segment->program,
        .job = segment->job,
        .launcher = segment->launcher,
        .rank =
            sane_rank(atomic_load_explicit(&layout->world_rank, memory_order_relaxed)),
        .size =
            sane_size(atomic_load_explicit(&layout->world_size, memory_order_relaxed)),
        .pid = segment->pid,
        .alive = esi_segment_view_is_alive(segment),
        .kept = segment->kept,
        .exit_code = ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1,
        .signal = ended && WIFSIGNALED(status) ? WTERMSIG(status) : 0,
        .segment_bytes =
            atomic_load_explicit(&segment->allocated, memory_order_relaxed),
        .elements_refused =
            atomic_load_explicit(&layout->elements_refused, memory_order_relaxed),
        .elements_shrunk =
            atomic_load_explicit(&layout->elements_shrunk, memory_order_relaxed),
        .communicators_refused =
            atomic_load_explicit(&layout->communicators_refused, memory_order_relaxed),
        .tuples_refused =
            atomic_load_explicit(&layout->tuples_refused, memory_order_relaxed),
    };

    if (ended)
        info.ended_realtime_ns =
            atomic_load_explicit(&layout->ended_realtime_ns, memory_order_relaxed);
    info.state = find_state(segment, &info, ended);
    if (atomic_load_explicit(&layout->state, memory_order_relaxed) == ES_SEGMENT_PASSED)
        info.rank = info.size = -1;
    *ret_info = info;
}

/* --- Communicators ---------------------------------------------------------------- */

#define TRIES 100

size_t es_segment_view_communicator_count(const struct es_segment_view *segment)
{
    /* Pairs with the release in esi_segment_add_communicator(). */
    uint32_t count = atomic_load_explicit(&segment->layout->communicator_count,
                                          memory_order_acquire);

    return count < segment->max_communicators ? count : segment->max_communicators;
}

static struct esi_communicator_layout *entry_at(const struct es_segment_view *segment,
                                                uint32_t index)
{
    uint64_t offset =
        segment->communicators_offset + (uint64_t)index * segment->communicator_bytes;

    return (void *)(segment->base + offset);
}

/* Copies an entry consistently.  Returns false if it changes all the time, which
 * entries do not do. */
static bool copy_entry(const struct es_segment_view *segment,
                       uint32_t index,
                       struct esi_communicator_layout *ret_entry)
{
    struct esi_communicator_layout *entry = entry_at(segment, index);
    _Atomic uint32_t *words = (void *)entry;
    uint32_t copy[sizeof *entry / sizeof(uint32_t)];

    esi_segment_view_watch(segment);
    for (int i = 0; i < TRIES; i++) {
        uint32_t version =
            atomic_load_explicit(&entry->name_version, memory_order_acquire);

        for (size_t w = 0; w < sizeof copy / sizeof copy[0]; w++)
            copy[w] = atomic_load_explicit(&words[w], memory_order_relaxed);
        /* Pairs with the fence in begin_change(): a new word implies a new version. */
        atomic_thread_fence(memory_order_acquire);
        if (version % 2 != 0 ||
            version != atomic_load_explicit(&entry->name_version, memory_order_relaxed))
            continue;
        memcpy(ret_entry, copy, sizeof copy);
        return true;
    }
    return false;
}

/* Returns whether the list of the group is within the segment. */
static bool group_has_list(const struct es_segment_view *view,
                           const struct esi_group_layout *group)
{
    uint64_t bytes = (uint64_t)(uint32_t)group->size * sizeof(int32_t);

    return group->size >= 0 && group->offset % sizeof(int32_t) == 0 &&
           group->offset <= view->bytes && bytes <= view->bytes - group->offset;
}

/* Returns whether a strided group belongs to the process's own world of `world` ranks,
 * judging by its first two ranks. */
static bool is_in_world(const struct es_segment_view *view,
                        const struct esi_group_layout *group,
                        int world)
{
    int rank = atomic_load_explicit(&view->layout->world_rank, memory_order_relaxed);
    int64_t first = world < ES_WORLD_RANKS ? rank - rank % ES_WORLD_RANKS : 0;
    int64_t next = (int64_t)group->first + group->stride;

    return rank >= 0 && group->first >= first && group->first < first + world &&
           next >= first && next < first + world;
}

/* Number of members of a group; 0 if the stated number is impossible: a list must be
 * within the file, and a group no larger than its world. */
static int group_size(const struct es_segment_view *view,
                      const struct esi_group_layout *group)
{
    int world = atomic_load_explicit(&view->layout->world_size, memory_order_relaxed);
    int most = ES_GROUP_MAX;

    if (group->kind == ES_GROUP_LIST && !group_has_list(view, group))
        return 0;
    if (group->kind == ES_GROUP_STRIDED && world > 0 && world < most &&
        is_in_world(view, group, world))
        most = world;
    return group->size > 0 && group->size <= most ? group->size : 0;
}

int es_segment_view_communicator(const struct es_segment_view *segment,
                                 uint16_t index,
                                 struct es_communicator_info *ret_info)
{
    struct esi_communicator_layout entry;
    uint32_t flags;

    if (index >= es_segment_view_communicator_count(segment) ||
        !copy_entry(segment, index, &entry))
        return -ENOENT;
    flags = atomic_load_explicit(&entry.flags, memory_order_relaxed);
    *ret_info = (struct es_communicator_info){
        .key = {entry.key[0], entry.key[1]},
        .rank = entry.rank,
        .size = group_size(segment, &entry.local),
        .remote_size = (flags & ES_COMMUNICATOR_INTER) != 0
                           ? group_size(segment, &entry.remote)
                           : 0,
        .first = -1,
        .remote_first = -1,
        .parent = entry.parent,
        .freed = (flags & ES_COMMUNICATOR_FREED) != 0,
    };
    if (ret_info->size > 0)
        ret_info->first = entry.local.first;
    if (ret_info->remote_size > 0)
        ret_info->remote_first = entry.remote.first;
    memcpy(ret_info->name, entry.name, sizeof ret_info->name);
    ret_info->name[sizeof ret_info->name - 1] = '\0';
    return 0;
}

/* --- Groups ----------------------------------------------------------------------- */

/* World rank of a member; -ENOENT if this segment does not contain it. */
static int rank_in_group(const struct es_segment_view *segment,
                         const struct esi_group_layout *group,
                         int rank)
{
    int64_t world = -1;

    if (rank < 0 || rank >= group_size(segment, group))
        return -ENOENT;
    if (group->kind == ES_GROUP_STRIDED) {
        world = (int64_t)group->first + (int64_t)rank * group->stride;
    } else if (group->kind == ES_GROUP_LIST) {
        world = ((const int32_t *)(void *)(segment->base + group->offset))[rank];
    }
    return world >= 0 && world <= INT32_MAX ? (int)world : -ENOENT;
}

/* Finds a group in entries of the same communicator in other segments.  Both sides of
 * an intercommunicator have its key and call each other remote; size and first member
 * identify the group. */
static int rank_elsewhere(const struct es_segment_view *segment,
                          const struct esi_communicator_layout *wanted,
                          const struct esi_group_layout *group,
                          int rank)
{
    size_t count = es_segment_view_communicator_count(segment);

    for (size_t i = 0; i < count; i++) {
        struct esi_communicator_layout entry;
        struct esi_group_layout sides[2];

        if (memcmp(entry_at(segment, (uint32_t)i)->key, wanted->key,
                   sizeof wanted->key) != 0 ||
            !copy_entry(segment, (uint32_t)i, &entry) ||
            memcmp(entry.key, wanted->key, sizeof entry.key) != 0)
            continue;
        sides[0] = entry.local;
        sides[1] = entry.remote;
        for (int side = 0; side < 2; side++) {
            int world = -ENOENT;

            if (sides[side].size == group->size && sides[side].first == group->first)
                world = rank_in_group(segment, &sides[side], rank);
            if (world >= 0)
                return world;
        }
    }
    return -ENOENT;
}

int es_run_world_rank(const struct es_run *run,
                      const struct es_segment_view *segment,
                      uint16_t communicator,
                      bool remote,
                      int rank)
{
    struct esi_communicator_layout entry;
    struct esi_group_layout group;
    int world;

    if (communicator >= es_segment_view_communicator_count(segment) ||
        !copy_entry(segment, communicator, &entry))
        return -ENOENT;
    group = remote ? entry.remote : entry.local;
    if (rank < 0 || rank >= group_size(segment, &group))
        return -ENOENT;
    world = rank_in_group(segment, &group, rank);
    for (size_t i = 0; i < es_run_segment_count(run) && world < 0; i++)
        world = rank_elsewhere(es_run_segment(run, i), &entry, &group, rank);
    return world;
}

/* --- Spawned worlds --------------------------------------------------------------- */

struct spawned_search {
    uint64_t spawn;
    int first; /* -ENOENT if not found */
};

static int look_for_spawned(const struct esi_segment_name *name,
                            const struct stat *status,
                            void *context)
{
    struct spawned_search *search = context;
    struct es_segment_view *view;

    (void)status;
    if (name->rank < ES_WORLD_RANKS || esi_segment_view_attach(name, NULL, &view) != 0)
        return 0;
    if (view->layout->spawn == search->spawn && esi_segment_view_is_alive(view))
        search->first = name->rank - name->rank % ES_WORLD_RANKS;
    esi_segment_view_detach(view);
    return search->first >= 0;
}

int esi_segment_find_spawned(const char *run, uint64_t spawn)
{
    struct spawned_search search = {.spawn = spawn, .first = -ENOENT};

    esi_segment_name_foreach(run, look_for_spawned, &search);
    return search.first;
}
