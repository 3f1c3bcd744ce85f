/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Stage types from shared objects: how users bring stages of their own.
 *
 *   static const struct es_stage_ops *const types[] = {&slow, NULL};
 *
 *   ES_STAGE_MODULE("my stages", types);
 *
 * docs/example-stage/ is a whole one.  Modules are loaded into the programs that pull
 * stages, consumers and tuple servers, never into the observed program.
 */
#ifndef EVENTSPACE_STAGE_MODULE_H
#define EVENTSPACE_STAGE_MODULE_H

#include <stdint.h>

#include "eventspace/api.h"
#include "eventspace/error.h"
#include "eventspace/stage.h"

/* What a module was compiled against.  The sizes catch what the number forgets. */
#define ES_STAGE_ABI                                                                   \
    ((uint32_t)(UINT32_C(2) << 16 |                                                    \
                (sizeof(struct es_stage) + sizeof(struct es_stage_ops) +               \
                 sizeof(struct es_batch) + sizeof(struct es_pull) +                    \
                 sizeof(struct es_property))))

/* What a module says of itself, under the name eventspace_stage_module. */
struct es_stage_module {
    uint32_t abi; /* ES_STAGE_ABI */
    const char *name;
    const struct es_stage_ops *const *types; /* NULL-terminated */
};

/* Defines it. */
#define ES_STAGE_MODULE(module_name, module_types)                                     \
    __attribute__((visibility("default")))                                             \
    const struct es_stage_module eventspace_stage_module = {                           \
        .abi = ES_STAGE_ABI, .name = module_name, .types = module_types}

/* Loads a shared object and registers its types; they stay for good.  Loading the same
 * again changes nothing.  -ENOENT: it cannot be loaded; -EINVAL: it is no module;
 * -EPROTO: it was built against another interface; -EEXIST: one of its types has a name
 * that is taken, then none of them is registered; -ENOSPC. */
ES_API int es_stage_load(const char *path, struct es_error *error);

/* Loads what the environment variable EVENTSPACE_STAGES names: absolute paths with
 * colons between.  Returns their number, or what es_stage_load() said of the first that
 * is wrong.  Programs that run with more rights than their user's ignore the variable.
 */
ES_API int es_stage_load_environment(struct es_error *error);

#endif
