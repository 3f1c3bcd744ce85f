/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Creates segments, reserves their memory, and adds elements. */
#include "config.h"

#include "tuplespace/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "tuplespace/futex.h"
#include "tuplespace/run_directory.h"
#include "tuplespace/segment_private.h"
#include "tuplespace/started.h"

/* Limits do not make a segment smaller than this, unless its creator requests less. */
#define LEAST_ARENA_BYTES (UINT64_C(1) << 20)
#define LEAST_ELEMENTS 16u
#define LEAST_COMMUNICATORS 64u
#define SMALLEST_THRESHOLD 15u
#define GREATEST_THRESHOLD (1u << 24)

/* What a segment leaves in the file system: a share of what is free when it is created,
 * and never less than this.  MPI and the program take shared memory later, often
 * without reserving it: SIGBUS would end them. */
#define LEAST_FREE_BYTES (UINT64_C(1) << 20)
#define FREE_SHARE 4

void esi_segment_config_init(struct esi_segment_config *config)
{
    *config = (struct esi_segment_config){
        .program = "",
        .job = "",
        .launcher = "",
        .rank = -1,
        .size = -1,
        .max_elements = 4096,
        .max_communicators = 65535,
        .arena_bytes = UINT64_C(1) << 30,
        .calibrate_ns = 2000000,
    };
}

/* --- The file --------------------------------------------------------------------- */

/*
 * All users share the directory, and names are predictable: others may have created a
 * file, a link or a directory of that name.  An existing file is replaced only if it is
 * a segment that a process of this user and pid has left; otherwise the segment gets
 * another name with an unpredictable part.
 */
enum { NAMES = 8 }; /* names to try */

static int create_exclusively(const char *name)
{
    int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return -errno;
    (void)fchmod(fd, 0600); /* the umask may have removed permissions */
    return fd;
}

/* Returns whether an open file is a segment left by a process of our user and pid: an
 * earlier program of this process, or one before the pid was reused. */
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

/* Removes the file with the name, if that is a left-over segment. */
static int remove_left_over(const char *name)
{
    /* shm_open(3) follows no links; a fifo does not block. */
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

/* Records whose file has the name. */
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

static int segment_file_create(struct es_segment *segment,
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

static void segment_file_remove(const struct es_segment *segment)
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

/* --- Segments made before the first MPI call -------------------------------------- */

/* Returns whether the header is one that this version has made for a process that has
 * not called MPI yet. */
static bool is_started(const struct esi_segment_layout *header)
{
    return header->magic == ES_SEGMENT_MAGIC && header->major == ES_SEGMENT_MAJOR &&
           header->minor == ES_SEGMENT_MINOR &&
           header->header_bytes == sizeof *header &&
           header->element_bytes == sizeof(struct esi_element_layout) &&
           header->communicator_bytes == sizeof(struct esi_communicator_layout) &&
           header->flags == 0 && header->state == ES_SEGMENT_STARTED;
}

/* Opens the file of the segment that `eventspace exec` has made for this process or an
 * ancestor, and removes the variable: processes started by this one do not need it.
 * Returns a descriptor, or -ENOENT. */
static int take_started(struct esi_segment_layout *ret_header, char *ret_name)
{
    const char *file = getenv(ES_STARTED_VARIABLE);
    struct esi_segment_name name;
    struct stat status;

    bool is_named = file && esi_segment_name_parse(file, &name) == 0 &&
                    esi_segment_name_format(&name, ret_name) == 0;
    unsetenv(ES_STARTED_VARIABLE);
    if (!is_named)
        return -ENOENT;
    int fd = shm_open(ret_name, O_RDWR | O_CLOEXEC | O_NONBLOCK, 0);
    if (fd < 0)
        return -ENOENT;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_uid == geteuid() && status.st_nlink == 1 &&
        pread(fd, ret_header, sizeof *ret_header, 0) == (ssize_t)sizeof *ret_header &&
        is_started(ret_header) && ret_header->segment_bytes == (uint64_t)status.st_size)
        return fd;
    close(fd);
    return -ENOENT;
}

/* Removes the segment, and tells its readers.  Not with pwrite(2), which causes SIGXFSZ
 * under a file size limit. */
static void pass_on(int fd, const char *name)
{
    struct esi_segment_layout *layout =
        mmap(NULL, sizeof *layout, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (layout != MAP_FAILED) {
        atomic_store_explicit(&layout->state, ES_SEGMENT_PASSED, memory_order_relaxed);
        munmap(layout, sizeof *layout);
    }
    shm_unlink(name);
}

void esi_segment_pass_on(void)
{
    struct esi_segment_layout header;
    char name[ES_SEGMENT_NAME_BYTES];
    int saved_errno = errno;
    int fd = take_started(&header, name);

    if (fd >= 0) {
        pass_on(fd, name);
        close(fd);
    }
    errno = saved_errno;
}

/* --- Space ------------------------------------------------------------------------ */

/*
 * Memory is reserved before it is written.  The file is opened by name each time: a
 * permanently open descriptor in the observed process would shift the numbers of its
 * own files, and might be closed and reused.
 */
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

/* posix_fallocate(3) returns EINTR on signals; timers must not cause a failure. */
static int reserve_range(int fd, uint64_t begin, uint64_t bytes)
{
    int rc;

    do
        rc = posix_fallocate(fd, (off_t)begin, (off_t)bytes);
    while (rc == EINTR);
    /* Above the file size limit (EFBIG) or the like: no space, whatever the reason. */
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
    /* A file system without a size is unlimited. */
    return room->total_bytes == 0 ||
           (room->free_bytes >= bytes &&
            room->free_bytes - bytes >= room->total_bytes / 100 * percent);
}

/* Determines how much of the file system stays free. */
static void find_keep_free(struct es_segment *segment, uint32_t percent)
{
    struct esi_segment_room room = {.total_bytes = 0};

    if (esi_segment_find_room(&room) != 0 || room.total_bytes == 0)
        return;
    segment->free_bytes = room.free_bytes;
    segment->keep_free_bytes =
        percent > 0 ? room.total_bytes / 100 * percent : room.free_bytes / FREE_SHARE;
    if (segment->keep_free_bytes < LEAST_FREE_BYTES)
        segment->keep_free_bytes = LEAST_FREE_BYTES;
}

/* Returns whether `bytes` can be taken so that enough remains free. */
static bool leaves_rest(const struct es_segment *segment, int fd, uint64_t bytes)
{
    struct statvfs status;

    return segment->keep_free_bytes == 0 || fstatvfs(fd, &status) != 0 ||
           room_of(&status).free_bytes >= bytes + segment->keep_free_bytes;
}

/* Reserves memory, but leaves enough free.  Others may have reserved at the same time:
 * if too little is left afterwards, the memory is given back. */
static int reserve_and_leave_rest(const struct es_segment *segment,
                                  int fd,
                                  uint64_t begin,
                                  uint64_t bytes)
{
    int rc =
        leaves_rest(segment, fd, bytes) ? reserve_range(fd, begin, bytes) : -ENOSPC;

    if (rc == 0 && !leaves_rest(segment, fd, 0)) {
        (void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)begin,
                        (off_t)bytes);
        rc = -ENOSPC;
    }
    return rc;
}

/* Page faults are taken here rather than one by one on the record path.  Failure is
 * harmless. */
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
    rc = reserve_and_leave_rest(segment, fd, begin, end - begin);
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

/* --- Creating the segment --------------------------------------------------------- */

static int make_name(const struct esi_segment_config *config,
                     struct esi_segment_name *ret_name)
{
    struct esi_segment_name name = {.rank = config->rank, .pid = getpid()};
    char text[ES_SEGMENT_NAME_BYTES];

    if (strlen(config->run) >= sizeof name.run ||
        strlen(config->host) >= sizeof name.host)
        return -EINVAL;
    strcpy(name.run, config->run);
    strcpy(name.host, config->host);
    *ret_name = name;
    return esi_segment_name_format(&name, text);
}

static uint64_t whole_pages(const struct es_segment *segment, uint64_t bytes)
{
    return (bytes + segment->page - 1) / segment->page * segment->page;
}

static struct esi_area make_area(uint64_t begin, uint64_t bytes)
{
    return (struct esi_area){.begin = begin, .end = begin + bytes, .reserved = begin};
}

/* Divides the address space of the file, none of which has memory yet. */
static void plan_areas(struct es_segment *segment,
                       const struct esi_segment_config *config)
{
    uint64_t header = whole_pages(segment, sizeof(struct esi_segment_layout));
    uint64_t elements =
        whole_pages(segment, config->max_elements * sizeof(struct esi_element_layout));
    uint64_t communicators = whole_pages(
        segment, config->max_communicators * sizeof(struct esi_communicator_layout));

    segment->elements = make_area(header, elements);
    segment->communicators = make_area(segment->elements.end, communicators);
    segment->arena = make_area(segment->communicators.end,
                               whole_pages(segment, config->arena_bytes));
    segment->bytes = segment->arena.end;
}

/* A file above the process's limit would cause SIGXFSZ. */
static bool is_within_limits(uint64_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           bytes <= limit.rlim_cur;
}

static int size_and_map(struct es_segment *segment, int fd)
{
    void *base;
    int rc;

    if (!is_within_limits(segment->bytes))
        return -EFBIG;
    if (ftruncate(fd, (off_t)segment->bytes) != 0)
        return -errno;
    rc = reserve_and_leave_rest(segment, fd, 0, segment->elements.begin);
    if (rc != 0)
        return rc;
    base = mmap(NULL, segment->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        return -errno;
    segment->base = base;
    segment->layout = base;
    return 0;
}

static uint32_t half_or_least(uint32_t count, uint32_t least)
{
    return count / 2 > least ? count / 2 : least;
}

/* Halves the largest area that is above its minimum; returns false if there is none. */
static bool segment_shrink(struct esi_segment_config *config)
{
    uint64_t arena = config->arena_bytes > LEAST_ARENA_BYTES ? config->arena_bytes : 0;
    uint64_t elements = config->max_elements > LEAST_ELEMENTS
                            ? config->max_elements * sizeof(struct esi_element_layout)
                            : 0;
    uint64_t communicators =
        config->max_communicators > LEAST_COMMUNICATORS
            ? config->max_communicators * sizeof(struct esi_communicator_layout)
            : 0;

    if (arena == 0 && elements == 0 && communicators == 0)
        return false;
    if (arena >= elements && arena >= communicators)
        config->arena_bytes =
            arena / 2 > LEAST_ARENA_BYTES ? arena / 2 : LEAST_ARENA_BYTES;
    else if (elements >= communicators)
        config->max_elements = half_or_least(config->max_elements, LEAST_ELEMENTS);
    else
        config->max_communicators =
            half_or_least(config->max_communicators, LEAST_COMMUNICATORS);
    return true;
}

/* Limits of file size or address space reduce the capacity, but do not prevent the
 * segment.  The program needs address space, too: the segment takes only its share.
 * (RLIMIT_DATA does not count shared mappings.) */
static int size_and_map_what_fits(struct es_segment *segment,
                                  struct esi_segment_config *config,
                                  int fd)
{
    uint64_t share = esi_process_address_space_left() / ES_SEGMENT_ADDRESS_SHARE;
    int rc;

    for (;;) {
        plan_areas(segment, config);
        rc = segment->bytes > share ? -ENOMEM : size_and_map(segment, fd);
        if (rc == -ENOMEM)
            segment->shortage = "address space (ulimit -v)";
        else if (rc == -EFBIG)
            segment->shortage = "file size (ulimit -f)";
        else
            return rc;
        if (!segment_shrink(config))
            return rc;
    }
}

static int make_file(struct es_segment *segment,
                     const struct esi_segment_name *name,
                     struct esi_segment_config *config)
{
    struct stat status;
    int fd = segment_file_create(segment, name);
    int rc;

    if (fd < 0)
        return fd;
    rc = fstat(fd, &status) == 0 ? 0 : -errno;
    if (rc == 0) {
        segment->device = status.st_dev;
        segment->inode = status.st_ino;
        rc = size_and_map_what_fits(segment, config, fd);
    }
    close(fd);
    if (rc != 0)
        shm_unlink(segment->name); /* it was just created */
    return rc;
}

/* Replaces this process's data in the header. */
static void fill_keeping(struct esi_segment_layout *layout,
                         const struct esi_segment_keeping *keeping)
{
    layout->flags |= ES_SEGMENT_KEPT;
    if (keeping->pid != 0)
        layout->pid = keeping->pid;
    if (keeping->clock)
        layout->clock = *keeping->clock;
    atomic_init(&layout->world_rank, keeping->rank);
    atomic_init(&layout->world_size, keeping->size);
}

static void fill_header(struct es_segment *segment,
                        const struct esi_segment_config *config)
{
    struct esi_segment_layout *layout = segment->layout;

    layout->endian = ES_SEGMENT_ENDIAN;
    layout->major = ES_SEGMENT_MAJOR;
    layout->minor = ES_SEGMENT_MINOR;
    layout->header_bytes = sizeof *layout;
    layout->element_bytes = sizeof(struct esi_element_layout);
    layout->communicator_bytes = sizeof(struct esi_communicator_layout);
    layout->max_elements = config->max_elements;
    layout->max_communicators = config->max_communicators;
    layout->segment_bytes = segment->bytes;
    layout->elements_offset = segment->elements.begin;
    layout->communicators_offset = segment->communicators.begin;
    layout->arena_offset = segment->arena.begin;
    layout->pid = getpid();
    layout->uid = geteuid();
    layout->folder = esi_run_directory_folder();
    if (esi_process_start_time(layout->pid, &layout->pid_start) != 0)
        layout->pid_start = 0;
    atomic_init(&layout->world_rank, config->rank);
    atomic_init(&layout->world_size, config->size);
    layout->spawn = config->spawn;
    snprintf(layout->run, sizeof layout->run, "%s", config->run);
    snprintf(layout->host, sizeof layout->host, "%s", config->host);
    snprintf(layout->program, sizeof layout->program, "%s",
             config->program ? config->program : "");
    snprintf(layout->job, sizeof layout->job, "%s", config->job);
    snprintf(layout->launcher, sizeof layout->launcher, "%s", config->launcher);
    if (!config->keeping || !config->keeping->clock)
        es_clock_calibrate(config->calibrate_ns, &layout->clock);
    if (config->keeping)
        fill_keeping(layout, config->keeping);
    atomic_init(&layout->state, ES_SEGMENT_RUNNING);
    /* Pairs with the acquire in esi_segment_view_attach(): a reader that sees the magic
     * sees the header. */
    __atomic_store_n(&layout->magic, ES_SEGMENT_MAGIC, __ATOMIC_RELEASE);
}

/* Whether the header describes this process as the planned segment would. */
static bool is_own(const struct es_segment *segment,
                   const struct esi_segment_config *config,
                   const struct esi_segment_layout *header)
{
    uint64_t start = 0;

    return header->pid == getpid() && esi_process_start_time(getpid(), &start) == 0 &&
           header->pid_start == start && header->folder == esi_run_directory_folder() &&
           strcmp(header->run, config->run) == 0 &&
           strcmp(header->host, config->host) == 0 &&
           header->clock.kind == (uint32_t)es_clock_kind() &&
           header->segment_bytes == segment->bytes &&
           header->arena_offset == segment->arena.begin &&
           header->communicators_offset == segment->communicators.begin;
}

/* Maps the segment that was made for this process before its first MPI call.  Returns
 * false if there is none, or if it does not fit, because limits have changed or it is
 * of a parent: then it is passed on. */
static bool continue_started(struct es_segment *segment,
                             const struct esi_segment_config *config)
{
    struct esi_segment_layout header;
    struct stat status;
    void *base = MAP_FAILED;
    int fd = take_started(&header, segment->name);

    if (fd < 0)
        return false;
    plan_areas(segment, config);
    if (is_own(segment, config, &header) && is_within_limits(segment->bytes) &&
        segment->bytes <= esi_process_address_space_left() / ES_SEGMENT_ADDRESS_SHARE &&
        fstat(fd, &status) == 0)
        base = mmap(NULL, segment->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED)
        pass_on(fd, segment->name);
    close(fd);
    if (base == MAP_FAILED)
        return false;
    segment->base = base;
    segment->layout = base;
    segment->device = status.st_dev;
    segment->inode = status.st_ino;
    segment->layout->spawn = config->spawn;
    snprintf(segment->layout->program, sizeof header.program, "%s", config->program);
    esi_segment_set_rank(segment, config->rank, config->size);
    esi_segment_set_state(segment, ES_SEGMENT_RUNNING);
    return true;
}

static int check_config(const struct esi_segment_config *config, struct es_error *error)
{
    if (!esi_run_id_is_valid(config->run))
        return es_error_set(
            error, -EINVAL,
            "run id '%s': expected 1 to 63 characters of [A-Za-z0-9_-], "
            "with single dots between them",
            config->run);
    if (config->max_elements == 0 || config->max_elements > (1u << 24) ||
        config->max_communicators > 65535 || config->arena_bytes > (UINT64_C(1) << 44))
        return es_error_set(error, -EINVAL, "segment: sizes out of range");
    return 0;
}

/* Explains why the file could not be created. */
static void explain_failure(const struct es_segment *segment,
                            int rc,
                            struct es_error *error)
{
    char owner[64] = "";

    if (rc == -ENOSPC && segment->inode != 0 && segment->keep_free_bytes > 0) {
        es_error_set(error, rc,
                     "not collecting: %" PRIu64 " KiB free in " ES_SHM_DIRECTORY
                     ", of which %" PRIu64 " KiB stay free for the program",
                     segment->free_bytes / 1024, segment->keep_free_bytes / 1024);
        return;
    }
    if (segment->has_rival && !segment->shortage)
        snprintf(owner, sizeof owner, " (the object of that name belongs to user %u)",
                 segment->rival);
    es_error_set(error, rc, "shared memory %s: cannot be created: %s%s%s",
                 segment->name, segment->shortage ? "too little " : "",
                 segment->shortage ? segment->shortage : strerror(-rc), owner);
}

int esi_segment_create(const struct esi_segment_config *config,
                       struct es_error *error,
                       struct es_segment **ret_segment)
{
    struct esi_segment_config fitting = *config;
    struct esi_segment_name name;
    struct es_segment *segment;
    int rc = check_config(config, error);

    if (rc != 0)
        return rc;
    segment = calloc(1, sizeof *segment);
    if (!segment)
        return -ENOMEM;
    segment->page = (uint64_t)sysconf(_SC_PAGESIZE);
    find_keep_free(segment, config->keep_free_percent);
    rc = make_name(config, &name);
    if (rc != 0) {
        es_error_set(error, rc,
                     "host name '%s': expected 1 to 63 characters without '/'",
                     config->host);
        goto free_segment;
    }
    bool is_continued = config->continues && continue_started(segment, config);
    rc = is_continued ? 0 : make_file(segment, &name, &fitting);
    if (rc != 0) {
        explain_failure(segment, rc, error);
        goto free_segment;
    }
    pthread_mutex_init(&segment->lock, NULL);
    esi_barrier_register();
    if (!is_continued)
        fill_header(segment, &fitting);
    *ret_segment = segment;
    return 0;

free_segment:
    free(segment);
    return rc;
}

void esi_segment_close(struct es_segment *segment)
{
    int saved_errno = errno;

    if (!segment)
        return;
    munmap(segment->base, segment->bytes);
    esi_hash_fini(&segment->element_names);
    free(segment->reuse.reusable);
    pthread_mutex_destroy(&segment->lock);
    free(segment);
    errno = saved_errno;
}

void esi_segment_destroy(struct es_segment *segment)
{
    int saved_errno = errno;

    if (!segment)
        return;
    segment_file_remove(segment);
    esi_segment_close(segment);
    errno = saved_errno;
}

const char *esi_segment_shortage(const struct es_segment *segment)
{
    return segment->shortage ? segment->shortage : "space in /dev/shm";
}

void esi_segment_remove(struct es_segment *segment)
{
    int saved_errno = errno;

    if (segment)
        segment_file_remove(segment);
    errno = saved_errno;
}

bool esi_segment_has_rival(const struct es_segment *segment, unsigned int *ret_user)
{
    if (segment->has_rival)
        *ret_user = segment->rival;
    return segment->has_rival;
}

struct esi_segment_layout *esi_segment_layout(struct es_segment *segment)
{
    return segment->layout;
}

void esi_segment_set_rank(struct es_segment *segment, int rank, int size)
{
    atomic_store_explicit(&segment->layout->world_rank, rank, memory_order_relaxed);
    atomic_store_explicit(&segment->layout->world_size, size, memory_order_relaxed);
}

void esi_segment_set_state(struct es_segment *segment, enum esi_segment_state state)
{
    atomic_store_explicit(&segment->layout->state, (uint32_t)state,
                          memory_order_relaxed);
}

/* --- Elements --------------------------------------------------------------------- */

static int check_element(const struct esi_element_config *config)
{
    bool trace = config->kind == ES_ELEMENT_TRACE;

    if ((!trace && config->kind != ES_ELEMENT_SHARED) || config->threshold < 1 ||
        config->threshold > GREATEST_THRESHOLD ||
        (trace && config->tuple_bytes != sizeof(struct es_tuple)) ||
        (!trace && config->sites) || config->tuple_bytes < 4 ||
        config->tuple_bytes > 65532 || config->tuple_bytes % 4 != 0 ||
        strlen(config->name) >= 64 || strlen(config->collector) >= 32)
        return -EINVAL;
    return 0;
}

/* The smallest power of two above the threshold: one slot is for the open tuple. */
static uint32_t capacity_for(uint32_t threshold)
{
    uint32_t capacity = 2;

    while (capacity <= threshold)
        capacity *= 2;
    return capacity;
}

uint64_t esi_segment_ring_bytes(uint32_t threshold, uint32_t tuple_bytes)
{
    return (uint64_t)capacity_for(threshold) * tuple_bytes;
}

/* Size of the column of call sites, after the ring. */
static uint64_t sites_bytes(const struct esi_element_config *config, uint32_t threshold)
{
    return config->sites ? capacity_for(threshold) * sizeof(uint64_t) : 0;
}

static int allocate_ring(struct es_segment *segment,
                         const struct esi_element_config *config,
                         uint32_t *ret_threshold,
                         uint64_t *ret_offset)
{
    uint32_t threshold = config->threshold;

    for (;;) {
        uint64_t bytes = esi_segment_ring_bytes(threshold, config->tuple_bytes) +
                         sites_bytes(config, threshold);
        int rc = esi_segment_allocate(segment, bytes, ES_CACHE_LINE, ret_offset);

        if (rc == 0)
            *ret_threshold = threshold;
        if (rc != -ENOSPC || threshold <= SMALLEST_THRESHOLD)
            return rc;
        threshold =
            threshold / 2 > SMALLEST_THRESHOLD ? threshold / 2 : SMALLEST_THRESHOLD;
    }
}

/* The entry is still zero: nothing was written beyond element_count. */
static void fill_element(struct esi_element_layout *element,
                         const struct esi_element_config *config,
                         uint32_t threshold)
{
    element->capacity = capacity_for(threshold);
    element->tuple_bytes = config->tuple_bytes;
    element->kind = (uint32_t)config->kind;
    element->threshold = threshold;
    /* Two or more tuples, so that the column is aligned to 8 bytes. */
    if (config->sites)
        element->sites_offset = element->ring_offset +
                                esi_segment_ring_bytes(threshold, config->tuple_bytes);
    atomic_init(&element->limit, threshold);
    atomic_init(&element->enabled, config->enabled ? 1u : 0u);
    atomic_init(&element->on_full, (uint32_t)config->on_full);
    strcpy(element->name, config->name);
    strcpy(element->collector, config->collector);
    element->rank = config->rank;
    element->thread = config->thread;
    element->classes = config->classes;
    element->peer = config->peer;
    element->communicator = config->communicator;
    element->thread_id = (uint32_t)gettid();
}

static bool has_element(const struct es_segment *segment,
                        uint64_t hash,
                        const char *name)
{
    const struct esi_element_layout *elements =
        (const void *)(segment->base + segment->elements.begin);

    ESI_HASH_FOREACH(slot, &segment->element_names, hash)
        if (strcmp(elements[esi_hash_index(&segment->element_names, slot)].name,
                   name) == 0)
            return true;
    return false;
}

/* The caller holds the lock. */
static int add_element(struct es_segment *segment,
                       const struct esi_element_config *config,
                       struct esi_element_layout **ret_element)
{
    struct esi_segment_layout *layout = segment->layout;
    uint32_t count = atomic_load_explicit(&layout->element_count, memory_order_relaxed);
    uint64_t offset = segment->elements.begin + (uint64_t)count * sizeof **ret_element;
    struct esi_element_layout *element = (void *)(segment->base + offset);
    uint64_t hash = esi_hash_mix_text(0, config->name);
    uint32_t threshold;
    int rc;

    if (has_element(segment, hash, config->name))
        return -EEXIST;
    if (count >= layout->max_elements)
        return -ENOSPC;
    rc = esi_hash_reserve(&segment->element_names, (size_t)count + 1);
    if (rc == 0)
        rc = esi_segment_reserve(segment, &segment->elements, offset + sizeof *element);
    if (rc == 0)
        rc = allocate_ring(segment, config, &threshold, &element->ring_offset);
    if (rc != 0)
        return rc;
    fill_element(element, config, threshold);
    esi_hash_insert(&segment->element_names, hash, count);
    if (threshold < config->threshold)
        atomic_fetch_add_explicit(&layout->elements_shrunk, 1, memory_order_relaxed);
    /* Pairs with the readers' acquire of the count: the entry is complete. */
    atomic_store_explicit(&layout->element_count, count + 1, memory_order_release);
    /* Readers waiting for new elements sleep on the count (new_elements.h). */
    esi_futex_wake(&layout->element_count);
    *ret_element = element;
    return 0;
}

int esi_segment_add_element(struct es_segment *segment,
                            const struct esi_element_config *config,
                            struct esi_writer *ret_writer)
{
    struct esi_element_layout *element;
    int rc = check_element(config);

    if (rc != 0)
        return rc;
    pthread_mutex_lock(&segment->lock);
    rc = add_element(segment, config, &element);
    pthread_mutex_unlock(&segment->lock);
    if (rc == -EEXIST)
        return rc;
    if (rc != 0) {
        atomic_fetch_add_explicit(&segment->layout->elements_refused, 1,
                                  memory_order_relaxed);
        return rc;
    }
    if (ret_writer)
        *ret_writer = (struct esi_writer){
            .element = element,
            .ring = (void *)(segment->base + element->ring_offset),
            .sites = element->sites_offset != 0
                         ? (void *)(segment->base + element->sites_offset)
                         : NULL,
            .mask = element->capacity - 1,
        };
    return 0;
}

int esi_segment_create_started(const struct esi_segment_config *config,
                               struct es_error *error)
{
    const struct esi_element_config element = {
        .kind = ES_ELEMENT_TRACE,
        .name = "started",
        .collector = "exec",
        .rank = config->rank,
        .classes = ES_CLASSES_STARTED,
        .peer = ES_PEER_NONE,
        .communicator = ES_COMMUNICATOR_NONE,
        .tuple_bytes = sizeof(struct es_tuple),
        .threshold = 1,
        .enabled = true,
    };
    struct es_segment *segment;

    unsetenv(ES_STARTED_VARIABLE);
    int rc = esi_segment_create(config, error, &segment);
    if (rc < 0)
        return rc;
    rc = esi_segment_add_element(segment, &element, NULL);
    if (rc == 0 && setenv(ES_STARTED_VARIABLE, segment->name, 1) != 0)
        rc = -ENOMEM;
    if (rc < 0) {
        esi_segment_destroy(segment);
        return rc;
    }
    atomic_store_explicit(&segment->layout->state, ES_SEGMENT_STARTED,
                          memory_order_relaxed);
    esi_segment_close(segment);
    return 0;
}
