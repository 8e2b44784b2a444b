// Places the test calls of watched lines that are due on this gateway, keeps what they find, and exports the state of the
// lines. A test call gives way to calls of customers, to other examinations and to the end of the process.

import { codeOf } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { lineTests, showLines } from '../../metrics/line-metrics.ts';
import { lineFaultOf } from '../../model/line-fault.ts';
import type { LineTest, LineWatch } from '../../model/line-watch.ts';
import type { ConfiguredProviderName } from '../../model/provider.ts';
import type { TelephonyConfiguration } from '../../model/telephony.ts';
import { ClaimLoop } from '../../std/claim-loop.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import type { Store } from '../../store/store.ts';

/** Interval of the look for lines that are due. */
const LOOK_MS = 15_000;
/** Test calls of this gateway at a time, and of one configuration. */
const AT_ONCE = 2;
/** Wait after a test call that was not made. */
const POSTPONED_MS = 60_000;
/** Wait from a failed test call to the one that decides: the same fault has time to pass. */
export const RETEST_MS = 60_000;
/** Part of the interval by which a test call may come sooner or later. */
const JITTER_SHARE = 0.1;
const JITTER_STEPS = 1_000;
/** Longest test call with its end, for the place that it takes. */
const TEST_MS_MAX = 90_000;
/** Longest wait for the first test call of a line. */
const FIRST_MS_MAX = 60_000;

export interface LineWatchDeps {
  store: Pick<Store, 'lines' | 'places' | 'telephony' | 'runs' | 'accounts'>;
  /** Providers whose test calls are made by the gateway that holds the connection. */
  pbxProviders: readonly ConfiguredProviderName[];
  /** Places one test call. Undefined: none was made, and the line is tested later. */
  test: (
    line: LineWatch,
    configuration: TelephonyConfiguration,
    signal: AbortSignal,
  ) => Promise<LineTest | undefined>;
  /** Whether this gateway takes calls: it has room, and does not stop. */
  takesCalls: () => boolean;
  clock: Clock;
  random: Random;
  log: Log;
}

export class LineWatcher {
  readonly #deps: LineWatchDeps;
  readonly #loop: ClaimLoop<LineWatch>;

  constructor(deps: LineWatchDeps) {
    const { clock, random, log, store } = deps;
    this.#deps = deps;
    this.#loop = new ClaimLoop({
      name: 'line watch',
      clock,
      random,
      log,
      everyMs: LOOK_MS,
      slots: AT_ONCE,
      slotsPerOwner: 1,
      claim: (limit, except) => this.#claim(limit, except),
      ownerOf: ({ configurationId }) => configurationId,
      isFollowed: () => false,
      perform: (line, signal) => this.#perform(line, signal),
      giveBack: ({ id }) => store.lines.postpone(id, 0),
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** Claims no more lines, and waits for the test calls in progress, which are ended after seconds. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    showLines([]);
  }

  async #claim(limit: number, except: readonly string[]): Promise<LineWatch[]> {
    const { store, pbxProviders, takesCalls } = this.#deps;
    await this.#show();
    if (!takesCalls()) return [];
    const claimed: LineWatch[] = [];
    while (claimed.length < limit) {
      const busy = [...except, ...claimed.map(({ configurationId }) => configurationId)];
      const factor = this.#jitter();
      const line = await store.lines.claimDue({ pbxProviders, factor, except: busy });
      if (line === undefined) break;
      claimed.push(line);
    }
    return claimed;
  }

  async #perform(line: LineWatch, signal: AbortSignal): Promise<void> {
    const { store, log } = this.#deps;
    const { id: lineId, kind, configurationId } = line;
    const test = (await this.#hasRoom(line)) ? await this.#testAlone(line, signal) : undefined;
    if (test === undefined || signal.aborted) {
      lineTests.inc({ kind, result: 'skipped' });
      await store.lines.postpone(lineId, POSTPONED_MS);
      return;
    }
    lineTests.inc({ kind, result: test.fault === null ? 'ok' : 'fault' });
    const after = await store.lines.record(lineId, test, RETEST_MS);
    if (after !== undefined && after.state !== line.state) {
      const facts = { lineId, kind, configurationId, state: after.state, fault: test.fault };
      const remedy = test.fault === null ? undefined : lineFaultOf(test.fault).remedy;
      log[after.state === 'failing' ? 'warn' : 'info']({ ...facts, remedy }, 'line tested');
    }
    await this.#show();
  }

  /** Whether calls of customers leave a place on the line, and in the organization. */
  async #hasRoom({ organizationId, configurationId, places }: LineWatch): Promise<boolean> {
    const { store } = this.#deps;
    if (places !== null && (await store.lines.placesTaken(configurationId)) >= places) return false;
    const limit = await store.accounts.concurrentCallLimit(organizationId);
    const { total } = await store.runs.activeCalls(organizationId, { limit: 1, offset: 0 });
    return total < limit;
  }

  /** Tests the line while no other examination of its configuration runs, in any gateway. */
  async #testAlone(line: LineWatch, signal: AbortSignal): Promise<LineTest | undefined> {
    const { store, test, log } = this.#deps;
    const { organizationId, configurationId } = line;
    const configuration = await store.telephony.getConfiguration(organizationId, configurationId);
    if (configuration === undefined) return undefined; // Deleted meanwhile, with its lines.
    const giveBack = await store.places.take(`examination ${configurationId}`, {
      max: 1,
      ms: TEST_MS_MAX,
    });
    if (giveBack === undefined) return undefined;
    const work = test(line, configuration, signal).finally(giveBack);
    let leave = (): void => undefined;
    const left = new Promise<undefined>((resolve) => {
      leave = () => resolve(undefined);
      signal.addEventListener('abort', leave, { once: true });
    });
    try {
      // A call in another process goes on after the end of this one, which does not wait for it.
      return await Promise.race([work, left]);
    } catch (error) {
      // It says nothing of the line: a worker that restarts, a database that is away.
      log.warn({ err: error, code: codeOf(error), lineId: line.id }, 'test call not made');
      return undefined;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  async #show(): Promise<void> {
    const lines = await this.#deps.store.lines.exported();
    showLines(
      lines.map(({ id, kind, state, fault, lastTest }) => ({
        id,
        kind,
        isOk: state === 'ok',
        fault:
          state === 'failing' && fault !== null
            ? { code: fault, remedy: lineFaultOf(fault).remedy }
            : undefined,
        delayMs: lastTest?.delayMs ?? null,
        lossShare: lastTest?.lossShare ?? null,
      })),
    );
  }

  #jitter(): number {
    const step = this.#deps.random.integer(JITTER_STEPS + 1) / JITTER_STEPS;
    return 1 - JITTER_SHARE + 2 * JITTER_SHARE * step;
  }
}

/** Wait for the first test call of a line that was added or changed. */
export function firstTestMs(random: Random): number {
  return random.integer(FIRST_MS_MAX);
}
