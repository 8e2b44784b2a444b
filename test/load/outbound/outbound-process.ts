// The provider over which calls are placed beside a measurement, and the client that starts them, in a process of their
// own. The provider accepts every dial at once and notes when it came.

import { startAcceptingTwilio } from '../../fakes/twilio/accepting-twilio.ts';
import { serveOrders } from '../order-process.ts';
import { OpenLoopStarts, type StartFigures, type StartOptions } from './open-loop-starts.ts';

/** A dial as it arrived at the provider. */
export interface Dial {
  to: string;
  /** Milliseconds since 1970. */
  atMs: number;
}

/** `first-dial` is answered when one has come. `report`: starts end. */
export type OutboundOrder =
  | { order: 'serve'; number: string }
  | { order: 'start'; options: StartOptions }
  | { order: 'first-dial' }
  | { order: 'measure' }
  | { order: 'report' };

export interface OutboundAnswer {
  /** Address of the provider. */
  url?: string;
  /** Dials of the measured time. */
  dials?: Dial[];
  seconds?: number;
  starts?: StartFigures;
}

const FIRST_DIAL_MS_MAX = 30_000;

let starts: OpenLoopStarts | undefined;
let dials: Dial[] = [];
let measuredSinceMs = 0;
let isMeasuring = false;
let noteFirst: () => void = () => undefined;
const firstDial = new Promise<void>((resolve) => {
  noteFirst = resolve;
});

serveOrders(carryOut);

async function carryOut(task: OutboundOrder): Promise<OutboundAnswer> {
  switch (task.order) {
    case 'serve':
      return { url: (await startAcceptingTwilio(task.number, note)).url };
    case 'start':
      starts = new OpenLoopStarts(task.options);
      return {};
    case 'first-dial':
      await Promise.race([firstDial, failAfter(FIRST_DIAL_MS_MAX)]);
      return {};
    case 'measure':
      dials = [];
      measuredSinceMs = performance.now();
      isMeasuring = true;
      starts?.measure();
      return {};
    case 'report':
      return report();
  }
}

async function report(): Promise<OutboundAnswer> {
  isMeasuring = false;
  const seconds = (performance.now() - measuredSinceMs) / 1_000;
  const figures = await starts?.finish();
  return { dials, seconds, ...(figures && { starts: figures }) };
}

function note(to: string): void {
  noteFirst();
  if (isMeasuring) dials.push({ to, atMs: performance.timeOrigin + performance.now() });
}

function failAfter(ms: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error('nothing was dialled')), ms).unref();
  });
}
