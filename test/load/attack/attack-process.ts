// The attacker of a measurement, with the honest clients beside it, in a process of its own: 50 hostile requests a
// second whatever the gateway answers, 16 honest clients, five new calls a second.

import { Pool } from 'undici';
import { serveOrders } from '../order-process.ts';
import type { Account } from '../wires/wire.ts';
import {
  type HonestFigures,
  newHonestFigures,
  pathLines,
  runHonestClients,
} from './honest-clients.ts';
import { type Attack, attacks, type HostileRequest } from './hostile-requests.ts';
import { type NewCallFigures, newCallFigures, runNewCalls } from './new-calls.ts';

export interface AttackOptions extends Account {
  url: string;
  /** API key of the organization whose calls are measured. */
  apiKey: string;
  workflowId: string;
  webhookUrl: string;
  to: string;
  series: number;
  hostile: { apiKey: string; workflowId: string; workflowUuid: string };
  hostilePerSecond: number;
}

/** Null: nothing of the kind came to an end. */
export interface AttackFigures {
  hostileRequests: number;
  hostileRefused: number;
  /** Replies of 5xx other than 503. */
  hostileFailed: number;
  /** Closed by the gateway while the body was on its way, or without a reply for 20 s. */
  hostileUnanswered: number;
  honestRequests: number;
  honestFailed: number;
  honestP50Ms: number | null;
  honestP99Ms: number | null;
  honestPaths: string[];
  newCalls: number;
  newCallsFailed: number;
  newCallFailures: string[];
  webhookP50Ms: number | null;
  webhookP99Ms: number | null;
  upgradeP50Ms: number | null;
  upgradeP99Ms: number | null;
}

/** `measure`: what was counted is dropped. `calm`: the hostile requests end, honest clients and new calls go on. */
export type AttackOrder =
  | { order: 'start'; options: AttackOptions }
  | { order: 'measure' }
  | { order: 'report' }
  | { order: 'calm' }
  | { order: 'stop' };

/** Requests without a reply; the attacker waits no longer than a client would. */
const HOSTILE_OPEN_MAX = 200;
const REPLY_MS_MAX = 20_000;
const REFUSAL_STATUS_MAX = 499;
const BUSY = 503;

const stop = new AbortController();
let calm = new AbortController();
let isMeasuring = false;
let hostile = { requests: 0, refused: 0, failed: 0, unanswered: 0 };
const honest: HonestFigures = newHonestFigures();
let calls: NewCallFigures = newCallFigures();
let work: Promise<unknown> = Promise.resolve();

serveOrders(carryOut);

async function carryOut(task: AttackOrder): Promise<AttackFigures> {
  switch (task.order) {
    case 'start':
      start(task.options);
      break;
    case 'measure':
      reset();
      isMeasuring = true;
      break;
    case 'report':
      isMeasuring = false;
      break;
    case 'calm':
      calm.abort();
      break;
    case 'stop':
      isMeasuring = false;
      stop.abort();
      calm.abort();
      await work;
      break;
  }
  return figuresNow();
}

function start(options: AttackOptions): void {
  const { url, apiKey, workflowId } = options;
  const measuring = (): boolean => isMeasuring;
  calm = new AbortController();
  work = Promise.all([
    attack(options, calm.signal),
    runHonestClients(
      { url, apiKey, workflowId, isMeasuring: measuring, figures: honest },
      stop.signal,
    ),
    runNewCalls({ ...options, figures: () => (isMeasuring ? calls : undefined) }, stop.signal),
  ]);
}

async function attack(options: AttackOptions, signal: AbortSignal): Promise<void> {
  const pool = new Pool(options.url, { connections: HOSTILE_OPEN_MAX, pipelining: 1 });
  const list = attacks(options.hostile);
  const send = (request: HostileRequest): Promise<string> =>
    sendHostile(pool, options.hostile.apiKey, request, signal);
  const startMs = performance.now();
  let open = 0;
  for (let index = 0; !signal.aborted; index++) {
    const dueMs = startMs + (index * 1_000) / options.hostilePerSecond;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
    if (open >= HOSTILE_OPEN_MAX) continue;
    open += 1;
    void (list[index % list.length] as Attack)(send)
      .catch(() => undefined) // Counted where it was sent.
      .finally(() => {
        open -= 1;
      });
  }
  await pool.destroy();
}

async function sendHostile(
  pool: Pool,
  apiKey: string,
  { method, path, hasKey, body, contentType }: HostileRequest,
  signal: AbortSignal,
): Promise<string> {
  const counts = isMeasuring;
  if (counts) hostile.requests += 1;
  try {
    const reply = await pool.request({
      method,
      path: path.startsWith('http') ? pathOf(path) : `/api/v1${path}`,
      headers: {
        ...(hasKey ? { 'x-api-key': apiKey } : {}),
        ...(contentType === undefined ? {} : { 'content-type': contentType }),
      },
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(REPLY_MS_MAX)]),
    });
    const text = await reply.body.text();
    const { statusCode: status } = reply;
    if (status < 300) return text;
    if (counts && (status <= REFUSAL_STATUS_MAX || status === BUSY)) hostile.refused += 1;
    else if (counts) hostile.failed += 1;
    throw new Refused(status);
  } catch (error) {
    if (counts && !(error instanceof Refused)) hostile.unanswered += 1;
    throw error;
  }
}

class Refused extends Error {
  constructor(status: number) {
    super(`refused: ${status}`);
  }
}

function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}

function reset(): void {
  hostile = { requests: 0, refused: 0, failed: 0, unanswered: 0 };
  Object.assign(honest, newHonestFigures());
  calls = newCallFigures();
}

function figuresNow(): AttackFigures {
  return {
    hostileRequests: hostile.requests,
    hostileRefused: hostile.refused,
    hostileFailed: hostile.failed,
    hostileUnanswered: hostile.unanswered,
    honestRequests: honest.requests,
    honestFailed: honest.failed,
    honestP50Ms: honest.durations.at(0.5),
    honestP99Ms: honest.durations.at(0.99),
    honestPaths: pathLines(honest),
    newCalls: calls.calls,
    newCallsFailed: calls.failed,
    newCallFailures: calls.failures,
    webhookP50Ms: calls.webhook.at(0.5),
    webhookP99Ms: calls.webhook.at(0.99),
    upgradeP50Ms: calls.upgrade.at(0.5),
    upgradeP99Ms: calls.upgrade.at(0.99),
  };
}
