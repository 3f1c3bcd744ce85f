/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * `eventspace collectives --apply`: one change of trees after the other, each measured
 * before and after, and taken back if it was for the worse.
 *
 *   one thread; the advice is only looked at while the caller has it.
 */
#ifndef ES_CLI_COLLECTIVES_APPLY_H
#define ES_CLI_COLLECTIVES_APPLY_H

#include "cli/command.h"
#include "cli/consumer.h"
#include "monitors/advice/collectives_advice.h"

struct esi_applier;

/* Borrows the consumer.  `after`: operations that a change is based on, and judged by.
 * -ENOMEM. */
int esi_applier_create(const struct esi_consumer *consumer,
                       size_t after,
                       struct esi_applier **ret_applier);
/* Accepts NULL. */
void esi_applier_destroy(struct esi_applier *applier);

/* Looks at proposals, and chooses the one to be applied: the one that saves most.
 * Copies it.  Nothing is chosen while a change is under way. */
void esi_applier_choose(struct esi_applier *applier,
                        const struct es_collectives_proposal *proposals,
                        size_t count,
                        const struct es_tree_advisor *advisor);

/* Looks at what was measured since the change that is under way.  With `over` what
 * there is must do. */
void esi_applier_measure(struct esi_applier *applier,
                         const struct es_tree_advisor *advisor,
                         bool over);

/* Does what was chosen: changes trees, waits until they are in force, takes changes
 * back.  -ENOMEM and the like. */
int esi_applier_act(struct esi_applier *applier);

/* What became of the changes. */
void esi_applier_print(const struct esi_applier *applier, enum es_format format);

#endif
