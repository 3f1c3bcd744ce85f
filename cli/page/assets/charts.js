// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// charts.js - small pictures of panels: matrix, profile, graph of waits.
import { make } from './dom.js';
import { bytes, count, duration } from './format.js';
import { drawProfile } from './overview.js';
import { STATES, colours } from './palette.js';

const SVG = 'http://www.w3.org/2000/svg';

function canvasOf(width, height, label) {
  const scale = devicePixelRatio || 1;
  const canvas = make('canvas', { width: width * scale, height: height * scale,
    role: 'img', 'aria-label': label, class: 'chart' });
  const context = canvas.getContext('2d');
  context.scale(scale, scale);
  return { canvas, context };
}

const MEASURES = {
  messages: { of: (cell) => cell[2], text: count },
  bytes: { of: (cell) => cell[3], text: bytes },
  late: { of: (cell) => cell[4], text: duration },
};

/** Who sends to whom: a heat map, and the greatest cells as a table. */
export function matrixChart(reply, measure, width, nameOf) {
  const { of, text } = MEASURES[measure];
  const { canvas, context } = canvasOf(width, width, 'messages from row to column');
  const side = width / Math.max(reply.size, 1);
  const most = Math.max(...reply.messages.map(of), 1);
  context.fillStyle = colours.stripe;
  context.fillRect(0, 0, width, width);
  context.fillStyle = colours[measure === 'late' ? 'late' : 'collective'];
  for (const cell of reply.messages) {
    if (!of(cell)) continue;
    context.globalAlpha = 0.25 + 0.75 * Math.log1p(of(cell)) / Math.log1p(most);
    context.fillRect(cell[1] * side, cell[0] * side, Math.max(side - (side > 4), 1),
      Math.max(side - (side > 4), 1));
  }
  const name = (i) => reply.bucket > 1 ?
    `rows ${i * reply.bucket}–${(i + 1) * reply.bucket - 1}` : nameOf(i);
  const top = [...reply.messages].sort((a, b) => of(b) - of(a)).slice(0, 8);
  const rows = top.map((cell) => make('tr', {}, make('td', {}, name(cell[0])),
    make('td', {}, name(cell[1])), make('td', { class: 'number' }, text(of(cell)))));
  const table = make('table', {}, make('caption', {}, 'the largest'),
    make('thead', {}, make('tr', {}, make('th', {}, 'from'), make('th', {}, 'to'),
      make('th', { class: 'number' }, measure))), make('tbody', {}, rows));
  return [canvas, table];
}

/** How many threads were in what over the window, and the mean of it. */
export function profileChart(reply, width) {
  const { canvas, context } = canvasOf(width, 160, 'threads in each state over time');
  context.fillStyle = colours.stripe;
  context.fillRect(0, 0, width, 160);
  drawProfile(context, reply, [0, 0, width, 160]);
  const means = STATES.map((name, i) => ({ name, mean: (reply.states[i] || [])
    .reduce((sum, value) => sum + value, 0) / reply.columns }));
  const rows = means.filter((one) => one.mean > 0).map((one) => make('tr', {},
    make('td', {}, make('span', { class: 'swatch ' + one.name }), ' ' + one.name),
    make('td', { class: 'number' }, one.mean.toFixed(2))));
  const table = make('table', {}, make('caption', {}, 'threads in each state, on average'),
    make('tbody', {}, rows));
  return [canvas, table];
}

function svg(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes))
    element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function graphArrow(from, to, name) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / length, dy / length];
  const [x0, y0] = [from[0] + 16 * ux, from[1] + 16 * uy];
  const [x1, y1] = [to[0] - 18 * ux, to[1] - 18 * uy];
  const head = [[x1, y1], [x1 - 8 * ux + 4 * uy, y1 - 8 * uy - 4 * ux],
    [x1 - 8 * ux - 4 * uy, y1 - 8 * uy + 4 * ux]];
  return svg('g', { class: name },
    svg('line', { x1: x0, y1: y0, x2: x1 - 5 * ux, y2: y1 - 5 * uy }),
    svg('polygon', { points: head.map((point) => point.join(',')).join(' ') }));
}

/** Who waits for whom: `edges` of ranks; those in `cycle` stand on a circle. */
export function waitGraph(edges, cycle, width) {
  const ranks = [...new Set([...cycle, ...edges.flat()])].slice(0, 24);
  const [height, radius] = [Math.min(width, 260), Math.min(width, 260) / 2 - 24];
  const places = new Map(ranks.map((rank, i) => {
    const angle = 2 * Math.PI * i / ranks.length - Math.PI / 2;
    return [rank, [width / 2 + radius * Math.cos(angle),
      height / 2 + radius * Math.sin(angle)]];
  }));
  const circle = new Set(cycle.map((rank, i) =>
    rank + ' ' + cycle[(i + 1) % cycle.length]));
  const arrows = edges.filter((edge) => edge.every((rank) => places.has(rank)))
    .map((edge) => graphArrow(...edge.map((rank) => places.get(rank)),
      circle.has(edge.join(' ')) ? 'stuck' : 'plain'));
  const nodes = ranks.map((rank) => {
    const [x, y] = places.get(rank);
    const label = svg('text', { x, y: y + 4, 'text-anchor': 'middle' });
    label.textContent = rank;
    return svg('g', { class: cycle.includes(rank) ? 'stuck' : 'plain' },
      svg('circle', { cx: x, cy: y, r: 15 }), label);
  });
  const words = edges.map(([from, to]) => `rank ${from} waits for rank ${to}`)
    .join('; ');
  return svg('svg', { width, height, role: 'img', class: 'graph', 'aria-label': words },
    ...arrows, ...nodes);
}
