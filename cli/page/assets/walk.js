// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// walk.js - moving about: zoom, pan, the axis, and from event to event.
import { request } from './api.js';
import { atX, GUTTER, lineAt, middleOf, reveal, screen, visiblePlaces, xOf }
  from './geometry.js';
import { allLines, lineOf } from './layout.js';
import { report } from './overlays.js';
import { extent, found, keepUp, positionOf, run, set, setWindow, touch, view }
  from './state.js';

const GLIDE_MS = 140;
const stillness = matchMedia('(prefers-reduced-motion: reduce)');
let glide = 0;
let wanted = false; // the selected event is to be brought into view

/** Goes to a window in a short movement, or at once for those who want no movement. */
function glideTo(from, to) {
  cancelAnimationFrame(glide);
  if (stillness.matches || document.hidden) {
    setWindow(from, to);
    return;
  }
  const [from0, to0, start] = [view.from, view.to, performance.now()];
  const step = (now) => {
    const done = Math.min(Math.max((now - start) / GLIDE_MS, 0), 1);
    const part = 1 - (1 - done) ** 3;
    setWindow(from0 + (from - from0) * part, to0 + (to - to0) * part);
    glide = done < 1 ? requestAnimationFrame(step) : 0;
  };
  glide = requestAnimationFrame(step);
}

/** Whether a movement is under way. */
export const isGliding = () => glide !== 0;

/** Where the selected event is; null = there is none, or it is not on the screen. */
function anchor() {
  if (!view.selection || !found.event) return null;
  const at = positionOf(found.event);
  return at >= view.from && at <= view.to ? at : null;
}

/** Zooms; what is at `at` keeps its place. */
export function zoom(times, at, isSmooth) {
  const centre = at ?? anchor() ?? (view.from + view.to) / 2;
  const go = isSmooth ? glideTo : setWindow;
  go(centre - (centre - view.from) * times, centre + (view.to - centre) * times);
}

/** Moves by a part of the window. */
export function pan(part) {
  const by = (view.to - view.from) * part;
  glideTo(view.from + by, view.to + by);
}

/** Shows the other axis; the selected event keeps its place on the screen. */
export function switchAxis() {
  const event = found.event;
  const axis = view.axis === 'time' ? 'level' : 'time';
  const [begin, end] = extent();
  const [begin1, end1] = extent(axis);
  const scale = (end1 - begin1) / (end - begin);
  const width = (view.to - view.from) * scale;
  if (!event) {
    const from = begin1 + (view.from - begin) * scale;
    set({ axis, from, to: from + width });
    return;
  }
  const part = (positionOf(event) - view.from) / (view.to - view.from);
  const place = Math.min(Math.max(part, 0.05), 0.95);
  const from = positionOf(event, axis) - place * width;
  set({ axis, from, to: from + width, whole: false, follow: false });
}

/** Follows the end of a live run, or stops to. */
export function follow(isWanted) {
  set({ follow: isWanted, whole: isWanted ? view.whole : false });
  if (isWanted) keepUp();
}

/** Brings the selected event into view, if it is not. */
function showEvent(event) {
  const at = positionOf(event);
  const width = view.to - view.from;
  reveal(lineOf(event.event[0]));
  if (at < view.from + width * 0.02 || at > view.to - width * 0.02)
    glideTo(at - width / 2, at + width / 2);
}

/** Selects an event by its row and index. */
export function select(id, isShown = true) {
  set({ selection: id ? id.slice(0, 2) : null, follow: false,
    whole: view.whole && !run.live });
  if (id && isShown) wanted = true;
}

/** Once the selected event is known it is brought into view, if that was wanted. */
export function onEvent() {
  if (!wanted || !found.event) return;
  wanted = false;
  showEvent(found.event);
}

/** Selects the event of a row that is nearest to a position. */
export async function selectNearest(row, at) {
  try {
    const reply = await request('nearest',
      { axis: view.axis, row, at: Math.round(at) });
    if (reply.event) select(reply.event);
  } catch (error) {
    report(error);
  }
}

/** The event that a click means. */
export async function nearestAt(x, y) {
  const place = lineAt(y);
  if (place < 0 || x < GUTTER) return null;
  const row = allLines()[place].rows[0].row;
  const at = Math.max(0, Math.round(atX(x)));
  return (await request('nearest', { axis: view.axis, row, at })).event;
}

function selectFirst() {
  const place = visiblePlaces()[0];
  if (place === undefined) return;
  selectNearest(allLines()[place].rows[0].row, (view.from + view.to) / 2);
}

/** To the event before (-1) or behind (1) on the thread. */
export function walkThread(way) {
  if (!found.event) {
    if (!view.selection) selectFirst();
    return;
  }
  const next = way < 0 ? found.event.previous : found.event.next;
  if (next) select(next);
}

/** Whether an event is on another row than the selected one. */
export const isElsewhere = (id) => id[0] !== view.selection[0];

/** Along a message: to the cause (-1) or the effect (1). */
export function walkMessage(way) {
  if (!found.event) return;
  const others = (way < 0 ? found.event.causes : found.event.effects) || [];
  const other = others.find(isElsewhere);
  if (other) select(other);
}

/** To the nearest event on the line above (-1) or below (1). */
export function walkLines(way) {
  if (!found.event) {
    if (!view.selection) selectFirst();
    return;
  }
  let place = lineOf(found.event.event[0]) + way;
  while (allLines()[place] && allLines()[place].unfolded) place += way;
  if (allLines()[place])
    selectNearest(allLines()[place].rows[0].row, positionOf(found.event));
}

/** Scrolls by lines. */
export function scrollLines(lines) {
  set({ top: Math.max(0, screen.scroll / screen.line + lines) });
}

/** Marks the selected event as the start of a measurement, or ends that. */
export function toggleMeasure() {
  set({ measure: view.measure ? null : view.selection, panel: 'event' });
}

/** Selects the next match of the search. */
export function stepMatch(way) {
  const matches = found.matches;
  if (!matches.length) return;
  found.match = (found.match + way + matches.length) % matches.length;
  select(matches[found.match].events[0]);
  touch('matches');
}

/** Where an event of the screen is: for tests and tips. */
export const placeOf = (event) =>
  [xOf(positionOf(event)), middleOf(event.event[0])];
