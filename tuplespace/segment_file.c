/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * segment_file.c - makes and removes the file of a segment.
 *
 * All users share the folder, and names can be foreseen: somebody else may have made a
 * file, a link or a folder of that name.  What is there is replaced only if it is a
 * segment that this user's process of this pid has left; else the segment gets another
 * name, with a part that nobody can foresee.
 */
#include "config.h"

#include "tuplespace/segment_private.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { NAMES = 8 }; /* that are tried */

static int create_exclusively(const char *name)
{
    int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return -errno;
    (void)fchmod(fd, 0600); /* the umask may have taken rights away */
    return fd;
}

/* Whether an open file is a segment that a process of our user and pid has left: an
 * earlier program in this process, or one before the pid was used again. */
static bool is_left_over(int fd)
{
    struct esi_segment_layout header;
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_uid == geteuid() && status.st_nlink == 1 &&
           pread(fd, &header, sizeof header, 0) == (ssize_t)sizeof header &&
           header.magic == ES_SEGMENT_MAGIC &&
           ((header.flags & ES_SEGMENT_KEPT) != 0 || header.pid == getpid());
}

/* Removes what has the name, if that is a segment left over. */
static int remove_left_over(const char *name)
{
    /* shm_open(3) follows no link; a fifo does not block. */
    int fd = shm_open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    bool left_over = fd >= 0 && is_left_over(fd);

    if (fd >= 0)
        close(fd);
    if (!left_over)
        return -EEXIST;
    return shm_unlink(name) == 0 ? 0 : -errno;
}

static uint32_t segment_file_unforeseen(void)
{
    struct timespec now;
    uint32_t number = 0;

    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        number = (uint32_t)now.tv_nsec * UINT32_C(2654435761);
    }
    return number != 0 ? number : 1;
}

/* Whose file keeps us from the name. */
static void note_rival(struct es_segment *segment)
{
    struct stat status;
    int folder = open(ES_SHM_DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (folder < 0)
        return;
    if (fstatat(folder, segment->name + 1, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        segment->has_rival = true;
        segment->rival = status.st_uid;
    }
    close(folder);
}

int esi_segment_file_create(struct es_segment *segment,
                            const struct esi_segment_name *wanted)
{
    struct esi_segment_name name = *wanted;
    int fd = esi_segment_name_format(&name, segment->name);

    if (fd < 0)
        return fd;
    fd = create_exclusively(segment->name);
    if (fd == -EEXIST && remove_left_over(segment->name) == 0)
        fd = create_exclusively(segment->name);
    for (int i = 1; i < NAMES && (fd == -EEXIST || fd == -EACCES); i++) {
        if (!segment->has_rival)
            note_rival(segment);
        name.other = segment_file_unforeseen();
        esi_segment_name_format(&name, segment->name);
        fd = create_exclusively(segment->name);
    }
    return fd;
}

void esi_segment_file_remove(const struct es_segment *segment)
{
    struct stat status;
    int fd = shm_open(segment->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    bool is_ours = fd >= 0 && fstat(fd, &status) == 0 &&
                   status.st_dev == segment->device && status.st_ino == segment->inode;

    if (fd >= 0)
        close(fd);
    if (is_ours)
        shm_unlink(segment->name);
}
