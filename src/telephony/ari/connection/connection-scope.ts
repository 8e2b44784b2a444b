// Which channels and bridges at a PBX are this process's to answer and to end: neither those that a member may have, nor
// those of living processes that are no members, such as those of the gateway that had the connection before.

import type { Log } from '../../../log.ts';
import type { CallsElsewhere } from '../../provider/pbx.ts';
import { type ChannelIds, processTag } from '../rest/channel-ids.ts';
import type { MemberRouting } from './member-routing.ts';

/** Interval of looks at what is elsewhere while calls were left alone for it: their gateway may be dead, and its callers
 *  wait from the moment when it is declared so. */
const ELSEWHERE_MS = 2_000;
/** Looks from one reconciliation to the next although nobody has died: a call elsewhere may have left parts behind. */
const LOOKS_MAX = 4;
/** Pause after a reconciliation that left channels alone because somebody did not answer. */
const SILENT_MS = 2_000;

export interface ConnectionScopeOptions {
  ids: ChannelIds;
  /** Whether another process has the connection. */
  isShare: boolean;
  routing: MemberRouting | undefined;
  /** Undefined: nothing is elsewhere. */
  elsewhere: (() => Promise<CallsElsewhere>) | undefined;
  log: Log;
}

export class ConnectionScope {
  readonly #options: ConnectionScopeOptions;
  #callIds: ReadonlySet<string> = new Set();
  #tags: ReadonlySet<string> = new Set();
  /** Whether it is known what is elsewhere. */
  #isKnown = true;
  /** Looks since the last reconciliation. */
  #looks = 0;

  constructor(options: ConnectionScopeOptions) {
    this.#options = options;
  }

  /** Looks up what is elsewhere, for a reconciliation. Never rejects: without an answer all that may be elsewhere is left
   *  alone. */
  async refresh(): Promise<void> {
    this.#looks = 0;
    await this.#look();
  }

  /** Whether the calls are to be compared again with those of the PBX: a process has died whose calls were left alone, or
   *  enough time has passed. Never rejects. */
  async isDue(): Promise<boolean> {
    const before = this.#tags;
    this.#looks += 1;
    await this.#look();
    const hasDied = [...before].some((tag) => !this.#tags.has(tag));
    return hasDied || !this.#isKnown || this.#looks >= LOOKS_MAX;
  }

  async #look(): Promise<void> {
    const { elsewhere, log } = this.#options;
    if (elsewhere === undefined) return;
    try {
      const { processes, callIds } = await elsewhere();
      this.#callIds = new Set(callIds);
      this.#tags = new Set(processes.map(processTag));
      this.#isKnown = true;
      this.#options.routing?.settle({
        isLiving: (tag) => this.#tags.has(tag),
        isCall: (id) => this.#callIds.has(id),
      });
    } catch (error) {
      log.warn({ err: error }, 'calls of other gateways not looked up');
      this.#isKnown = false;
    }
  }

  isOurs(id: string): boolean {
    const { ids, isShare, routing } = this.#options;
    if (ids.tagOf(id) === ids.tag) return true;
    if (isShare || this.isElsewhere(id)) return false;
    return routing?.isOurs(id) ?? true;
  }

  /** Whether the channel or bridge is, or may be, that of a living process that is no member. */
  isElsewhere(id: string): boolean {
    const tag = this.#options.ids.tagOf(id);
    if (tag === this.#options.ids.tag) return false;
    return !this.#isKnown || this.#callIds.has(id) || (tag !== undefined && this.#tags.has(tag));
  }

  /** Pause to the next reconciliation over the same link; undefined: none is needed. */
  get pauseMs(): number | undefined {
    const { routing } = this.#options;
    return !this.#isKnown || routing?.isSettled === false ? SILENT_MS : undefined;
  }

  /** Pause to the next `isDue`; undefined: nothing was left alone. */
  get lookMs(): number | undefined {
    const { routing } = this.#options;
    const isOutOfReach = (id: string): boolean => routing?.reaches(id) !== true;
    const isAwaited = routing?.hasLost === true || [...this.#callIds].some(isOutOfReach);
    return isAwaited ? ELSEWHERE_MS : undefined;
  }
}
