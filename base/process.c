/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Reads /proc/PID/stat with plain system calls, because this also runs in the observed
 * process. */
#include "config.h"

#include "base/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

struct process_stat {
    char state;
    uint64_t start;
};

/* Skips `count` spaces; NULL if there are fewer. */
static const char *skip_fields(const char *text, int count)
{
    while (text && count-- > 0) {
        text = strchr(text, ' ');
        if (text)
            text++;
    }
    return text;
}

static int parse_number(const char *text, uint64_t *ret_number)
{
    uint64_t number = 0;

    if (!text || *text < '0' || *text > '9')
        return -EIO;
    for (; *text >= '0' && *text <= '9'; text++)
        number = number * 10 + (uint64_t)(*text - '0');
    *ret_number = number;
    return 0;
}

/* The command name may contain spaces and parentheses: the fields start after the last
 * ')'. */
static int parse_stat(const char *text, struct process_stat *ret_stat)
{
    const char *end = strrchr(text, ')');

    if (!end || end[1] != ' ' || end[2] == '\0')
        return -EIO;
    ret_stat->state = end[2];
    return parse_number(skip_fields(end + 2, 19), &ret_stat->start);
}

static int read_stat(int pid, struct process_stat *ret_stat)
{
    char path[32];
    char text[1024];
    ssize_t length;
    int fd;

    if (pid <= 0)
        return -ESRCH;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? -ESRCH : -EIO;
    length = read(fd, text, sizeof text - 1);
    if (length < 0 && errno == ESRCH) {
        close(fd);
        return -ESRCH;
    }
    close(fd);
    if (length <= 0)
        return -EIO;
    text[length] = '\0';
    return parse_stat(text, ret_stat);
}

int esi_process_start_time(int pid, uint64_t *ret_start)
{
    struct process_stat stat;
    int rc = read_stat(pid, &stat);

    if (rc == 0)
        *ret_start = stat.start;
    return rc;
}

bool esi_process_is_alive(int pid, uint64_t start)
{
    struct process_stat stat;
    int rc = read_stat(pid, &stat);

    if (pid <= 0 || (rc == -ESRCH && access("/proc/self/stat", R_OK) == 0))
        return false;
    /* /proc may be hidden or not mounted: then only kill(2) is left. */
    if (rc != 0)
        return kill(pid, 0) == 0 || errno != ESRCH;
    return stat.state != 'Z' && stat.state != 'X' &&
           (start == 0 || stat.start == start);
}

bool esi_process_is_stopped(int pid, uint64_t start)
{
    struct process_stat stat;

    return read_stat(pid, &stat) == 0 && stat.state == 'T' &&
           (start == 0 || stat.start == start);
}

int esi_process_list_threads(int pid, uint32_t *ret_ids, size_t room)
{
    char path[32];
    struct dirent *entry;
    DIR *folder;
    int count = 0;

    snprintf(path, sizeof path, "/proc/%d/task", pid);
    folder = opendir(path);
    if (!folder)
        return -errno;
    while ((entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        if ((size_t)count < room)
            ret_ids[count] = (uint32_t)strtoul(entry->d_name, NULL, 10);
        count++;
    }
    closedir(folder);
    return count;
}

/* The first number of /proc/self/statm, in pages. */
static int read_mapped_pages(uint64_t *ret_pages)
{
    char text[128];
    ssize_t length;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return -EIO;
    length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0)
        return -EIO;
    text[length] = '\0';
    return parse_number(text, ret_pages);
}

uint64_t esi_process_address_space_left(void)
{
    struct rlimit limit;
    uint64_t pages, mapped;

    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        read_mapped_pages(&pages) != 0)
        return UINT64_MAX;
    mapped = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    return mapped < limit.rlim_cur ? limit.rlim_cur - mapped : 0;
}
