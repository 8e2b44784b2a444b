// New calls while the API is attacked: how long the webhook's reply and the upgrade of the media connection take, and
// whether the gateway takes the call at all.

import { MediaClient } from '../caller/media-client.ts';
import { ATTACKED_MS_MAX, Histogram } from '../figures/histogram.ts';
import type { Account, MediaTarget } from '../wires/wire.ts';
import { wires } from '../wires/wires.ts';

const EVERY_MS = 200;
/** From the upgrade to the caller's hanging up. */
const CALL_MS = 300;

export interface NewCallFigures {
  calls: number;
  failed: number;
  failures: string[];
  webhook: Histogram;
  upgrade: Histogram;
}

export interface NewCallOptions extends Account {
  webhookUrl: string;
  to: string;
  /** Goes into call ids: no other measurement at this gateway has it. */
  series: number;
  /** Figures of the current measurement; undefined without one. A call counts for the measurement in which it began. */
  figures: () => NewCallFigures | undefined;
}

const FAILURES_KEPT = 5;

export function newCallFigures(): NewCallFigures {
  return {
    calls: 0,
    failed: 0,
    failures: [],
    webhook: new Histogram(ATTACKED_MS_MAX),
    upgrade: new Histogram(ATTACKED_MS_MAX),
  };
}

/** Ends when `signal` is aborted. */
export async function runNewCalls(options: NewCallOptions, signal: AbortSignal): Promise<void> {
  const open = new Set<Promise<void>>();
  for (let index = 0; !signal.aborted; index++) {
    const call = oneCall(options, index).finally(() => open.delete(call));
    open.add(call);
    await sleep(EVERY_MS);
  }
  await Promise.all(open);
}

async function oneCall(options: NewCallOptions, index: number): Promise<void> {
  const { webhookUrl, credentials, to, series } = options;
  const wire = wires[options.provider];
  const callId = wire.callIdOf(series * 2 ** 24 + index);
  const from = `+1556${String(index).padStart(7, '0')}`;
  const figures = options.figures();
  if (figures !== undefined) figures.calls += 1;
  try {
    const ringMs = performance.now();
    const media = await wire.announce({ webhookUrl, credentials, from, to, callId });
    const upgradeMs = performance.now();
    figures?.webhook.add(upgradeMs - ringMs);
    await upgraded(media);
    figures?.upgrade.add(performance.now() - upgradeMs);
  } catch (error) {
    if (figures === undefined) return;
    figures.failed += 1;
    if (figures.failures.length < FAILURES_KEPT) figures.failures.push(String(error));
  }
}

/** Opens the media connection, keeps it a moment and closes it, as a caller who hangs up before saying a word. */
function upgraded(media: MediaTarget): Promise<void> {
  return new Promise((resolve, reject) => {
    const client = new MediaClient(media, {
      onOpen: () => {
        resolve();
        setTimeout(() => client.close(), CALL_MS);
      },
      onText: () => undefined,
      onClose: (reason) => reject(new Error(reason)),
    });
  });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
