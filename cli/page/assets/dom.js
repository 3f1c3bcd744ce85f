// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// dom.js - elements in few words.
import { bytes, count, duration } from './format.js';

/** `make('button', {class: 'x', onclick: f}, 'text', child, ...)`. */
export function make(name, members, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(members || {})) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => (child ?? null) !== null));
  return element;
}

/** Puts children in place of those that are there; the focus stays at its place. */
export function fill(element, ...children) {
  const controls = () => [...element.querySelectorAll('button, select, input')];
  const focused = controls().indexOf(document.activeElement);
  element.replaceChildren(...children.flat(3).filter((child) => child !== null));
  const next = focused >= 0 ? controls()[focused] : null;
  if (next && next !== document.activeElement) next.focus({ preventScroll: true });
}

/** A member of a record as text: its name says its unit. */
function valueText(name, value) {
  if (value === null || value === undefined) return '–';
  if (name.endsWith('_ns')) {
    const ns = typeof value === 'object' ? value.count ? value.p50 : null : value;
    return (ns ?? null) === null ? '–' : duration(ns);
  }
  if (name.endsWith('share')) return Math.round(value * 100) + ' %';
  if (name === 'bytes') return bytes(value);
  if (typeof value === 'number' && Number.isInteger(value)) return count(value);
  if (typeof value === 'number') return value.toPrecision(3);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const heading = (name) => name.replace(/_ns$/, '').replaceAll('_', ' ');
const isNumber = (name, rows) => rows.some((row) => typeof row[name] === 'number') ||
  name.endsWith('_ns');

/** A table of records; `columns` are names of members. */
export function tableOf(caption, columns, rows, onRow) {
  const numeric = new Set(columns.filter((name) => isNumber(name, rows)));
  const text = (name, row) => {
    const words = valueText(name, row[name]);
    if (!onRow || name !== columns[0]) return words;
    return make('button', { class: 'link', onclick: () => onRow(row) }, words);
  };
  const cell = (name, row) => make('td', {
    class: numeric.has(name) ? 'number' : null,
    'data-depth': name === columns[0] && row.depth ? Math.min(row.depth, 8) : null,
  }, text(name, row));
  return make('table', {}, make('caption', {}, caption),
    make('thead', {}, make('tr', {}, columns.map((name) => make('th',
      { scope: 'col', class: numeric.has(name) ? 'number' : null }, heading(name))))),
    make('tbody', {}, rows.map((row) =>
      make('tr', {}, columns.map((name) => cell(name, row))))));
}
