/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * Stage types in shared objects, for users' own stages.
 *
 *   static const struct es_stage_ops *const types[] = {&slow, NULL};
 *
 *   ES_STAGE_MODULE("my stages", types);
 *
 * docs/example-stage/ is a complete example.  Modules are loaded into the programs that
 * pull stages (consumers and tuple servers), never into the observed program.
 */
#ifndef EVENTSPACE_STAGE_MODULE_H
#define EVENTSPACE_STAGE_MODULE_H

#include <stdint.h>

#include "eventspace/api.h"
#include "eventspace/error.h"
#include "eventspace/stage.h"

/* Identifies the interface that a module was compiled against.  The sizes detect
 * changes that forgot to increase the number. */
#define ES_STAGE_ABI                                                                   \
    ((uint32_t)(UINT32_C(2) << 16 |                                                    \
                (sizeof(struct es_stage) + sizeof(struct es_stage_ops) +               \
                 sizeof(struct es_batch) + sizeof(struct es_pull) +                    \
                 sizeof(struct es_property))))

/* Describes a module.  Exported as eventspace_stage_module. */
struct es_stage_module {
    uint32_t abi; /* ES_STAGE_ABI */
    const char *name;
    const struct es_stage_ops *const *types; /* NULL-terminated */
};

/* Defines the description of a module. */
#define ES_STAGE_MODULE(module_name, module_types)                                     \
    __attribute__((visibility("default")))                                             \
    const struct es_stage_module eventspace_stage_module = {                           \
        .abi = ES_STAGE_ABI, .name = module_name, .types = module_types}

/* Loads a shared object and registers its types permanently.  Loading the same object
 * again has no effect.  Returns 0; -ENOENT if it cannot be loaded; -EINVAL if it is not
 * a module; -EPROTO if it was built against another interface; -EEXIST if a type with
 * the same name is registered, and then registers no type; or -ENOSPC. */
ES_API int es_stage_load(const char *path, struct es_error *error);

/* Loads the modules named in the environment variable EVENTSPACE_STAGES: absolute paths
 * separated by colons.  Returns their number, or the error of the first that fails.
 * Programs that run with more privileges than their user (set-user-ID) ignore the
 * variable. */
ES_API int es_stage_load_environment(struct es_error *error);

#endif
