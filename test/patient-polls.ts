// Polls give up after 10 s instead of one: a busy machine is late, and a test that passes does not wait.

import { vi } from 'vitest';

const TIMEOUT_MS = 10_000;

const { waitFor } = vi;
vi.waitFor = (callback, options = {}) =>
  waitFor(callback, typeof options === 'number' ? options : { timeout: TIMEOUT_MS, ...options });
