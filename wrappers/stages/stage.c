/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* stage.c - opens, pulls and closes stages of any type, and has the registry of types:
 * built-in ones, added ones, and those from shared objects. */
#include "config.h"

#include "wrappers/stages/stage.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/nearest.h"
#include "base/now.h"
#include "eventspace/stage_module.h"

/* The context's function is not thread safe and returns memory of its own. */
static pthread_mutex_t naming = PTHREAD_MUTEX_INITIALIZER;

const char *es_stage_communicator_name(const struct es_stage_context *context,
                                       uint32_t origin,
                                       uint16_t communicator,
                                       char ret_name[64])
{
    ret_name[0] = '\0';
    if (!context || !context->communicator_name)
        return ret_name;
    pthread_mutex_lock(&naming);
    snprintf(ret_name, 64, "%s",
             context->communicator_name(context->data, origin, communicator));
    pthread_mutex_unlock(&naming);
    return ret_name;
}

/* --- Types ------------------------------------------------------------------------ */

/* A collector is on the writing side: the program's operations pass it, and it cannot
 * be pulled.  Its hot path is compiled into the interposition library and never uses a
 * table; this row registers it among the types.  Its fields are those of pathmaps and
 * plans: tuplespace/plan/plan.c. */
static const struct es_stage_ops collector = {
    .name = "collector",
    .help = "records the operations that pass as tuples of an element",
};

enum { MAX_ADDED = 64 };

/* The built-in types, in the order in which they are listed. */
static const struct es_stage_ops *const built_in_types[] = {
    &collector,           &esi_stage_element, &esi_stage_gather,  &esi_stage_reduce,
    &esi_stage_filter,    &esi_stage_sort,    &esi_stage_convert, &esi_stage_sample,
    &esi_stage_batch,     &esi_stage_buffer,  &esi_stage_threads, &esi_stage_observe,
    &esi_stage_tree_node,
};

/* Types are only added, and the count is increased last, so readers hold the lock
 * briefly. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct es_stage_ops *added[MAX_ADDED];
static size_t added_count;

enum { BUILT_IN = sizeof built_in_types / sizeof *built_in_types };

const struct es_stage_ops *es_stage_at(size_t index)
{
    const struct es_stage_ops *ops = NULL;

    if (index < BUILT_IN)
        return built_in_types[index];
    pthread_mutex_lock(&lock);
    if (index - BUILT_IN < added_count)
        ops = added[index - BUILT_IN];
    pthread_mutex_unlock(&lock);
    return ops;
}

const struct es_stage_ops *es_stage_find(const char *name)
{
    const struct es_stage_ops *ops;

    for (size_t i = 0; (ops = es_stage_at(i)) != NULL; i++)
        if (strcmp(ops->name, name) == 0)
            return ops;
    return NULL;
}

int es_stage_register(const struct es_stage_ops *ops)
{
    int result = 0;

    if (!ops->name || !*ops->name || (ops->property_count && !ops->properties) ||
        ops->min_children > ops->max_children)
        return -EINVAL;
    if (es_stage_find(ops->name))
        return -EEXIST;
    pthread_mutex_lock(&lock);
    if (added_count < MAX_ADDED)
        added[added_count++] = ops;
    else
        result = -ENOSPC;
    pthread_mutex_unlock(&lock);
    return result;
}

/* Reports an unknown type, with the nearest name.  Returns -ENOENT. */
static int unknown_type(const char *name, struct es_error *error)
{
    const struct es_stage_ops *ops;
    struct esi_nearest nearest;

    esi_nearest_init(&nearest, name);
    for (size_t i = 0; (ops = es_stage_at(i)) != NULL; i++)
        esi_nearest_try(&nearest, ops->name);
    return es_error_set(error, -ENOENT,
                        nearest.name
                            ? "there is no stage type '%.60s': did you mean '%s'?"
                            : "there is no stage type '%.60s'%s",
                        name, nearest.name ? nearest.name : "");
}

/* --- Opening ---------------------------------------------------------------------- */

static int check_children(const struct es_stage_ops *ops,
                          const struct es_stage_spec *spec,
                          struct es_error *error)
{
    if (!ops->pull)
        return es_error_set(error, -EINVAL,
                            "%s belongs to the writing side: it cannot be pulled",
                            ops->name);
    if (spec->child_count < ops->min_children)
        return es_error_set(error, -EINVAL, "%s needs at least %zu children, has %zu",
                            ops->name, ops->min_children, spec->child_count);
    if (spec->child_count > ops->max_children)
        return es_error_set(error, -EINVAL, "%s takes at most %zu children, has %zu",
                            ops->name, ops->max_children, spec->child_count);
    return 0;
}

static void free_stage(struct es_stage *stage)
{
    free(stage->children);
    free(stage->siblings);
    free(stage->label);
    free(stage);
}

/* How the stage, or the children of a gather, is pulled together with others; NULL if
 * it is not. */
static es_stage_pull_siblings_fn common_pull(const struct es_stage *stage)
{
    return stage->ops == &esi_stage_gather && stage->siblings
               ? stage->siblings->stage->pull_siblings
               : stage->pull_siblings;
}

/* Fills the array for a common pull of the children, if they have one. */
static int line_up(struct es_stage *stage)
{
    struct es_stage *const *children = stage->children;
    size_t count = 0;

    if (stage->child_count == 0 || !common_pull(children[0]))
        return 0;
    for (size_t i = 0; i < stage->child_count; i++) {
        if (common_pull(children[i]) != common_pull(children[0]))
            return 0;
        count += children[i]->siblings ? children[i]->sibling_count : 1;
    }
    stage->siblings = calloc(count, sizeof *stage->siblings);
    if (!stage->siblings)
        return -ENOMEM;
    for (size_t i = 0; i < stage->child_count; i++) {
        const struct es_stage_sibling itself = {.stage = children[i],
                                                .state = children[i]->state,
                                                .origin = children[i]->origin};
        size_t below = children[i]->siblings ? children[i]->sibling_count : 1;

        memcpy(stage->siblings + stage->sibling_count,
               children[i]->siblings ? children[i]->siblings : &itself,
               below * sizeof itself);
        stage->sibling_count += below;
    }
    return 0;
}

/* Creates a stage without the state of its type. */
static struct es_stage *new_stage(const struct es_stage_ops *ops,
                                  const struct es_stage_spec *spec)
{
    struct es_stage *stage = calloc(1, sizeof *stage);

    if (!stage)
        return NULL;
    stage->ops = ops;
    stage->pull = ops->pull;
    stage->context = spec->context;
    stage->origin = spec->origin;
    stage->data = spec->data;
    stage->child_count = spec->child_count;
    stage->children = calloc(spec->child_count + 1, sizeof *stage->children);
    stage->label = strdup(spec->label ? spec->label : "");
    if (!stage->children || !stage->label) {
        free_stage(stage);
        return NULL;
    }
    if (spec->child_count)
        memcpy(stage->children, spec->children,
               spec->child_count * sizeof *stage->children);
    if (line_up(stage) < 0) {
        free_stage(stage);
        return NULL;
    }
    return stage;
}

/* Converts properties to values of the type; the caller frees them. */
static int read_properties(const struct es_stage_ops *ops,
                           const struct es_property *properties,
                           size_t count,
                           struct es_error *error,
                           struct es_property_value **ret_values)
{
    struct es_property_value *values;
    int result =
        es_property_values_parse(ops->name, ops->properties, ops->property_count,
                                 properties, count, error, &values);

    if (result == 0 && ops->check) {
        result = ops->check(values, error);
        if (result < 0)
            es_property_values_free(values, ops->property_count);
    }
    if (result == 0)
        *ret_values = values;
    return result;
}

int es_stage_check(const char *type,
                   const struct es_property *properties,
                   size_t count,
                   struct es_error *error)
{
    const struct es_stage_ops *ops = es_stage_find(type);
    struct es_property_value *values;
    int result;

    if (!ops)
        return unknown_type(type, error);
    result = read_properties(ops, properties, count, error, &values);
    if (result == 0)
        es_property_values_free(values, ops->property_count);
    return result;
}

static int open_type(struct es_stage *stage,
                     const struct es_stage_spec *spec,
                     struct es_error *error)
{
    const struct es_stage_ops *ops = stage->ops;
    struct es_property_value *values;
    int result =
        read_properties(ops, spec->properties, spec->property_count, error, &values);

    if (result < 0)
        return result;
    if (ops->open)
        result = ops->open(stage, values, error);
    es_property_values_free(values, ops->property_count);
    return result;
}

static bool has_asking_child(const struct es_stage *stage)
{
    for (size_t i = 0; i < stage->child_count; i++)
        if (stage->children[i]->asks)
            return true;
    return false;
}

int es_stage_open(const struct es_stage_spec *spec,
                  struct es_error *error,
                  struct es_stage **ret_stage)
{
    const struct es_stage_ops *ops = es_stage_find(spec->type);
    struct es_stage *stage;
    int result;

    if (!ops)
        return unknown_type(spec->type, error);
    result = check_children(ops, spec, error);
    if (result < 0)
        return result;
    stage = new_stage(ops, spec);
    if (!stage)
        return -ENOMEM;
    result = open_type(stage, spec, error);
    if (result < 0) {
        free_stage(stage);
        return result;
    }
    stage->timed = !ops->untimed;
    for (size_t i = 0; i < stage->child_count; i++) {
        stage->children[i]->parent = stage;
        stage->timed |= stage->children[i]->timed;
    }
    stage->data = NULL;
    stage->asks = ops->ask && (stage->child_count == 0 || has_asking_child(stage));
    *ret_stage = stage;
    return 0;
}

void es_stage_close(struct es_stage *stage)
{
    int saved_errno = errno;

    if (!stage)
        return;
    if (stage->ops->close)
        stage->ops->close(stage);
    for (size_t i = 0; i < stage->child_count; i++)
        es_stage_close(stage->children[i]);
    free_stage(stage);
    errno = saved_errno;
}

/* --- Tuples held by stages -------------------------------------------------------- */

/* The place affected by the tuple; NULL if none. */
static struct esi_read_state *place_of(const struct es_stage *stage,
                                       const struct es_tuple *tuple,
                                       const struct es_mark *mark)
{
    const struct es_places *places = stage->context ? stage->context->places : NULL;

    return places && tuple->stop != 0 && mark->flags == 0 ? &places->items[mark->origin]
                                                          : NULL;
}

bool esi_stage_is_outermost(const struct es_stage *stage)
{
    for (stage = stage->parent; stage; stage = stage->parent)
        if (stage->ops->keeps)
            return false;
    return true;
}

void es_stage_keep(const struct es_stage *stage,
                   const struct es_tuple *tuple,
                   const struct es_mark *mark)
{
    struct esi_read_state *place = place_of(stage, tuple, mark);

    if (place)
        esi_place_keep(place, mark->position, 1);
}

/* Tuples that leave a stage below another one with `keeps` have not left the tree. */
void es_stage_release(const struct es_stage *stage,
                      const struct es_tuple *tuple,
                      const struct es_mark *mark)
{
    struct esi_read_state *place = place_of(stage, tuple, mark);

    if (place)
        esi_place_release(place, mark->position, 1, esi_stage_is_outermost(stage));
}

void esi_stage_ask_child(struct es_stage *stage, const struct es_pull *pull)
{
    if (stage->child_count)
        es_stage_ask(stage->children[0], pull);
}

int es_stage_pull_measured(struct es_stage *stage,
                           const struct es_pull *pull,
                           struct es_batch *batch)
{
    struct es_stage_cost *cost = &stage->cost;
    size_t before = batch->count;
    uint64_t wall_ns = esi_now_ns(CLOCK_MONOTONIC);
    uint64_t cpu_ns = esi_now_ns(CLOCK_THREAD_CPUTIME_ID);
    int result = stage->pull(stage, pull, batch);

    cost->measured_cpu_ns += esi_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    cost->measured_ns += esi_now_ns(CLOCK_MONOTONIC) - wall_ns;
    cost->measured_calls++;
    cost->calls++;
    if (result < 0) {
        cost->failures++;
        batch->count = before;
        return result;
    }
    cost->tuples += batch->count - before;
    return 0;
}

void esi_stage_missed(struct es_stage *sibling, const struct es_stage *parent)
{
    for (; sibling != parent; sibling = sibling->parent)
        sibling->cost.tuples--;
}

void es_stage_cost(const struct es_stage *stage, struct es_stage_cost *ret_cost)
{
    uint64_t together = 0;

    for (const struct es_stage *above = stage->parent; above; above = above->parent)
        together += above->together;
    *ret_cost = stage->cost;
    ret_cost->calls += together;
    ret_cost->tuples += together * (stage->siblings ? stage->sibling_count : 1);
}

/* Extrapolates from the measured calls to all. */
static uint64_t stage_scale(uint64_t measured, const struct es_stage_cost *cost)
{
    if (cost->measured_calls == 0)
        return 0;
    return (uint64_t)((double)measured * (double)cost->calls /
                      (double)cost->measured_calls);
}

uint64_t es_stage_cost_time_ns(const struct es_stage_cost *cost)
{
    return stage_scale(cost->measured_ns, cost);
}

uint64_t es_stage_cost_cpu_ns(const struct es_stage_cost *cost)
{
    return stage_scale(cost->measured_cpu_ns, cost);
}

/* --- Types from shared objects ---------------------------------------------------- */

#define MODULE_SYMBOL "eventspace_stage_module"
#define ENVIRONMENT "EVENTSPACE_STAGES"

static int check_module(const char *path,
                        const struct es_stage_module *module,
                        struct es_error *error)
{
    if (!module)
        return es_error_set_at(error, -EINVAL, path, 0, 0,
                               "not a module of stages: it has no symbol %s",
                               MODULE_SYMBOL);
    if (module->abi != ES_STAGE_ABI)
        return es_error_set_at(error, -EPROTO, path, 0, 0,
                               "this module was built against another interface of "
                               "stages: %#x, expected %#x; rebuild it",
                               module->abi, ES_STAGE_ABI);
    if (!module->types || !module->types[0])
        return es_error_set_at(error, -EINVAL, path, 0, 0,
                               "this module has no stage types");
    return 0;
}

/* Returns whether the module itself has registered all its types. */
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
                                   "stage type '%.60s' already exists",
                                   module->types[i]->name);
    for (size_t i = 0; module->types[i]; i++) {
        int result = es_stage_register(module->types[i]);

        if (result < 0)
            return es_error_set_at(
                error, result, path, 0, 0, "cannot register stage type %zu, '%.60s'",
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
    /* Registered types are never removed, so the object stays open. */
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
                                     "'%.200s' is not an absolute path", path);
        count += result == 0;
    }
    free(copy);
    return result < 0 ? result : count;
}
