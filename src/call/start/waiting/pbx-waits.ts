// Callers at PBXs who wait for a place. The PBX plays to them; the process that has the call looks for a place every
// second. If it dies, the one that finds the channel goes on, with the caller's place in the line.

import { codeOf } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import type { TelephonyConfiguration } from '../../../model/telephony.ts';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import { pause } from '../../../std/pause.ts';
import type { PbxConnection } from '../../../telephony/provider/pbx.ts';
import type { UnconnectedCall } from '../../end/closing/unconnected-calls.ts';
import { RING_S } from '../setup/callback-urls.ts';
import { patienceOf, type WaitingLine, type WaitStep } from '../waiting-line.ts';

/** Interval of the looks for a place. */
const LOOK_MS = 1_000;
/** Deadline of the requests to the PBX for one look; a transfer waits for the destination's answer besides. */
const REQUEST_MS_MAX = 10_000;

export interface PbxWaitsDeps {
  line: WaitingLine;
  clock: Clock;
  log: Log;
}

export interface PbxWait {
  call: UnconnectedCall & { configuration: TelephonyConfiguration };
  callId: string;
  connection: () => PbxConnection;
}

export class PbxWaits {
  readonly #deps: PbxWaitsDeps;
  /** Aborted at the end of each call, by configuration and call. */
  readonly #waiting = new Map<string, AbortController>();

  constructor(deps: PbxWaitsDeps) {
    this.#deps = deps;
  }

  isWaiting(runId: string): Promise<boolean> {
    return this.#deps.line.isWaiting(runId);
  }

  /** Keeps the caller on the line. True once the call has a place; false if it ends without one, or waits here already.
   *  Never rejects. */
  async wait(wait: PbxWait): Promise<boolean> {
    const key = keyOf(wait.call.configuration.id, wait.callId);
    if (this.#waiting.has(key)) return false;
    const gone = new AbortController();
    this.#waiting.set(key, gone);
    try {
      return await this.#untilServed(wait, gone.signal);
    } finally {
      this.#waiting.delete(key);
    }
  }

  /** The call is over. */
  over(configurationId: string, callId: string): void {
    this.#waiting.get(keyOf(configurationId, callId))?.abort();
  }

  /** Leaves the callers to the next process; the PBX keeps playing to them. */
  stop(): void {
    for (const gone of this.#waiting.values()) gone.abort();
  }

  async #untilServed(wait: PbxWait, gone: AbortSignal): Promise<boolean> {
    const { line, clock, log } = this.#deps;
    const { id: runId } = wait.call.run;
    while (!gone.aborted) {
      let looks = 1;
      try {
        const step = await line.step(runId);
        if (step.kind === 'admitted') return true;
        if (step.kind === 'gone' || gone.aborted) return false;
        if (await this.#take(wait, step, gone)) return false;
        looks = step.kind === 'wait' ? patienceOf(step.ahead) : 1;
      } catch (error) {
        if (codeOf(error) === 'PBX_CALL_GONE') return false;
        log.warn({ err: error, runId }, 'waiting call not looked after');
      }
      await pause(clock, looks * LOOK_MS, gone).catch(() => undefined);
    }
    return false;
  }

  /** Carries out a step. True if the wait is over. */
  async #take(
    { call, callId, connection }: PbxWait,
    step: Exclude<WaitStep, { kind: 'admitted' | 'gone' }>,
    gone: AbortSignal,
  ): Promise<boolean> {
    const { line, clock } = this.#deps;
    const { run } = call;
    if (step.kind === 'timeout') {
      await line.end(call, { outcome: 'timeout', by: 'gateway' });
      return true;
    }
    if (step.kind === 'forward') {
      await this.#forward({ call, callId, connection }, step.to, gone);
      return true;
    }
    const { policy, isAnnounced, isAnswered } = step;
    const deadline = deadlineSignal(clock, REQUEST_MS_MAX, 'hold', gone);
    try {
      const sound = {
        isAnnounced,
        announcement: policy.announcement_audio,
        music: policy.waiting_audio,
      };
      await connection().hold(callId, sound, deadline.signal);
    } finally {
      deadline.done();
    }
    if (isAnnounced || !isAnswered) await line.noteAnswered(run.id, { isAnnounced });
    return false;
  }

  async #forward(
    { call, callId, connection }: PbxWait,
    to: string,
    gone: AbortSignal,
  ): Promise<void> {
    const { line, clock, log } = this.#deps;
    const ms = RING_S * 1_000 + REQUEST_MS_MAX;
    const deadline = deadlineSignal(clock, ms, 'forward the call', gone);
    const callerId = String(call.run.initialContext['called_number'] ?? '');
    try {
      await connection().forward(callId, { to, callerId, ringS: RING_S }, deadline.signal);
      await line.end(call, { outcome: 'forwarded', by: 'provider' });
    } catch (error) {
      log.warn({ err: error, runId: call.run.id }, 'call not sent to its fallback number');
      await line.end(call, { outcome: 'timeout', by: 'gateway' });
    } finally {
      deadline.done();
    }
  }
}

function keyOf(configurationId: string, callId: string): string {
  return `${configurationId} ${callId}`;
}
