// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// overlays.js - what is drawn over the cells: calls, messages, relations of an event.
import { inTurn, newest, request } from './api.js';
import { visiblePlaces } from './geometry.js';
import { allLines, listRows } from './layout.js';
import { found, listen, run, touch, view } from './state.js';
import { tiles } from './tiles.js';

const DEBOUNCE_MS = 80;
const CALLS_MAX = 4000;
const MESSAGES_MAX = 2000;
const INSTANCES_MAX = 200;

const askEvent = newest();
const askCone = newest();
const askRelation = newest();
const askStart = newest();

let timer = 0;

/** Whether calls and messages are still to be asked for. */
export const isOverlayDue = () => timer !== 0;

/** Remembers what went wrong, so that it is seen. */
export function report(error) {
  found.error = error.message;
  touch('error');
}

/** Parameters for the window and the rows that are seen, with a margin. */
export function windowOf(margin) {
  const width = (view.to - view.from) * margin;
  return { axis: view.axis, from: Math.floor(view.from - width),
    to: Math.ceil(view.to + width) };
}

function seenRows() {
  const lines = visiblePlaces().map((place) => allLines()[place]);
  const rows = new Set();
  for (const one of lines)
    if (!one.unfolded) one.rows.forEach((row) => rows.add(row.row));
  return listRows([...rows].sort((a, b) => a - b));
}

/** Calls are asked for only where the cells say that they are few. */
function areCallsFew() {
  const tile = tiles[tiles.length - 1];
  return tile && tile.axis === view.axis && tile.calls <= CALLS_MAX / 2;
}

async function fetchCalls() {
  if (!areCallsFew()) {
    found.calls = null;
    return;
  }
  const wanted = windowOf(0.5);
  const reply = await request('calls',
    { ...wanted, rows: seenRows(), limit: CALLS_MAX });
  found.calls = reply.complete ? { ...reply, ...wanted } : null;
  touch('calls');
}

async function fetchMessages() {
  const wanted = windowOf(0.5);
  const reply = await request('messages',
    { ...wanted, rows: seenRows(), limit: MESSAGES_MAX });
  found.messages = { ...reply, axis: wanted.axis };
  touch('messages');
}

/** Collective operations, those that cost most where there are many; a page in a file
 * has none. */
async function fetchInstances() {
  const isWanted = view.instances && !run.saved;
  if (!isWanted && !found.instances) return;
  found.instances = isWanted ? (await request('collectives',
    { ...windowOf(0.5), top: 1, limit: INSTANCES_MAX })).instances : null;
  touch('instances-shown');
}

const text = ([row, index]) => row + ':' + index;

async function fetchEvent() {
  found.event = null;
  if (!view.selection) {
    touch('event');
    return;
  }
  found.event = await askEvent('event', { event: text(view.selection) });
  touch('event');
}

async function fetchCone() {
  found.cone = null;
  touch('cone');
  if (!view.selection || !view.cones) return;
  found.cone = await askCone('cone', { event: text(view.selection) });
  touch('cone');
}

async function fetchRelation() {
  found.measured = null;
  touch('measured');
  if (!view.measure || !view.selection) return;
  const ids = { a: text(view.measure), b: text(view.selection) };
  const [start, relation] = await Promise.all(
    [askStart('event', { event: ids.a }), askRelation('relation', ids)]);
  found.measured = { ...relation, start };
  touch('measured');
}

/** Keeps them such that they fit the view. */
export function keepOverlays() {
  const [calls, messages, instances] = [fetchCalls, fetchMessages, fetchInstances]
    .map((one) => inTurn(() => one().catch(report)));
  const fetchAll = () => {
    timer = 0;
    calls();
    messages();
    instances();
  };
  listen(['tiles'], () => {
    if (!timer) timer = setTimeout(fetchAll, DEBOUNCE_MS);
  });
  listen(['instances'], instances);
  listen(['selection'], () => fetchEvent().catch(report));
  listen(['selection', 'cones'], () => fetchCone().catch(report));
  listen(['selection', 'measure'], () => fetchRelation().catch(report));
}
