// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// overview.js - the whole run above the diagram, with the window marked.
import { newest } from './api.js';
import { GUTTER, plotWidth, screen } from './geometry.js';
import { STATES, colours, fillOf } from './palette.js';
import { report } from './overlays.js';
import { extent, listen, run, setWindow, touch, view } from './state.js';

const REFRESH_MS = 500;
const EDGE = 6;
const STACK = [6, 3, 2, 1, 4, 5, 0]; // from below

const ask = newest();
let context = null;
let canvas = null;
let profile = null;
let timer = 0;

/** The numbers of threads in each state, stacked over each other. */
export function drawProfile(target, reply, [x, y, width, height]) {
  const columns = reply.columns;
  const sums = new Float64Array(columns);
  const most = Math.max(...Array.from(sums, (_, i) =>
    reply.states.reduce((sum, state) => sum + state[i], 0)), 1e-9);
  for (const state of STACK) {
    const values = reply.states[state];
    if (!values) continue;
    target.fillStyle = fillOf(STATES[state]);
    target.beginPath();
    for (let i = 0; i < columns; i++) {
      if (!values[i]) continue;
      const low = sums[i] / most * height;
      const high = low + values[i] / most * height;
      target.rect(x + i * width / columns, y + height - high, width / columns + 0.3,
        high - low);
      sums[i] += values[i];
    }
    target.fill();
  }
}

const xOf = (at) => {
  const [begin, end] = extent();
  return GUTTER + (at - begin) / (end - begin) * plotWidth();
};

const atX = (x) => {
  const [begin, end] = extent();
  return begin + (x - GUTTER) / plotWidth() * (end - begin);
};

function draw() {
  const scale = devicePixelRatio || 1;
  const height = canvas.clientHeight;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.fillStyle = colours.panel;
  context.fillRect(0, 0, screen.width, height);
  context.fillStyle = colours.text;
  context.font = '12px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.fillText(run.part ? 'what was saved' : 'whole run', 10, height / 2);
  context.fillStyle = colours.ground;
  context.fillRect(GUTTER, 0, plotWidth(), height);
  if (profile && profile.axis === view.axis) {
    const [left, right] = [xOf(profile.from), xOf(profile.to)];
    drawProfile(context, profile, [left, 3, right - left, height - 6]);
  }
  drawWindow(height);
}

function drawWindow(height) {
  const left = Math.max(xOf(view.from), GUTTER);
  const right = Math.min(Math.max(xOf(view.to), left + 3), screen.width);
  context.fillStyle = colours.panel;
  context.globalAlpha = 0.65;
  context.fillRect(GUTTER, 0, left - GUTTER, height);
  context.fillRect(right, 0, screen.width - right, height);
  context.globalAlpha = 1;
  context.strokeStyle = colours.chosen;
  context.lineWidth = 2;
  context.strokeRect(left + 1, 1, Math.max(right - left - 2, 1), height - 2);
}

async function refresh() {
  timer = 0;
  const [from, to] = extent();
  const axis = view.axis;
  const columns = Math.max(1, Math.min(600, Math.round(plotWidth() / 2), to - from));
  profile = { ...await ask('profile', { axis, from, to, columns }), axis, from, to };
  touch('overview');
}

function schedule(delay) {
  if (!timer && run.known && run.rows.length)
    timer = setTimeout(() => refresh().catch(report), delay);
}

/** What a press at x takes hold of: an edge, the window, or nothing. */
function grip(x) {
  if (Math.abs(x - xOf(view.from)) < EDGE) return 'from';
  if (Math.abs(x - xOf(view.to)) < EDGE) return 'to';
  return x > xOf(view.from) && x < xOf(view.to) && !view.whole ? 'window' : 'new';
}

function drag(held, x) {
  const at = atX(x);
  if (held.grip === 'window')
    setWindow(held.from + at - held.at, held.to + at - held.at);
  else if (held.grip === 'new') setWindow(Math.min(held.at, at), Math.max(held.at, at));
  else if (held.grip === 'from') setWindow(Math.min(at, held.to), held.to);
  else setWindow(held.from, Math.max(at, held.from));
}

function listenToMouse() {
  let held = null;
  canvas.addEventListener('pointerdown', (event) => {
    canvas.setPointerCapture(event.pointerId);
    const x = event.offsetX;
    held = { grip: grip(x), at: atX(x), from: view.from, to: view.to, x };
  });
  canvas.addEventListener('pointermove', (event) => {
    if (held && Math.abs(event.offsetX - held.x) > 2) drag(held, event.offsetX);
  });
  canvas.addEventListener('pointerup', (event) => {
    if (held && Math.abs(event.offsetX - held.x) <= 2 && held.grip === 'new') {
      const half = (view.to - view.from) / 2;
      setWindow(held.at - half, held.at + half);
    }
    held = null;
  });
}

/** Takes the canvas of the overview. */
export function startOverview(element) {
  canvas = element;
  context = canvas.getContext('2d');
  listenToMouse();
  listen(['from', 'to', 'overview', 'size', 'colours', 'changes'], draw);
  listen(['axis', 'size', 'rows'], () => schedule(0));
  listen(['changes'], () => schedule(REFRESH_MS));
}

/** Fits it to the diagram's width. */
export function resizeOverview() {
  canvas.width = Math.round(screen.width * (devicePixelRatio || 1));
  canvas.height = Math.round(canvas.clientHeight * (devicePixelRatio || 1));
}
