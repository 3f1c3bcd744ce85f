/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 the EventSpace authors */
/*
 * screen.h - what a command shows on a terminal: colours for what is wrong, and a live
 * screen on which each frame takes the place of the one before.
 *
 *     esi_screen_open(&screen, colours, true);
 *     while (...) {
 *         esi_screen_begin(&screen);
 *         puts("2 stalled");
 *         esi_screen_show(&screen);
 *     }
 *     esi_screen_close(&screen);
 *
 * What is printed to stdout between the two is kept, and written at once.  A live
 * screen is the terminal's alternate one; closing it brings the former one back, with
 * the last frame on it, and so does the end of the process.  Where stdout is no
 * terminal, and no colours are asked for, text goes its way as if there were no screen.
 *
 *   one screen at a time, one thread.
 */
#ifndef ES_CLI_SCREEN_H
#define ES_CLI_SCREEN_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

enum esi_colours {
    ES_COLOURS_AUTO, /* on a terminal, unless NO_COLOR is in the environment */
    ES_COLOURS_ALWAYS,
    ES_COLOURS_NEVER,
};

/* --color WHEN, to be included as a child parser; its input is an enum esi_colours *.
 */
extern const struct argp esi_colours_argp;

/* Whether stdout is to have colours. */
bool esi_screen_wants_colours(enum esi_colours colours);

/* Caller's memory; its fields are private. */
struct esi_screen {
    bool colours;
    bool live;
    int output;     /* where stdout went when the screen was opened; -1 = passes */
    int memory;     /* a frame, while it is printed */
    char *frame;    /* the last one, as it is on a screen that is not live; owned */
    size_t written; /* its bytes */
};

/* `live` is for terminals: elsewhere the screen is not.  The caller of a live one has
 * SIGINT and SIGTERM noted (interrupt.h) so that it can close it.  Without memory text
 * just passes. */
void esi_screen_open(struct esi_screen *screen, enum esi_colours colours, bool live);

/* Whether frames replace each other. */
bool esi_screen_is_live(const struct esi_screen *screen);

void esi_screen_begin(struct esi_screen *screen);

/* 0, or -EIO. */
int esi_screen_show(struct esi_screen *screen);

/* Accepts one that is closed. */
void esi_screen_close(struct esi_screen *screen);

#endif
