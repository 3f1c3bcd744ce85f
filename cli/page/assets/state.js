// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// state.js - what the page shows: one store, of which the address is a copy.
import { takeToken } from './api.js';

/** The run, as the server has told. */
export const run = {
  name: '', begin_ns: '0', kind: 'run', live: false, over: false, events: 0, calls: 0,
  lost: 0, forgotten: 0, end: 0, levels: [1, 1], error_ns: null, changes: -1,
  verdict: null, cost: null, recording_end: null, reading: { done: false, events: 0 },
  rows: [], known: false, begin: 0, saved: false, part: false,
};

/** What the user chose; all of it stands in the address. */
export const view = {
  axis: 'time', from: 0, to: 1, whole: true, follow: false,
  selection: null, measure: null, cones: true, instances: false,
  group: '', filter: '', hidden: new Set(), pinned: new Set(), toggled: new Set(),
  top: 0, panel: 'event', search: '', by: 'text', table: false,
};

/** What was asked about the selection and the like; comes and goes. */
export const found = {
  event: null, cone: null, measured: null, matches: [], match: -1, verdict: null,
  messages: null, calls: null, instances: null, error: '', window: '', stream: '', searching: '',
};

const listeners = [];
let changed = new Set();
let scheduled = false;

/** Calls `listener(names)` once a frame in which something of these names changed. */
export function listen(names, listener) {
  listeners.push({ names, listener });
}

function deliver() {
  scheduled = false;
  const names = changed;
  changed = new Set();
  for (const one of listeners)
    if (one.names.some((name) => names.has(name))) one.listener(names);
}

/** Tells that these have changed; they are drawn in the next frame. */
export function touch(...names) {
  for (const name of names) changed.add(name);
  if (scheduled) return;
  scheduled = true;
  if (document.hidden) setTimeout(deliver, 50);
  else requestAnimationFrame(deliver);
}

/** Whether all that was touched has been drawn. */
export const isQuiet = () => !scheduled;

/** Changes members of `view`. */
export function set(changes) {
  Object.assign(view, changes);
  touch(...Object.keys(changes));
}

/** First and last position of an axis. */
export function extent(axis = view.axis) {
  if (axis === 'time') return [run.begin, Math.max(run.end, run.begin + 1)];
  return [run.levels[0], Math.max(run.levels[1], run.levels[0] + 1)];
}

/** Shows an interval; never less than a nanosecond or some levels. */
export function setWindow(from, to, more = {}) {
  const [begin, end] = extent();
  const least = view.axis === 'time' ? 10 : 4;
  const most = 4 * (end - begin);
  const width = Math.min(Math.max(to - from, least), Math.max(most, least));
  const middle = (from + to) / 2;
  const centre = Math.min(Math.max(middle, begin - width / 3), end + width / 3);
  set({ from: centre - width / 2, to: centre + width / 2, whole: false,
    follow: false, ...more });
}

/** Shows all there is; a live run is followed. */
export function showWhole() {
  const [begin, end] = extent();
  set({ from: begin, to: end + (end - begin) * 0.01, whole: true,
    follow: run.live && !run.over });
}

/** Moves the right edge to the end, for a run that grows. */
export function keepUp() {
  const [begin, end] = extent();
  const width = view.whole ? (end - begin) * 1.01 : view.to - view.from;
  const to = view.whole ? begin + width : end + width * 0.02;
  set({ from: to - width, to });
}

/** Whether an arrival at a collective operation has a place on the axis: its level may
 * not be known any more. */
export const isPlaced = (arrival) => view.axis === 'time' || arrival.length > 3;

/** The position of an event that has `t` and `level`. */
export const positionOf = (event, axis = view.axis) =>
  axis === 'time' ? event.t : event.level;

// --- The address --------------------------------------------------------------------

const idText = (id) => id ? id[0] + ':' + id[1] : '';
const idValue = (text) => {
  const parts = text.split(':').map(Number);
  return parts.length === 2 && parts.every(Number.isInteger) ? parts : null;
};
const setText = (values) => [...values].join(' ');
const numbers = (text) => new Set(text.split(' ').filter(Boolean).map(Number));

/** All that the address holds, as parameters of its fragment. */
function toAddress() {
  const parameters = new URLSearchParams();
  const put = (name, value) => value !== '' && parameters.set(name, value);
  put('axis', view.axis);
  if (!view.whole) {
    put('from', String(Math.round(view.from)));
    put('to', String(Math.round(view.to)));
  }
  put('follow', view.follow ? '1' : run.live ? '0' : '');
  put('event', idText(view.selection));
  put('measure', idText(view.measure));
  put('cones', view.cones ? '' : '0');
  put('collectives', view.instances ? '1' : '');
  put('group', view.group);
  put('rows', view.filter);
  put('hide', setText(view.hidden));
  put('pin', setText(view.pinned));
  put('fold', [...view.toggled].join(' '));
  put('top', view.top ? String(view.top) : '');
  put('panel', view.panel === 'event' ? '' : view.panel);
  put('search', view.search);
  put('by', view.by === 'text' ? '' : view.by);
  put('table', view.table ? '1' : '');
  return parameters.toString();
}

/** Takes what the address says. */
export function fromAddress() {
  takeToken();
  const got = new URLSearchParams(location.hash.slice(1));
  const text = (name) => got.get(name) || '';
  const from = Number(text('from'));
  const to = Number(text('to'));
  const isWindow = got.has('to') && to > from;
  set({
    axis: text('axis') === 'level' ? 'level' : 'time',
    whole: !isWindow,
    ...(isWindow ? { from, to } : {}),
    follow: got.has('follow') ? text('follow') === '1' : !isWindow,
    selection: idValue(text('event')), measure: idValue(text('measure')),
    cones: text('cones') !== '0', instances: text('collectives') === '1', group: text('group'), filter: text('rows'),
    hidden: numbers(text('hide')), pinned: numbers(text('pin')),
    toggled: new Set(text('fold').split(' ').filter(Boolean)),
    top: Number(text('top')) || 0, panel: text('panel') || 'event',
    search: text('search'), by: text('by') || 'text',
    table: text('table') === '1',
  });
}

/** Keeps the address equal to the view. */
export function keepAddress() {
  let timer = 0;
  const write = () => {
    timer = 0;
    const address = '#' + toAddress();
    if (address !== location.hash) history.replaceState(null, '', address);
  };
  listen(Object.keys(view), () => {
    if (!timer) timer = setTimeout(write, 100);
  });
}
