// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// layout.js - which lines there are: rows and groups of rows, in the order shown.
import { parseRanges, ranges } from './format.js';
import { run, view } from './state.js';

const MANY = 200;
const BLOCK = 32;

/** A line: `rows` that it stands for, and whether they are drawn as one. */
const line = (key, title, rows, more) =>
  ({ key, title, rows, grouped: false, ...more });

/** "rank 3", "rank 3, thread 1", or a trace's name. */
export function rowTitle(row) {
  if (row.rank < 0) return row.name;
  return 'rank ' + row.rank + (row.thread > 0 ? ` t${row.thread}` : '');
}

function matcher(text) {
  const parts = parseRanges(text);
  if (parts)
    return ({ rank }) => parts.some(([first, last]) => rank >= first && rank <= last);
  const wanted = text.trim().toLowerCase();
  return (row) => [row.name, row.host, row.cluster, rowTitle(row), row.open && row.open.operation,
    row.open && row.open.site].some((s) => s && s.toLowerCase().includes(wanted));
}

function inOrder(a, b) {
  const pins = view.pinned.has(b.row) - view.pinned.has(a.row);
  if (pins) return pins;
  if ((a.rank < 0) !== (b.rank < 0)) return a.rank < 0 ? 1 : -1;
  return a.rank - b.rank || a.thread - b.thread || a.row - b.row;
}

/** Whether rows can be told apart by the clusters of their hosts; a page in a file
 * joins no rows by them. */
export const hasClusters = () => !run.saved &&
  new Set(run.rows.map((row) => row.cluster)).size > 1;

/** What rows are grouped by if nobody has chosen, or nothing that there is. */
export function grouping() {
  if (view.group && (view.group !== 'cluster' || hasClusters())) return view.group;
  if (run.rows.length <= MANY) return 'none';
  const hosts = new Set(run.rows.map((row) => row.host));
  return hosts.size > 1 ? 'host' : String(BLOCK);
}

function groupName(by, row, place) {
  if (by === 'host') return row.host || 'host not known';
  if (by === 'cluster')
    return row.cluster ? 'cluster ' + row.cluster : 'in no cluster';
  if (by === 'rank') return row.rank < 0 ? 'rank not known' : 'rank ' + row.rank;
  return 'block ' + Math.floor(place / Number(by));
}

function intoGroups(rows, by) {
  const groups = new Map();
  rows.forEach((row, place) => {
    const name = by === 'all' ? 'all rows' : groupName(by, row, place);
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(row);
  });
  return groups;
}

function groupTitle(name, rows) {
  if (!name.startsWith('block ')) return name;
  const ranks = rows.map((row) => row.rank);
  return 'ranks ' + Math.min(...ranks) + '–' + Math.max(...ranks);
}

/** Whether the rows of a group are shown below it. */
function isUnfolded(key, size) {
  return (size <= BLOCK && run.rows.length <= MANY) !== view.toggled.has(key);
}

let lines = [];
let place = new Map();

/** Makes the lines anew from the rows and the view. */
export function arrange() {
  const wanted = view.filter.trim() ? matcher(view.filter) : () => true;
  const rows = run.rows.filter((row) => !view.hidden.has(row.row) &&
    (wanted(row) || view.pinned.has(row.row))).sort(inOrder);
  const pinned = rows.filter((row) => view.pinned.has(row.row));
  const others = rows.slice(pinned.length);
  const single = (row, depth) => line('r' + row.row, rowTitle(row), [row], { depth });
  const by = grouping();
  lines = pinned.map((row) => single(row, 0));
  if (by === 'none') {
    lines.push(...others.map((row) => single(row, 0)));
  } else {
    for (const [name, members] of intoGroups(others, by)) {
      const key = 'g' + name.replaceAll(' ', '_');
      const unfolded = isUnfolded(key, members.length);
      lines.push(line(key, groupTitle(name, members), members,
        { grouped: true, unfolded, by, depth: 0 }));
      if (unfolded) lines.push(...members.map((row) => single(row, 1)));
    }
  }
  place = new Map();
  lines.forEach((one, i) => {
    for (const row of one.rows) place.set(row.row, i);
  });
}

/** All lines from above to below. */
export const allLines = () => lines;

/** How many lines stay at the top. */
export function pinnedCount() {
  const first = lines.findIndex((one) =>
    one.grouped || !view.pinned.has(one.rows[0].row));
  return first < 0 ? lines.length : first;
}

/** The line on which a row is seen, alone or in a group; -1 = it is hidden. */
export const lineOf = (row) => place.has(row) ? place.get(row) : -1;

/** All rows that are seen alone or in a group, ascending. */
export const shownRows = () => [...place.keys()].sort((a, b) => a - b);

/** Rows as requests name them; nothing = all. */
export const listRows = (rows = shownRows()) =>
  rows.length === run.rows.length ? undefined : ranges(rows);

/** Unfolds or folds a group. */
export function toggled(key) {
  const keys = new Set(view.toggled);
  if (!keys.delete(key)) keys.add(key);
  return keys;
}
