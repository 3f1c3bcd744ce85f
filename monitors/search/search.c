/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * search.c - searches for a predicate, after the predicates whose matches are its
 * values.
 *
 * A predicate has a higher number than all that it uses.  A pass downward from the
 * requested predicate finds whose matches are needed; a pass upward searches each of
 * them once, into a domain of sets.
 */
#include "config.h"

#include "monitors/search/search.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/now.h"
#include "monitors/search/search_engine.h"

/* A predicate to be searched; otherwise `program` is NULL. */
struct part {
    struct esi_program *program;
    struct esi_domain *sets; /* its matches; NULL for the requested predicate */
};

struct pattern_search {
    const struct esi_engine_ops *engine;
    const struct esi_search_task *task;
    struct es_error *error;
    struct part *parts; /* by predicate, from 0 to `predicate` */
    struct esi_search_statistics statistics;
};

/* The domains of one predicate's variables. */
struct values {
    const struct esi_domain **of_variables;
    const struct esi_domain **counted; /* by atom */
};

/* --- Which predicates are searched ------------------------------------------------ */

static int need_domain(struct pattern_search *search, uint32_t predicate)
{
    struct part *part = &search->parts[predicate];

    if (part->program)
        return 0;
    return esi_program_create(search->task->file, predicate, &part->program,
                              search->error);
}

static int need_inner(struct pattern_search *search, const struct esi_program *program)
{
    int result = 0;

    for (uint32_t v = 0; result == 0 && v < program->variable_count; v++)
        if (program->variables[v].predicate != ES_PATTERN_NONE)
            result = need_domain(search, program->variables[v].predicate);
    for (uint32_t a = 0; result == 0 && a < program->atom_count; a++)
        if (program->atoms[a].kind == ES_ATOM_COUNT &&
            program->atoms[a].counted_predicate != ES_PATTERN_NONE)
            result = need_domain(search, program->atoms[a].counted_predicate);
    return result;
}

static int prepare_search(struct pattern_search *search)
{
    int result;

    search->parts = calloc((size_t)search->task->predicate + 1, sizeof *search->parts);
    if (!search->parts)
        return -ENOMEM;
    result = need_domain(search, search->task->predicate);
    for (uint32_t p = search->task->predicate + 1; result == 0 && p-- > 0;)
        if (search->parts[p].program)
            result = need_inner(search, search->parts[p].program);
    return result;
}

static void release_search(struct pattern_search *search)
{
    for (uint32_t p = 0; search->parts && p <= search->task->predicate; p++) {
        esi_program_destroy(search->parts[p].program);
        esi_domain_destroy(search->parts[p].sets);
    }
    free(search->parts);
}

/* --- The values of variables ------------------------------------------------------ */

/* NULL if it is neither, or if the class is not kept by the domains. */
static const struct esi_domain *domain_of(const struct pattern_search *search,
                                          uint32_t class_number,
                                          uint32_t predicate)
{
    if (class_number != ES_PATTERN_NONE)
        return esi_domains_class(search->task->domains, class_number);
    return predicate != ES_PATTERN_NONE ? search->parts[predicate].sets : NULL;
}

static void values_fini(struct values *values)
{
    free(values->of_variables);
    free(values->counted);
}

static int values_init(const struct pattern_search *search,
                       const struct esi_program *program,
                       struct values *ret_values)
{
    struct values values = {
        .of_variables =
            calloc(program->variable_count + 1u, sizeof *values.of_variables),
        .counted = calloc(program->atom_count + 1u, sizeof *values.counted),
    };
    bool is_complete = true;

    if (!values.of_variables || !values.counted) {
        values_fini(&values);
        return -ENOMEM;
    }
    for (uint32_t v = 0; v < program->variable_count; v++) {
        values.of_variables[v] = domain_of(search, program->variables[v].class_number,
                                           program->variables[v].predicate);
        is_complete &= values.of_variables[v] != NULL;
    }
    for (uint32_t a = 0; a < program->atom_count; a++) {
        const struct esi_atom *atom = &program->atoms[a];

        if (atom->kind != ES_ATOM_COUNT)
            continue;
        values.counted[a] = domain_of(search, atom->counted, atom->counted_predicate);
        is_complete &= values.counted[a] != NULL;
    }
    if (!is_complete) {
        values_fini(&values);
        return es_error_set(search->error, -EINVAL,
                            "the events of this predicate were not kept");
    }
    *ret_values = values;
    return 0;
}

/* --- Searching -------------------------------------------------------------------- */

static uint64_t bytes_of_sets(const struct pattern_search *search)
{
    uint64_t bytes = 0;

    for (uint32_t p = 0; p <= search->task->predicate; p++)
        if (search->parts[p].sets)
            bytes += esi_domain_bytes(search->parts[p].sets);
    return bytes;
}

static void add_statistics(struct pattern_search *search,
                           const struct esi_search_statistics *one,
                           const struct esi_matches *matches)
{
    struct esi_search_statistics *all = &search->statistics;
    uint64_t bytes = bytes_of_sets(search) + esi_matches_bytes(matches) + one->bytes;

    all->comparisons += one->comparisons;
    all->backtracks += one->backtracks;
    all->special += one->special;
    all->pattern_size += one->pattern_size;
    all->unknown += one->unknown;
    if (bytes > all->bytes)
        all->bytes = bytes;
    all->matches = esi_matches_count(matches);
    all->assignments = esi_matches_assignments(matches);
}

/* Returns 0 if everything was searched; 1 if not; or -errno. */
static int search_with(struct pattern_search *search,
                       const struct esi_search_config *config,
                       struct esi_engine_task *task,
                       const struct esi_match_sink *sink)
{
    struct esi_search_statistics statistics = {.comparisons = 0};
    struct esi_matches *matches;
    int result =
        esi_matches_create(task->program, task->domains, sink, config->limit, &matches);

    if (result < 0)
        return result;
    task->config = config;
    task->tuning = config->tuning ? config->tuning : search->engine->defaults;
    task->matches = matches;
    task->statistics = &statistics;
    result = search->engine->search(task, search->error);
    add_statistics(search, &statistics, matches);
    esi_matches_destroy(matches);
    return result;
}

static int search_one(struct pattern_search *search,
                      const struct esi_search_config *config,
                      uint32_t predicate,
                      const struct esi_match_sink *sink)
{
    const struct esi_program *program = search->parts[predicate].program;
    struct values values;
    struct esi_engine_task task = {.program = program, .order = search->task->order};
    int result = values_init(search, program, &values);

    if (result < 0)
        return result;
    task.domains = values.of_variables;
    task.counted = values.counted;
    result = search_with(search, config, &task, sink);
    values_fini(&values);
    return result;
}

static int keep_match(void *data, const struct es_event_id *events, size_t count)
{
    return esi_domain_add_set(data, events, count);
}

/* Finds all matches; the limit only applies to the requested predicate. */
static int search_inner(struct pattern_search *search, uint32_t predicate)
{
    struct esi_search_config config = *search->task->config;
    struct part *part = &search->parts[predicate];
    struct esi_match_sink sink = {.match = keep_match};
    int result = esi_domain_create_sets(search->task->domains, &part->sets);

    if (result < 0)
        return result;
    config.limit = 0;
    sink.data = part->sets;
    return search_one(search, &config, predicate, &sink);
}

static int search_all_inner(struct pattern_search *search)
{
    int result = 0;

    for (uint32_t p = 0; result == 0 && p < search->task->predicate; p++)
        if (search->parts[p].program)
            result =
                esi_search_is_over(search->task->config) ? 1 : search_inner(search, p);
    return result;
}

int esi_search_run_by(const struct esi_engine_ops *engine,
                      const struct esi_search_task *task,
                      const struct esi_match_sink *sink,
                      struct esi_search_statistics *ret_statistics,
                      struct es_error *error)
{
    struct pattern_search search = {.engine = engine, .task = task, .error = error};
    uint64_t start_ns = esi_now_ns(CLOCK_MONOTONIC);
    int result = prepare_search(&search);

    if (result == 0)
        result = search_all_inner(&search);
    /* Incomplete matches of inner predicates would lead to wrong matches of this
     * one. */
    search.statistics.matches = 0;
    search.statistics.assignments = 0;
    if (result == 0)
        result = search_one(&search, task->config, task->predicate, sink);
    release_search(&search);
    if (result < 0)
        return result;
    search.statistics.elapsed_ns = esi_now_ns(CLOCK_MONOTONIC) - start_ns;
    search.statistics.is_complete = result == 0;
    *ret_statistics = search.statistics;
    return 0;
}

/* --- Explaining ------------------------------------------------------------------- */

static int explain_one(struct pattern_search *search, uint32_t predicate, FILE *out)
{
    struct esi_search_statistics statistics = {.comparisons = 0};
    const struct esi_program *program = search->parts[predicate].program;
    struct values values;
    struct esi_engine_task task = {
        .program = program,
        .order = search->task->order,
        .config = search->task->config,
        .tuning = search->task->config->tuning ? search->task->config->tuning
                                               : search->engine->defaults,
        .statistics = &statistics,
    };
    int result = values_init(search, program, &values);

    if (result < 0)
        return result;
    task.domains = values.of_variables;
    task.counted = values.counted;
    esi_pattern_print(search->task->file, predicate, out);
    result = search->engine->explain(&task, out, search->error);
    values_fini(&values);
    return result;
}

/* Prints the plan of a predicate whose matches are values of others, then the number of
 * its matches. */
static int explain_inner(struct pattern_search *search, uint32_t predicate, FILE *out)
{
    int result = explain_one(search, predicate, out);

    if (result == 0)
        result = search_inner(search, predicate);
    if (result == 0)
        fprintf(out, "%" PRIu64 " matches, values of variables below\n\n",
                esi_domain_count(search->parts[predicate].sets));
    if (result > 0)
        fputs("was not fully searched: predicates that use it are not explained\n",
              out);
    return result;
}

int esi_search_explain_by(const struct esi_engine_ops *engine,
                          const struct esi_search_task *task,
                          FILE *out,
                          struct es_error *error)
{
    struct pattern_search search = {.engine = engine, .task = task, .error = error};
    int result = prepare_search(&search);

    for (uint32_t p = 0; result == 0 && p < task->predicate; p++)
        if (search.parts[p].program)
            result = explain_inner(&search, p, out);
    if (result == 0)
        result = explain_one(&search, task->predicate, out);
    release_search(&search);
    return result < 0 ? result : 0;
}

/* --- Engines by name -------------------------------------------------------------- */

int esi_search_config_check(const struct esi_search_config *config,
                            struct es_error *error)
{
    char names[ES_ENGINE_NAMES];

    if (esi_engine_find(config->engine))
        return 0;
    return es_error_set(error, -EINVAL, "no engine is named '%s'; expected %s",
                        config->engine, esi_engine_names("", names));
}

int esi_search_run(const struct es_pattern_file *file,
                   uint32_t predicate,
                   const struct esi_domains *domains,
                   const struct es_order *order,
                   const struct esi_search_config *config,
                   const struct esi_match_sink *sink,
                   struct esi_search_statistics *ret_statistics,
                   struct es_error *error)
{
    const struct esi_search_task task = {file, predicate, domains, order, config};
    int result = esi_search_config_check(config, error);

    if (result < 0)
        return result;
    return esi_search_run_by(esi_engine_find(config->engine), &task, sink,
                             ret_statistics, error);
}

int esi_search_explain(const struct es_pattern_file *file,
                       uint32_t predicate,
                       const struct esi_domains *domains,
                       const struct es_order *order,
                       const struct esi_search_config *config,
                       FILE *out,
                       struct es_error *error)
{
    const struct esi_search_task task = {file, predicate, domains, order, config};
    int result = esi_search_config_check(config, error);

    if (result < 0)
        return result;
    return esi_search_explain_by(esi_engine_find(config->engine), &task, out, error);
}
