// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// input.js - mouse and keys.
import { pointedAt, itemAt } from './draw.js';
import { bytes, duration, instanceWords } from './format.js';
import { GUTTER, lineAt, plotWidth, screen } from './geometry.js';
import { allLines, grouping, hasClusters, toggled } from './layout.js';
import { report } from './overlays.js';
import { savePicture } from './picture.js';
import { found, run, set, setWindow, showWhole, touch, view } from './state.js';
import * as walk from './walk.js';

const MOVED = 3;
const GROUPS = ['none', 'rank', 'host', 'cluster', '32', 'all'];

// --- Mouse --------------------------------------------------------------------------

async function click(x, y) {
  const item = itemAt(x, y);
  if (x < GUTTER) {
    const one = allLines()[lineAt(y)];
    if (one && one.grouped) set({ toggled: toggled(one.key), top: view.top });
    else if (one) walk.selectNearest(one.rows[0].row, view.from);
    return;
  }
  if (item && item.kind === 'message') walk.select(item.from, false);
  else {
    const event = await walk.nearestAt(x, y);
    if (event) walk.select(event);
  }
  set({ panel: 'event' });
}

async function measureBetween(start, end) {
  const ids = [await walk.nearestAt(...start), await walk.nearestAt(...end)];
  if (!ids[0] || !ids[1]) return;
  set({ measure: ids[0].slice(0, 2), panel: 'event' });
  walk.select(ids[1], false);
}

function listenToPointer(canvas) {
  let held = null;
  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    held = { x: event.offsetX, y: event.offsetY, from: view.from, to: view.to,
      isMeasure: event.shiftKey, hasMoved: false };
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!held) {
      showTip(event.offsetX, event.offsetY);
      return;
    }
    const by = event.offsetX - held.x;
    held.hasMoved ||= Math.abs(by) > MOVED || Math.abs(event.offsetY - held.y) > MOVED;
    if (!held.hasMoved || held.isMeasure) return;
    const shift = -by / plotWidth() * (held.to - held.from);
    setWindow(held.from + shift, held.to + shift);
  });
  canvas.addEventListener('pointerup', (event) => {
    const [was, end] = [held, [event.offsetX, event.offsetY]];
    held = null;
    if (!was) return;
    if (!was.hasMoved) click(...end).catch(report);
    else if (was.isMeasure) measureBetween([was.x, was.y], end).catch(report);
  });
  canvas.addEventListener('pointercancel', () => { held = null; });
  canvas.addEventListener('pointerleave', hideTip);
}

function listenToWheel(canvas) {
  canvas.addEventListener('wheel', (event) => {
    const isRows = event.shiftKey || event.offsetX < GUTTER;
    if (isRows && !event.ctrlKey) return; // the browser scrolls
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const by = event.deltaX / plotWidth() * (view.to - view.from);
      setWindow(view.from + by, view.to + by);
      return;
    }
    const steps = Math.max(-3, Math.min(3, event.deltaY / 100));
    walk.zoom(1.3 ** steps, pointedAt(event.offsetX));
  }, { passive: false });
}

// --- Tips ---------------------------------------------------------------------------

function tipText(item) {
  if (item.kind === 'call') {
    const [, begin, end] = item.call;
    const length = end === null ? `for ${duration(run.end - begin)} so far` :
      duration(end - begin);
    return `${item.name}, ${length}${item.site ? '\n' + item.site : ''}`;
  }
  if (item.kind === 'message')
    return `message, ${bytes(item.bytes)}` +
      (item.late ? `\nthe receiver had waited ${duration(item.late)}` : '');
  if (item.kind === 'late-rank') return instanceWords(item.instance).join('\n');
  if (item.kind === 'wait') return `rank ${item.from} waits for rank ${item.to}`;
  if (item.kind === 'error') return 'clock error of events on other hosts';
  if (item.kind === 'past') return 'what is left of here came before';
  if (item.kind === 'future') return 'what is right of here comes after';
  return '';
}

const tip = document.getElementById('tip');

function showTip(x, y) {
  const item = itemAt(x, y);
  const words = item ? tipText(item) : '';
  tip.hidden = !words;
  if (!words) return;
  tip.textContent = words;
  const left = Math.min(x + 14, screen.width - tip.offsetWidth - 6);
  tip.style.transform = `translate(${left}px, ${y + 16}px)`;
}

function hideTip() {
  tip.hidden = true;
}

// --- Keys ---------------------------------------------------------------------------

/** Chooses the next kind of groups. */
function nextGrouping() {
  const groups = GROUPS.filter((name) => name !== 'cluster' || hasClusters());
  const now = groups.indexOf(grouping());
  set({ group: groups[(now + 1) % groups.length], toggled: new Set(), top: 0 });
}

function togglePin() {
  if (!view.selection) return;
  const pinned = new Set(view.pinned);
  if (!pinned.delete(view.selection[0])) pinned.add(view.selection[0]);
  set({ pinned });
}

function hideRow() {
  if (view.selection) set({ hidden: new Set([...view.hidden, view.selection[0]]) });
}

function searchFor() {
  set({ panel: 'search' });
  requestAnimationFrame(() => document.getElementById('search-text').focus());
}

function leave() {
  const help = document.getElementById('help');
  if (help.open) help.close();
  else if (view.measure) set({ measure: null });
  else {
    set({ selection: null });
    found.event = null;
    touch('event');
  }
}

/** Opens or closes the list of keys. */
export function toggleHelp() {
  const help = document.getElementById('help');
  if (help.open) help.close();
  else help.showModal();
}

const page = () => Math.floor(screen.height / screen.line) - 2;

/** What keys do; "+" in front = with Shift. */
const KEYS = {
  ArrowLeft: () => walk.walkThread(-1),
  ArrowRight: () => walk.walkThread(1),
  ArrowUp: () => walk.walkLines(-1),
  ArrowDown: () => walk.walkLines(1),
  '+ArrowLeft': () => walk.walkMessage(-1),
  '+ArrowRight': () => walk.walkMessage(1),
  PageUp: () => walk.scrollLines(-page()),
  PageDown: () => walk.scrollLines(page()),
  '+': () => walk.zoom(0.5, null, true),
  '=': () => walk.zoom(0.5, null, true),
  '-': () => walk.zoom(2, null, true),
  '[': () => walk.pan(-0.25),
  ']': () => walk.pan(0.25),
  '0': showWhole,
  a: walk.switchAxis,
  f: () => walk.follow(!view.follow),
  c: () => set({ cones: !view.cones }),
  k: () => set({ instances: !view.instances }),
  g: nextGrouping,
  h: hideRow,
  m: walk.toggleMeasure,
  n: () => walk.stepMatch(1),
  N: () => walk.stepMatch(-1),
  p: togglePin,
  s: savePicture,
  t: () => set({ table: !view.table }),
  '/': searchFor,
  '?': toggleHelp,
  Escape: leave,
};

/** Keys that elements of their own use. */
function isTakenBy(element, key) {
  if (element.closest('input, select, textarea')) return key !== 'Escape';
  if (element.closest('[role=tablist]')) return key.startsWith('Arrow');
  if (element.closest('dialog')) return key !== 'Escape' && key !== '?';
  return element.closest('.scrolls') && (key.startsWith('Page') || /Up|Down/.test(key));
}

function listenToKeys() {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const isArrow = event.key.startsWith('Arrow');
    const action = KEYS[(event.shiftKey && isArrow ? '+' : '') + event.key];
    if (!action || isTakenBy(event.target, event.key)) return;
    event.preventDefault();
    if (event.key === 'Escape') event.target.blur();
    action();
  });
}

/** Takes all input for the canvas. */
export function startInput(canvas) {
  listenToPointer(canvas);
  listenToWheel(canvas);
  listenToKeys();
}
