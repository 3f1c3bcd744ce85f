/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* top_screen.c - draws with ncurses. */
#include "config.h"

#include "cli/top/top_screen.h"

#include <errno.h>

#ifndef HAVE_NCURSESW

int esi_top_screen_check(struct es_error *error)
{
    return es_error_set(error, -ENOTTY,
                        "built without ncurses (Debian/Ubuntu package "
                        "libncurses-dev): only --batch works");
}

int esi_top_screen_run(struct esi_top *top,
                       const struct esi_top_settings *settings,
                       struct es_error *error)
{
    (void)top;
    (void)settings;
    return esi_top_screen_check(error);
}

#else

#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include <curses.h>
#include <term.h>
/* term.h defines capability names that are also used here. */
#undef lines
#undef columns
#undef tone

#include "base/now.h"
#include "base/table.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/observe.h"
#include "cli/top/top_view.h"
#include "monitors/top/top_print.h"
#include "monitors/verdict/verdict_print.h"

#define SLICE_NS UINT64_C(20000000)
#define STRIP_NS UINT64_C(10000000000) /* for the selected rank */
#define MILLISECOND_NS UINT64_C(1000000)

enum { WORDS = 512, LINES_PANE_MOST = 64, MENU_WIDTH = 10 };

enum { PAIR_RED = 1, PAIR_YELLOW, PAIR_GREEN, PAIR_CYAN };

struct top_screen {
    struct esi_top *top; /* borrowed */
    const struct esi_top_settings *settings;
    struct esi_top_view view;
    struct esi_top_look look;
    bool has_look;
    bool has_ended;
    bool is_utf8;
    unsigned long long looks;
    uint64_t next_ns;    /* when the next observation is due */
    uint64_t waits_ns;   /* time left for reading waits before that */
    bool has_more_waits; /* more data is available */
};

/* --- The terminal ----------------------------------------------------------------- */

/* The strings that restore the terminal if a signal leaves no time for ncurses. */
static struct {
    volatile sig_atomic_t is_needed;
    struct termios before;
    char leave[128];
    size_t length;
} guard;

static const int fatal_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL,
                                    SIGABRT, SIGHUP, SIGQUIT};

static void restore_and_die(int signal)
{
    if (guard.is_needed) {
        ssize_t ignored = write(STDOUT_FILENO, guard.leave, guard.length);

        (void)ignored;
        tcsetattr(STDIN_FILENO, TCSANOW, &guard.before);
    }
    raise(signal);
}

/* A string of the terminal's description, without delays. */
static void add_capability(const char *name)
{
    const char *text = tigetstr(name);

    if (!text || text == (const char *)-1)
        return;
    while (*text && guard.length < sizeof guard.leave) {
        if (text[0] == '$' && text[1] == '<' && strchr(text, '>'))
            text = strchr(text, '>') + 1;
        else
            guard.leave[guard.length++] = *text++;
    }
}

/* Signals with other handlers, such as a sanitizer's, are not changed. */
static void guard_terminal(void)
{
    struct sigaction action = {.sa_handler = restore_and_die};
    struct sigaction before;

    action.sa_flags = (int)SA_RESETHAND | SA_NODEFER;
    guard.length = 0;
    add_capability("sgr0");
    add_capability("rmkx");
    add_capability("cnorm");
    add_capability("rmcup");
    guard.is_needed = 1;
    for (size_t i = 0; i < sizeof fatal_signals / sizeof *fatal_signals; i++)
        if (sigaction(fatal_signals[i], NULL, &before) == 0 &&
            before.sa_handler == SIG_DFL)
            sigaction(fatal_signals[i], &action, NULL);
}

static void set_up_colours(bool wanted)
{
    if (!wanted || !has_colors())
        return;
    start_color();
    use_default_colors();
    init_pair(PAIR_RED, COLOR_RED, -1);
    init_pair(PAIR_YELLOW, COLOR_YELLOW, -1);
    init_pair(PAIR_GREEN, COLOR_GREEN, -1);
    init_pair(PAIR_CYAN, COLOR_CYAN, -1);
}

/* Initialises the terminal.  NULL if its type is unknown. */
static SCREEN *open_terminal(bool colours)
{
    SCREEN *terminal;

    tcgetattr(STDIN_FILENO, &guard.before);
    /* The shell's values may be out of date. */
    unsetenv("LINES");
    unsetenv("COLUMNS");
    terminal = newterm(NULL, stdout, stdin);
    if (!terminal)
        return NULL;
    set_term(terminal);
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(25);
    curs_set(0);
    set_up_colours(colours);
    guard_terminal();
    esi_text_table_set_terminal(STDOUT_FILENO);
    return terminal;
}

static void close_terminal(SCREEN *terminal)
{
    esi_text_table_set_terminal(-1);
    endwin();
    guard.is_needed = 0;
    delscreen(terminal);
}

int esi_top_screen_check(struct es_error *error)
{
    if (!esi_command_is_terminal(stdout) || !isatty(STDIN_FILENO))
        return es_error_set(error, -ENOTTY,
                            "standard input and output are not a terminal: give "
                            "--batch");
    return 0;
}

/* --- Text ------------------------------------------------------------------------- */

/* Converts a text; characters that cannot be shown become question marks. */
static size_t widen_text(const char *text, wchar_t out[WORDS])
{
    mbstate_t state = {0};
    size_t count = 0;

    while (*text && count < WORDS - 1) {
        wchar_t character;
        size_t length = mbrtowc(&character, text, MB_CUR_MAX, &state);

        if (length == (size_t)-1 || length == (size_t)-2) {
            state = (mbstate_t){0};
            character = L'?';
            length = 1;
        }
        out[count++] = wcwidth(character) > 0 ? character : L'?';
        text += length;
    }
    out[count] = L'\0';
    return count;
}

/* Writes a text into `width` columns of a line; truncated text ends with a mark. */
static void put_text(const struct top_screen *screen,
                     int y,
                     int x,
                     int width,
                     bool right,
                     const char *text)
{
    wchar_t wide[WORDS];
    size_t count = widen_text(text, wide);
    int used = 0;

    if (y < 0 || y >= LINES || x < 0 || x >= COLS)
        return;
    width = width < COLS - x ? width : COLS - x;
    for (size_t i = 0; i < count; i++) {
        int columns = wcwidth(wide[i]);

        if (used + columns + (i + 1 < count) > width) {
            if (used < width)
                wide[i++] = screen->is_utf8 ? L'\u2026' : L'~';
            count = i;
            used = width;
            break;
        }
        used += columns;
    }
    mvaddnwstr(y, right ? x + width - used : x, wide, (int)count);
}

static attr_t colour_of(const struct esi_top_row *row)
{
    const attr_t attributes[] = {
        [ESI_COLOUR_PLAIN] = A_NORMAL,
        [ESI_COLOUR_GOOD] = (attr_t)COLOR_PAIR(PAIR_GREEN),
        [ESI_COLOUR_WAITS] = (attr_t)COLOR_PAIR(PAIR_YELLOW),
        [ESI_COLOUR_BAD] = (attr_t)COLOR_PAIR(PAIR_RED),
        [ESI_COLOUR_WORST] = (attr_t)COLOR_PAIR(PAIR_RED) | A_BOLD,
    };

    return attributes[row->finding >= 0 ? ESI_COLOUR_WORST
                                        : esi_verdicts[row->verdict].colour];
}

/* --- The parts of the screen ------------------------------------------------------ */

static int draw_head(const struct top_screen *screen, int height)
{
    int count = height < 9 ? 1 : height < 14 ? 2 : ESI_TOP_HEAD_LINES;
    char text[ESI_TOP_HEAD_BYTES];
    char more[WORDS];

    for (int i = 0; i < count; i++) {
        esi_top_head(&screen->look, (unsigned)i, text);
        snprintf(more, sizeof more, "%s%s%s", text,
                 i == 0 && screen->has_ended ? "  has ended" : "",
                 i == 0 && screen->view.paused ? "  paused" : "");
        attrset(i == 0 ? A_BOLD : A_NORMAL);
        put_text(screen, i, 0, COLS, false, more);
    }
    attrset(A_NORMAL);
    return count;
}

static void draw_titles(const struct top_screen *screen,
                        int y,
                        int x,
                        const size_t widths[ESI_TOP_COLUMNS])
{
    attrset(A_REVERSE);
    mvhline(y, x, ' ', COLS - x);
    for (int i = 0; i < ESI_TOP_COLUMNS; i++) {
        const struct esi_top_column_info *info =
            esi_top_column_info((enum esi_top_column)i);
        bool is_sort = (int)screen->view.choice.sort == i;

        if (!widths[i])
            continue;
        attrset(is_sort ? A_REVERSE | A_BOLD | A_UNDERLINE : A_REVERSE);
        put_text(screen, y, x, (int)widths[i], info->right, info->heading);
        x += (int)widths[i] + 1;
    }
    attrset(A_NORMAL);
}

/* The first cell of a tree. */
static void name_in_tree(const struct top_screen *screen,
                         const struct esi_top_row *row,
                         char *out,
                         size_t size)
{
    if (row->rank < 0)
        snprintf(out, size, "%s %s (%zu)", row->is_folded ? "+" : "-", row->host,
                 row->ranks);
    else
        snprintf(out, size, "  %s %d", screen->is_utf8 ? "\u2514\u2500" : "`-",
                 row->rank);
}

static void draw_row(const struct top_screen *screen,
                     int y,
                     int x,
                     const struct esi_top_row *row,
                     const size_t widths[ESI_TOP_COLUMNS])
{
    bool is_tree = screen->view.choice.shape != ESI_TOP_BY_RANK;
    bool is_selected = row == esi_top_view_selected(&screen->view);
    int first = x;
    char cell[WORDS];

    for (int i = 0; i < ESI_TOP_COLUMNS; i++) {
        const struct esi_top_column_info *info =
            esi_top_column_info((enum esi_top_column)i);
        bool is_name = is_tree && i == ESI_TOP_RANK;

        if (!widths[i])
            continue;
        if (is_name)
            name_in_tree(screen, row, cell, sizeof cell);
        else
            esi_top_cell(row, (enum esi_top_column)i, cell, sizeof cell);
        attrset(i == ESI_TOP_STATE ? (int)colour_of(row) : (int)A_NORMAL);
        put_text(screen, y, x, (int)widths[i], info->right && !is_name, cell);
        x += (int)widths[i] + 1;
    }
    if (is_selected)
        mvchgat(y, first, -1, A_REVERSE, 0, NULL);
    attrset(A_NORMAL);
}

/* The sort columns; scrolls so that the selected one is visible. */
static void draw_menu(const struct top_screen *screen, int y, int height)
{
    const struct esi_top_view *view = &screen->view;
    int selected = 0, line;

    attrset(A_REVERSE);
    mvhline(y, 0, ' ', MENU_WIDTH);
    put_text(screen, y, 0, MENU_WIDTH, false, "Sort by");
    for (int i = 0; i < (int)view->at_menu; i++)
        selected += esi_top_view_is_in_menu(view, (enum esi_top_column)i);
    line = selected < height - 1 ? 1 : height - 1 - selected;
    for (int i = 0; i < ESI_TOP_COLUMNS && line < height; i++) {
        if (!esi_top_view_is_in_menu(view, (enum esi_top_column)i))
            continue;
        attrset(i == (int)view->at_menu ? A_REVERSE : A_NORMAL);
        if (line > 0)
            put_text(screen, y + line, 0, MENU_WIDTH, false,
                     esi_top_column_info((enum esi_top_column)i)->heading);
        line++;
    }
    attrset(A_NORMAL);
}

static void draw_table(struct top_screen *screen, int y, int height)
{
    struct esi_top_view *view = &screen->view;
    size_t widths[ESI_TOP_COLUMNS];
    int x = view->menu ? MENU_WIDTH + 1 : 0;

    if (height < 1)
        return;
    if (view->menu)
        draw_menu(screen, y, height);
    if (x >= COLS)
        return;
    esi_top_view_columns(view, (size_t)(COLS - x), widths);
    draw_titles(screen, y, x, widths);
    esi_top_view_set_page(view, height > 1 ? (size_t)height - 1 : 1);
    for (int i = 1; i < height; i++) {
        size_t index = view->first + (size_t)i - 1;

        if (index < view->list.count)
            draw_row(screen, y + i, x, &view->list.items[index], widths);
    }
}

/* --- The lower pane --------------------------------------------------------------- */

static void print_verdict(const struct top_screen *screen, FILE *out)
{
    const struct esi_verdict_style style = {.waits = true, .calm = true};
    const struct esi_diagnosis *diagnosis = screen->look.observation.diagnosis;

    esi_diagnosis_print_text(diagnosis, &style, out);
}

static void print_rank(const struct top_screen *screen, FILE *out)
{
    const struct esi_top_row *row = esi_top_view_selected(&screen->view);
    char cell[WORDS];

    if (!row || row->rank < 0) {
        fputs("no rank is selected\n", out);
        return;
    }
    fprintf(out, "rank %d on %s, process %d: %s, %s\n", row->rank, row->host, row->pid,
            esi_top_row_state(row),
            esi_top_cell(row, ESI_TOP_DOING, cell, sizeof cell));
    if (esi_top_print_rank(screen->top, row->rank, STRIP_NS, (size_t)COLS,
                           (size_t)LINES / 3, out) < 0)
        fputs("its events cannot be read\n", out);
}

/* The text of the pane.  Caller frees; NULL if empty or out of memory. */
static char *make_pane(const struct top_screen *screen)
{
    char *text = NULL;
    size_t size;
    FILE *out;

    if (screen->view.pane == ESI_PANE_NONE)
        return NULL;
    out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    if (screen->view.pane == ESI_PANE_RANK)
        print_rank(screen, out);
    else
        print_verdict(screen, out);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static int count_lines(const char *text)
{
    int count = 0;

    for (; text && (text = strchr(text, '\n')) && count < LINES_PANE_MOST; text++)
        count++;
    return count;
}

static void draw_pane(const struct top_screen *screen, int y, int height, char *text)
{
    for (int i = 0; i < height && text && *text; i++) {
        char *end = strchr(text, '\n');

        if (end)
            *end = '\0';
        attrset(i == 0 ? A_BOLD : A_NORMAL);
        put_text(screen, y + i, 0, COLS, false, text);
        text = end ? end + 1 : NULL;
    }
    attrset(A_NORMAL);
}

static void draw_bottom(const struct top_screen *screen, int y)
{
    static const char keys[] =
        "F1 help  F3 search  F4 filter  F5 tree  F6 sort  Tab pane  Z pause  q quit";
    const struct esi_top_view *view = &screen->view;
    char text[WORDS];

    if (view->prompt == ESI_PROMPT_SEARCH)
        snprintf(text, sizeof text, "Search: %s%s", view->search,
                 view->is_found || !view->search[0] ? "" : "  (not found)");
    else if (view->prompt == ESI_PROMPT_FILTER)
        snprintf(text, sizeof text, "Filter: %s", view->filter);
    else if (view->menu)
        snprintf(text, sizeof text, "Enter sort  Esc back");
    else if (view->filter[0])
        snprintf(text, sizeof text, "[filter: %s]  %s", view->filter, keys);
    else
        snprintf(text, sizeof text, "%s", keys);
    attrset(A_REVERSE);
    mvhline(y, 0, ' ', COLS);
    put_text(screen, y, 0, COLS, false, text);
    attrset(A_NORMAL);
}

static void draw_help(const struct top_screen *screen)
{
    static const char *const lines[] = {
        "eventspace top: what each rank of a run does",
        "",
        "Up Down PgUp PgDn Home End   move",
        "F3 /   search            n   next match",
        "F4 \\   filter: words, ranks such as 0-3,7",
        "F5 t   tree of hosts     *   hosts only",
        "+ -    fold a host",
        "F6     sort: a menu      > < sort by the next or previous column",
        "I      the other way round",
        "Tab    verdict, rank, nothing below",
        "w      read who made others wait",
        "Z      pause             q F10  quit",
        "",
        "any key goes back",
    };

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        put_text(screen, (int)i, 0, COLS, false, lines[i]);
}

static void draw_screen(struct top_screen *screen)
{
    int height = LINES, head, pane;
    char *text;

    erase();
    if (screen->view.help) {
        draw_help(screen);
    } else if (screen->has_look) {
        text = make_pane(screen);
        head = draw_head(screen, height);
        /* At most a third of the screen, and at least two lines of the table remain. */
        pane = count_lines(text);
        if (pane > height / 3)
            pane = height / 3;
        if (head + 3 + pane + 1 > height)
            pane = height > head + 4 ? height - head - 4 : 0;
        draw_table(screen, head, height - head - pane - 1);
        draw_pane(screen, height - 1 - pane, pane, text);
        if (height > 2)
            draw_bottom(screen, height - 1);
        free(text);
    }
    refresh();
}

/* --- Keys ------------------------------------------------------------------------- */

static int translate_key(int key)
{
    if (key >= KEY_F(1) && key <= KEY_F(10))
        return ESI_KEY_F1 + key - KEY_F(1);
    switch (key) {
    case KEY_UP:
        return ESI_KEY_UP;
    case KEY_DOWN:
        return ESI_KEY_DOWN;
    case KEY_PPAGE:
        return ESI_KEY_PAGE_UP;
    case KEY_NPAGE:
        return ESI_KEY_PAGE_DOWN;
    case KEY_HOME:
        return ESI_KEY_HOME;
    case KEY_END:
        return ESI_KEY_END;
    case KEY_BACKSPACE:
        return ESI_KEY_BACKSPACE;
    case KEY_ENTER:
    case '\r':
        return ESI_KEY_ENTER;
    default:
        return key < 256 ? key : ESI_KEY_NONE;
    }
}

/* Handles the pending keys. */
static int take_keys(struct top_screen *screen)
{
    bool changed = false;
    int result = 0;

    for (int key; result == 0 && (key = getch()) != ERR; changed = true) {
        if (key == 'L' - '@')
            clearok(curscr, TRUE);
        result = esi_top_view_key(&screen->view, translate_key(key));
        if (result == 0 && screen->has_look)
            result = esi_top_view_fill(&screen->view, &screen->look);
    }
    if (changed && result == 0 && !screen->view.quit)
        draw_screen(screen);
    return result;
}

/* --- Observations ----------------------------------------------------------------- */

static int take_look(struct top_screen *screen)
{
    uint64_t interval_ns = screen->settings->interval_ns;
    int result = esi_top_look(screen->top, &screen->look);

    if (result == 0)
        result = esi_top_view_fill(&screen->view, &screen->look);
    if (result < 0)
        return result;
    screen->has_look = true;
    screen->has_ended = esi_top_is_over(&screen->look);
    screen->looks += !screen->look.observation.again;
    screen->next_ns =
        esi_now_ns(CLOCK_MONOTONIC) +
        (screen->look.observation.again ? ES_SECOND_LOOK_NS : interval_ns);
    screen->waits_ns = interval_ns / 5;
    screen->has_more_waits = screen->view.waits;
    draw_screen(screen);
    return 0;
}

/* Reads the events for waits for a limited time. */
static int read_waits(struct top_screen *screen)
{
    uint64_t slice_ns = screen->waits_ns < SLICE_NS ? screen->waits_ns : SLICE_NS;
    int result = esi_top_read_waits(screen->top, slice_ns);

    screen->waits_ns -= slice_ns;
    screen->has_more_waits = result > 0 && screen->waits_ns > 0;
    return result < 0 ? result : 0;
}

static bool is_done(const struct top_screen *screen)
{
    return screen->view.quit || esi_interrupt_came() ||
           (screen->settings->count && screen->looks >= screen->settings->count);
}

/* Waits until the next observation is due, or for a key.  -EIO: the terminal is
 * gone. */
static int await_key(const struct top_screen *screen)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    uint64_t left_ns = esi_now_left_ns(screen->next_ns);
    bool is_still = screen->view.paused || screen->has_ended;
    int timeout = is_still ? 1000 : (int)(left_ns / MILLISECOND_NS) + 1;

    if (!is_still && screen->has_more_waits)
        timeout = 0;
    if (poll(&input, 1, timeout) > 0 &&
        (input.revents & (POLLHUP | POLLERR | POLLNVAL)))
        return -EIO;
    return 0;
}

static int show_run(struct top_screen *screen)
{
    int result = take_look(screen);

    while (result == 0 && !is_done(screen)) {
        if (await_key(screen) < 0)
            return 0;
        result = take_keys(screen);
        if (result < 0 || screen->view.paused || screen->has_ended)
            continue;
        if (screen->has_more_waits)
            result = read_waits(screen);
        if (result == 0 && esi_now_left_ns(screen->next_ns) == 0)
            result = take_look(screen);
    }
    return result;
}

int esi_top_screen_run(struct esi_top *top,
                       const struct esi_top_settings *settings,
                       struct es_error *error)
{
    struct top_screen screen = {
        .top = top,
        .settings = settings,
        .is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
    };
    SCREEN *terminal = open_terminal(settings->colours);
    int result;

    if (!terminal)
        return es_error_set(error, -ENOTTY,
                            "TERM=%s is not known: give --batch, or another TERM",
                            getenv("TERM") ? getenv("TERM") : "");
    esi_top_view_init(&screen.view, &settings->choice);
    screen.view.waits = settings->waits;
    result = show_run(&screen);
    close_terminal(terminal);
    esi_top_view_fini(&screen.view);
    return result;
}

#endif
