/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Reserving memory of a segment before anything is written there.
 *
 * The file is opened anew by its name each time: a descriptor kept in the observed
 * process would shift the numbers its own files get, and may be closed and stand for
 * something else.
 */
#include "config.h"

#include "tuplespace/segment_private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int open_file(const struct es_segment *segment)
{
    struct stat status;
    int fd = shm_open(segment->name, O_RDWR | O_CLOEXEC, 0);

    if (fd < 0)
        return errno == ENOENT ? -ESTALE : -errno;
    if (fstat(fd, &status) != 0 || status.st_dev != segment->device ||
        status.st_ino != segment->inode) {
        close(fd);
        return -ESTALE;
    }
    return fd;
}

/* posix_fallocate(3) gives EINTR when a signal comes; timers must not fail us. */
static int reserve_range(int fd, uint64_t begin, uint64_t bytes)
{
    int rc;

    do
        rc = posix_fallocate(fd, (off_t)begin, (off_t)bytes);
    while (rc == EINTR);
    /* Over the file size limit (EFBIG) or the like: no space for us, whatever the
     * reason. */
    return rc == 0 ? 0 : -ENOSPC;
}

static struct esi_segment_room room_of(const struct statvfs *status)
{
    return (struct esi_segment_room){
        .total_bytes = (uint64_t)status->f_blocks * status->f_frsize,
        .free_bytes = (uint64_t)status->f_bavail * status->f_frsize};
}

int esi_segment_find_room(struct esi_segment_room *ret_room)
{
    struct statvfs status;

    if (statvfs(ES_SHM_DIRECTORY, &status) != 0)
        return -errno;
    *ret_room = room_of(&status);
    return 0;
}

bool esi_segment_room_keeps(const struct esi_segment_room *room,
                            uint64_t bytes,
                            uint32_t percent)
{
    /* A file system without a size has no end. */
    return room->total_bytes == 0 ||
           (room->free_bytes >= bytes &&
            room->free_bytes - bytes >= room->total_bytes / 100 * percent);
}

/* Whether so much can be taken and the rest that is to stay free is left. */
static bool leaves_rest(const struct es_segment *segment, int fd, uint64_t bytes)
{
    struct esi_segment_room room;
    struct statvfs status;

    if (segment->keep_free_percent == 0 || fstatvfs(fd, &status) != 0)
        return true;
    room = room_of(&status);
    return esi_segment_room_keeps(&room, bytes, segment->keep_free_percent);
}

/* Page faults are paid for here rather than one by one on the record path.  Failing is
 * no harm. */
static void touch_ahead(const struct es_segment *segment,
                        uint64_t begin,
                        uint64_t bytes)
{
#ifdef MADV_POPULATE_WRITE
    madvise(segment->base + begin, bytes, MADV_POPULATE_WRITE);
#else
    (void)segment;
    (void)begin;
    (void)bytes;
#endif
}

int esi_segment_reserve(struct es_segment *segment, struct esi_area *area, uint64_t end)
{
    uint64_t begin = area->reserved;
    int fd, rc;

    if (end > area->end)
        return -ENOSPC;
    if (end <= begin)
        return 0;
    end = (end + segment->page - 1) / segment->page * segment->page;
    fd = open_file(segment);
    if (fd < 0)
        return fd;
    rc = leaves_rest(segment, fd, end - begin) ? reserve_range(fd, begin, end - begin)
                                               : -ENOSPC;
    close(fd);
    if (rc != 0)
        return rc;
    touch_ahead(segment, begin, end - begin);
    area->reserved = end;
    return 0;
}

int esi_segment_allocate(struct es_segment *segment,
                         uint64_t bytes,
                         uint64_t alignment,
                         uint64_t *ret_offset)
{
    struct esi_segment_layout *layout = segment->layout;
    uint64_t used = atomic_load_explicit(&layout->arena_used, memory_order_relaxed);
    uint64_t offset =
        (segment->arena.begin + used + alignment - 1) / alignment * alignment;
    int rc;

    if (bytes > segment->arena.end || offset > segment->arena.end - bytes)
        return -ENOSPC;
    rc = esi_segment_reserve(segment, &segment->arena, offset + bytes);
    if (rc != 0)
        return rc;
    atomic_store_explicit(&layout->arena_used, offset + bytes - segment->arena.begin,
                          memory_order_relaxed);
    *ret_offset = offset;
    return 0;
}
