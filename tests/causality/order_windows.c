/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* order_windows.c - one-sided epochs of all ranks and of groups. */
#include "order_windows.h"

#include "order_log.h"

static _Thread_local MPI_Win fenced;
static _Thread_local MPI_Win posted;
static _Thread_local int *exposed;

static MPI_Win make_window(MPI_Comm world, int **ret_base)
{
    MPI_Win win;

    log_made("MPI_Win_allocate", 1);
    MPI_Win_allocate(RANKS_MAX * 16, 16, MPI_INFO_NULL, world, ret_base, &win);
    log_made("MPI_Win_allocate", 0);
    return win;
}

void windows_make(MPI_Comm world)
{
    int *unused;

    fenced = make_window(world, &unused);
    posted = make_window(world, &exposed);
    log_made("MPI_Win_fence", 1);
    MPI_Win_fence(0, fenced);
    log_made("MPI_Win_fence", 0);
}

void windows_free(void)
{
    log_made("MPI_Win_free", 1);
    MPI_Win_free(&posted);
    log_made("MPI_Win_free", 0);
    log_made("MPI_Win_free", 1);
    MPI_Win_free(&fenced);
    log_made("MPI_Win_free", 0);
}

void windows_fence(const struct step *step)
{
    log_calls++;
    log_put('E', "MPI_Win_fence", step->id);
    MPI_Win_fence(0, fenced);
    log_calls++;
    log_put('X', "MPI_Win_fence", step->id);
    fputs("\t*", log_file);
}

static bool puts_to(const struct step *step, int origin, int target)
{
    return step->slots >> (origin * RANKS_MAX + target) & 1;
}

/* Creates the group of the ranks to which this rank puts, or that put to it. Returns
 * its size. */
static int make_group(const struct step *step, bool targets, MPI_Group *ret_group)
{
    MPI_Group world;
    int ranks[RANKS_MAX];
    int count = 0;

    for (int i = 0; i < size; i++)
        if (targets ? puts_to(step, rank, i) : puts_to(step, i, rank))
            ranks[count++] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, count, ranks, ret_group);
    MPI_Group_free(&world);
    return count;
}

static void put_all(const struct step *step, MPI_Group targets)
{
    bool is_first = true;
    int line;

    MPI_Win_start(targets, 0, posted);
    log_calls++;
    line = log_put('A', "MPI_Win_start", step->id) + 1;
    for (int i = 0; i < size; i++)
        if (puts_to(step, rank, i))
            MPI_Put(&line, 1, MPI_INT, i, rank, 1, MPI_INT, posted);
    log_calls++;
    log_put('C', "MPI_Win_complete", step->id);
    MPI_Win_complete(posted);
    log_calls++;
    log_put('D', "MPI_Win_complete", step->id);
    for (int i = 0; i < size; i++)
        if (puts_to(step, rank, i))
            log_hear(&is_first, i, 0);
}

static void log_puts(const struct step *step)
{
    bool is_first = true;

    log_calls++;
    log_put('W', "MPI_Win_wait", step->id);
    for (int i = 0; i < size; i++)
        if (puts_to(step, i, rank))
            log_hear(&is_first, i, exposed[i * 16 / (int)sizeof(int)]);
}

void windows_epoch(const struct step *step)
{
    MPI_Group origins;
    MPI_Group targets;
    int origin_count = make_group(step, false, &origins);
    int target_count = make_group(step, true, &targets);

    if (origin_count > 0) {
        log_calls++;
        log_put('P', "MPI_Win_post", step->id);
        MPI_Win_post(origins, 0, posted);
    }
    if (target_count > 0)
        put_all(step, targets);
    if (origin_count > 0) {
        MPI_Win_wait(posted);
        log_puts(step);
    }
    MPI_Group_free(&origins);
    MPI_Group_free(&targets);
}
