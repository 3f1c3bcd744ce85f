/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The two windows of a thread's program: one for fences, one for epochs of groups. All
 * calls are logged. */
#ifndef ES_TESTS_ORDER_WINDOWS_H
#define ES_TESTS_ORDER_WINDOWS_H

#include <mpi.h>

#include "order_schedule.h"

/* All functions are collective over `world`. */
void windows_make(MPI_Comm world);
void windows_free(void);
/* Executes a step of kind STEP_FENCE. */
void windows_fence(const struct step *step);
/* Executes a step of kind STEP_EPOCH. */
void windows_epoch(const struct step *step);

#endif
