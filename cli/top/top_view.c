/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* top_view.c - keys, selection and columns. */
#include "config.h"

#include "cli/top/top_view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum {
    TREE_WIDTH = 20, /* of the first column, if it contains hosts */
    DOING_MOST = 28, /* of the remaining width it gets this much first */
    HOST_MOST = 24,
};

void esi_top_view_init(struct esi_top_view *view, const struct esi_top_choice *choice)
{
    *view = (struct esi_top_view){.choice = *choice, .rank = -1, .page = 1};
    if (choice->filter)
        snprintf(view->filter, sizeof view->filter, "%s", choice->filter);
    view->choice.filter = view->filter;
}

void esi_top_view_fini(struct esi_top_view *view)
{
    for (size_t i = 0; i < view->choice.folded_count; i++)
        free(view->folded[i]);
    free(view->folded);
    esi_top_list_fini(&view->list);
}

/* --- The selected row ------------------------------------------------------------- */

const struct esi_top_row *esi_top_view_selected(const struct esi_top_view *view)
{
    return view->selected < view->list.count ? &view->list.items[view->selected] : NULL;
}

static bool is_selected(const struct esi_top_view *view, const struct esi_top_row *row)
{
    return row->rank == view->rank && row->pid == view->pid &&
           strcmp(row->host, view->host) == 0;
}

static void select_row(struct esi_top_view *view, size_t index)
{
    size_t count = view->list.count;

    view->selected = index < count ? index : count > 0 ? count - 1 : 0;
    if (count == 0)
        return;
    view->rank = view->list.items[view->selected].rank;
    view->pid = view->list.items[view->selected].pid;
    snprintf(view->host, sizeof view->host, "%s",
             view->list.items[view->selected].host);
}

static void move_selection(struct esi_top_view *view, size_t rows, bool up)
{
    if (up)
        select_row(view, view->selected > rows ? view->selected - rows : 0);
    else
        select_row(view, view->selected + rows);
}

int esi_top_view_fill(struct esi_top_view *view, const struct esi_top_look *look)
{
    int result;

    view->choice.folded = (const char *const *)view->folded;
    result = esi_top_list_make(&view->list, look->rows, look->row_count, &view->choice);
    if (result < 0)
        return result;
    /* The top row is not followed, so that new rows become visible. */
    if (view->selected > 0)
        for (size_t i = 0; i < view->list.count; i++)
            if (is_selected(view, &view->list.items[i])) {
                view->selected = i;
                break;
            }
    select_row(view, view->selected);
    esi_top_view_set_page(view, view->page);
    return 0;
}

void esi_top_view_set_page(struct esi_top_view *view, size_t page)
{
    view->page = page > 0 ? page : 1;
    if (view->first > view->selected)
        view->first = view->selected;
    if (view->selected >= view->first + view->page)
        view->first = view->selected - view->page + 1;
    if (view->list.count <= view->page)
        view->first = 0;
    else if (view->first > view->list.count - view->page)
        view->first = view->list.count - view->page;
}

/* --- Keys ------------------------------------------------------------------------- */

/* Selects the next row that matches; `here`: may be this one. */
static void search_row(struct esi_top_view *view, bool here)
{
    size_t count = view->list.count;

    view->is_found = false;
    for (size_t i = here ? 0 : 1; i <= count && count > 0; i++) {
        size_t index = (view->selected + i) % count;

        if (!esi_top_row_matches(&view->list.items[index], view->search))
            continue;
        view->is_found = true;
        select_row(view, index);
        return;
    }
}

/* Folds or unfolds the host of the selected row. */
static int fold_host(struct esi_top_view *view)
{
    size_t count = view->choice.folded_count;
    char *host;

    for (size_t i = 0; i < count; i++)
        if (strcmp(view->folded[i], view->host) == 0) {
            free(view->folded[i]);
            view->folded[i] = view->folded[count - 1];
            view->choice.folded_count--;
            return 0;
        }
    host = strdup(view->host);
    if (!host ||
        ESI_ARRAY_RESERVE(view->folded, view->folded_capacity, count + 1) < 0) {
        free(host);
        return -ENOMEM;
    }
    view->folded[view->choice.folded_count++] = host;
    for (size_t i = 0; i < view->list.count; i++)
        if (view->list.items[i].rank < 0 &&
            strcmp(view->list.items[i].host, view->host) == 0)
            select_row(view, i);
    return 0;
}

static void turn_to_column(struct esi_top_view *view, int step)
{
    view->choice.sort = (enum esi_top_column)(
        ((int)view->choice.sort + step + ESI_TOP_COLUMNS) % ESI_TOP_COLUMNS);
    view->choice.turned = false;
}

bool esi_top_view_is_in_menu(const struct esi_top_view *view,
                             enum esi_top_column column)
{
    return view->waits || (column != ESI_TOP_CAUSED && column != ESI_TOP_SUFFERED);
}

static void open_menu(struct esi_top_view *view)
{
    view->menu = true;
    view->at_menu = esi_top_view_is_in_menu(view, view->choice.sort) ? view->choice.sort
                                                                     : ESI_TOP_RANK;
}

/* Moves to another line of the menu, if there is one. */
static void move_in_menu(struct esi_top_view *view, int step)
{
    int column = (int)view->at_menu + step;

    while (column >= 0 && column < ESI_TOP_COLUMNS &&
           !esi_top_view_is_in_menu(view, (enum esi_top_column)column))
        column += step;
    if (column >= 0 && column < ESI_TOP_COLUMNS)
        view->at_menu = (enum esi_top_column)column;
}

static void key_in_menu(struct esi_top_view *view, int key)
{
    switch (key) {
    case ESI_KEY_UP:
        move_in_menu(view, -1);
        return;
    case ESI_KEY_DOWN:
        move_in_menu(view, 1);
        return;
    case ESI_KEY_HOME:
    case ESI_KEY_PAGE_UP:
        view->at_menu = ESI_TOP_RANK;
        return;
    case ESI_KEY_END:
    case ESI_KEY_PAGE_DOWN:
        view->at_menu = ESI_TOP_COLUMNS - 1;
        return;
    case ESI_KEY_ENTER:
        view->choice.sort = view->at_menu;
        view->choice.turned = false;
        view->menu = false;
        return;
    case ESI_KEY_ESCAPE:
    case ESI_KEY_F1 + 5:
    case 'q':
        view->menu = false;
        return;
    default:
        return;
    }
}

static void edit_prompt(struct esi_top_view *view, int key)
{
    bool is_search = view->prompt == ESI_PROMPT_SEARCH;
    char *text = is_search ? view->search : view->filter;
    size_t length = strlen(text);

    if (key == ESI_KEY_ENTER) {
        view->prompt = ESI_PROMPT_NONE;
    } else if (key == ESI_KEY_ESCAPE) {
        text[0] = '\0';
        view->prompt = ESI_PROMPT_NONE;
    } else if (key == ESI_KEY_BACKSPACE || key == '\b') {
        if (length > 0)
            text[length - 1] = '\0';
    } else if (key >= ' ' && key < 127 && length + 1 < ESI_TOP_TEXT) {
        text[length] = (char)key;
        text[length + 1] = '\0';
    }
    if (is_search && text[0])
        search_row(view, true);
}

static void start_prompt(struct esi_top_view *view, enum esi_top_prompt prompt)
{
    view->prompt = prompt;
    view->is_found = true;
    if (prompt == ESI_PROMPT_SEARCH)
        view->search[0] = '\0';
}

static bool move_by_key(struct esi_top_view *view, int key)
{
    switch (key) {
    case ESI_KEY_UP:
        move_selection(view, 1, true);
        return true;
    case ESI_KEY_DOWN:
        move_selection(view, 1, false);
        return true;
    case ESI_KEY_PAGE_UP:
        move_selection(view, view->page, true);
        return true;
    case ESI_KEY_PAGE_DOWN:
        move_selection(view, view->page, false);
        return true;
    case ESI_KEY_HOME:
        select_row(view, 0);
        return true;
    case ESI_KEY_END:
        select_row(view, view->list.count);
        return true;
    default:
        return false;
    }
}

/* Selection and order of rows. */
static int choose_by_key(struct esi_top_view *view, int key)
{
    struct esi_top_choice *choice = &view->choice;

    switch (key) {
    case ESI_KEY_F1 + 4:
    case 't':
        choice->shape =
            choice->shape == ESI_TOP_BY_RANK ? ESI_TOP_BY_TREE : ESI_TOP_BY_RANK;
        return 0;
    case '*':
        choice->shape =
            choice->shape == ESI_TOP_BY_HOST ? ESI_TOP_BY_TREE : ESI_TOP_BY_HOST;
        return 0;
    case ESI_KEY_F1 + 5:
        open_menu(view);
        return 0;
    case '>':
        turn_to_column(view, 1);
        return 0;
    case '<':
        turn_to_column(view, -1);
        return 0;
    case 'I':
        choice->turned = !choice->turned;
        return 0;
    case '+':
    case '-':
    case ESI_KEY_ENTER:
        return choice->shape == ESI_TOP_BY_TREE && view->list.count > 0
                   ? fold_host(view)
                   : 0;
    default:
        return 0;
    }
}

int esi_top_view_key(struct esi_top_view *view, int key)
{
    if (view->prompt != ESI_PROMPT_NONE) {
        edit_prompt(view, key);
        return 0;
    }
    if (view->menu) {
        key_in_menu(view, key);
        return 0;
    }
    if (view->help) {
        view->quit = key == 'q' || key == ESI_KEY_F1 + 9;
        view->help = false;
        return 0;
    }
    if (move_by_key(view, key))
        return 0;
    switch (key) {
    case ESI_KEY_F1:
    case 'h':
    case '?':
        view->help = true;
        return 0;
    case ESI_KEY_F1 + 2:
    case '/':
        start_prompt(view, ESI_PROMPT_SEARCH);
        return 0;
    case 'n':
        search_row(view, false);
        return 0;
    case ESI_KEY_F1 + 3:
    case '\\':
        start_prompt(view, ESI_PROMPT_FILTER);
        return 0;
    case ESI_KEY_TAB:
        view->pane = (view->pane + 1) % ESI_PANES;
        return 0;
    case 'Z':
        view->paused = !view->paused;
        return 0;
    case 'w':
        view->waits = true;
        return 0;
    case ESI_KEY_F1 + 9:
    case 'q':
        view->quit = true;
        return 0;
    default:
        return choose_by_key(view, key);
    }
}

/* --- Columns ---------------------------------------------------------------------- */

static size_t width_of(const size_t widths[ESI_TOP_COLUMNS])
{
    size_t all = 0;

    for (size_t i = 0; i < ESI_TOP_COLUMNS; i++)
        all += widths[i] ? widths[i] + 1 : 0;
    return all ? all - 1 : 0;
}

/* The column to omit next; -1 = none. */
static int least_important(const size_t widths[ESI_TOP_COLUMNS])
{
    int found = -1;
    unsigned minor = 0;

    for (int i = 0; i < ESI_TOP_COLUMNS; i++)
        if (widths[i] && esi_top_column_info((enum esi_top_column)i)->minor > minor) {
            minor = esi_top_column_info((enum esi_top_column)i)->minor;
            found = i;
        }
    return found;
}

/* Gives a column the remaining width, up to `most`. */
static size_t widen_column(size_t *width, size_t most, size_t left)
{
    size_t more = *width && *width < most ? most - *width : 0;

    if (more > left)
        more = left;
    *width += more;
    return left - more;
}

void esi_top_view_columns(const struct esi_top_view *view,
                          size_t width,
                          size_t ret_widths[ESI_TOP_COLUMNS])
{
    bool is_tree = view->choice.shape != ESI_TOP_BY_RANK;
    size_t left;
    int column;

    for (int i = 0; i < ESI_TOP_COLUMNS; i++)
        ret_widths[i] = esi_top_column_info((enum esi_top_column)i)->width;
    if (!view->waits)
        ret_widths[ESI_TOP_CAUSED] = ret_widths[ESI_TOP_SUFFERED] = 0;
    if (is_tree) {
        ret_widths[ESI_TOP_RANK] = width < 60 ? TREE_WIDTH / 2 : TREE_WIDTH;
        ret_widths[ESI_TOP_HOST] = 0;
    }
    while (width_of(ret_widths) > width && (column = least_important(ret_widths)) >= 0)
        ret_widths[column] = 0;
    if (width_of(ret_widths) > width)
        return;
    left = width - width_of(ret_widths);
    left = widen_column(&ret_widths[ESI_TOP_DOING], DOING_MOST, left);
    left = widen_column(&ret_widths[ESI_TOP_HOST], HOST_MOST, left);
    if (ret_widths[ESI_TOP_LINE])
        ret_widths[ESI_TOP_LINE] += left;
    else
        ret_widths[ESI_TOP_DOING] += left;
}
