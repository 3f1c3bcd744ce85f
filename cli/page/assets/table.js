// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// table.js - the lines that are seen as a real table, and what is announced.
import { duration } from './format.js';
import { fill, make } from './dom.js';
import { visiblePlaces } from './geometry.js';
import { allLines, lineOf, rowTitle, toggled } from './layout.js';
import { found, listen, run, set, touch, view } from './state.js';
import { selectNearest } from './walk.js';

const body = document.querySelector('#rows tbody');
const speech = document.getElementById('speech');

function doing(row) {
  if (row.open) return row.open.operation + ' since ' +
    duration(Math.max(0, run.end - row.open.since));
  return row.over ? 'over' : 'computing';
}

function without(set_, row) {
  const rows = new Set(set_);
  if (!rows.delete(row)) rows.add(row);
  return rows;
}

function actions(one) {
  const row = one.rows[0].row;
  const tabindex = view.table ? null : -1;
  if (one.grouped)
    return make('button',
      { tabindex, onclick: () => set({ toggled: toggled(one.key) }) },
      one.unfolded ? 'Fold' : 'Unfold');
  const isPinned = view.pinned.has(row);
  return make('span', {},
    make('button', { tabindex, 'aria-pressed': String(isPinned),
      onclick: () => set({ pinned: without(view.pinned, row) }) }, 'Pin'),
    make('button', { tabindex,
      onclick: () => set({ hidden: without(view.hidden, row) }) }, 'Hide'));
}

const sum = (rows, name) => rows.reduce((total, row) => total + (row[name] || 0), 0);

function cells(one) {
  const row = one.rows[0];
  const isOne = !one.grouped;
  return [isOne ? rowTitle(row) : `${one.title} (${one.rows.length})`,
    row.host || '–', isOne ? doing(row) : '–',
    isOne && row.open && row.open.site ? row.open.site : '–',
    String(sum(one.rows, 'events')), String(sum(one.rows, 'lost')),
    duration(sum(one.rows, 'waited')), duration(sum(one.rows, 'caused'))];
}

function tableRow(place) {
  const one = allLines()[place];
  const isChosen = view.selection && lineOf(view.selection[0]) === place;
  const [title, ...rest] = cells(one);
  const choose = () => selectNearest(one.rows[0].row, (view.from + view.to) / 2);
  return make('tr', { 'data-key': one.key, 'aria-selected': String(!!isChosen) },
    make('th', { scope: 'row' }, make('button',
      { class: 'link', tabindex: view.table ? null : -1, onclick: choose }, title)),
    rest.map((text, i) => make('td', { class: i > 2 ? 'number' : null }, text)),
    make('td', {}, actions(one)));
}

let timer = 0;

function drawTable() {
  timer = 0;
  fill(body, visiblePlaces().map(tableRow));
  document.getElementById('rows-box').classList.toggle('unseen', !view.table);
  touch('table-shown');
}

/** Whether the table is older than the diagram. */
export const isTableDue = () => timer !== 0;

/** Says the selected event to those who do not see it. */
function announce() {
  const event = found.event;
  speech.textContent = event ? event.text : view.selection ? '' : 'nothing selected';
}

/** Keeps the table equal to the diagram's lines. */
export function startTable() {
  listen(['rows', 'top', 'size', 'selection', 'pinned', 'hidden', 'table', 'changes'],
    () => { timer ||= setTimeout(drawTable, 60); });
  listen(['event'], announce);
}
