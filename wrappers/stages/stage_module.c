/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* stage_module.c - loads stage types from shared objects. */
#include "config.h"

#include "eventspace/stage_module.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MODULE_SYMBOL "eventspace_stage_module"
#define ENVIRONMENT "EVENTSPACE_STAGES"

static int check_module(const char *path,
                        const struct es_stage_module *module,
                        struct es_error *error)
{
    if (!module)
        return es_error_set_at(error, -EINVAL, path, 0, 0,
                               "this is no module of stages: it has no symbol %s",
                               MODULE_SYMBOL);
    if (module->abi != ES_STAGE_ABI)
        return es_error_set_at(error, -EPROTO, path, 0, 0,
                               "this module was built against another interface of "
                               "stages: %#x, expected %#x; build it anew",
                               module->abi, ES_STAGE_ABI);
    if (!module->types || !module->types[0])
        return es_error_set_at(error, -EINVAL, path, 0, 0,
                               "this module has no stage types");
    return 0;
}

/* Whether all types of the module are registered already, by itself. */
static bool is_known(const struct es_stage_module *module)
{
    for (size_t i = 0; module->types[i]; i++)
        if (!module->types[i]->name ||
            es_stage_find(module->types[i]->name) != module->types[i])
            return false;
    return true;
}

static int register_types(const char *path,
                          const struct es_stage_module *module,
                          struct es_error *error)
{
    if (is_known(module))
        return 0;
    for (size_t i = 0; module->types[i]; i++)
        if (module->types[i]->name && es_stage_find(module->types[i]->name))
            return es_error_set_at(error, -EEXIST, path, 0, 0,
                                   "there is a stage type \"%.60s\" already",
                                   module->types[i]->name);
    for (size_t i = 0; module->types[i]; i++) {
        int result = es_stage_register(module->types[i]);

        if (result < 0)
            return es_error_set_at(
                error, result, path, 0, 0, "cannot register stage type %zu, \"%.60s\"",
                i + 1, module->types[i]->name ? module->types[i]->name : "");
    }
    return 0;
}

int es_stage_load(const char *path, struct es_error *error)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct es_stage_module *module;
    int result;

    if (!object)
        return es_error_set_at(error, -ENOENT, path, 0, 0, "cannot load: %s",
                               dlerror());
    module = dlsym(object, MODULE_SYMBOL);
    result = check_module(path, module, error);
    if (result == 0)
        result = register_types(path, module, error);
    /* Types that are registered are never given back: what is not closed stays. */
    if (result < 0 && result != -ENOSPC)
        dlclose(object);
    return result;
}

int es_stage_load_environment(struct es_error *error)
{
    const char *paths = secure_getenv(ENVIRONMENT);
    char *copy;
    char *rest = NULL;
    int count = 0;
    int result = 0;

    if (!paths || !*paths)
        return 0;
    copy = strdup(paths);
    if (!copy)
        return -ENOMEM;
    for (const char *path = strtok_r(copy, ":", &rest); path && result == 0;
         path = strtok_r(NULL, ":", &rest)) {
        if (path[0] == '/')
            result = es_stage_load(path, error);
        else
            result = es_error_set_at(error, -EINVAL, ENVIRONMENT, 0, 0,
                                     "\"%.200s\" is not an absolute path", path);
        count += result == 0;
    }
    free(copy);
    return result < 0 ? result : count;
}
