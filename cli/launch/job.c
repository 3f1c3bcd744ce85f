/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Names of runs.
 *
 * Ranks started by another launcher cannot communicate before MPI is initialised, but
 * need a common name before that.  So each rank computes it from data that is the same
 * for all.
 */
#include "config.h"

#include "cli/launch/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/host.h"
#include "base/job_environment.h"
#include "base/process.h"
#include "tuplespace/segment_name.h"

enum {
    PROGRAM_CHARACTERS = 32, /* part of the program's name used in the run's */
};

/* The file's name, restricted to the characters allowed in a run's name. */
static void shorten_program(const char *program, char ret_short[PROGRAM_CHARACTERS + 1])
{
    const char *slash = strrchr(program, '/');
    const char *name = slash ? slash + 1 : program;
    size_t length = 0;

    for (; name[length] && length < PROGRAM_CHARACTERS; length++) {
        char character[2] = {name[length], '\0'};
        ret_short[length] = esi_run_id_is_valid(character) ? name[length] : '_';
    }
    ret_short[length] = '\0';
    /* A name that begins with '-' would look like an option. */
    if (length == 0 || ret_short[0] == '-')
        strcpy(ret_short, "run");
}

static void append_letters(uint64_t number, int count, char *name)
{
    static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    size_t length = strlen(name);

    while (count-- > 0) {
        name[length++] = letters[number % 36];
        number /= 36;
    }
    name[length] = '\0';
}

void esi_job_fresh_name(const char *program, char ret_name[ES_RUN_NAME_BYTES])
{
    char name[PROGRAM_CHARACTERS + 1];
    time_t now = time(NULL);
    struct tm parts = {0};
    uint64_t random = (uint64_t)getpid();
    struct esi_job_environment job;

    shorten_program(program, name);
    localtime_r(&now, &parts);
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
        random ^= (uint64_t)clock();
    esi_job_environment_read(&job);
    if (job.job[0])
        snprintf(ret_name, ES_RUN_NAME_BYTES, "%.24s.%s-", job.job, name);
    else
        snprintf(ret_name, ES_RUN_NAME_BYTES, "%s-%02d%02d%02d-", name,
                 parts.tm_hour % 24, parts.tm_min % 60, parts.tm_sec % 61);
    append_letters(random, 4, ret_name);
}

/* Whole file, cut to `size` - 1 bytes and terminated; its length, or -1. */
static ssize_t read_file(const char *path, char *ret_text, size_t size)
{
    FILE *file = fopen(path, "re");

    if (!file)
        return -1;
    size_t length = fread(ret_text, 1, size - 1, file);
    fclose(file);
    ret_text[length] = '\0';
    return (ssize_t)length;
}

/* A process's parent, or 0 if not known. */
static pid_t parent_of(pid_t pid)
{
    char path[64], text[1024];
    int parent;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (read_file(path, text, sizeof text) < 0)
        return 0;
    /* The second field, the name, may contain any character, even ')'. */
    const char *rest = strrchr(text, ')');
    return rest && sscanf(rest, ") %*c %d", &parent) == 1 ? parent : 0;
}

/* Whether a block of NUL-terminated strings has NAME=... */
static bool block_has(const char *block, size_t length, const char *name)
{
    size_t name_length = strlen(name);

    for (const char *next = block; next < block + length; next += strlen(next) + 1)
        if (strncmp(next, name, name_length) == 0 && next[name_length] == '=')
            return true;
    return false;
}

/* Whether the process was started as a rank, if its environment can be read. */
static bool is_rank(pid_t pid, const char *variable)
{
    enum { ENVIRONMENT_BYTES = 256 * 1024 };
    char path[64];
    char *block = malloc(ENVIRONMENT_BYTES);
    bool found = false;

    if (!block)
        return false;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    ssize_t length = read_file(path, block, ENVIRONMENT_BYTES);
    if (length > 0)
        found = block_has(block, (size_t)length, variable);
    free(block);
    return found;
}

/* The nearest ancestor that is not a rank: scripts may be in between. */
static pid_t find_launcher(const char *variable)
{
    pid_t pid = getppid();

    while (pid > 1 && is_rank(pid, variable))
        pid = parent_of(pid);
    return pid;
}

/* FNV-1a, which is sufficient for names and the same on all machines. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    /* Separates consecutive texts. */
    return (hash ^ 0xff) * UINT64_C(0x100000001b3);
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRIu64, number);
    return hash_text(hash, text);
}

int esi_job_local_ranks(void)
{
    struct esi_job_environment job;

    esi_job_environment_read(&job);
    return job.local_ranks;
}

const char *esi_job_rank_variable(void)
{
    struct esi_job_environment job;

    esi_job_environment_read(&job);
    /* Slurm gives a batch script a rank, too, but no size of a step. */
    bool is_script = job.rank_variable && job.size < 0 &&
                     strcmp(job.rank_variable, "SLURM_PROCID") == 0;
    return job.size == 1 || is_script ? NULL : job.rank_variable;
}

static bool is_on_one_host(const struct esi_job_environment *job)
{
    return job->nodes == 1 || (job->size > 0 && job->size == job->local_ranks);
}

struct id_hash {
    uint64_t hash;
    bool found;
};

static void hash_id(const char *name, const char *value, void *context)
{
    struct id_hash *ids = context;

    ids->hash = hash_text(hash_text(ids->hash, name), value);
    ids->found = true;
}

static bool hash_job_ids(uint64_t *hash)
{
    struct id_hash ids = {.hash = *hash};

    esi_job_environment_ids(hash_id, &ids);
    *hash = ids.hash;
    return ids.found;
}

/* "--control-port HOST:PORT" on the command line of the launcher's daemon. */
static bool hash_control_port(pid_t launcher, uint64_t *hash)
{
    char path[64], line[4096];

    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)launcher);
    ssize_t length = read_file(path, line, sizeof line);
    const char *next = line;
    while (length > 0 && next < line + length) {
        bool found = strcmp(next, "--control-port") == 0;
        next += strlen(next) + 1;
        if (found && next < line + length) {
            *hash = hash_text(*hash, next);
            return true;
        }
    }
    return false;
}

static uint64_t hash_launcher(uint64_t hash, pid_t launcher)
{
    char host[ES_HOST_NAME_BYTES];
    uint64_t start = 0;

    esi_process_start_time(launcher, &start);
    hash = hash_text(hash, esi_host_name(host));
    return hash_number(hash_number(hash, (uint64_t)launcher), start);
}

/* "job-HASH". */
static void make_hashed_name(const struct esi_job_environment *job,
                             char ret_name[ES_RUN_NAME_BYTES])
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    pid_t launcher = find_launcher(job->rank_variable);
    bool spans_hosts = !is_on_one_host(job);

    hash = hash_number(hash, (uint64_t)geteuid());
    bool has_ids = spans_hosts && hash_job_ids(&hash);
    bool has_port = spans_hosts && hash_control_port(launcher, &hash);
    if (!has_ids && !has_port)
        hash = hash_launcher(hash, launcher);
    /* The program's name is not used: ranks with different programs are one job. */
    strcpy(ret_name, "job-");
    append_letters(hash, 8, ret_name);
}

bool esi_job_agreed_name(char ret_name[ES_RUN_NAME_BYTES])
{
    struct esi_job_environment job;

    esi_job_environment_read(&job);
    if (!job.rank_variable)
        return false;
    if (job.step[0])
        strcpy(ret_name, job.step);
    else
        make_hashed_name(&job, ret_name);
    return true;
}
