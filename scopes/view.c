/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* view.c - what a view asks of elements and of tuples, checked and put into words for
 * stages. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/operation.h"
#include "scopes/scope_private.h"
#include "wrappers/stages/filter_expression.h"

/* NULL stays NULL; *failed is set when memory is short. */
static const char *view_copy(const char *text, bool *failed)
{
    char *copied = text ? strdup(text) : NULL;

    *failed |= text && !copied;
    return copied;
}

static int copy_view(struct es_view *view)
{
    struct es_selection *selection = &view->selection;
    bool failed = false;

    selection->host = view_copy(selection->host, &failed);
    selection->ranks = view_copy(selection->ranks, &failed);
    selection->collector = view_copy(selection->collector, &failed);
    selection->name = view_copy(selection->name, &failed);
    view->communicator = view_copy(view->communicator, &failed);
    view->operation = view_copy(view->operation, &failed);
    view->filter = view_copy(view->filter, &failed);
    return failed ? -ENOMEM : 0;
}

static int copy_tree(struct es_tree_config *tree)
{
    bool failed = false;

    tree->joints = view_copy(tree->joints, &failed);
    tree->reduce = view_copy(tree->reduce, &failed);
    tree->observe = view_copy(tree->observe, &failed);
    return failed ? -ENOMEM : 0;
}

void esi_scope_free_tree_config(struct es_scope_config *config)
{
    free((char *)config->tree.joints);
    free((char *)config->tree.reduce);
    free((char *)config->tree.observe);
}

void esi_scope_free_config(struct es_scope *scope)
{
    struct es_view *view = &scope->config.view;

    free((char *)view->selection.host);
    free((char *)view->selection.ranks);
    free((char *)view->selection.collector);
    free((char *)view->selection.name);
    free((char *)view->communicator);
    free((char *)view->operation);
    free((char *)view->filter);
    free((char *)scope->config.name);
    esi_scope_free_tree_config(&scope->config);
    free(scope->view_filter);
}

/* "(class == send || class == receive)" */
static void print_classes(FILE *out, uint32_t classes)
{
    const char *between = "(";

    for (int i = ES_CLASS_NONE + 1; i < ES_CLASS_COUNT; i++) {
        if (!(classes & 1u << i))
            continue;
        fprintf(out, "%sclass == %s", between, es_class_name((enum es_class)i));
        between = " || ";
    }
    fputs(")", out);
}

/* The condition on tuples that the view's parts make; an empty text when there is none.
 */
static int format_filter(const struct es_view *view, char **ret_text)
{
    uint32_t classes = view->selection.classes & ((1u << ES_CLASS_COUNT) - 2u);
    const char *between = "";
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return -errno;
    if (view->operation) {
        fprintf(out, "operation == \"%s\"", view->operation);
        between = " && ";
    } else if (classes && classes != ES_CLASSES_ALL) {
        print_classes(out, classes);
        between = " && ";
    }
    if (view->communicator)
        fprintf(out, "%scommunicator == \"%s\"", between, view->communicator);
    if (fclose(out) != 0) {
        free(text);
        return -ENOMEM;
    }
    *ret_text = text;
    return 0;
}

static int check_filter(const char *text, struct es_error *error)
{
    struct esi_filter *filter;
    int result = esi_filter_create(text, 1, 1, error, &filter);

    if (result == 0)
        esi_filter_destroy(filter);
    return result;
}

static int check_view(const struct es_view *view, struct es_error *error)
{
    if (view->communicator && strpbrk(view->communicator, "\"\n"))
        return es_error_set(error, -EINVAL,
                            "a communicator's name with a quote cannot be asked for");
    if (view->operation && !es_operation_by_name(view->operation)) {
        /* The filter's parser knows the nearest name; its column means nothing here. */
        char text[160];
        struct es_error found = {0};

        snprintf(text, sizeof text, "operation == \"%.100s\"", view->operation);
        check_filter(text, &found);
        return es_error_set(error, -EINVAL, "%s", found.text);
    }
    if (view->filter && check_filter(view->filter, error) < 0)
        return -EINVAL;
    return es_selection_check(&view->selection, error);
}

/* What a filter must ask that elements cannot tell apart, and what elements to look at.
 */
static int compile_view(struct es_scope *scope, struct es_error *error)
{
    struct es_view *view = &scope->config.view;
    const struct es_operation *operation =
        view->operation ? es_operation_by_name(view->operation) : NULL;
    int result = format_filter(view, &scope->view_filter);

    if (result == 0 && scope->view_filter[0])
        result = check_filter(scope->view_filter, error);
    if (result < 0)
        return result;
    if (!scope->view_filter[0]) {
        free(scope->view_filter);
        scope->view_filter = NULL;
    }
    if (operation)
        view->selection.classes = 1u << operation->op_class;
    return 0;
}

/* What can be changed later, too. */
static int check_tree(const struct es_scope_config *config, struct es_error *error)
{
    bool every = config->take == ES_TAKE_EVERY || config->take == ES_TAKE_NEW;

    if (config->max == 0)
        return es_error_set(error, -EINVAL, "a pull of at most 0 tuples gives nothing");
    if (config->sorting != ES_SORTING_NONE && !every)
        return es_error_set(error, -EINVAL, "the latest tuples alone cannot be sorted");
    if (config->tree.nodes &&
        (!every || config->sorting != ES_SORTING_NONE || config->tree.reduce))
        return es_error_set(error, -EINVAL,
                            "nodes of collective trees are analysed from every tuple, "
                            "unsorted and not reduced");
    if (config->lossless && !every)
        return es_error_set(error, -EINVAL, "only every tuple can be had without loss");
    return 0;
}

int esi_scope_take_config(struct es_scope *scope,
                          const struct es_scope_config *config,
                          struct es_error *error)
{
    bool failed = false;
    int result = check_view(&config->view, error);

    if (result == 0)
        result = check_tree(config, error);
    if (result < 0)
        return result;
    scope->config = *config;
    scope->config.name = view_copy(config->name, &failed);
    result = copy_tree(&scope->config.tree);
    if (copy_view(&scope->config.view) < 0 || result < 0 || failed)
        return -ENOMEM;
    return compile_view(scope, error);
}

int esi_scope_take_tree_config(struct es_scope *scope,
                               const struct es_scope_config *config,
                               struct es_error *error)
{
    struct es_scope_config changed = scope->config;
    int result;

    changed.tree = config->tree;
    changed.sorting = config->sorting;
    changed.window_ns = config->window_ns;
    changed.max = config->max;
    changed.lossless = config->lossless;
    result = check_tree(&changed, error);
    if (result < 0)
        return result;
    result = copy_tree(&changed.tree);
    if (result < 0) {
        esi_scope_free_tree_config(&changed);
        return result;
    }
    scope->config = changed;
    return 0;
}
