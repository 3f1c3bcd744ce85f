/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* Formats, parses and lists the names of segments. */
#include "config.h"

#include "tuplespace/segment_name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char prefix[] = "eventspace.";

/* Replaces the dots of a run in the names of its segments, where dots are
 * separators. */
enum { DOT_OF_RUN = ',' };

/* The ctype functions depend on the locale. */
static bool is_run_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '-';
}

bool esi_run_id_is_valid(const char *run)
{
    size_t length = 0;
    bool is_between = false; /* between two characters, where a dot is allowed */

    for (; run[length] != '\0'; length++) {
        bool is_dot = run[length] == '.' && is_between;

        if ((!is_run_character(run[length]) && !is_dot) || length >= 63)
            return false;
        is_between = !is_dot;
    }
    return is_between;
}

static void replace_all(char *text, char from, char to)
{
    for (; *text != '\0'; text++)
        if (*text == from)
            *text = to;
}

static bool is_host(const char *host)
{
    size_t length = strlen(host);

    return length > 0 && length < 64 && !strchr(host, '/');
}

int esi_segment_name_format(const struct esi_segment_name *name,
                            char out[ES_SEGMENT_NAME_BYTES])
{
    char run[sizeof name->run];
    int length;

    if (!esi_run_id_is_valid(name->run) || !is_host(name->host) || name->rank < -1 ||
        name->pid <= 0)
        return -EINVAL;
    strcpy(run, name->run);
    replace_all(run, '.', DOT_OF_RUN);
    length = snprintf(out, ES_SEGMENT_NAME_BYTES, "/%s%s.%s.%d.%d", prefix, run,
                      name->host, name->rank, name->pid);
    if (name->other != 0)
        snprintf(out + length, ES_SEGMENT_NAME_BYTES - (size_t)length, "+%08" PRIx32,
                 name->other);
    return 0;
}

/* Parses a decimal number or "-1", followed by `end`. */
static int parse_number(const char *text, const char *end, int *ret_number)
{
    int64_t number = 0;

    if (end - text == 2 && text[0] == '-' && text[1] == '1') {
        *ret_number = -1;
        return 0;
    }
    if (text == end || end - text > 10)
        return -EINVAL;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9')
            return -EINVAL;
        number = number * 10 + (*text - '0');
    }
    if (number > INT_MAX)
        return -EINVAL;
    *ret_number = (int)number;
    return 0;
}

/* Removes "+" and eight lower-case hexadecimal digits from the end, if present.  Other
 * text remains and is then not a number. */
static uint32_t take_other(const char *text, const char **end)
{
    uint32_t other = 0;
    const char *plus = *end - 9;

    if (*end - text < 9 || *plus != '+')
        return 0;
    for (const char *at = plus + 1; at < *end; at++) {
        if (*at >= '0' && *at <= '9')
            other = other << 4 | (uint32_t)(*at - '0');
        else if (*at >= 'a' && *at <= 'f')
            other = other << 4 | (uint32_t)(*at - 'a' + 10);
        else
            return 0;
    }
    if (other != 0)
        *end = plus;
    return other;
}

static int copy_part(const char *text, const char *end, char out[64])
{
    size_t length = (size_t)(end - text);

    if (length == 0 || length > 63)
        return -EINVAL;
    memcpy(out, text, length);
    out[length] = '\0';
    return 0;
}

/* The last '.' between `text` and `end`, or NULL. */
static const char *dot_before(const char *text, const char *end)
{
    while (end > text)
        if (*--end == '.')
            return end;
    return NULL;
}

int esi_segment_name_parse(const char *text, struct esi_segment_name *ret_name)
{
    struct esi_segment_name name;
    const char *end, *run_end, *rank_dot, *pid_dot;

    if (*text == '/')
        text++;
    if (strncmp(text, prefix, sizeof prefix - 1) != 0)
        return -EINVAL;
    text += sizeof prefix - 1;
    end = text + strlen(text);
    name.other = take_other(text, &end);
    run_end = strchr(text, '.');
    pid_dot = dot_before(text, end);
    rank_dot = pid_dot ? dot_before(text, pid_dot) : NULL;
    if (!run_end || !rank_dot || rank_dot <= run_end)
        return -EINVAL;
    if (copy_part(text, run_end, name.run) != 0)
        return -EINVAL;
    replace_all(name.run, DOT_OF_RUN, '.');
    if (!esi_run_id_is_valid(name.run) ||
        copy_part(run_end + 1, rank_dot, name.host) != 0 ||
        parse_number(rank_dot + 1, pid_dot, &name.rank) != 0 ||
        parse_number(pid_dot + 1, end, &name.pid) != 0 || name.pid <= 0)
        return -EINVAL;
    *ret_name = name;
    return 0;
}

/* --- Visiting --------------------------------------------------------------------- */

/* Finds the next segment (of the run, if one is named) and its file status.  Returns
 * false at the end. */
static bool next_segment(DIR *directory,
                         const char *run,
                         struct esi_segment_name *ret_name,
                         struct stat *ret_status)
{
    struct dirent *entry;

    while ((entry = readdir(directory)) != NULL)
        if (esi_segment_name_parse(entry->d_name, ret_name) == 0 &&
            (!run || strcmp(run, ret_name->run) == 0) &&
            fstatat(dirfd(directory), entry->d_name, ret_status, AT_SYMLINK_NOFOLLOW) ==
                0 &&
            S_ISREG(ret_status->st_mode))
            return true;
    return false;
}

int esi_segment_name_foreach(const char *run, esi_segment_visit_fn visit, void *context)
{
    DIR *directory = opendir(ES_SHM_DIRECTORY);
    const uid_t user = geteuid();
    struct esi_segment_name name;
    struct stat status;
    int rc = 0;

    if (!directory)
        return errno == ENOENT ? 0 : -errno;
    while (rc == 0 && next_segment(directory, run, &name, &status))
        if (status.st_uid == user)
            rc = visit(&name, &status, context);
    closedir(directory);
    return rc;
}

int esi_segment_name_find_other(const char *run, unsigned int *ret_user)
{
    DIR *directory = opendir(ES_SHM_DIRECTORY);
    struct esi_segment_name name;
    struct stat status;
    int rc = -ENOENT;

    if (!directory)
        return -errno;
    while (rc != 0 && next_segment(directory, run, &name, &status))
        if (status.st_uid != geteuid()) {
            *ret_user = status.st_uid;
            rc = 0;
        }
    closedir(directory);
    return rc;
}
