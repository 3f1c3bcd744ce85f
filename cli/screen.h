/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * screen.h - terminal output: whether it has colours (base/table.h), and a live screen
 * on which each frame replaces the last.
 *
 *     esi_screen_open(&screen, colours, true);
 *     while (...) {
 *         esi_screen_begin(&screen);
 *         puts("2 stalled");
 *         esi_screen_show(&screen);
 *     }
 *     esi_screen_close(&screen);
 *
 * A live screen is the terminal's alternate screen: the output to stdout between begin
 * and show is buffered and written at once.  Closing it, or the end of the process,
 * restores the normal screen with the last frame on it.  If stdout is not a terminal,
 * or the screen is not live, text is passed through.
 *
 * One screen at a time, one thread.
 */
#ifndef ES_CLI_SCREEN_H
#define ES_CLI_SCREEN_H

#include <argp.h>
#include <stdbool.h>

enum esi_colours {
    ES_COLOURS_AUTO, /* on a terminal, unless NO_COLOR is set */
    ES_COLOURS_ALWAYS,
    ES_COLOURS_NEVER,
};

/* --color WHEN, for use as a child parser; its input is an enum esi_colours *. */
extern const struct argp esi_colours_argp;

/* Whether stdout should have colours. */
bool esi_screen_wants_colours(enum esi_colours colours);

/* Caller's memory; its fields are private. */
struct esi_screen {
    int output;  /* original stdout; -1 = text is passed through */
    int memory;  /* buffer of the current frame */
    char *frame; /* the last one, as on a normal screen; owned */
};

/* Sets the colours of this process's tables.  `live` has no effect if stdout is not a
 * terminal.  For a live screen the caller must record SIGINT and SIGTERM (interrupt.h)
 * so that it can close it.  If out of memory, text is passed through. */
void esi_screen_open(struct esi_screen *screen, enum esi_colours colours, bool live);

/* Whether frames replace each other. */
bool esi_screen_is_live(const struct esi_screen *screen);

void esi_screen_begin(struct esi_screen *screen);

/* Returns 0 or -EIO. */
int esi_screen_show(struct esi_screen *screen);

/* Accepts a closed screen. */
void esi_screen_close(struct esi_screen *screen);

#endif
