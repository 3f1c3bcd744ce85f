// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// api.js - requests to the server, and its stream of changes.
import { answer, isSaved } from './offline.js';

const TOKEN = 'eventspace-token';
const STREAM = 'eventspace-stream';
const RETRY_MS = [1000, 2000, 5000, 10000];
const TOO_MANY = 429;

let underway = 0;

/** Requests that have no reply yet. */
export const pending = () => underway;

/** Moves a token from the address to this tab's memory, so that no link carries it. */
export function takeToken() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  if (!parameters.has('token')) return;
  sessionStorage.setItem(TOKEN, parameters.get('token'));
  parameters.delete('token');
  history.replaceState(null, '', location.pathname + '#' + parameters);
}

function headers() {
  const token = sessionStorage.getItem(TOKEN);
  return token ? { 'X-EventSpace-Token': token } : {};
}

async function refusal(reply) {
  const words = {
    401: 'the server needs its token: open the address that it printed',
    429: 'too many pages follow this run: close one of them',
  };
  let text = words[reply.status];
  try {
    text = (await reply.json()).error || text;
  } catch {
    // The status says enough.
  }
  const error = new Error(text || `the server answered ${reply.status}`);
  error.status = reply.status;
  return error;
}

function address(path, parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters || {}))
    if (value !== undefined && value !== null && value !== '') query.set(name, value);
  const text = query.toString();
  return '/api/' + path + (text ? '?' + text : '');
}

/** The lines of a window: cells, and of groups their spread. */
function decode(buffer) {
  const head = new DataView(buffer);
  if (head.getUint32(0, true) !== 0x31575345) throw new Error('not a window');
  const [columns, count, flags] = [4, 8, 12].map((at) => head.getUint32(at, true));
  const lines = [];
  for (let i = 0, at = 32; i < count; i++) {
    const cells = new Uint32Array(buffer, at + 8, columns);
    at += 8 + 4 * columns;
    const spread = flags & 1 ? new Uint8Array(buffer, at, 4 * columns) : null;
    at += flags & 1 ? 4 * columns : 0;
    lines.push({ cells, spread });
  }
  return lines;
}

async function get(path, parameters, signal) {
  underway++;
  try {
    if (isSaved) return await answer(path, parameters);
    const reply = await fetch(address(path, parameters),
      { headers: headers(), signal });
    if (!reply.ok) throw await refusal(reply);
    return await (path === 'window' ? decode(await reply.arrayBuffer()) :
      path === 'export' ? reply.blob() : reply.json());
  } finally {
    underway--;
  }
}

/** The reply to /api/PATH: JSON, the lines of a window, or a picture. */
export const request = get;

/**
 * Requests of which only the newest reply counts: what this returns asks as `request`
 * does, and cancels the one before, whose promise then never settles.
 */
export function newest() {
  let last = null;
  return async (path, parameters) => {
    if (last) last.abort();
    const mine = new AbortController();
    last = mine;
    try {
      const reply = await get(path, parameters, mine.signal);
      if (last === mine) return reply;
    } catch (error) {
      if (last === mine) throw error;
    }
    return new Promise(() => {});
  };
}

/**
 * Calls `work` again and again, but one at a time: of what is wanted meanwhile only the
 * last is done.  So a run that changes faster than it is asked is shown all the same.
 */
export function inTurn(work) {
  let isRunning = false;
  let isWanted = false;
  return async () => {
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    while (isWanted) {
      isWanted = false;
      await work();
    }
    isRunning = false;
  };
}

async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\n');
    rest = parts.pop();
    yield* parts;
  }
}

async function readStream(tell) {
  const reply = await fetch('/api/stream', { headers: headers() });
  if (!reply.ok) throw await refusal(reply);
  for await (const line of lines(reply.body))
    if (line.startsWith('data:')) tell({ change: JSON.parse(line.slice(5)) });
}

/** Where no stream is left the run is asked: what a stream tells is in its reply. */
async function readOrAsk(tell) {
  try {
    await readStream(tell);
  } catch (error) {
    if (error.status !== TOO_MANY) throw error;
    tell({ change: await get('run'), error: `updated once a second: ${error.message}` });
  }
}

/** Follows the run for ever, unless `isOver()`. */
async function keepReading(tell, isOver) {
  for (let tries = 0; !isOver(); tries++) {
    try {
      await readOrAsk((news) => {
        tries = 0;
        tell(news);
      });
    } catch (error) {
      tell({ error: `no live updates: ${error.message}` });
    }
    const wait = RETRY_MS[Math.min(tries, RETRY_MS.length - 1)];
    if (!isOver()) await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

/**
 * Calls `onNews` with { change, error }: what has changed, and what is wrong with the
 * stream, where there is such.  All tabs of a browser share the stream of one of them,
 * since connections are few; another server, whose token differs, is followed apart.
 */
export function followChanges(onNews, isOver) {
  const name = [STREAM, sessionStorage.getItem(TOKEN)].join('-');
  const channel = new BroadcastChannel(name);
  channel.onmessage = (message) => onNews(message.data);
  const read = () => keepReading((news) => {
    channel.postMessage(news);
    onNews(news);
  }, isOver);
  if (navigator.locks) navigator.locks.request(name, read);
  else read();
}
