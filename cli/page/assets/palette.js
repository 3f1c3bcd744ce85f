// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// palette.js - the colours of the page for canvases; they stand in page.css.
import { touch } from './state.js';

/** In the order of the states of a thread. */
export const STATES = ['computing', 'send', 'receive', 'collective', 'poll', 'other',
  'lost'];
const OTHERS = ['ground', 'stripe', 'text', 'faint', 'grid', 'line', 'past', 'future',
  'chosen', 'match', 'message', 'late', 'stuck', 'panel'];
const HATCHED = new Set(['receive', 'lost']);

/** Colours by name. */
export const colours = {};
const patterns = {};

/** `number` as pixels of a canvas hold it. */
function pixel(text) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
  return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
}

/** Per state its pixel, and the one of its hatching. */
export const pixels = { plain: [], hatch: [], middle: 0, mark: 0, text: 0 };

/** Whether a pixel lies on a line of the hatching. */
export const isHatched = (x, y) => (x + y) % 6 < 2;

function hatching(name) {
  const tile = new OffscreenCanvas(6, 6);
  const context = tile.getContext('2d');
  for (let x = 0; x < 6; x++)
    for (let y = 0; y < 6; y++) {
      context.fillStyle = colours[name + (isHatched(x, y) ? '-hatch' : '')];
      context.fillRect(x, y, 1, 1);
    }
  return context.createPattern(tile, 'repeat');
}

/** What a state is filled with. */
export const fillOf = (name) => patterns[name] || colours[name];

/** Reads the colours again; they depend on what the user prefers. */
function readColours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue('--' + name).trim();
  for (const name of [...STATES, ...OTHERS]) colours[name] = read(name);
  for (const name of HATCHED) {
    colours[name + '-hatch'] = read(name + '-hatch');
    patterns[name] = hatching(name);
  }
  STATES.forEach((name, i) => {
    pixels.plain[i] = pixel(colours[name]);
    pixels.hatch[i] = pixel(colours[name + '-hatch'] || colours[name]);
  });
  pixels.middle = pixel(colours.line);
  pixels.mark = pixel(colours.stuck);
  pixels.text = pixel(colours.text);
}

/** Keeps them as the user prefers. */
export function watchColours() {
  readColours();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    readColours();
    touch('colours');
  });
}
