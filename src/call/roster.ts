// The calls of this process: those waiting for their media socket and those that have it.

import type { CallPlan } from './plan.ts';
import type { CallSession } from './session.ts';

/** Calls that may wait for their media at once; more than any process can carry. */
const PENDING_MAX = 5_000;

export class Roster {
  readonly #pending = new Map<string, CallPlan>();
  readonly #sessions = new Map<string, CallSession>();

  get activeCalls(): number {
    return this.#sessions.size;
  }

  get pendingCalls(): number {
    return this.#pending.size;
  }

  sessions(): CallSession[] {
    return [...this.#sessions.values()];
  }

  session(runId: string): CallSession | undefined {
    return this.#sessions.get(runId);
  }

  /** False if too many wait already. */
  expect(plan: CallPlan): boolean {
    if (this.#pending.size >= PENDING_MAX) return false;
    this.#pending.set(plan.run.id, plan);
    return true;
  }

  /** The plan that waits for `runId`; it waits no longer. */
  take(runId: string): CallPlan | undefined {
    const plan = this.#pending.get(runId);
    this.#pending.delete(runId);
    return plan;
  }

  waits(runId: string): boolean {
    return this.#pending.has(runId);
  }

  enter(session: CallSession): void {
    this.#sessions.set(session.plan.run.id, session);
  }

  leave(runId: string): void {
    this.#sessions.delete(runId);
  }
}
