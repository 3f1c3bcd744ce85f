/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/* screen.c - collects the frames of a live screen in a memory file. */
#include "config.h"

#include "cli/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/options.h"
#include "base/table.h"
#include "cli/command.h"

/* --- The option ------------------------------------------------------------------- */

enum { OPTION_COLOUR = 256 };

static const struct argp_option options[] = {
    {"color", OPTION_COLOUR, "WHEN", 0, "colours: auto, always or never", 0},
    {0},
};

static error_t parse_option(int key, char *text, struct argp_state *state)
{
    static const char *const words[] = {"auto", "always", "never", NULL};
    enum esi_colours *colours = state->input;

    if (key != OPTION_COLOUR)
        return ARGP_ERR_UNKNOWN;
    *colours = (enum esi_colours)esi_option_word(text, "--color", words, state);
    return 0;
}

const struct argp esi_colours_argp = {options, parse_option, NULL, NULL,
                                      NULL,    NULL,         NULL};

/* --- Frames ----------------------------------------------------------------------- */

#define ENTER "\033[?1049h\033[?25l"
#define LEAVE "\033[?25h\033[?1049l"

/* The live screen to restore when the process ends; -1 = none. */
static int live_output = -1;

static int write_all(int descriptor, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(descriptor, bytes, count);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return -EIO;
        bytes += written;
        count -= (size_t)written;
    }
    return 0;
}

static void leave_screen(void)
{
    if (live_output >= 0)
        write_all(live_output, LEAVE, sizeof LEAVE - 1);
    live_output = -1;
}

static void enter_screen(int output)
{
    static bool is_registered;

    if (!is_registered)
        is_registered = atexit(leave_screen) == 0;
    live_output = output;
    write_all(output, ENTER, sizeof ENTER - 1);
}

bool esi_screen_wants_colours(enum esi_colours colours)
{
    const char *none = getenv("NO_COLOR");

    if (colours == ES_COLOURS_AUTO)
        return esi_command_is_terminal(stdout) && !(none && *none);
    return colours == ES_COLOURS_ALWAYS;
}

void esi_screen_open(struct esi_screen *screen, enum esi_colours colours, bool live)
{
    *screen = (struct esi_screen){.output = -1, .memory = -1};
    esi_text_table_set_colours(esi_screen_wants_colours(colours));
    if (!live || !esi_command_is_terminal(stdout))
        return;
    fflush(stdout);
    screen->memory = memfd_create("eventspace-screen", MFD_CLOEXEC);
    if (screen->memory >= 0)
        screen->output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (screen->output < 0)
        return;
    esi_text_table_set_terminal(screen->output);
    enter_screen(screen->output);
}

bool esi_screen_is_live(const struct esi_screen *screen)
{
    return screen->output >= 0;
}

void esi_screen_begin(struct esi_screen *screen)
{
    if (screen->output < 0)
        return;
    fflush(stdout);
    if (ftruncate(screen->memory, 0) == 0 && lseek(screen->memory, 0, SEEK_SET) == 0)
        dup2(screen->memory, STDOUT_FILENO);
}

/* The output as a text.  Caller frees; NULL if out of memory. */
static char *read_frame(const struct esi_screen *screen)
{
    off_t size = lseek(screen->memory, 0, SEEK_END);
    char *text = size < 0 ? NULL : calloc(1, (size_t)size + 1);

    if (text && pread(screen->memory, text, (size_t)size, 0) != size) {
        free(text);
        return NULL;
    }
    return text;
}

/* Number of lines that fit on the terminal. */
static size_t rows_of(const struct esi_screen *screen)
{
    struct winsize size;

    return ioctl(screen->output, TIOCGWINSZ, &size) == 0 && size.ws_row > 1
               ? size.ws_row
               : 24;
}

/* Writes from the top: each line clears the rest of its old content, the last
 * everything below.  Lines that do not fit are omitted, since the terminal would
 * scroll. */
static void write_lines(const struct esi_screen *screen, const char *text, FILE *out)
{
    size_t rows = rows_of(screen), row = 0, lines = 0;

    for (const char *end = text; (end = strchr(end, '\n')); end++)
        lines++;
    fputs("\033[H", out);
    for (const char *end; (end = strchr(text, '\n')); text = end + 1, row++) {
        if (lines >= rows && row + 2 >= rows) {
            fprintf(out, "and %zu more lines\033[K\n", lines - row);
            break;
        }
        fprintf(out, "%.*s\033[K\n", (int)(end - text), text);
    }
    fputs("\033[J", out);
}

int esi_screen_show(struct esi_screen *screen)
{
    char *text = NULL;
    size_t size = 0;
    int result;

    if (screen->output < 0)
        return fflush(stdout) == 0 ? 0 : -EIO;
    fflush(stdout);
    dup2(screen->output, STDOUT_FILENO);
    free(screen->frame);
    screen->frame = read_frame(screen);
    FILE *out = screen->frame ? open_memstream(&text, &size) : NULL;
    if (!out)
        return -EIO;
    write_lines(screen, screen->frame, out);
    result = fclose(out) == 0 ? write_all(screen->output, text, size) : -EIO;
    free(text);
    return result;
}

void esi_screen_close(struct esi_screen *screen)
{
    if (screen->output >= 0) {
        leave_screen();
        if (screen->frame)
            write_all(screen->output, screen->frame, strlen(screen->frame));
        esi_text_table_set_terminal(-1);
        close(screen->output);
    }
    if (screen->memory >= 0)
        close(screen->memory);
    free(screen->frame);
    *screen = (struct esi_screen){.output = -1, .memory = -1};
}
