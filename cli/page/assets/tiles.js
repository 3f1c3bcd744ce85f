// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// tiles.js - the window's cells: fetched with a margin, drawn once, moved afterwards.
import { request } from './api.js';
import { ranges } from './format.js';
import { plotWidth, screen, visiblePlaces } from './geometry.js';
import { allLines, pinnedCount } from './layout.js';
import { isHatched, pixels } from './palette.js';
import { found, listen, run, touch, view } from './state.js';

const DEBOUNCE_MS = 40;
const REPLY_MAX = 1 << 20;
const COLUMNS_MAX = 4096;
const TILES_MAX = 4;
const STATES = 7;
const NOTHING = 255;
const FAR = 110; // of 255: a row of a group is marked
const ORDER = [6, 3, 2, 1, 4, 5, 0]; // from below; computing on top

/** What was fetched, oldest first: pictures of lines for an interval. */
export let tiles = [];

let timer = 0;
let running = false;
let again = false;

/** Whether a window is on its way or will be asked for. */
export const isFetching = () => running || timer !== 0;

// --- Reading ------------------------------------------------------------------------

/** How many calls began, at least, in some cells. */
function leastCalls(cells) {
  let sum = 0;
  for (const cell of cells) sum += cell >>> 28 ? 2 ** ((cell >>> 28) - 1) : 0;
  return sum;
}

// --- Painting -----------------------------------------------------------------------

const stacks = new Map();

/** Which state stands at each height of a column, from above. */
function stackOf(cell, height) {
  const key = (cell & 0x0fffffff) * 64 + height;
  let stack = stacks.get(key);
  if (stack) return stack;
  stack = new Uint8Array(height).fill(NOTHING);
  let sum = 0;
  let y = height;
  for (const state of ORDER) {
    sum += cell >>> 4 * state & 15;
    const top = height - Math.round(sum / 15 * height);
    while (y > top) stack[--y] = state;
  }
  if (stacks.size > 20000) stacks.clear();
  stacks.set(key, stack);
  return stack;
}

function paintCells(image, top, height, cells) {
  const { plain, hatch, middle } = pixels;
  const half = height >> 1;
  for (let x = 0; x < cells.length; x++) {
    if (!cells[x]) continue;
    const isShort = cells[x] >>> 28 && (cells[x] & 15) === 15; // calls without length
    const foot = isShort ? height - 4 : height;
    const stack = stackOf(cells[x], height);
    for (let y = 0, at = top * image.width + x; y < height; y++, at += image.width) {
      const state = stack[y];
      if (state === NOTHING) continue;
      image.data[at] = state === 0 && (y === half || y > foot) ? middle :
        isHatched(x, top + y) ? hatch[state] : plain[state];
    }
  }
}

/** Of a group: its median as a line, and a mark where one row is far off. */
function paintSpread(image, top, height, spread) {
  for (let x = 0; 4 * x < spread.length; x++) {
    const [, median, most, outlier] = spread.subarray(4 * x, 4 * x + 4);
    const y = Math.min(height - 1, Math.round((1 - median / 255) * height));
    if (most) image.data[(top + y) * image.width + x] = pixels.text;
    if (outlier === NOTHING || most - median < FAR) continue;
    for (let i = 0; i < 2; i++) image.data[(top + i) * image.width + x] = pixels.mark;
  }
}

function paint(tile) {
  const height = tile.height;
  const canvas = new OffscreenCanvas(tile.columns,
    Math.max(1, height * tile.lines.size));
  const context = canvas.getContext('2d');
  const whole = context.createImageData(canvas.width, canvas.height);
  const image = { width: canvas.width, data: new Uint32Array(whole.data.buffer) };
  let top = 0;
  for (const one of tile.lines.values()) {
    one.top = top;
    paintCells(image, top, height, one.cells);
    if (one.spread) paintSpread(image, top, height, one.spread);
    top += height;
  }
  context.putImageData(whole, 0, 0);
  tile.canvas = canvas;
}

/** Height of a line's bar: the gap between lines is left out. */
export const barHeight = () => Math.min(26,
  Math.max(8, screen.line - (screen.line > 20 ? 6 : 3)));

// --- Fetching -----------------------------------------------------------------------

/** The places to fetch: what is seen, and half a page above and below. */
function wantedPlaces(columns) {
  const seen = visiblePlaces();
  const all = allLines().length;
  const most = Math.floor((REPLY_MAX - 64) / (columns * 8 + 8));
  const places = new Set(seen);
  const pins = pinnedCount();
  const last = seen.length ? seen[seen.length - 1] : -1;
  const first = seen.find((place) => place >= pins) ?? pins;
  for (let i = 1; i <= seen.length / 2 && places.size < most; i++) {
    if (last + i < all) places.add(last + i);
    if (first - i >= pins) places.add(first - i);
  }
  return [...places].sort((a, b) => a - b).slice(0, Math.max(most, 1));
}

function plan() {
  const width = view.to - view.from;
  const seen = Math.max(visiblePlaces().length, 1);
  const room = Math.floor((REPLY_MAX - 64) / seen / 8) - 8;
  const most = Math.min(COLUMNS_MAX, room, 2 * Math.round(plotWidth()));
  const from = Math.floor(view.from - width / 2);
  const to = Math.ceil(view.to + width / 2);
  const columns = Math.max(1, Math.min(most, to - from));
  return { axis: view.axis, from, to, columns,
    places: wantedPlaces(columns), height: barHeight() };
}

async function fetchLines(wish, lines, group) {
  if (!lines.length) return [];
  const rows = lines.flatMap((one) => one.rows.map((row) => row.row));
  const got = await request('window', { axis: wish.axis, from: wish.from,
    to: wish.to, columns: wish.columns, rows: ranges(rows), group });
  return got.map((one, i) => [lines[i] && lines[i].key, one]);
}

async function fetchTile() {
  const wish = plan();
  const lines = wish.places.map((place) => allLines()[place]);
  const groups = lines.filter((one) => one.grouped);
  const parts = await Promise.all([
    fetchLines(wish, lines.filter((one) => !one.grouped), undefined),
    fetchLines(wish, groups, groups.length ? groups[0].by : undefined),
  ]);
  const tile = { ...wish, lines: new Map(parts.flat()) };
  tile.calls = [...tile.lines.values()].reduce((sum, one) =>
    sum + leastCalls(one.cells), 0);
  paint(tile);
  tiles = [...tiles.filter((old) => old.axis === tile.axis &&
    old.height === tile.height).slice(1 - TILES_MAX), tile];
}

/** Whether the newest tile shows what is wanted. */
function isEnough() {
  const tile = tiles[tiles.length - 1];
  if (!tile || tile.axis !== view.axis || tile.height !== barHeight()) return false;
  const width = view.to - view.from;
  const [begin, end] = [view.from - width * 0.1, view.to + width * 0.1];
  if (tile.from > begin || tile.to < end) return false;
  const scale = (tile.to - tile.from) / width / 2;
  if (tile.columns < tile.to - tile.from && Math.abs(scale - 1) > 0.02) return false;
  if (tile.isStale) return false;
  return visiblePlaces().every((place) => tile.lines.has(allLines()[place].key));
}

async function work() {
  timer = 0;
  if (running) {
    again = true;
    return;
  }
  running = true;
  try {
    await fetchTile();
    found.window = '';
  } catch (error) {
    found.window = error.message;
    again = false;
  }
  running = false;
  touch('tiles', 'error');
  if (again) schedule();
}

function schedule() {
  again = false;
  if (!timer && !document.hidden) timer = setTimeout(work, DEBOUNCE_MS);
}

/** The run has changed from this time on. */
export function expire(from) {
  for (const tile of tiles) tile.isStale ||= tile.axis !== 'time' || tile.to > from;
}

/** Keeps the tiles such that they cover the window. */
export function keepTiles() {
  listen(['colours'], () => {
    tiles.forEach(paint);
    touch('tiles');
  });
  listen(['from', 'to', 'axis', 'top', 'rows', 'changes', 'size'], () => {
    if (run.known && allLines().length && !isEnough()) schedule();
  });
}
