// How many calls one core carries, by the load tool (test/load): a gateway of its own, pinned to one core,
// and far ends on another. Every call has Twilio framing both ways, voice activity detection, an event log
// and a recording; the agent speaks the whole time.

import { measureLoad } from '../../load/figures/measure.ts';
import { startOwnGateway } from '../../load/load-target.ts';

const CALLS_PER_SECOND = 20;
/** What the gateway is ahead on Twilio's lines with the frame that is due. */
const LEAD_MS = 80;

/** One measurement with a fresh gateway. Linux with `taskset` only. */
export async function benchCalls(calls: number, seconds: number): Promise<Record<string, number>> {
  const target = await startOwnGateway({
    scenario: 'talk',
    workers: undefined,
    cores: '0',
    isSignUpOpen: false,
  });
  try {
    const figures = await measureLoad(target, {
      scenario: 'talk',
      calls,
      seconds,
      callsPerSecond: CALLS_PER_SECOND,
      interruptionsPerSecond: 0,
      hostilePerSecond: 0,
      leadMs: LEAD_MS,
      cores: '1',
    });
    return Object.fromEntries(
      Object.entries(figures).filter(
        (entry): entry is [string, number] => typeof entry[1] === 'number',
      ),
    );
  } finally {
    await target.stop();
  }
}
