// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// format.js - numbers in words.

const UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

/** "1.25 ms"; `step` is the least difference that is to be seen. */
export function duration(ns, step) {
  if (ns === null || ns === undefined) return 'not known';
  const size = Math.abs(ns);
  const [unit, name] = UNITS.find(([least]) => size >= least) || UNITS[3];
  const digits = step ? Math.ceil(Math.log10(unit / step) - 0.01) :
    size >= 100 * unit ? 0 : size >= 10 * unit ? 1 : 2;
  const places = unit === 1 ? 0 : Math.max(0, Math.min(9, digits));
  return (ns / unit).toFixed(places) + ' ' + name;
}

/** A position of an axis in words. */
export const position = (axis, at, step) =>
  axis === 'time' ? duration(at, step) : 'level ' + count(Math.round(at));

/** "12 345". */
export const count = (number) =>
  number === null || number === undefined ? '' :
    String(number).replace(/\B(?=(\d{3})+$)/g, '\u202f');

/** "because of rank 2, computing before MPI_Send at ring.c:12"; nothing = not known. */
const causeText = (cause) => cause ? `because of rank ${cause.rank}, ` +
  `${cause.computing ? 'computing before' : 'in'} ${cause.operation} at ` +
  (cause.site || 'an unknown line') : '';

/** A collective operation: how far apart its ranks came, who was last, and why. */
export const instanceWords = ({ operation, spread_ns, late_rank, late, lost_ns,
  cause }) => [`${operation}: arrivals over ${duration(spread_ns)}`,
  late > 1 ? `${late} ranks came last together` : `rank ${late_rank} came last`,
  lost_ns ? `lost ${duration(lost_ns)}` : '', causeText(cause)].filter(Boolean);

/** "12.3 kB". */
export function bytes(number) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  while (number >= 1000 && unit < units.length - 1) {
    number /= 1000;
    unit++;
  }
  return (unit ? number.toPrecision(3) : number) + ' ' + units[unit];
}

/** "0-99,105" of ascending numbers. */
export function ranges(numbers) {
  const parts = [];
  for (let i = 0; i < numbers.length; ) {
    let end = i;
    while (numbers[end + 1] === numbers[end] + 1) end++;
    parts.push(end > i ? numbers[i] + '-' + numbers[end] : String(numbers[i]));
    i = end + 1;
  }
  return parts.join(',');
}

/** The numbers of "0-99,105"; null if it is something else. */
export function parseRanges(text) {
  if (!/^\s*\d+(-\d+)?(\s*,\s*\d+(-\d+)?)*\s*$/.test(text)) return null;
  return text.split(',').map((part) => {
    const [first, last] = part.split('-').map(Number);
    return [first, last === undefined ? first : last];
  });
}

/** Steps of an axis: 1, 2 or 5 times a power of ten, at least `least`. */
export function roundStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].find((times) => times * power >= least * 0.999);
  return step * power;
}
