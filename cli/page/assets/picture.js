// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the EventSpace authors
// picture.js - what can be taken away: pictures and exports of the window.
import { request } from './api.js';
import { listRows } from './layout.js';
import { report, windowOf } from './overlays.js';
import { run } from './state.js';

function download(blob, ending) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = (run.name || 'eventspace').replace(/[^\w.-]+/g, '-') + '.' + ending;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Saves the diagram as it is as a PNG. */
export function savePicture() {
  document.getElementById('diagram').toBlob((blob) => download(blob, 'png'));
}

/** Saves the window in another format, as the server writes it. */
export async function saveAs(format) {
  if (format === 'png') {
    savePicture();
    return;
  }
  const { axis, from, to } = windowOf(0);
  try {
    const blob = await request('export', { format, axis, from, to, rows: listRows() });
    download(blob, format === 'chrome' ? 'json' : format);
  } catch (error) {
    report(error);
  }
}
