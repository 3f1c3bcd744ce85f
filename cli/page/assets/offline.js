// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// offline.js - a page saved as a file: requests are answered from the data within it.
import { parseRanges } from './format.js';

const STATES = 7;
const PARTS = 15;
const HEAD_BYTES = 32;
const BUCKETS = 64;

const element = document.getElementById('eventspace-data');

/** Whether the page is a file that has its data within it. */
export const isSaved = element !== null;

// --- What was saved -----------------------------------------------------------------

/** Rows are numbered from 0, also where some of the run's are left out. */
function renumber(data) {
  const rows = data.rows.flatMap((part) => part.rows);
  const numbers = new Map(rows.map((row, i) => [row.row, i]));
  const of = (row) => numbers.get(row);
  const id = (event) => event && numbers.has(event[0]) ?
    [of(event[0]), ...event.slice(1)] : null;
  const ids = (events) => events.map(id).filter(Boolean);
  return {
    rows: rows.map((row, i) => ({ ...row, row: i })),
    calls: data.calls.calls.map((call) => [of(call[0]), ...call.slice(1)]),
    messages: data.messages.complete ? data.messages.messages.map((one) =>
      [of(one[0]), ...one.slice(1, 4), of(one[4]), ...one.slice(5)]) : null,
    events: data.events.map((event) => ({ ...event, event: id(event.event),
      partner: id(event.partner), previous: id(event.previous), next: id(event.next),
      causes: ids(event.causes), effects: ids(event.effects) })),
    past: data.past && data.past.map(([row, index, ...known]) => [of(row), index,
      ...known.map((number, i) => i % 2 ? number : of(number))]),
  };
}

/** By row and other row: at which event more of the other row's came before. */
function readPast(past, rows) {
  const known = rows.map(() => rows.map(() => []));
  for (const [row, index, ...pairs] of past)
    for (let i = 0; i < pairs.length; i += 2)
      known[row][pairs[i]].push([index, pairs[i + 1]]);
  return known;
}

/** The data, by row. */
function read(data) {
  const all = renumber(data);
  const byRow = (items, rowOf) => {
    const lists = all.rows.map(() => []);
    for (const one of items) lists[rowOf(one)].push(one);
    return lists;
  };
  const levels = all.events.map((event) => event.level);
  return {
    run: data.run, from: data.from, to: data.to, rows: all.rows, texts: data.calls,
    calls: byRow(all.calls, (call) => call[0]), messages: all.messages,
    events: byRow(all.events, (event) => event.event[0]),
    past: all.past && readPast(all.past, all.rows),
    levels: levels.reduce(([first, last], level) =>
      [Math.min(first, level), Math.max(last, level + 1)], [Infinity, 1]),
  };
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
  if (!rows) return saved.rows.map((row) => row.row);
  return parseRanges(rows).flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, i) => first + i));
}

const isTime = ({ axis }) => axis !== 'level';

const isInWindow = ({ from, to }, first, last) => first < to && last >= from;

const idOf = (text) => text.split(':').map(Number);
const placed = ({ event, t, level }) => [...event.slice(0, 2), t, level];

function eventOf(text) {
  const [row, index] = idOf(text);
  const events = saved.events[row] || [];
  const event = events.length && events[index - events[0].event[1]];
  if (!event) throw new Error('this event is not in the saved page');
  return event;
}

// --- The run ------------------------------------------------------------------------

/** As it was told, but that it begins and ends with what was saved. */
function run() {
  const { from, to, levels, rows } = saved;
  const isPart = from > 0 || to < saved.run.end || rows.length < saved.run.rows;
  return { ...saved.run, saved: true, part: isPart, begin: from, end: to,
    levels: levels[0] < levels[1] ? levels : saved.run.levels, live: false };
}

const rows = ({ first, count }) => ({ rows: saved.rows.slice(first, first + count) });

// --- Calls and messages -------------------------------------------------------------

function calls(parameters) {
  const { operations, communicators, sites } = saved.texts;
  const list = rowsOf(parameters).flatMap((row) => saved.calls[row].filter((call) =>
    isTime(parameters) ?
      isInWindow(parameters, call[1], call[2] ?? saved.rows[row].end) :
      isInWindow(parameters, call[3], call[4])));
  const isComplete = list.length <= parameters.limit;
  return { complete: isComplete, operations, communicators, sites,
    calls: isComplete ? list : list.slice(0, parameters.limit) };
}

/** Those of the window, and in which bucket each row is. */
function listMessages(parameters) {
  if (!saved.messages) throw new Error('messages are not in the saved page: too many');
  const wanted = rowsOf(parameters);
  const bucket = Math.max(1, Math.ceil(wanted.length / BUCKETS));
  const buckets = new Map(wanted.map((row, i) => [row, Math.floor(i / bucket)]));
  const at = isTime(parameters) ? 2 : 3;
  const isIn = (position) => position >= parameters.from && position < parameters.to;
  const list = saved.messages.filter((one) => buckets.has(one[0]) &&
    buckets.has(one[4]) && (isIn(one[at]) || isIn(one[at + 4])));
  return { wanted, bucket, buckets, list };
}

/** Sums by sender's and receiver's bucket. */
function sumsOf({ buckets, list }) {
  const sums = new Map();
  for (const one of list) {
    const pair = [buckets.get(one[0]), buckets.get(one[4])];
    const key = pair.join();
    if (!sums.has(key)) sums.set(key, [...pair, 0, 0, 0]);
    const sum = sums.get(key);
    sum[2]++;
    sum[3] += one[8];
    sum[4] += one[9];
  }
  return [...sums.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

function messages(parameters) {
  const found = listMessages(parameters);
  const { list, bucket, wanted } = found;
  if (list.length <= parameters.limit)
    return { complete: true, count: list.length, messages: list };
  const pairs = sumsOf(found).map(([from, to, ...sums]) =>
    [wanted[from * bucket], wanted[to * bucket], ...sums]);
  return { complete: false, count: list.length, bucket, pairs };
}

function matrix(parameters) {
  const found = listMessages(parameters);
  return { bucket: found.bucket, size: Math.ceil(found.wanted.length / found.bucket),
    messages: sumsOf(found) };
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

/** Fifteenths by the largest remainders, and the bit length of the number of calls. */
function packed(of, began) {
  const sum = of.reduce((all, one) => all + one, 0);
  const bits = Math.min(PARTS, began ? 32 - Math.clz32(began) : 0) << 28;
  if (!sum) return bits >>> 0;
  const exact = Array.from(of, (one) => one / sum * PARTS);
  const shares = exact.map(Math.floor);
  const order = exact.map((one, i) => [one - shares[i], i]).sort((a, b) => b[0] - a[0]);
  const left = PARTS - shares.reduce((all, one) => all + one, 0);
  for (let i = 0; i < left; i++) shares[order[i % STATES][1]]++;
  return (shares.reduce((all, share, i) => all | share << 4 * i, 0) | bits) >>> 0;
}

/** Rows that stand together. */
function linesOf(wanted, group) {
  if (!group) return wanted.map((row) => [row]);
  const lines = new Map();
  wanted.forEach((row, i) => {
    const key = group === 'all' ? 0 : group === 'host' ? saved.rows[row].host :
      group === 'rank' ? saved.rows[row].rank : Math.floor(i / Number(group));
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

/** The bytes of a window, as the server sends them. */
function windowBytes(parameters) {
  const { from, to, columns, group } = parameters;
  const lines = linesOf(rowsOf(parameters), group);
  const lineBytes = 8 + columns * (group ? 8 : 4);
  const bytes = new ArrayBuffer(HEAD_BYTES + lines.length * lineBytes);
  const out = new DataView(bytes);
  [0x31575345, columns, lines.length, group ? 1 : 0].forEach((word, i) =>
    out.setUint32(4 * i, word, true));
  out.setFloat64(16, from, true);
  out.setFloat64(24, to, true);
  lines.forEach((members, line) => {
    const at = HEAD_BYTES + line * lineBytes;
    const parts = members.map((row) => cellsOf(row, parameters));
    out.setUint32(at, members[0], true);
    out.setUint32(at + 4, members.length, true);
    for (let i = 0; i < columns; i++) {
      const sum = new Float64Array(STATES);
      for (const { of } of parts)
        for (let state = 0; state < STATES; state++)
          sum[state] += of[i * STATES + state];
      out.setUint32(at + 8 + 4 * i, packed(sum, parts.reduce((all, part) =>
        all + part.began[i], 0)), true);
      if (group) new Uint8Array(bytes, at + 8 + 4 * (columns + i), 4)
        .set(spreadOf(parts, i));
    }
  });
  return bytes;
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

function nearest({ axis, row, at }) {
  const distance = (event) => Math.abs((axis === 'level' ? event.level : event.t) - at);
  let best = null;
  for (const event of saved.events[row])
    if (!best || distance(event) < distance(best)) best = event;
  return { event: best && placed(best) };
}

/** The last event of another row that came before an event; 0 = none is known. */
function lastBefore(row, index, other) {
  if (other === row) return index - 1;
  const known = saved.past[row][other];
  let low = 0;
  for (let high = known.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (known[middle][0] <= index) low = middle + 1;
    else high = middle;
  }
  return low ? known[low - 1][1] : 0;
}

/** The first event of another row behind an event; 0 = none in the saved page. */
function firstBehind(row, index, other) {
  const events = saved.events[other];
  let low = 0;
  for (let high = events.length; low < high; ) {
    const middle = (low + high) >> 1;
    if (lastBefore(other, events[middle].event[1], row) < index) low = middle + 1;
    else high = middle;
  }
  return low < events.length ? events[low].event[1] : 0;
}

function needPast() {
  if (!saved.past)
    throw new Error('past and future are not in the saved page: too many rows');
}

function cone(parameters) {
  needPast();
  const event = eventOf(parameters.event);
  const [row, index] = event.event;
  const past = saved.rows.map((other) => lastBefore(row, index, other.row));
  const future = saved.rows.map((other) => firstBehind(row, index, other.row));
  const places = (cut) => cut.map((last, other) => {
    const events = saved.events[other];
    const found = events.length && events[last - events[0].event[1]];
    return found ? [found.t, found.level] : null;
  });
  return { event: placed(event), past, future, past_at: places(past),
    future_at: places(future) };
}

function relation(parameters) {
  needPast();
  const [a, b] = [eventOf(parameters.a), eventOf(parameters.b)];
  const isBefore = (one, other) =>
    lastBefore(...other.event.slice(0, 2), one.event[0]) >= one.event[1];
  const [name, text] = a === b ? ['equal', 'they are the same event'] :
    isBefore(a, b) ? ['before', 'the first can have caused the second'] :
      isBefore(b, a) ? ['after', 'the second can have caused the first'] :
        ['concurrent', 'neither can have caused the other'];
  return { relation: name, t_ns: b.t - a.t, error_ns: saved.run.error_ns, text };
}

// --- All ----------------------------------------------------------------------------

const ANSWERS = { run, rows, calls, messages, matrix, window: windowBytes, profile,
  nearest, event: (parameters) => eventOf(parameters.event), cone, relation };

/** What a saved page has to reply to /api/PATH. */
export async function answer(path, parameters) {
  if (!ANSWERS[path]) throw new Error('not in a saved page');
  return ANSWERS[path](parameters || {});
}
