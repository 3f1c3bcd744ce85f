// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// geometry.js - where lines and positions are on the screen.
import { allLines, lineOf, pinnedCount } from './layout.js';
import { set, view } from './state.js';

export const RULER = 26;
export const GUTTER = 148;
const LEAST = 14;
const MOST = 60;

/** Size of the diagram in CSS pixels, with its ruler and its names of rows. */
export const screen = { width: 800, height: 400, line: 20, scroll: 0 };

/** Sizes lines so that they fill the height, within bounds. */
export function measure(width, height) {
  screen.width = Math.max(width, GUTTER + 40);
  screen.height = height;
  const room = (height - RULER) / Math.max(allLines().length, 1);
  screen.line = Math.round(Math.min(Math.max(room, LEAST), MOST));
}

/** Width that stands for the window. */
export const plotWidth = () => screen.width - GUTTER;

/** A position of the axis as x, and the reverse. */
export const xOf = (at) =>
  GUTTER + (at - view.from) / (view.to - view.from) * plotWidth();
export const atX = (x) =>
  view.from + (x - GUTTER) / plotWidth() * (view.to - view.from);

/** The top of a line; pinned ones do not scroll. */
export const yOf = (place) =>
  RULER + place * screen.line - (place < pinnedCount() ? 0 : screen.scroll);

/** The middle of a row's line; null = it is not there. */
export function middleOf(row) {
  const place = lineOf(row);
  return place < 0 ? null : yOf(place) + screen.line / 2;
}

/** The line at y; -1 = none. */
export function lineAt(y) {
  if (y < RULER) return -1;
  const pins = pinnedCount();
  const fixed = Math.floor((y - RULER) / screen.line);
  const place = fixed < pins ? fixed :
    Math.floor((y - RULER + screen.scroll) / screen.line);
  return place < allLines().length ? place : -1;
}

/** Places of the lines that can be seen. */
export function visiblePlaces() {
  const pins = pinnedCount();
  const places = [];
  for (let i = 0; i < pins; i++) places.push(i);
  const first = Math.max(pins, pins + Math.floor(screen.scroll / screen.line));
  const last = Math.ceil((screen.height - RULER + screen.scroll) / screen.line);
  for (let i = first; i < Math.min(last, allLines().length); i++) places.push(i);
  return places;
}

/** Height of all lines and the ruler. */
export const fullHeight = () => RULER + allLines().length * screen.line;

/** Scrolls so that a line is seen. */
export function reveal(place) {
  const pins = pinnedCount();
  if (place < pins) return;
  const above = (place - pins) * screen.line;
  const below = (place + 1) * screen.line - (screen.height - RULER);
  const scroll = Math.min(Math.max(screen.scroll, below), above);
  if (scroll !== screen.scroll) set({ top: scroll / screen.line });
}
