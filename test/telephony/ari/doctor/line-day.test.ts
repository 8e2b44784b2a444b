// A day of the line watch over a simulated Asterisk, on a virtual clock: the schedule of the gateway, the test calls, the
// verdicts. Sound lines raise nothing in 24 hours; each of fifteen faults is named within two intervals.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LineWatcher } from '../../../../src/call/examination/line-watch.ts';
import { registry } from '../../../../src/metrics/metrics.ts';
import type { LineFaultCode } from '../../../../src/model/line-fault.ts';
import type { LineSettings } from '../../../../src/model/line-watch.ts';
import { systemRandom } from '../../../../src/std/random.ts';
import { ariProvider } from '../../../../src/telephony/ari/provider.ts';
import type { PbxConnection, PbxState } from '../../../../src/telephony/provider/pbx.ts';
import type { PbxProvider } from '../../../../src/telephony/provider/provider.ts';
import { type FakeAsterisk, startAsterisk } from '../../../fakes/asterisk/fake-asterisk.ts';
import type { FakeClock } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { countedStore } from '../../../store/counted-store.ts';
import { withStore } from '../../../store/engines.ts';
import { APP, PUBLIC_URL } from './doctor-harness.ts';
import { ECHO, lineFaultCases, NUMBER, pbxOfLines, settingsOf } from './line-faults.ts';

const STEP_MS = 20;
const IDLE_MS = 1_000;
/** Turns of the event loop in which what is on its way over loopback arrives. */
const TURNS = 4;
const MINUTE_MS = 60_000;
const INTERVAL_MINUTES = 30;
const DAY_MS = 24 * 60 * MINUTE_MS;

const at = withStore();

/** A gateway that watches lines, and the PBX that it watches. */
class Watched {
  readonly clock: FakeClock;
  readonly provider: PbxProvider;
  asterisk!: FakeAsterisk;
  watcher: LineWatcher | undefined;
  connection: PbxConnection | undefined;
  configurationId = '';
  /** Test calls that are under way: time passes in steps of frames while there are any. */
  #working = 0;
  readonly #store = countedStore(at.store);
  #isClosed = false;
  agentsStarted = 0;

  constructor(clock: FakeClock) {
    this.clock = clock;
    this.provider = ariProvider.create({ clock, random: systemRandom });
  }

  async open(lines: readonly LineSettings[]): Promise<void> {
    this.asterisk = await startAsterisk({ clock: this.clock, ...pbxOfLines() });
    const { organizationId } = at.owner;
    const credentials = {
      ari_endpoint: this.asterisk.url,
      app_name: 'gw',
      app_password: 'gwsecret',
      stasis_app_name: APP,
      dial_template: 'PJSIP/{number}@trunk',
    };
    const { id } = await at.store.telephony.createConfiguration(organizationId, {
      name: 'pbx',
      provider: 'ari',
      isDefaultOutbound: false,
      credentials,
      accountId: APP,
      secretFields: [],
    });
    this.configurationId = id;
    const lease = { leaseMs: 2 * DAY_MS, takesExpired: true, max: 10 };
    await at.store.leases.claim({ providers: ['ari'], ...lease });
    for (const line of lines) {
      await at.store.lines.create({ organizationId, configurationId: id }, line, 0);
    }
    const { log } = quietLog();
    const listener = {
      onState: (_: PbxState) => undefined,
      onInbound: () => {
        this.agentsStarted += 1;
      },
      onEarlyMedia: () => undefined,
      onAnswered: () => undefined,
      onStatus: () => undefined,
    };
    this.connection = this.provider.pbx.connect(
      { configurationId: id, credentials },
      { listener, log },
    );
    await this.pass(2_000);
    this.watcher = new LineWatcher({
      store: this.#store.store,
      pbxProviders: ['ari'],
      takesCalls: () => true,
      test: async (line, configuration, signal) => {
        this.#working += 1;
        try {
          const account = {
            organizationId,
            configurationId: id,
            credentials: configuration.credentials,
          };
          return await this.provider.pbx.testLine(
            account,
            { line, publicUrl: PUBLIC_URL, log },
            signal,
          );
        } finally {
          this.#working -= 1;
        }
      },
      clock: this.clock,
      random: systemRandom,
      log,
    });
    this.watcher.start();
  }

  /** Lets time pass: by frames while a call is tested, by seconds else, and not at all while the store is asked. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; ) {
      for (let turn = 0; turn < TURNS; turn++) {
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
      if (this.#store.isAsked) continue;
      const isBusy = this.#working > 0 || this.asterisk.channels.length > 0;
      const stepMs = isBusy || this.watcher === undefined ? STEP_MS : IDLE_MS;
      this.clock.advance(stepMs);
      passed += stepMs;
    }
  }

  async states() {
    const lines = await at.store.lines.list(this.configurationId);
    return lines.map(({ kind, state, fault }) => ({ kind, state, fault }));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const stopping = this.watcher?.stop();
    for (let nth = 0; nth < 50; nth++) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      this.clock.advance(200);
    }
    await stopping;
    await this.connection?.close();
    await this.asterisk?.stop();
  }
}

let watched: Watched;
beforeEach(() => {
  watched = new Watched(at.clock);
});
afterEach(() => watched.close());

const every = (of: Pick<LineSettings, 'kind' | 'number'>): LineSettings => ({
  ...settingsOf(of),
  intervalMinutes: INTERVAL_MINUTES,
});

async function shownFaults(): Promise<string[]> {
  const text = await registry.metrics();
  return [...text.matchAll(/^patchbay_line_fault\{.*fault="(\w+)"/gm)].map(([, code = '']) => code);
}

describe('the line watch', () => {
  it('raises nothing in 24 hours of sound lines, and tests each as often as it should', async () => {
    const kinds = [
      { kind: 'pbx', number: null },
      { kind: 'number', number: NUMBER },
      { kind: 'trunk', number: ECHO },
    ] as const;
    await watched.open(kinds.map(every));
    for (let hour = 0; hour < 24; hour++) {
      await watched.pass(DAY_MS / 24);
      expect(await watched.states()).toEqual(
        kinds.map(({ kind }) => ({ kind, state: 'ok', fault: null })),
      );
      expect(await shownFaults()).toEqual([]);
    }
    for (const { id } of await at.store.lines.list(watched.configurationId)) {
      const tests = await at.store.lines.results(watched.configurationId, id);
      expect(tests.filter(({ fault }) => fault !== null)).toEqual([]);
      expect(tests.length).toBeGreaterThanOrEqual(40);
      expect(tests.length).toBeLessThanOrEqual(54);
    }
    expect(watched.agentsStarted).toBe(0);
    expect(watched.asterisk.complaints).toEqual([]);
  }, 600_000);

  it('names at least 14 of 15 faults within two intervals', async () => {
    const fifteen: LineFaultCode[] = [
      'pbx_unreachable',
      'pbx_login',
      'number_unrouted',
      'wrong_number',
      'answered_elsewhere',
      'ended_early',
      'media_failed',
      'one_way_to_caller',
      'one_way_from_caller',
      'codec',
      'loss',
      'late_audio',
      'keys',
      'trunk_dead',
      'trunk_refused',
    ];
    const missed: string[] = [];
    for (const code of fifteen) {
      const fault = lineFaultCases.find((each) => each.code === code);
      if (fault === undefined) throw new Error(`no fault ${code}`);
      watched = new Watched(at.clock);
      await watched.open([every(fault.line)]);
      await watched.pass(5 * MINUTE_MS);
      expect(await watched.states()).toMatchObject([{ state: 'ok' }]);
      await fault.inject(watched.asterisk);
      await watched.pass(2 * INTERVAL_MINUTES * MINUTE_MS);
      const [line] = await watched.states();
      const shown = await shownFaults();
      if (line?.state !== 'failing' || line.fault !== code || shown.join() !== code) {
        missed.push(`${code}: ${line?.state} ${line?.fault}, shown ${shown.join()}`);
      }
      await watched.close();
      await at.sql('delete from telephony_configurations');
    }
    expect(missed).toEqual([]);
  }, 600_000);
});
