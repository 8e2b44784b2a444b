// Open consoles beside a measurement, in a process of their own.

import { ATTACKED_MS_MAX, Histogram } from '../figures/histogram.ts';
import { serveOrders } from '../order-process.ts';
import { type ConsoleAddress, type ConsoleCounts, OpenConsole } from './open-console.ts';

/** Null: nothing was asked. */
export interface ConsoleFigures {
  consoles: number;
  consoleBoardMessages: number;
  consoleBoardBytes: number;
  consoleCallItems: number;
  consoleRequests: number;
  consoleFailed: number;
  consoleBroken: number;
  consoleP50Ms: number | null;
  consoleP99Ms: number | null;
}

/** `measure`: what was counted is dropped. */
export type ConsoleOrder =
  | { order: 'open'; address: ConsoleAddress; consoles: number }
  | { order: 'measure' }
  | { order: 'report' };

const stop = new AbortController();
let consoles = 0;
let counts = newCounts();

serveOrders(carryOut);

async function carryOut(task: ConsoleOrder): Promise<ConsoleFigures> {
  if (task.order === 'open') {
    consoles = task.consoles;
    const { signal } = stop;
    for (let place = 0; place < consoles; place++) {
      await OpenConsole.open(task.address, place, { counts: () => counts, signal });
    }
  } else if (task.order === 'measure') counts = newCounts();
  return figuresNow();
}

function newCounts(): ConsoleCounts {
  return {
    boardMessages: 0,
    boardBytes: 0,
    callItems: 0,
    requests: 0,
    failed: 0,
    broken: 0,
    durations: new Histogram(ATTACKED_MS_MAX),
  };
}

function figuresNow(): ConsoleFigures {
  return {
    consoles,
    consoleBoardMessages: counts.boardMessages,
    consoleBoardBytes: counts.boardBytes,
    consoleCallItems: counts.callItems,
    consoleRequests: counts.requests,
    consoleFailed: counts.failed,
    consoleBroken: counts.broken,
    consoleP50Ms: counts.durations.at(0.5),
    consoleP99Ms: counts.durations.at(0.99),
  };
}
