/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * top_view.h - the state of the display of `eventspace top`: rows, selection, and the
 * effects of keys.  Independent of the terminal.
 *
 * One thread.
 */
#ifndef ES_CLI_TOP_VIEW_H
#define ES_CLI_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "monitors/top/top.h"

/* Keys that are not characters. */
enum esi_top_key {
    ESI_KEY_NONE = 0,
    ESI_KEY_TAB = '\t',
    ESI_KEY_ENTER = '\n',
    ESI_KEY_ESCAPE = 27,
    ESI_KEY_BACKSPACE = 127,
    ESI_KEY_UP = 0x1000,
    ESI_KEY_DOWN,
    ESI_KEY_PAGE_UP,
    ESI_KEY_PAGE_DOWN,
    ESI_KEY_HOME,
    ESI_KEY_END,
    ESI_KEY_F1 = 0x1100, /* up to F10 */
};

/* The area below the table. */
enum esi_top_pane { ESI_PANE_VERDICT, ESI_PANE_RANK, ESI_PANE_NONE, ESI_PANES };

enum esi_top_prompt { ESI_PROMPT_NONE, ESI_PROMPT_SEARCH, ESI_PROMPT_FILTER };

enum { ESI_TOP_TEXT = 256 };

struct esi_top_view {
    struct esi_top_choice choice;
    struct esi_top_list list;
    size_t selected;         /* row; 0 if the list is empty */
    size_t first;            /* first row shown */
    size_t page;             /* number of rows that fit */
    char host[ESI_TOP_TEXT]; /* of the selected row */
    int rank;                /* rank and pid of the selected row */
    int pid;
    char filter[ESI_TOP_TEXT];
    char search[ESI_TOP_TEXT];
    bool is_found; /* a row matches the search */
    enum esi_top_prompt prompt;
    enum esi_top_pane pane;
    char **folded; /* hosts; owned */
    size_t folded_capacity;
    bool paused;
    bool help;
    bool menu;                   /* the menu of sort columns is open and receives
                                    keys */
    enum esi_top_column at_menu; /* its selected line */
    bool waits;
    bool quit;
};

void esi_top_view_init(struct esi_top_view *view, const struct esi_top_choice *choice);
void esi_top_view_fini(struct esi_top_view *view);

/* Builds the list for an observation; the selected rank stays selected.  Returns 0 or
 * -ENOMEM. */
int esi_top_view_fill(struct esi_top_view *view, const struct esi_top_look *look);

/* Sets the number of rows that fit, and scrolls so that the selected row is visible. */
void esi_top_view_set_page(struct esi_top_view *view, size_t page);

/* Handles a character or an enum esi_top_key.  The list must be filled again
 * afterwards.  Returns 0 or -ENOMEM. */
int esi_top_view_key(struct esi_top_view *view, int key);

/* Whether the menu contains the column, so that rows can be sorted by it. */
bool esi_top_view_is_in_menu(const struct esi_top_view *view,
                             enum esi_top_column column);

/* NULL if the list is empty. */
const struct esi_top_row *esi_top_view_selected(const struct esi_top_view *view);

/* Computes the width of each column for lines of `width` characters; 0 = omitted.
 * Columns are separated by a blank. */
void esi_top_view_columns(const struct esi_top_view *view,
                          size_t width,
                          size_t ret_widths[ESI_TOP_COLUMNS]);

#endif
