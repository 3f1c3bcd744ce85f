// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// main.js - starts the page: the run, its rows, the toolbar, and what keeps them new.
import { followChanges, pending, request, takeToken } from './api.js';
import { items, draw, resize, startDrawing } from './draw.js';
import { count, duration } from './format.js';
import { fullHeight, screen, visiblePlaces } from './geometry.js';
import { startInput, toggleHelp } from './input.js';
import { allLines, arrange, grouping, hasClusters, pinnedCount } from './layout.js';
import { isOverlayDue, keepOverlays, report } from './overlays.js';
import { resizeOverview, startOverview } from './overview.js';
import { watchColours } from './palette.js';
import { fetchVerdict, startPanels } from './panels.js';
import { saveAs } from './picture.js';
import { extent, found, fromAddress, isQuiet, keepAddress, keepUp, listen, run, set,
  setWindow, showWhole, touch, view } from './state.js';
import { isTableDue, startTable } from './table.js';
import { expire, isFetching, keepTiles } from './tiles.js';
import * as walk from './walk.js';

const byId = (id) => document.getElementById(id);
const PAGE = 1000;
const MANY = 200;

let drawn = 0;

// --- The run ------------------------------------------------------------------------

/** A rank that began earlier moves all times: what is shown stays the same. */
function takeBegin(begin) {
  if (begin === undefined || begin === run.begin_ns) return;
  const by = Number(BigInt(run.begin_ns) - BigInt(begin));
  if (run.begin_ns !== '0' && view.axis === 'time' && !view.whole)
    set({ from: view.from + by, to: view.to + by });
  run.begin_ns = begin;
  expire(-Infinity);
  touch('selection');
}

async function fetchRun() {
  const reply = await request('run');
  takeBegin(reply.begin_ns);
  Object.assign(run, reply, { rows: run.rows, known: true });
  const name = run.name.replace(/\/+$/, '').split('/').pop();
  document.title = name + ' – EventSpace';
  byId('name').textContent = name;
  byId('name').title = run.name;
  byId('follow').hidden = !run.live;
}

async function fetchRows() {
  const rows = [];
  do {
    const reply = await request('rows', { first: rows.length, count: PAGE });
    rows.push(...reply.rows);
    if (!reply.rows.length) break;
  } while (rows.length % PAGE === 0);
  run.rows = rows;
}

let refreshTimer = 0;

/** The run and its rows anew. */
async function refresh() {
  try {
    await Promise.all([fetchRun(), fetchRows()]);
    if (run.verdict || found.verdict) await fetchVerdict();
    touch('rows', 'changes');
  } catch (error) {
    report(error);
  }
  refreshTimer = 0;
}

/** Many rows are asked for less often. */
function refreshSoon() {
  if (!refreshTimer)
    refreshTimer = setTimeout(refresh, run.rows.length > MANY ? 2000 : 200);
}

/** What the stream tells of a run that goes on or is being read. */
function onChange(change) {
  const wasOver = run.over;
  takeBegin(change.begin_ns);
  const { end, levels, events, over, reading, changes } = change;
  Object.assign(run, { end, levels, events, over, changes });
  if (reading !== undefined)
    run.reading = typeof reading === 'object' ? reading : { done: !reading, events };
  expire(change.from ?? 0);
  if (view.follow || view.whole) keepUp();
  touch('changes');
  refreshSoon();
  if (over && !wasOver) fetchVerdict().catch(report);
}

function onNews({ change, error }) {
  found.stream = error || '';
  touch('stream');
  if (change) onChange(change);
}

const isFinal = () => run.known && !run.live && run.reading.done;

// --- What is said in words ----------------------------------------------------------

/** Ranks whose threads all have no MPI_Finalize. */
function withoutEnd() {
  const isOver = new Map();
  for (const row of run.rows)
    if (row.rank >= 0)
      isOver.set(row.rank, isOver.get(row.rank) || row.over);
  const ranks = [...isOver.keys()].filter((rank) => !isOver.get(rank));
  return { count: ranks.length, of: isOver.size };
}

function noticeParts() {
  const parts = [];
  if (!run.known) return ['Asking the server …'];
  if (!run.reading.done && !run.live)
    parts.push(`Reading: ${count(run.events)} events so far.`);
  if (!run.events) parts.push(run.live ? 'No events yet: nothing has been recorded so far.' :
    'This run has no events.');
  if (run.recording_end) parts.push(`Careful: ${run.recording_end}.`);
  const cut = withoutEnd();
  if (cut.count && !run.live && run.reading.done && run.over)
    parts.push(`Cut: ${cut.count} of ${cut.of} ranks have no MPI_Finalize. They were ` +
      'killed, or their recording was.');
  if (run.saved) parts.push(`Saved: ${duration(run.begin)} to ${duration(run.end)} ` +
    'of the run.');
  if (run.lost)
    parts.push(`${count(run.lost)} tuples were lost; the gaps are hatched in grey.`);
  if (run.forgotten)
    parts.push(`Of ${count(run.forgotten)} older calls only sums are kept.`);
  if (view.hidden.size) parts.push(`${view.hidden.size} rows are hidden.`);
  if (run.events && !allLines().length) parts.push('No row matches the filter.');
  if (run.verdict) parts.push(run.verdict.text);
  const messages = found.messages;
  if (messages && !messages.complete)
    parts.push(`${count(messages.count)} messages: too many for arrows, see Matrix.`);
  return parts;
}

/** What the command that serves the page costs its host. */
const costText = () => run.cost && !run.saved && !isFinal() ?
  `this costs ${Number((100 * run.cost.cores).toPrecision(2))} % of a core` : null;

function say() {
  byId('notice').textContent = noticeParts().join(' ');
  byId('notice').classList.toggle('stuck', !!run.verdict);
  byId('error').textContent = [found.error, found.window, found.stream]
    .filter(Boolean).join(' – ');
  byId('status').textContent = run.known ? [run.kind === 'archive' ? 'archive' :
    run.live ? 'live' : run.saved && !run.over ? 'not over when saved' : 'over',
  `${count(run.rows.length)} threads`, `${count(run.events)} events`,
  run.error_ns === null ? 'clock error not known' : null, costText()]
    .filter(Boolean).join(' · ') : '';
  byId('unhide').hidden = !view.hidden.size;
}

// --- The toolbar --------------------------------------------------------------------

const ACTIONS = {
  'zoom-in': () => walk.zoom(0.5, null, true),
  'zoom-out': () => walk.zoom(2, null, true),
  whole: showWhole,
  axis: walk.switchAxis,
  follow: () => walk.follow(!view.follow),
  cones: () => set({ cones: !view.cones }),
  instances: () => set({ instances: !view.instances }),
  'table-button': () => set({ table: !view.table }),
  'help-button': toggleHelp,
  'close-help': toggleHelp,
  unhide: () => set({ hidden: new Set() }),
};

function showToolbar() {
  byId('axis').textContent = 'Axis: ' + (view.axis === 'time' ? 'time' : 'order');
  for (const [id, value] of [['follow', view.follow], ['cones', view.cones],
    ['instances', view.instances],
    ['table-button', view.table]]) byId(id).setAttribute('aria-pressed', String(value));
  byId('by-cluster').hidden = byId('by-cluster').disabled = !hasClusters();
  byId('group').value = grouping();
  if (document.activeElement !== byId('filter')) byId('filter').value = view.filter;
}

function startToolbar() {
  for (const [id, action] of Object.entries(ACTIONS))
    byId(id).addEventListener('click', action);
  byId('group').addEventListener('change', (event) =>
    set({ group: event.target.value, toggled: new Set(), top: 0 }));
  byId('filter').addEventListener('input', (event) =>
    set({ filter: event.target.value, top: 0 }));
  byId('save').addEventListener('change', (event) => {
    saveAs(event.target.value);
    event.target.value = '';
  });
  listen(['axis', 'follow', 'cones', 'instances', 'table', 'group', 'filter', 'rows'],
    showToolbar);
}

// --- Size and scrolling -------------------------------------------------------------

function fit() {
  const box = byId('scroll');
  resize(byId('content').clientWidth, box.clientHeight);
  resizeOverview();
  byId('content').style.height = Math.max(fullHeight(), box.clientHeight) + 'px';
  placeScroll();
  draw();
}

/** Keeps whole lines below pinned ones. */
function roundedScroll(scroll) {
  return pinnedCount() ? Math.round(scroll / screen.line) * screen.line : scroll;
}

function placeScroll() {
  const most = Math.max(0, fullHeight() - byId('scroll').clientHeight);
  screen.scroll = roundedScroll(Math.min(Math.max(view.top * screen.line, 0), most));
  if (Math.abs(byId('scroll').scrollTop - screen.scroll) > 1)
    byId('scroll').scrollTop = screen.scroll;
}

function startScrolling() {
  byId('scroll').addEventListener('scroll', () => {
    const scroll = roundedScroll(byId('scroll').scrollTop);
    if (Math.abs(scroll - screen.scroll) > 1) set({ top: scroll / screen.line });
  });
  new ResizeObserver(() => touch('size')).observe(byId('scroll'));
}

// --- Start --------------------------------------------------------------------------

/** Whether nothing is under way that would change the picture. */
const isIdle = () => run.known && pending() === 0 && !isFetching() && isQuiet() &&
  !walk.isGliding() && !isTableDue() && !isOverlayDue();

/** For tests: what the page knows and shows. */
window.eventspaceView = {
  run, view, found, extent, set, setWindow, select: walk.select,
  get rows() { return visiblePlaces().map((place) => allLines()[place]); },
  get lines() { return allLines(); },
  get items() { return items; },
  get drawn() { return drawn; },
  get idle() { return isIdle(); },
  placeOf: walk.placeOf,
};

function startModel() {
  listen(['rows', 'group', 'filter', 'hidden', 'pinned', 'toggled'], () => {
    arrange();
    touch('size');
  });
  listen(['size', 'table'], fit);
  listen(['top'], placeScroll);
  listen(['event'], walk.onEvent);
  listen(['selection', 'axis'], () => { found.error = ''; });
  startDrawing(byId('diagram'));
  startOverview(byId('overview'));
  keepTiles();
  keepOverlays();
  startPanels();
  startTable();
  listen(['rows', 'changes', 'error', 'stream', 'hidden', 'messages', 'size',
    'verdict'], say);
  listen(['tiles', 'calls', 'event', 'cone', 'from', 'to'], () => { drawn++; });
}

/** A view without a window is of the whole run. */
function takeAddress() {
  fromAddress();
  const isFollowed = view.follow;
  if (view.whole) showWhole();
  set({ follow: isFollowed && run.live });
}

async function start() {
  watchColours();
  takeToken();
  startModel();
  startToolbar();
  startScrolling();
  startInput(byId('diagram'));
  byId('scroll').focus();
  await refresh();
  takeAddress();
  addEventListener('hashchange', takeAddress);
  document.addEventListener('visibilitychange', () => touch('size'));
  keepAddress();
  if (run.verdict) fetchVerdict().catch(report);
  touch('rows', 'changes', 'panel');
  if (!isFinal()) followChanges(onNews, isFinal);
}

start().catch(report);
