// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// offline.js - a page saved as a file: requests are answered from the replies within it.
import { parseRanges } from './format.js';

const STATES = 7;
const PARTS = 15;
const BUCKETS = 64;

const element = document.getElementById('eventspace-data');

/** Whether the page is a file that has its data within it. */
export const isSaved = element !== null;

// --- What was saved -----------------------------------------------------------------

/** The replies; rows by number, and calls and events by row. */
function read(data) {
  const rows = [];
  for (const row of data.rows.flatMap((part) => part.rows)) rows[row.row] = row;
  const byRow = (items, rowOf) => {
    const lists = rows.map(() => []);
    for (const one of items) lists[rowOf(one)].push(one);
    return lists;
  };
  return { ...data, rows, texts: data.calls, messages: data.messages.messages,
    calls: byRow(data.calls.calls, (call) => call[0]),
    events: byRow(data.events, (event) => event.event[0]) };
}

/** The data of the element: JSON, in the format of zlib, in base64. */
async function unpack(text) {
  const packed = atob(text);
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  const stream = new Blob([bytes]).stream()
    .pipeThrough(new DecompressionStream('deflate'));
  return new Response(stream).json();
}

const saved = isSaved ? read(await unpack(element.textContent)) : null;

// --- Parameters ---------------------------------------------------------------------

function rowsOf({ rows }) {
  if (!rows) return Object.keys(saved.rows).map(Number);
  return parseRanges(rows).flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, i) => first + i));
}

const isTime = ({ axis }) => axis !== 'level';

const isInWindow = ({ from, to }, first, last) => first < to && last >= from;

const placed = ({ event, t, level }) => [...event.slice(0, 2), t, level];

/** An event that was saved, or nothing. */
function eventAt(row, index) {
  const events = saved.events[row] || [];
  return events.length ? events[index - events[0].event[1]] : undefined;
}

function eventOf(text) {
  const event = eventAt(...text.split(':').map(Number));
  if (!event) throw new Error('this event is not in the saved page');
  return event;
}

// --- The run ------------------------------------------------------------------------

/** As it was told, but that it begins and ends with what was saved. */
function run() {
  const { from, to, rows, events } = saved;
  const isPart = from > 0 || to < saved.run.end ||
    rowsOf({}).length < saved.run.rows;
  const levels = events.flatMap((list) => list.length ?
    [list[0].level, list[list.length - 1].level + 1] : []);
  return { ...saved.run, saved: true, part: isPart, begin: from, end: to, live: false,
    levels: levels.length ? [Math.min(...levels), Math.max(...levels)] :
      saved.run.levels };
}

const rows = ({ first, count }) =>
  ({ rows: Object.values(saved.rows).slice(first, first + count) });

// --- Calls and messages -------------------------------------------------------------

function calls(parameters) {
  const list = rowsOf(parameters).flatMap((row) => saved.calls[row].filter((call) =>
    isTime(parameters) ?
      isInWindow(parameters, call[1], call[2] ?? saved.rows[row].end) :
      isInWindow(parameters, call[3], call[4])));
  return { ...saved.texts, complete: list.length <= parameters.limit,
    calls: list.slice(0, parameters.limit) };
}

function listMessages(parameters) {
  if (!saved.messages) throw new Error('messages are not in the saved page: too many');
  const wanted = new Set(rowsOf(parameters));
  const at = isTime(parameters) ? 2 : 3;
  const isIn = (position) => position >= parameters.from && position < parameters.to;
  return saved.messages.filter((one) => wanted.has(one[0]) && wanted.has(one[4]) &&
    (isIn(one[at]) || isIn(one[at + 4])));
}

function messages(parameters) {
  const list = listMessages(parameters);
  return { complete: list.length <= parameters.limit, count: list.length,
    messages: list };
}

/** Sums by sender's and receiver's bucket of rows. */
function matrix(parameters) {
  const wanted = rowsOf(parameters);
  const bucket = Math.max(1, Math.ceil(wanted.length / BUCKETS));
  const buckets = new Map(wanted.map((row, i) => [row, Math.floor(i / bucket)]));
  const sums = new Map();
  for (const one of listMessages(parameters)) {
    const pair = [buckets.get(one[0]), buckets.get(one[4])];
    const sum = sums.get(pair.join()) || [...pair, 0, 0, 0];
    sums.set(pair.join(), sum);
    sum[2]++;
    sum[3] += one[8];
    sum[4] += one[9];
  }
  return { bucket, size: Math.ceil(wanted.length / bucket),
    messages: [...sums.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]) };
}

// --- Cells --------------------------------------------------------------------------

/** What a row was in: [begin, end, state] one after the other, and from where to where. */
function spansOf(row, axis) {
  const events = saved.events[row];
  if (axis === 'level') {
    const last = events[events.length - 1];
    return { begin: events.length ? events[0].level : 0, end: last ? last.level + 1 : 0,
      spans: events.map(({ level, call }) => [level, level + 1, call.state]) };
  }
  const { begin, end } = saved.rows[row];
  return { begin: Math.max(begin, saved.from), end: Math.min(end, saved.to),
    spans: saved.calls[row].filter((call) => !call[13]).map((call) =>
      [call[1], call[2] ?? end, call[5]]) };
}

/** Of each column how long the row was in each state, and how many calls began. */
function cellsOf(row, { axis, from, to, columns }) {
  const { begin, end, spans } = spansOf(row, axis);
  const edge = (i) => from + Math.floor((to - from) * i / columns);
  const columnOf = (at) => {
    const i = Math.floor((at - from) / (to - from) * columns);
    return at >= edge(i + 1) ? i + 1 : i;
  };
  const of = new Float64Array(columns * STATES);
  const began = new Uint32Array(columns);
  const add = (first, last, state, sign) => {
    const low = Math.max(first, begin, from);
    const high = Math.min(last, end, to);
    for (let i = columnOf(low); low < high && i < columns && edge(i) < high; i++)
      of[i * STATES + state] +=
        sign * (Math.min(high, edge(i + 1)) - Math.max(low, edge(i)));
  };
  add(begin, end, 0, 1);
  for (const [first, last, state] of spans) {
    if (last < from || first >= to) continue;
    if (state) {
      add(first, last, state, 1);
      add(first, last, 0, -1);
    }
    if (first >= from && first >= begin) began[columnOf(first)]++;
  }
  for (let i = 0; i < columns; i++) of[i * STATES] = Math.max(0, of[i * STATES]);
  return { of, began };
}

/** Fifteenths that differ from the shares by less than one, and the bit length of the
 * number of calls. */
function packed(of, began) {
  const all = of.reduce((sum, one) => sum + one, 0);
  let word = Math.min(PARTS, began ? 32 - Math.clz32(began) : 0) << 28;
  let sum = 0;
  let last = 0;
  of.forEach((one, state) => {
    sum += one;
    const next = all ? Math.round(sum / all * PARTS) : 0;
    word |= next - last << 4 * state;
    last = next;
  });
  return word >>> 0;
}

/** Rows that stand together. */
function linesOf(wanted, group) {
  const lines = new Map();
  wanted.forEach((row, i) => {
    const key = !group ? row : group === 'all' ? 0 : group in saved.rows[row] ?
      saved.rows[row][group] : Math.floor(i / Number(group));
    if (!lines.has(key)) lines.set(key, []);
    lines.get(key).push(row);
  });
  return [...lines.values()];
}

/** Least, median and most share outside computing, and whose is far from the median. */
function spreadOf(parts, column) {
  const shares = parts.map(({ of }) => {
    const cell = of.subarray(column * STATES, (column + 1) * STATES);
    const sum = cell.reduce((all, one) => all + one, 0);
    return sum ? 1 - cell[0] / sum : -1;
  });
  const there = shares.filter((share) => share >= 0).sort((a, b) => a - b);
  if (!there.length) return [0, 0, 0, 255];
  const median = there[there.length >> 1];
  const far = shares.map((share) => share < 0 ? -1 : Math.abs(share - median));
  const outlier = far.indexOf(Math.max(...far));
  return [...[there[0], median, there[there.length - 1]].map((share) =>
    Math.round(share * 255)), Math.min(outlier, 255)];
}

/** The lines of a window, as they are read from the server's reply. */
function windowLines(parameters) {
  const { columns, group } = parameters;
  return linesOf(rowsOf(parameters), group).map((members) => {
    const parts = members.map((row) => cellsOf(row, parameters));
    const cells = new Uint32Array(columns);
    const spread = group ? new Uint8Array(4 * columns) : null;
    for (let i = 0; i < columns; i++) {
      const sum = Array.from({ length: STATES }, (_, state) => parts.reduce((all, part) =>
        all + part.of[i * STATES + state], 0));
      cells[i] = packed(sum, parts.reduce((all, part) => all + part.began[i], 0));
      if (group) spread.set(spreadOf(parts, i), 4 * i);
    }
    return { cells, spread };
  });
}

function profile(parameters) {
  const { from, to, columns } = parameters;
  const width = (to - from) / columns;
  const states = Array.from({ length: STATES }, () => new Array(columns).fill(0));
  for (const row of rowsOf(parameters)) {
    const { of } = cellsOf(row, parameters);
    for (let i = 0; i < columns; i++)
      for (let state = 0; state < STATES; state++)
        states[state][i] += of[i * STATES + state] / width;
  }
  return { columns, states };
}

// --- Events and their order ---------------------------------------------------------

/** Links lead to rows that were saved. */
function event(parameters) {
  const found = eventOf(parameters.event);
  const [causes, effects] = [found.causes, found.effects].map((links) =>
    links.filter(([row]) => saved.rows[row]));
  return { ...found, causes, effects };
}

function nearest({ axis, row, at }) {
  const distance = (event) => Math.abs((axis === 'level' ? event.level : event.t) - at);
  let best = null;
  for (const event of saved.events[row])
    if (!best || distance(event) < distance(best)) best = event;
  return { event: best && placed(best) };
}

/** By row the last event before an event, and the first behind it; 0 = none is known. */
function cutsOf([row, index]) {
  if (!saved.past)
    throw new Error('past and future are not in the saved page: too many rows');
  const [past, future] = [saved.rows.map(() => 0), saved.rows.map(() => 0)];
  for (const [other, at, ...known] of saved.past)
    for (let i = 0; i < known.length; i += 2) {
      if (other === row && at <= index) past[known[i]] = known[i + 1];
      if (known[i] === row && known[i + 1] >= index) future[other] ||= at;
    }
  past[row] = index - 1;
  future[row] = eventAt(row, index + 1) ? index + 1 : 0;
  return { past, future };
}

function cone(parameters) {
  const event = eventOf(parameters.event);
  const { past, future } = cutsOf(event.event);
  const places = (cut) => cut.map((index, row) => {
    const found = eventAt(row, index);
    return found ? [found.t, found.level] : null;
  });
  return { event: placed(event), past, future, past_at: places(past),
    future_at: places(future) };
}

function relation(parameters) {
  const [a, b] = [eventOf(parameters.a), eventOf(parameters.b)];
  const isBefore = (one, other) =>
    cutsOf(other.event).past[one.event[0]] >= one.event[1];
  const [name, text] = a === b ? ['equal', 'they are the same event'] :
    isBefore(a, b) ? ['before', 'the first can have caused the second'] :
      isBefore(b, a) ? ['after', 'the second can have caused the first'] :
        ['concurrent', 'neither can have caused the other'];
  return { relation: name, t_ns: b.t - a.t, error_ns: saved.run.error_ns, text };
}

// --- All ----------------------------------------------------------------------------

const ANSWERS = { run, rows, calls, messages, matrix, window: windowLines, profile,
  nearest, event, cone, relation };

/** What a saved page has to reply to /api/PATH. */
export async function answer(path, parameters) {
  if (!ANSWERS[path]) throw new Error('not in a saved page');
  return ANSWERS[path](parameters || {});
}
