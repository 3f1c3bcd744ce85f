/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* The list of the fuzz targets that are linked into a program. */
#include "config.h"

#include "tests/fuzz/fuzz_target.h"

#include <stdlib.h>
#include <string.h>

static struct fuzz_target *targets;

void require(bool condition)
{
    if (!condition)
        abort();
}

void fuzz_target_add(struct fuzz_target *target)
{
    target->next = targets;
    targets = target;
}

struct fuzz_target *fuzz_target_find(const char *name)
{
    struct fuzz_target *target = targets;

    while (target && strcmp(target->name, name) != 0)
        target = target->next;
    return target;
}
