/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* process_time.c - reads /proc/PID/stat and schedstat. */
#include "config.h"

#include "monitors/verdict/process_time.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Enough processor time for any call that waits for nobody. */
#define ENOUGH_NS UINT64_C(1000000)

/* Segments are sorted by rank and pid. */
bool esi_process_time_is_here(const struct es_run *run, int rank, int pid)
{
    size_t low = 0, high = es_run_segment_count(run);

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct es_segment_info info;

        es_segment_view_info(es_run_segment(run, middle), &info);
        if (info.rank == rank && info.pid == pid)
            return !info.kept;
        if (info.rank < rank || (info.rank == rank && info.pid < pid))
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static bool read_line(int pid, const char *name, char *line, int size)
{
    char path[64];
    FILE *file;
    bool is_read;

    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    file = fopen(path, "re");
    if (!file)
        return false;
    is_read = fgets(line, size, file) != NULL;
    fclose(file);
    return is_read;
}

/* The MPI library's own threads do not call MPI. */
static bool is_of_library(const struct esi_ledger *ledger, int task)
{
    for (size_t i = 0; ledger && i < ESI_LEDGER_LIBRARY_THREADS; i++)
        if (ledger->library_threads[i] == (uint32_t)task)
            return true;
    return false;
}

static void read_tasks(int pid,
                       const struct esi_ledger *ledger,
                       struct esi_process_time *time)
{
    char path[64], line[128];
    struct dirent *entry;
    DIR *folder;

    snprintf(path, sizeof path, "/proc/%d/task", pid);
    folder = opendir(path);
    if (!folder)
        return;
    while (time->task_count < ESI_PROCESS_TASKS && (entry = readdir(folder))) {
        struct esi_process_task task = {.id = atoi(entry->d_name)};

        if (task.id <= 0 || is_of_library(ledger, task.id))
            continue;
        snprintf(path, sizeof path, "task/%d/schedstat", task.id);
        if (read_line(pid, path, line, sizeof line) &&
            sscanf(line, "%" SCNu64, &task.used_ns) == 1)
            time->tasks[time->task_count++] = task;
    }
    closedir(folder);
}

size_t esi_process_time_active(const struct esi_process_time *before,
                               const struct esi_process_time *now)
{
    size_t active = 0;

    for (size_t i = 0; i < now->task_count; i++) {
        bool rested = false;

        for (size_t j = 0; j < before->task_count; j++)
            rested |= before->tasks[j].id == now->tasks[i].id &&
                      before->tasks[j].used_ns == now->tasks[i].used_ns;
        active += !rested;
    }
    return active;
}

void esi_process_time_read(int pid,
                           const struct esi_ledger *ledger,
                           struct esi_process_time *ret_time)
{
    struct esi_process_time found = {.known = false};
    char line[1024];
    const char *behind;
    uint64_t user, system;

    *ret_time = found;
    if (!read_line(pid, "stat", line, sizeof line))
        return;
    /* The name, in parentheses, may contain any character. */
    behind = strrchr(line, ')');
    if (!behind ||
        sscanf(behind,
               ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
               &found.state, &user, &system) != 3)
        return;
    found.known = true;
    found.ticks = user + system;
    if (read_line(pid, "schedstat", line, sizeof line))
        sscanf(line, "%" SCNu64, &found.used_ns);
    read_tasks(pid, ledger, &found);
    *ret_time = found;
}

enum esi_fact_schedule esi_process_time_compare(const struct esi_process_time *before,
                                                const struct esi_process_time *now)
{
    if (!before->known || !now->known)
        return ESI_SCHEDULE_UNKNOWN;
    if (strchr("TtDZ", now->state) || strchr("Tt", before->state))
        return ESI_SCHEDULE_HELD;
    if (now->state == 'S' || now->ticks > before->ticks ||
        now->used_ns - before->used_ns >= ENOUGH_NS)
        return ESI_SCHEDULE_RAN;
    return ESI_SCHEDULE_HELD;
}
