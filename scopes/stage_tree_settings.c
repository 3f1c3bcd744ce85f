/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* stage_tree_settings.c - takes apart what persons write about trees as text: hosts
 * for joints, reductions, and which stages carry collectors.
 */
#include "config.h"

#include "scopes/stage_tree_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

static const char *const reduce_options[ESI_REDUCE_OPTIONS] = {"of", "by"};

/* Reductions that give operations as they are; all others give summaries. */
static const char *const picks[] = {"latest", "earliest"};

/* --- Joints ------------------------------------------------------------------- */

static int refuse_host(const struct esi_planner *planner,
                       const char *name,
                       struct es_error *error)
{
    struct esi_nearest nearest;

    if (!planner->sites || planner->sites->count == 0)
        return es_error_set(error, -EINVAL,
                            "joints: no stage can stand on host \"%.80s\": the run has "
                            "no tuple servers",
                            name);
    esi_nearest_init(&nearest, name);
    for (size_t i = 0; i < planner->sites->count; i++)
        if (planner->sites->items[i].has_server)
            esi_nearest_try(&nearest, planner->sites->items[i].host);
    if (nearest.name)
        return es_error_set(error, -EINVAL,
                            "joints: the run has no host \"%.80s\"; did you mean "
                            "\"%s\"?",
                            name, nearest.name);
    return es_error_set(error, -EINVAL, "joints: the run has no host \"%.80s\"", name);
}

static int add_joint(struct esi_planner *planner,
                     const char *name,
                     struct es_error *error)
{
    const struct es_host_info *site = esi_locations_host_info(planner, name);

    if (!site)
        return refuse_host(planner, name, error);
    if (!site->has_server && planner->sites->renewed)
        return 0;
    if (!site->has_server)
        return es_error_set(error, -EINVAL,
                            "joints: no stage can stand on host \"%.80s\": it has no "
                            "tuple server",
                            name);
    planner->joints[planner->joint_count++] = site;
    return 0;
}

/* Names with commas between them, blanks around them. */
static int read_joints(struct esi_planner *planner, struct es_error *error)
{
    const char *text = planner->config->tree.joints;
    char *names;
    char *rest;
    int result = 0;

    if (!text)
        return 0;
    names = strdup(text);
    planner->joints = calloc(strlen(text) + 1, sizeof *planner->joints);
    planner->joint_uses = calloc(strlen(text) + 1, sizeof *planner->joint_uses);
    if (!names || !planner->joints || !planner->joint_uses) {
        free(names);
        return -ENOMEM;
    }
    rest = names;
    for (char *name; result == 0 && (name = strtok_r(rest, ", ", &rest));)
        result = add_joint(planner, name, error);
    free(names);
    return result;
}

/* --- Reductions --------------------------------------------------------------- */

static bool is_given(const struct esi_reduction *reduction, const char *name)
{
    for (size_t i = 0; i < reduction->option_count; i++)
        if (reduction->options[i].name == name)
            return true;
    return false;
}

static int read_option(struct esi_reduction *reduction,
                       char *word,
                       struct es_error *error)
{
    char *value = strchr(word, '=');

    if (value)
        *value++ = '\0';
    for (size_t i = 0; i < ESI_REDUCE_OPTIONS; i++) {
        size_t count = reduction->option_count;

        if (!value || strcmp(word, reduce_options[i]) != 0)
            continue;
        if (is_given(reduction, reduce_options[i]))
            return es_error_set(error, -EINVAL, "reduce: \"%s\" is given twice", word);
        reduction->options[count].name = reduce_options[i];
        reduction->options[count].value = value;
        reduction->option_count++;
        return 0;
    }
    return es_error_set(error, -EINVAL,
                        "reduce: \"%.60s\": expected a reduction and then of=FIELD or "
                        "by=FIELD",
                        word);
}

static bool is_summary(const char *to)
{
    for (size_t i = 0; i < sizeof picks / sizeof *picks; i++)
        if (strcmp(to, picks[i]) == 0)
            return false;
    return true;
}

/* "NAME of=FIELD by=FIELD"; whether there is such a reduction the stage knows. */
static int read_reduction(struct esi_planner *planner, struct es_error *error)
{
    const char *text = planner->config->tree.reduce;
    struct esi_reduction *reduction = &planner->reduction;
    char *rest = reduction->text;
    int result = 0;

    if (!text) {
        if (planner->config->take == ES_TAKE_LATEST_OF_THREAD)
            reduction->to = "latest";
        return 0;
    }
    if (strlen(text) >= sizeof reduction->text)
        return es_error_set(error, -EINVAL, "reduce: the text is too long");
    memcpy(reduction->text, text, strlen(text) + 1);
    reduction->to = strtok_r(rest, " ", &rest);
    if (!reduction->to)
        return es_error_set(error, -EINVAL, "reduce: expected the name of a reduction");
    for (char *word; result == 0 && (word = strtok_r(rest, " ", &rest));)
        result = read_option(reduction, word, error);
    reduction->summarizes = is_summary(reduction->to);
    return result;
}

/* --- Observation -------------------------------------------------------------- */

static const struct {
    const char *name;
    struct esi_observation what;
} observations[] = {
    {"hosts", {.hosts = true}},
    {"joints", {.joints = true}},
    {"all", {.hosts = true, .joints = true, .threads = true}},
};

/* Without a name collectors have that of the scope. */
static void name_collectors(struct esi_planner *planner, const char *name)
{
    struct esi_observation *observation = &planner->observation;

    if (!*name && planner->config->name)
        name = planner->config->name;
    snprintf(observation->name, sizeof observation->name, "%.*s",
             (int)sizeof observation->name - 1, *name ? name : "scope");
}

static int read_observation(struct esi_planner *planner, struct es_error *error)
{
    const char *text = planner->config->tree.observe;
    size_t length = text ? strcspn(text, " ") : 0;

    if (!text)
        return 0;
    for (size_t i = 0; i < sizeof observations / sizeof *observations; i++) {
        const char *name = text + length + strspn(text + length, " ");

        if (strlen(observations[i].name) != length ||
            strncmp(text, observations[i].name, length) != 0)
            continue;
        if (strlen(name) >= sizeof planner->observation.name)
            return es_error_set(error, -EINVAL,
                                "observe: the collectors' name is too long");
        planner->observation = observations[i].what;
        name_collectors(planner, name);
        return 0;
    }
    return es_error_set(error, -EINVAL,
                        "observe: \"%.60s\": expected hosts, joints or all, and then "
                        "the collectors' name",
                        text);
}

int esi_settings_read(struct esi_planner *planner, struct es_error *error)
{
    int result = read_joints(planner, error);

    if (result == 0)
        result = read_reduction(planner, error);
    return result ? result : read_observation(planner, error);
}
