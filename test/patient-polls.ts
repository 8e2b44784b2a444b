// Polls give up after 10 s instead of one: a busy machine is late, and a test that passes does not wait. They look every
// 5 ms instead of every 50: what a test waits for comes within a few milliseconds.

import { vi } from 'vitest';

const TIMEOUT_MS = 10_000;
const INTERVAL_MS = 5;

const { waitFor } = vi;
vi.waitFor = (callback, options = {}) =>
  waitFor(callback, {
    timeout: TIMEOUT_MS,
    interval: INTERVAL_MS,
    ...(typeof options === 'number' ? { timeout: options } : options),
  });
