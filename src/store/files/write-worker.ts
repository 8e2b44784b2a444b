// The worker of `WriteThread`: carries out writes one after another. It polls for new ones, so that not every write has
// to wake it; only a file that is being finished wakes it.

import { writeSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { lowerThreadPriority } from '../../runtime/thread-priority.ts';
import { systemClock } from '../../std/clock.ts';
import {
  RING_STATE,
  type SharedWrites,
  type WriteAt,
  WriteRingBuffer,
} from './write-ring-buffer.ts';

/** Pause between two polls. A killed process loses the bytes that it queued in between. */
const LOOK_MS = 50;
/** Pause between two progress messages to the event loop while files are being finished. */
const TELL_MS = 20;

const ring = new WriteRingBuffer(workerData as SharedWrites);
const write: WriteAt = (descriptor, bytes, position) =>
  writeSync(descriptor, bytes, 0, bytes.length, position);
let toldAtMs = 0;
lowerThreadPriority();

for (;;) {
  const seen = Atomics.load(ring.state, RING_STATE.wakeUps);
  while (ring.dequeue(write)) {
    if (systemClock.monotonicMs() - toldAtMs > TELL_MS) tell();
  }
  tell();
  const isIdle = Atomics.load(ring.state, RING_STATE.openFiles) === 0;
  Atomics.wait(ring.state, RING_STATE.wakeUps, seen, isIdle ? undefined : LOOK_MS);
}

function tell(): void {
  toldAtMs = systemClock.monotonicMs();
  if (Atomics.load(ring.state, RING_STATE.closings) > 0) parentPort?.postMessage(undefined);
}
