// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// panels.js - the side of the page: the event in words, search, waits, and the rest.
import { newest, request } from './api.js';
import { matrixChart, profileChart, waitGraph } from './charts.js';
import { fill, make, tableOf } from './dom.js';
import { bytes, count, duration, instanceWords } from './format.js';
import { lineOf, listRows, rowTitle, shownRows } from './layout.js';
import { windowOf } from './overlays.js';
import { found, isPlaced, listen, run, set, setWindow, touch, view }
  from './state.js';
import { isElsewhere, select, selectNearest, stepMatch, toggleMeasure }
  from './walk.js';

const WIDTH = 330;
const REFRESH_MS = 1000;
const SEARCH_MS = 1000;
const SEARCH_PAUSE = 4; // times as long as a search takes
const MATCHES_MAX = 1000;
/* What a search is by, and its parameter; named patterns come with EventSpace. */
const SEARCH_BY = { text: 'name', pattern: 'pattern', 'named pattern': 'predicate' };
const body = document.getElementById('panel');
const askSearch = newest();

/** "rank 3" of a row's number. */
export function nameOf(number) {
  const row = run.rows.find((one) => one.row === number);
  return row ? rowTitle(row) : 'row ' + number;
}

const note = (...words) => make('p', { class: 'note' }, ...words);

// --- Event --------------------------------------------------------------------------

function eventLink(id) {
  const [row, index, t] = id;
  const words = nameOf(row) +
    (t === undefined ? `, event ${index}` : ` at ${duration(t)}`);
  return make('button', { class: 'link', onclick: () => select(id) }, words);
}

function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined &&
    value !== '' && value !== false);
  return make('dl', {}, shown.map(([name, value]) =>
    [make('dt', {}, name), make('dd', {}, value)]).flat());
}

function callFacts(call) {
  const stated = (number) => number >= 0 ? String(number) : null;
  return [
    ['operation', call.operation],
    ['took', call.end === null ? `${duration(run.end - call.begin)} so far` :
      duration(call.end - call.begin)],
    ['communicator', call.communicator], ['peer', stated(call.peer)],
    ['tag', stated(call.tag)], ['size', call.bytes ? bytes(call.bytes) : null],
    ['line', call.site], ['nonblocking', call.nonblocking ? 'yes' : null],
  ];
}

function coneFacts() {
  const cone = found.cone;
  if (!view.cones) return note('Past and future are not shown (c).');
  if (!cone) return null;
  if (run.part)
    return note('Past and future may extend beyond the part that was saved.');
  const [row] = view.selection;
  const past = cone.past.reduce((sum, index) => sum + index, 0);
  const future = cone.future.reduce((sum, index, i) =>
    sum + (index && run.rows[i] ? Math.max(0, run.rows[i].events - index + 1) : 0), 0);
  const all = run.rows.reduce((sum, one) => sum + one.events, 0);
  const rowsOf = (list) => list.filter((index, i) => index && i !== row).length;
  const line = (name, number, where) => make('li', {},
    make('span', { class: 'swatch ' + name.split(' ')[0] }),
    ` ${name}: ${count(number)} events${where}`);
  return make('ul', { class: 'plain' },
    line('past', past, `, ${rowsOf(cone.past)} other rows`),
    line('future', future, `, ${rowsOf(cone.future)} other rows`),
    line('concurrent with it', Math.max(0, all - past - future - 1), ''));
}

function measureFacts() {
  if (!view.measure) return null;
  const measured = found.measured;
  if (!measured) return note('Measured from ', eventLink(view.measure),
    ': select another event.');
  return make('section', { class: 'measured' }, make('h3', {}, 'Measured'),
    facts([['from', eventLink(view.measure)], ['order', measured.relation],
      ['difference', duration(measured.t_ns)],
      ['clock error', duration(measured.error_ns)]]),
    make('p', {}, measured.text || ''));
}

function eventPanel() {
  const event = found.event;
  if (!event)
    return [note('Click into the diagram, or press an arrow key, to select an event. ' +
      '? lists all keys.')];
  const links = (ids) => ids.flatMap((id, i) => [i ? ', ' : '', eventLink(id)]);
  const list = (name, ids) =>
    ids.length ? [name, make('span', {}, links(ids))] : [];
  return [make('p', { class: 'sentence' }, event.text),
    facts([['on', nameOf(event.event[0])],
      ['at', `${duration(event.t)}, level ${event.level}`],
      ...(event.call ? callFacts(event.call) : []),
      list('caused by', event.causes.filter(isElsewhere)),
      list('causes', event.effects.filter(isElsewhere))]),
    make('div', { class: 'buttons' },
      make('button', { onclick: toggleMeasure, 'aria-pressed': String(!!view.measure) },
        'Measure from here'),
      make('button', { onclick: () => set({ cones: !view.cones }),
        'aria-pressed': String(view.cones) }, 'Past and future')),
    measureFacts(), coneFacts()];
}

// --- Search -------------------------------------------------------------------------

const placed = (id) => ({ row: id[0], t: id[2], level: id[3] });
const keyOf = (match) => match.events.map((id) => id.slice(0, 2).join()).join(' ');

/** What the last search was of, and how long it took. */
const searched = { changes: -1, from: null, took: 0, isUnderWay: false, timer: 0 };

/** Those that are too many are left out from the first on, as long as a run goes on. */
function leaveOutOld(matches) {
  const times = matches.flatMap((one) => one.places.map((place) => place.t ?? run.end));
  const span = Math.max(...times) - Math.min(...times);
  searched.from = run.end - Math.ceil(span / 2);
}

/** Asks for the matches of what is searched for. */
async function search() {
  const isWanted = view.search.trim() !== '';
  let matches = [];
  if (isWanted) {
    const reply = await askSearch('search', { from: searched.from, limit: MATCHES_MAX,
      [SEARCH_BY[view.by] || 'name']: view.search });
    matches = reply.matches.map((events) => ({ events, places: events.map(placed) }));
    found.isComplete = reply.complete;
    if (!reply.complete && run.live && matches.length) leaveOutOld(matches);
  }
  const chosen = found.matches[found.match];
  found.match = chosen ?
    matches.findIndex((one) => keyOf(one) === keyOf(chosen)) : -1;
  found.matches = matches;
  found.searching = '';
  touch('matches');
}

/** What is wrong with a pattern is told beside it. */
async function searchOrSay() {
  const start = performance.now();
  clearTimeout(searched.timer);
  Object.assign(searched, { changes: run.changes, isUnderWay: true, timer: 0 });
  try {
    await search();
  } catch (error) {
    found.matches = [];
    found.searching = error.message;
    touch('matches');
  }
  Object.assign(searched, { took: performance.now() - start, isUnderWay: false });
  searchAgain();
}

/** A run that goes on has more matches later; searches take a part of the time only. */
function searchAgain() {
  if (searched.isUnderWay || searched.timer || !view.search ||
    searched.changes === run.changes) return;
  const pause = Math.max(SEARCH_MS, SEARCH_PAUSE * searched.took);
  searched.timer = setTimeout(searchOrSay, pause);
}

function searchAnew() {
  searched.from = null;
  searchOrSay();
}

function searchForm() {
  const text = make('input', { id: 'search-text', type: 'search', value: view.search,
    'aria-label': 'text or pattern', placeholder: 'MPI_Recv, MessageRace' });
  const by = make('select', { 'aria-label': 'search by' }, Object.keys(SEARCH_BY)
    .map((name) => make('option', { value: name, selected: name === view.by }, name)));
  const submit = (event) => {
    event.preventDefault();
    found.match = -1;
    set({ search: text.value, by: by.value });
  };
  return make('form', { onsubmit: submit, class: 'search' }, text, by,
    make('button', {}, 'Search'));
}

function matchButton(match, i) {
  const words = match.events.map((id) => nameOf(id[0]) +
    (id[2] === undefined ? '' : ' ' + duration(id[2]))).join(' · ');
  const choose = () => {
    found.match = i - 1;
    stepMatch(1);
  };
  return make('li', {}, make('button', { class: 'link', onclick: choose,
    'aria-current': i === found.match ? 'true' : null }, words));
}

function matchList() {
  const matches = found.matches;
  const more = found.isComplete === false ? ' or more' : '';
  const at = found.match >= 0 ? `, number ${found.match + 1} selected` : '';
  if (found.searching) return [make('pre', { class: 'error' }, found.searching)];
  const since = searched.from === null ? '' : ` since ${duration(searched.from)}`;
  return [make('p', { role: 'status' }, view.search ?
    `${count(matches.length)}${more} matches${since}${at}` : ''),
  matches.length ? make('div', { class: 'buttons' },
    make('button', { onclick: () => stepMatch(-1) }, '‹ Previous (N)'),
    make('button', { onclick: () => stepMatch(1) }, 'Next (n) ›')) : null,
  make('ol', { class: 'matches scrolls', tabindex: 0 },
    matches.slice(0, 200).map(matchButton))];
}

/** The form stays as it is while its matches change. */
function searchPanel() {
  const form = document.querySelector('form.search') || searchForm();
  return [form, ...matchList()];
}

// --- What the server knows ----------------------------------------------------------

/** The ranks that a verdict names, its circle, and who waits for whom. */
function readVerdict(reply) {
  const verdicts = reply.lines.filter((one) => one.type === 'verdict')
    .flatMap((one) => one.verdicts);
  const edges = verdicts.flatMap((one) => (one.waits || []).flatMap((wait) =>
    (wait.requests || []).filter((asked) => asked.peer >= 0)
      .map((asked) => [wait.rank, asked.peer])));
  const cycle = verdicts.flatMap((one) => one.cycle || []);
  cycle.forEach((rank, i) => edges.push([rank, cycle[(i + 1) % cycle.length]]));
  const unique = [...new Map(edges.map((edge) => [edge.join(), edge])).values()];
  return { verdicts, cycle: cycle.length > 1 ? cycle : [],
    edges: unique, ranks: [...new Set(verdicts.flatMap((one) => one.ranks || []))] };
}

/** Asks why the run stands, so that the diagram shows it. */
export async function fetchVerdict() {
  found.verdict = readVerdict(await request('verdict'));
  touch('verdict');
}

const rowOfRank = (rank) => run.rows.find((row) => row.rank === rank);

function chooseRank(record) {
  const row = rowOfRank(record.rank);
  if (row && lineOf(row.row) >= 0) selectNearest(row.row, view.to);
}

const verdictText = (verdict) => [
  make('p', { class: 'sentence' }, verdict.text),
  make('ul', {}, (verdict.waits || []).map((wait) =>
    make('li', {}, `rank ${wait.rank} ${wait.text}`))),
  ...(verdict.hints || []).map((hint) => note(hint)),
];

async function waitsPanel() {
  const [waits] = await Promise.all([request('waits', { top: 20 }), fetchVerdict()]);
  const verdict = found.verdict;
  return [verdict.edges.length ? waitGraph(verdict.edges, verdict.cycle, WIDTH) : null,
  verdict.verdicts.length ? verdict.verdicts.map(verdictText) :
    note('No rank waits forever.'),
  waits.seen ? note(`Of ${waits.seen}.`) : null,
  tableOf('Longest waits',
    ['rank', 'waited_ns', 'caused_ns', 'critical_ns', 'computed_ns'], waits.ranks,
    chooseRank),
  make('ol', {}, waits.causes.map((cause) =>
    make('li', {}, `${duration(cause.ns)}: ${cause.text}`)))];
}

/** Shows a collective operation, with some of what is around it. */
function showInstance({ first, last, end }) {
  const isTime = view.axis === 'time';
  const [begin, until] = isTime ? [first[2], end] : [first[3], last[3] + 2];
  const margin = Math.max(until - begin, isTime ? 1000 : 8) / 2;
  set({ instances: true });
  setWindow(begin - margin, until + margin);
  if (last[1]) select(last, false);
}

/** The operations of the window; a click on one moves the diagram there. */
function instanceList({ instances, count: all, complete }) {
  const placed = instances.filter((one) => isPlaced(one.first) && isPlaced(one.last));
  if (!placed.length) return note('None in the window.');
  return [make('h3', {}, complete ? 'In the window, most costly first' :
    `The ${count(instances.length)} most costly of ${count(all)} in the window`),
  make('ol', { class: 'instances' }, placed.map((one) => make('li', {},
    make('button', { class: 'link', onclick: () => showInstance(one) },
      duration(one.first[2])), ' ' + instanceWords(one).join(', '))))];
}

async function collectivesPanel() {
  const reply = await request('collectives', { ...windowOf(0), limit: 50 });
  const { operations, late } = reply;
  if (!operations.length) return [note('No collective operations yet.')];
  const blame = ['rank', 'caused_ns', 'own_ns', 'waited_ns'];
  const where = late.map((one) =>
    make('li', {}, `rank ${one.rank}: ${one.operation} at ${one.line || '?'}`));
  const sums = ['operation', 'calls', 'waited_ns'];
  return [tableOf('Collective operations', sums, operations),
    late.length ? tableOf('Who delays them', blame, late, chooseRank) : null,
    make('ul', {}, where), instanceList(reply)];
}

let measure = 'messages';

async function matrixPanel() {
  const reply = await request('matrix', { ...windowOf(0), rows: listRows() });
  const choose = make('select', { 'aria-label': 'measure', onchange: (event) => {
    measure = event.target.value;
    refresh();
  } }, ['messages', 'bytes', 'late'].map((name) =>
    make('option', { value: name, selected: name === measure }, name)));
  if (!reply.messages.length) return [note('No messages in the window.')];
  return [make('p', {}, 'Senders down, receivers across: ', choose),
    ...matrixChart(reply, measure, WIDTH, (i) => nameOf(shownRows()[i]))];
}

async function profilePanel() {
  const wanted = windowOf(0);
  const columns = Math.max(1, Math.min(WIDTH, wanted.to - wanted.from));
  const reply = await request('profile', { ...wanted, columns, rows: listRows() });
  return profileChart(reply, WIDTH);
}

/** Nodes of a tree in preorder, with their depth; roots may differ between operations. */
function orderNodes(nodes) {
  const byMember = new Map(nodes.map((node) => [node.member, node]));
  const children = new Set(nodes.flatMap((node) =>
    node.children.map((child) => child.member)));
  const ordered = new Map();
  const walk = (node, depth) => {
    if (!node || ordered.has(node)) return;
    ordered.set(node, depth);
    for (const child of node.children) walk(byMember.get(child.member), depth + 1);
  };
  nodes.filter((node) => !children.has(node.member)).forEach((node) => walk(node, 0));
  nodes.forEach((node) => walk(node, 0));
  return [...ordered].map(([node, depth]) =>
    ({ ...node, depth, node: 'rank ' + node.rank }));
}

const NODE_COLUMNS = ['node', 'wait_ns', 'up_ns', 'down_ns', 'count', 'host'];

async function treesPanel() {
  const { lines, text } = await request('trees');
  const nodes = lines.filter((line) => line.type === 'node');
  if (!nodes.length) return [note(text)];
  const trees = new Map();
  for (const node of nodes) {
    const name = `${node.operation} on ${node.communicator || 'a communicator'}, ` +
      `tree ${node.version}`;
    const key = [node.key, name].join();
    if (!trees.has(key)) trees.set(key, { name, nodes: [] });
    trees.get(key).nodes.push(node);
  }
  return [note('Medians, of the nodes that have children: the wait for them, the way ' +
    'up and the way down.'), ...[...trees.values()].map((tree) =>
    tableOf(tree.name, NODE_COLUMNS, orderNodes(tree.nodes), chooseRank))];
}

/* Those without anything are left out. */
const STAGE_COLUMNS = ['kind', 'label', 'elements', 'host', 'tuples', 'time_ns',
  'own_cpu_ns', 'lost', 'bytes', 'late', 'failures', 'silent'];

async function scopePanel() {
  const { stages } = await request('scope');
  if (!stages.length)
    return [note(run.kind === 'archive' ? 'An archive is read without a scope.' :
      'The scope that has read this run is closed.')];
  const columns = STAGE_COLUMNS.filter((name) => stages.some((stage) => stage[name]));
  return [tableOf('The scope that reads this run', columns, stages),
    stages.some((stage) => stage.lost) ? null : note('It has lost nothing.')];
}

// --- All of them --------------------------------------------------------------------

const PANELS = {
  event: { title: 'Event', make: eventPanel,
    on: ['event', 'cone', 'measured', 'measure', 'cones'] },
  search: { title: 'Search', make: searchPanel, on: ['matches'] },
  waits: { title: 'Waits', make: waitsPanel, on: ['changes'] },
  collectives: { title: 'Collectives', make: collectivesPanel,
    on: ['changes', 'from', 'to', 'axis'] },
  matrix: { title: 'Matrix', make: matrixPanel,
    on: ['changes', 'from', 'to', 'axis', 'rows', 'colours'] },
  profile: { title: 'Profile', make: profilePanel,
    on: ['changes', 'from', 'to', 'axis', 'rows', 'colours'] },
  trees: { title: 'Trees', make: treesPanel, on: ['changes'] },
  scope: { title: 'Scope', make: scopePanel, on: ['changes'] },
};

let timer = 0;
let shown = null;

async function refresh() {
  timer = 0;
  const name = PANELS[view.panel] ? view.panel : 'event';
  try {
    const content = await PANELS[name].make();
    if (name === view.panel) fill(body, content);
  } catch (error) {
    if (name === view.panel) fill(body, make('p', { class: 'error' }, error.message));
  }
  touch('panel-shown');
}

function showTabs() {
  for (const tab of document.querySelectorAll('[role=tab]')) {
    const isShown = tab.dataset.panel === view.panel;
    tab.setAttribute('aria-selected', String(isShown));
    tab.tabIndex = isShown ? 0 : -1;
  }
}

function walkTabs(event) {
  const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!way) return;
  const names = Object.keys(PANELS);
  const next = names[(names.indexOf(view.panel) + way + names.length) % names.length];
  set({ panel: next });
  document.getElementById('tab-' + next).focus();
}

function onChange(names) {
  if (names.has('panel')) showTabs();
  const panel = PANELS[view.panel] || PANELS.event;
  if (shown !== view.panel || names.has('colours')) {
    shown = view.panel;
    clearTimeout(timer);
    refresh();
  } else if (panel.on.some((name) => names.has(name)) && run.known) {
    const isLocal = panel.make === eventPanel || panel.make === searchPanel;
    if (isLocal) refresh();
    else if (!timer) timer = setTimeout(refresh, REFRESH_MS / (run.live ? 1 : 4));
  }
}

/** Makes the tabs and keeps the panel as it should be. */
export function startPanels() {
  const tabs = document.getElementById('tabs');
  tabs.addEventListener('keydown', walkTabs);
  for (const [name, panel] of Object.entries(PANELS))
    tabs.append(make('button', { role: 'tab', id: 'tab-' + name, 'data-panel': name,
      'aria-controls': 'panel', onclick: () => set({ panel: name }) }, panel.title));
  const names = Object.values(PANELS).flatMap((panel) => panel.on);
  listen(['panel', ...new Set(names)], onChange);
  listen(['search', 'by'], searchAnew);
  listen(['changes'], searchAgain);
}
