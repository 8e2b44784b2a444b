// Registry of this process's calls by state: ringing, waiting for media, in admission, with media.

import type { UnconnectedCall, UnconnectedCallList } from '../end/closing/unconnected-calls.ts';
import type { CallPlan } from '../start/setup/call-plan.ts';
import type { CallSession } from './session.ts';

/** Calls that may wait for their media at once; more than any process can carry. */
const PENDING_MAX = 5_000;

export class CallRegistry implements UnconnectedCallList {
  /** Calls that ring. At most as many as the organizations' limits allow. */
  readonly #dialled = new Map<string, UnconnectedCall>();
  readonly #pending = new Map<string, CallPlan>();
  readonly #entering = new Set<string>();
  readonly #sessions = new Map<string, CallSession>();
  /** Called for each call whose media have come: its session closes its run. */
  onActivated: ((runId: string) => void) | undefined;
  /** Called for each call whose media have broken off at a provider that keeps it and does not ask. */
  onLost: ((runId: string) => void) | undefined;

  get activeCalls(): number {
    return this.#sessions.size;
  }

  get pendingCalls(): number {
    return this.#dialled.size + this.#pending.size + this.#entering.size;
  }

  sessions(): CallSession[] {
    return [...this.#sessions.values()];
  }

  session(runId: string): CallSession | undefined {
    return this.#sessions.get(runId);
  }

  /** Calls that ring or wait for their media. */
  unconnected(): UnconnectedCall[] {
    return [...this.#dialled.values(), ...this.#pending.values()];
  }

  /** Whether this process has the run's call. */
  has(runId: string): boolean {
    return this.#dialled.has(runId) || this.#pending.has(runId) || this.connected(runId);
  }

  /** Adds a call that is being placed: it counts until it is answered or dropped. */
  addRinging(call: UnconnectedCall): void {
    this.#dialled.set(call.run.id, call);
  }

  /** Adds a call that waits for its media. Returns false if too many wait already. */
  addPrepared(plan: CallPlan): boolean {
    if (this.#pending.size >= PENDING_MAX) return false;
    this.#dialled.delete(plan.run.id);
    this.#pending.set(plan.run.id, plan);
    return true;
  }

  /** Whether the run's plan is ready and waits for its media. */
  isPrepared(runId: string): boolean {
    return this.#pending.has(runId);
  }

  /** The plan that waits for `runId`. From then until `activate` or `reject` the call is in admission. */
  admit(runId: string): CallPlan | undefined {
    const plan = this.#pending.get(runId);
    if (plan === undefined) return undefined;
    this.#pending.delete(runId);
    this.#entering.add(runId);
    return plan;
  }

  reject(runId: string): void {
    this.#entering.delete(runId);
  }

  activate(session: CallSession): void {
    const { id } = session.plan.run;
    this.#entering.delete(id);
    this.#sessions.set(id, session);
    this.onActivated?.(id);
  }

  remove(runId: string): void {
    this.#sessions.delete(runId);
  }

  /** Removes a call whose media will not come any more. */
  removeUnconnected(runId: string): void {
    this.#dialled.delete(runId);
    this.#pending.delete(runId);
  }

  /** Whether the call has media or is in admission. */
  connected(runId: string): boolean {
    return this.#sessions.has(runId) || this.#entering.has(runId);
  }
}
