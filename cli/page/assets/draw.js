// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// draw.js - the diagram on its canvas.
import { duration, position, roundStep } from './format.js';
import { GUTTER, RULER, atX, middleOf, plotWidth, screen, visiblePlaces, xOf, yOf,
  measure } from './geometry.js';
import { allLines, lineOf, pinnedCount } from './layout.js';
import { STATES, colours, fillOf } from './palette.js';
import { extent, found, isPlaced, listen, positionOf, run, view } from './state.js';
import { barHeight, tiles } from './tiles.js';

const FONT = '12px system-ui, sans-serif';
const MANY = 150; // arrows; more of them are drawn faintly
const ALONG = 0.13; // length of an arrow's bend, of its height

/** What was drawn that can be pointed at: {kind, box: [x, y, width, height], ...}. */
export let items = [];

let canvas = null;
let context = null;

const add = (kind, x, y, width, height, more) =>
  items.push({ kind, box: [x, y, width, height], ...more });

const isSeen = (y) => y > RULER - screen.line && y < screen.height + screen.line;

// --- Lines --------------------------------------------------------------------------

function drawStripes(places) {
  context.fillStyle = colours.stripe;
  for (const place of places)
    if (place % 4 === 3) context.fillRect(GUTTER, yOf(place), plotWidth(), screen.line);
}

function drawTileLine(tile, key, y) {
  const one = tile.lines.get(key);
  if (!one || tile.axis !== view.axis) return;
  const scale = tile.columns / (tile.to - tile.from);
  const begin = Math.max(view.from, tile.from);
  const end = Math.min(view.to, tile.to);
  if (end <= begin) return;
  const [x, right] = [xOf(begin), xOf(end)];
  context.drawImage(tile.canvas, (begin - tile.from) * scale, one.top,
    (end - begin) * scale, tile.height, x, y, right - x, barHeight());
}

function drawCells(places) {
  context.imageSmoothingEnabled = false;
  const gap = (screen.line - barHeight()) / 2;
  for (const place of places) {
    const one = allLines()[place];
    const newest = tiles.findLast((tile) => tile.lines.has(one.key) &&
      tile.axis === view.axis);
    const isCovered = newest && newest.from <= view.from && newest.to >= view.to;
    for (const tile of isCovered ? [newest] : tiles)
      drawTileLine(tile, one.key, yOf(place) + gap);
    add('line', GUTTER, yOf(place), plotWidth(), screen.line, { key: one.key });
  }
}

function drawName(name, x, y, width) {
  if (width < 7 * name.length + 8) return;
  context.fillStyle = colours.ground;
  context.fillText(name, x + 5, y);
}

/** Exact calls, where they are few; one that is under way is open to the right. */
function drawCalls() {
  const calls = found.calls;
  if (!calls || calls.axis !== view.axis) return;
  const height = barHeight();
  const gap = (screen.line - height) / 2;
  for (const call of calls.calls) {
    const [row, begin, end, first, last, state] = call;
    const [event, isApart] = call.slice(12);
    const name = calls.operations[call[6]] || '';
    const place = lineOf(row);
    if (place < 0 || allLines()[place].grouped) continue;
    const from = xOf(view.axis === 'time' ? begin : first);
    const to = xOf(view.axis === 'time' ? end ?? Math.max(run.end, begin) : last);
    const x = Math.max(from, GUTTER);
    const right = Math.min(Math.max(to, from + 1), screen.width);
    const y = yOf(place) + gap;
    if (right < GUTTER || x > screen.width || !isSeen(y)) continue;
    context.fillStyle = isApart ? colours[STATES[state]] : fillOf(STATES[state]);
    if (isApart) context.fillRect(x, y + height - 2, right - x, 2);
    else {
      context.fillRect(x, y, right - x, height);
      context.fillStyle = colours.ground;
      if (right - x > 3) context.fillRect(x, y, 0.75, height);
      if (state !== 2) drawName(name, x, y + height / 2, right - x);
    }
    add('call', x, y, right - x, height,
      { row, event, call, name, site: calls.sites[call[8]] });
  }
}

/** Chevrons behind operations that have not ended. */
function drawOpen(places) {
  if (run.over && !run.verdict) return;
  const x = Math.min(xOf(extent()[1]), screen.width - 12);
  if (x < GUTTER || view.axis !== 'time') return;
  for (const place of places) {
    const one = allLines()[place];
    const row = one.rows[0];
    if (one.grouped || !row.open) continue;
    const y = yOf(place) + screen.line / 2;
    context.strokeStyle = colours[STATES[row.open.state]] || colours.text;
    context.lineWidth = 2;
    context.beginPath();
    for (const shift of [2, 6]) {
      context.moveTo(x + shift, y - 4);
      context.lineTo(x + shift + 4, y);
      context.lineTo(x + shift, y + 4);
    }
    context.stroke();
    add('open', x, y - 5, 12, 10, { row: row.row });
  }
}

// --- Messages -----------------------------------------------------------------------

function arrowHead(x, y, angle, size) {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - size * Math.cos(angle - 0.4), y - size * Math.sin(angle - 0.4));
  context.lineTo(x - size * Math.cos(angle + 0.4), y - size * Math.sin(angle + 0.4));
  context.fill();
}

/** An arrow; `x`s are as they are, so that it leaves the window where it should. */
function drawArrow(x0, y0, x1, y1, colour, width, dashes) {
  context.strokeStyle = context.fillStyle = colour;
  context.lineWidth = width;
  context.setLineDash(dashes || []);
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
  context.setLineDash([]);
  arrowHead(x1, y1, Math.atan2(y1 - y0, x1 - x0), 5 + 2 * width);
}

function drawMessages() {
  const messages = found.messages;
  if (!messages || !messages.complete || messages.axis !== view.axis) return;
  const isTime = view.axis === 'time';
  context.globalAlpha = messages.messages.length > MANY ? 0.5 : 1;
  for (const message of messages.messages) {
    const [row, index, t, level, peer, other, t1, level1, bytes, late] = message;
    const [y0, y1] = [middleOf(row), middleOf(peer)];
    if (y0 === null || y1 === null || y0 === y1) continue;
    const [x0, x1] = [xOf(isTime ? t : level), xOf(isTime ? t1 : level1)];
    if (Math.max(x0, x1) < GUTTER || Math.min(x0, x1) > screen.width) continue;
    if (!isSeen(y0) && !isSeen(y1)) continue;
    drawArrow(x0, y0, x1, y1, late ? colours.late : colours.message, 1,
      late ? [5, 3] : null);
    add('message', Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0),
      Math.abs(y1 - y0), { from: [row, index], to: [peer, other], bytes, late,
      ends: [x0, y0, x1, y1] });
  }
  context.globalAlpha = 1;
}

// --- Collective operations ----------------------------------------------------------

/** From above to below: all rows for an operation of as many ranks, else those of its
 * first and last arrival. */
function heightOf(instance, ranks) {
  const ends = [instance.first, instance.last].map(([row]) => lineOf(row));
  if (instance.size >= ranks) return [RULER, RULER + allLines().length * screen.line];
  return [yOf(Math.min(...ends)), yOf(Math.max(...ends)) + screen.line];
}

function drawBand(instance, [x0, x1], ranks) {
  const [top, bottom] = heightOf(instance, ranks);
  context.globalAlpha = 0.16;
  context.fillRect(x0, top, Math.max(x1 - x0, 1), bottom - top);
  context.globalAlpha = 0.8;
  context.fillRect(x0, top, 1, bottom - top);
  context.fillRect(x1, top, 1, bottom - top);
  context.globalAlpha = 1;
  add('instance', x0 - 2, top, Math.max(x1 - x0, 1) + 4, bottom - top, { instance });
}

/** A diamond where the last rank came; hollow where clocks cannot tell that it was. */
function drawLate(instance, x) {
  const y = middleOf(instance.last[0]);
  context.beginPath();
  context.moveTo(x, y - 7);
  context.lineTo(x + 7, y);
  context.lineTo(x, y + 7);
  context.lineTo(x - 7, y);
  context.closePath();
  context.lineWidth = 2;
  context.strokeStyle = instance.late > 1 ? colours.late : colours.ground;
  context.fillStyle = instance.late > 1 ? colours.ground : colours.late;
  context.fill();
  context.stroke();
  add('late-rank', x - 7, y - 7, 14, 14, { instance });
}

/** From the first arrival to the last one, and who came last. */
function drawInstances() {
  const ranks = new Set(run.rows.map((row) => row.rank)).size;
  const at = ([, , t, level]) => xOf(positionOf({ t, level }));
  const shown = (found.instances || []).filter(({ first, last }) =>
    isPlaced(first) && isPlaced(last) && middleOf(first[0]) !== null &&
    middleOf(last[0]) !== null && Math.max(at(first), at(last)) >= GUTTER &&
    Math.min(at(first), at(last)) <= screen.width);
  context.fillStyle = colours.late;
  for (const one of shown)
    drawBand(one, [at(one.first), at(one.last)].sort((a, b) => a - b), ranks);
  for (const one of shown)
    if (isSeen(middleOf(one.last[0]))) drawLate(one, at(one.last));
}

// --- The selection ------------------------------------------------------------------

const firstOf = (cuts, rows, better) => rows.reduce((best, row) => {
  const at = cuts[row.row];
  if (!at) return best;
  const value = positionOf({ t: at[0], level: at[1] });
  return best === null || better(value, best) ? value : best;
}, null);

/** Where the past of the selected event ends, or its future begins, on each line. */
function cutsOf(at, places, better) {
  return places.map((place) => ({ place,
    at: firstOf(at, allLines()[place].rows, better) }));
}

function drawCut(cuts, name, isPast) {
  context.strokeStyle = context.fillStyle = colours[name];
  context.lineWidth = 1.5;
  context.setLineDash(isPast ? [] : [6, 3]);
  context.beginPath();
  let last = null;
  for (const { place, at } of cuts) {
    const x = at === null ? null :
      Math.min(Math.max(xOf(at), GUTTER - 9), screen.width + 9);
    const y = yOf(place);
    if (x === null) last = null;
    else {
      if (last === null) context.moveTo(x, y);
      else context.lineTo(x, y);
      context.lineTo(x, y + screen.line);
      last = x;
    }
  }
  context.stroke();
  context.setLineDash([]);
  for (const { place, at } of cuts)
    if (at !== null) drawCutMark(place, xOf(at), isPast);
}

/** A triangle that points to the selected event's side. */
function drawCutMark(place, x, isPast) {
  const y = yOf(place) + screen.line / 2;
  const side = isPast ? -1 : 1;
  if (x < GUTTER || x > screen.width) return;
  context.beginPath();
  context.moveTo(x + 6 * side, y - 4.5);
  context.lineTo(x, y);
  context.lineTo(x + 6 * side, y + 4.5);
  context.fill();
  add(isPast ? 'past' : 'future', x - 6, y - 5, 12, 10, { place });
}

function tint(cuts, name, isPast) {
  context.fillStyle = colours[name];
  context.globalAlpha = 0.13;
  for (const { place, at } of cuts) {
    if (at === null) continue;
    const x = Math.min(Math.max(xOf(at), GUTTER), screen.width);
    const [begin, end] = isPast ? [GUTTER, x] : [x, screen.width];
    context.fillRect(begin, yOf(place), end - begin, screen.line);
  }
  context.globalAlpha = 1;
}

function drawCones(places) {
  if (!found.cone || !view.selection || !view.cones) return;
  const past = cutsOf(found.cone.past_at, places, (a, b) => a > b);
  const future = cutsOf(found.cone.future_at, places, (a, b) => a < b);
  tint(past, 'past', true);
  tint(future, 'future', false);
  drawCut(past, 'past', true);
  drawCut(future, 'future', false);
}

function drawMark(x, y, colour, radius, isSquare) {
  context.lineWidth = 2;
  context.strokeStyle = colour;
  context.fillStyle = colours.ground;
  context.beginPath();
  if (isSquare) context.rect(x - radius, y - radius, 2 * radius, 2 * radius);
  else context.arc(x, y, radius, 0, 7);
  context.fill();
  context.stroke();
}

/** Arrows from the direct causes and to the direct effects. */
function drawPartners(event) {
  const x = xOf(positionOf(event));
  const y = middleOf(event.event[0]);
  const draw = (others, name, isCause) => {
    for (const [row, , t, level] of others || []) {
      if (row === event.event[0] || middleOf(row) === null) continue;
      const [xo, yo] = [xOf(positionOf({ t, level })), middleOf(row)];
      if (isCause) drawArrow(xo, yo, x, y, colours[name], 2.5);
      else drawArrow(x, y, xo, yo, colours[name], 2.5);
    }
  };
  draw(event.causes, 'past', true);
  draw(event.effects, 'future', false);
}

/** How far off the event's time may be, against events of other hosts. */
function drawError(x, y) {
  if (view.axis !== 'time' || !run.error_ns) return;
  const half = run.error_ns / (view.to - view.from) * plotWidth();
  if (half < 2) return;
  context.fillStyle = colours.chosen;
  context.globalAlpha = 0.2;
  context.fillRect(x - half, RULER, 2 * half, screen.height - RULER);
  context.globalAlpha = 1;
  add('error', x - half, y, 2 * half, screen.line);
}

function drawSelection() {
  const event = found.event;
  if (!event || !view.selection) return;
  const y = middleOf(event.event[0]);
  if (y === null) return;
  const x = xOf(positionOf(event));
  drawError(x, y);
  context.fillStyle = colours.chosen;
  context.fillRect(x - 0.5, RULER, 1, screen.height - RULER);
  drawPartners(event);
  drawMark(x, y, colours.chosen, 6, false);
  add('selection', x - 6, y - 6, 12, 12, { event: event.event });
}

function drawMeasure() {
  const measured = found.measured;
  if (!measured || !found.event || !view.measure) return;
  const [y0, y1] = [middleOf(view.measure[0]), middleOf(view.selection[0])];
  if (y0 === null || y1 === null) return;
  const [x0, x1] = [xOf(positionOf(measured.start)), xOf(positionOf(found.event))];
  context.strokeStyle = colours.text;
  context.setLineDash([2, 3]);
  context.lineWidth = 1.5;
  context.strokeRect(Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0),
    Math.abs(y1 - y0));
  context.setLineDash([]);
  drawMark(x0, y0, colours.text, 5, true);
  add('measure', x0 - 5, y0 - 5, 10, 10, { event: view.measure });
}

function drawMatches() {
  found.matches.forEach((match, i) => {
    for (const event of match.places || []) {
      const y = middleOf(event.row);
      const x = xOf(positionOf(event));
      if (y === null || x < GUTTER || x > screen.width || !isSeen(y)) continue;
      drawMark(x, y, colours.match, i === found.match ? 6 : 4, true);
      add('match', x - 5, y - 5, 10, 10, { match: i });
    }
  });
}

// --- Waits in a circle --------------------------------------------------------------

const rowOfRank = (rank) => run.rows.find((row) => row.rank === rank);

function drawBend({ x, y0, y1, bend }, colour, width) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(x, y0);
  context.bezierCurveTo(x - bend, y0, x - bend, y1, x, y1);
  context.stroke();
}

/** Each rank of a deadlock's circle waits for the next. */
function drawCircle() {
  const cycle = found.verdict ? found.verdict.cycle : [];
  const end = xOf(extent()[1]);
  if (cycle.length < 2 || end < GUTTER) return;
  const x = Math.min(end, screen.width - 18) - 10;
  const waits = [];
  cycle.forEach((from, i) => {
    const to = cycle[(i + 1) % cycle.length];
    const [y0, y1] = [from, to].map((rank) => middleOf(rowOfRank(rank)?.row));
    if (y0 !== null && y1 !== null && y0 !== y1)
      waits.push({ x, y0, y1, bend: 26 + ALONG * Math.abs(y1 - y0), from, to });
  });
  for (const wait of waits) drawBend(wait, colours.ground, 7);
  for (const wait of waits) {
    const { y0, y1, bend, from, to } = wait;
    drawBend(wait, colours.stuck, 2.5);
    context.fillStyle = colours.stuck;
    arrowHead(x + 2, y1, 0, 10);
    add('wait', x - bend, Math.min(y0, y1), bend, Math.abs(y1 - y0), { from, to });
  }
}

// --- Ruler and names ----------------------------------------------------------------

function drawGrid() {
  const step = Math.max(roundStep((view.to - view.from) / (plotWidth() / 110)), 1);
  context.fillStyle = colours.grid;
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step)
    context.fillRect(Math.round(xOf(at)), RULER, 1, screen.height - RULER);
  return step;
}

function drawRuler(step) {
  context.font = FONT;
  context.fillStyle = colours.panel;
  context.fillRect(0, 0, screen.width, RULER);
  context.fillStyle = colours.faint;
  for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
    const x = Math.round(xOf(at));
    context.fillRect(x, RULER - 5, 1, 5);
    const label = position(view.axis, at, step);
    if (x + 4 + context.measureText(label).width < screen.width)
      context.fillText(label, x + 4, RULER / 2);
  }
  const shown = view.axis === 'time' ? duration(view.to - view.from) + ' shown' :
    Math.round(view.to - view.from) + ' levels';
  context.fillStyle = colours.panel;
  context.fillRect(0, 0, GUTTER, RULER);
  context.fillStyle = colours.text;
  context.fillText(shown, 10, RULER / 2);
}

function fit(name, width) {
  if (context.measureText(name).width <= width) return name;
  while (name && context.measureText(name + '…').width > width)
    name = name.slice(0, -1);
  return name + '…';
}

function drawLabels(places) {
  context.fillStyle = colours.panel;
  context.fillRect(0, RULER, GUTTER - 1, screen.height - RULER);
  context.fillStyle = colours.grid;
  context.fillRect(GUTTER - 1, 0, 1, screen.height);
  const stuck = new Set(found.verdict ? found.verdict.ranks : []);
  for (const place of places) {
    const one = allLines()[place];
    const y = yOf(place) + screen.line / 2;
    const isChosen = view.selection && lineOf(view.selection[0]) === place;
    const fold = one.grouped ? (one.unfolded ? '▾ ' : '▸ ') : '';
    const pin = view.pinned.has(one.rows[0].row) && !one.grouped ? '• ' : '';
    const size = one.grouped ? ` (${one.rows.length})` : '';
    if (isChosen) {
      context.fillStyle = colours.chosen;
      context.fillRect(0, yOf(place) + 1, 4, screen.line - 2);
    }
    const isStuck = !one.grouped && stuck.has(one.rows[0].rank);
    context.fillStyle = isStuck ? colours.stuck : colours.text;
    context.font = (one.grouped || isStuck ? '600 ' : '') + FONT;
    const x = 10 + 14 * (one.depth || 0);
    context.fillText(fold + pin + fit(one.title + size, GUTTER - x - 26) +
      (isStuck ? ' ■' : ''), x, y);
    add('label', 0, yOf(place), GUTTER, screen.line, { key: one.key });
  }
}

function drawPinLine() {
  const pins = pinnedCount();
  if (!pins) return;
  context.fillStyle = colours.faint;
  context.fillRect(0, RULER + pins * screen.line - 1, screen.width, 1);
}

/** Above the pinned lines nothing else is drawn. */
function clipPlot() {
  context.beginPath();
  context.rect(GUTTER, RULER, plotWidth(), screen.height - RULER);
  context.clip();
}

function drawPlot(places) {
  drawStripes(places);
  const step = drawGrid();
  drawCells(places);
  drawCalls();
  drawCones(places);
  drawMessages();
  drawInstances();
  drawOpen(places);
  drawMatches();
  drawMeasure();
  drawSelection();
  drawCircle();
  return step;
}

/** Draws all of it. */
export function draw() {
  const scale = devicePixelRatio || 1;
  items = [];
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.font = FONT;
  context.textBaseline = 'middle';
  context.fillStyle = colours.ground;
  context.fillRect(0, 0, screen.width, screen.height);
  const places = visiblePlaces();
  context.save();
  clipPlot();
  const step = drawPlot(places);
  context.restore();
  drawLabels(places);
  drawRuler(step);
  drawPinLine();
}

/** The topmost thing at a point, or null; arrows count along their line, and bands of
 * collective operations do not hide what is below. */
export function itemAt(x, y) {
  return items.findLast((item) => {
    const [left, top, width, height] = item.box;
    if (item.kind === 'instance') return false;
    if (item.kind === 'message') return distance(item.ends, x, y) < 4;
    return x >= left && x < left + width && y >= top && y < top + height;
  }) || null;
}

function distance([x0, y0, x1, y1], x, y) {
  const length = (x1 - x0) ** 2 + (y1 - y0) ** 2 || 1;
  const along = ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length;
  const part = Math.min(Math.max(along, 0), 1);
  return Math.hypot(x0 + part * (x1 - x0) - x, y0 + part * (y1 - y0) - y);
}

/** Takes the canvas, and draws whenever something changes. */
export function startDrawing(element) {
  canvas = element;
  context = canvas.getContext('2d');
  listen(['tiles', 'calls', 'messages', 'event', 'cone', 'measured', 'matches',
    'verdict', 'from', 'to', 'axis', 'top', 'rows', 'size', 'colours', 'changes',
    'selection', 'cones', 'measure', 'instances-shown'], draw);
}

/** Fits the canvas to the room that it has. */
export function resize(width, height) {
  measure(width, height);
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(screen.width * scale);
  canvas.height = Math.round(height * scale);
}

/** Position of the axis at x, for those who point. */
export const pointedAt = (x) => Math.min(Math.max(atX(x), view.from), view.to);
