/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* run_follow.h - who takes part in a run that is followed. */
#ifndef ES_MONITORS_RUN_RUN_FOLLOW_H
#define ES_MONITORS_RUN_RUN_FOLLOW_H

#include "monitors/follow/follower.h"
#include "monitors/run/run_model.h"

/* Finds or adds the process of an element.  Returns 0 or -ENOMEM. */
int esi_run_follow_process(struct esi_run_model *run,
                           const struct es_origin *origin,
                           struct esi_run_process **ret_process);

/* Adds what the element's process reports of communicator `index`, if anything.  Only
 * rank 0 of a group reports all its members; unless they are known, the other members'
 * processes are asked for them, too, if `everywhere`.  Returns 0 or -ENOMEM. */
int esi_run_follow_communicator(struct esi_run_model *run,
                                struct esi_follower *follower,
                                uint32_t origin,
                                struct esi_run_process *process,
                                uint16_t index,
                                bool everywhere);

#endif
