// What every recogniser must do whose service is a websocket, and what it makes of each fault of the service. A service is
// one row: how its fake starts, how its wire spells a fault, and what must come of it.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { CircuitBreaker } from '../../../../src/speech/service/service-circuit-breaker.ts';
import type { FaultKind, ServiceFault } from '../../../../src/speech/service/service-fault.ts';
import type { ServiceMeans, ServiceUsage } from '../../../../src/speech/service/service-means.ts';
import type { SpeechToText } from '../../../../src/speech/stt/stt.ts';
import { createSttFallback } from '../../../../src/speech/stt/stt-fallback.ts';
import { wordOf } from '../../../fakes/call/spoken-words.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { RecognizingService } from '../../../fakes/services/recognizing-service.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';
import type {
  SttFaults,
  SttServer,
  SttServerOptions,
  SttSession,
} from '../../../fakes/services/stt-server.ts';
import { RecognizerRig } from '../recognizer-rig.ts';

/** They are given, or missing, or waited for in vain. */
type Outcome = 'given' | 'missing' | 'timeout';

export interface ServiceRow {
  name: string;
  /** As its faults and its bill name it. */
  service: string;
  start(options: SttServerOptions): Promise<SttServer>;
  create(given: { url: string; key: string }, means: ServiceMeans): SpeechToText;
  /** What it bills. Default: audio. */
  bills?: 'audio' | 'session';
  /** The model that the bill names. */
  model?: string;
  /** Silences behind 200 turns before their words are asked for, in turn. Default: 100 to 700. */
  pausesMs?: readonly number[];
  /** Silence by which the service ends a turn by itself. Default: 400. */
  endMs?: number;
  /** Words in the longest of 200 turns. Default: 6. */
  wordsMost?: number;
  /** What it is when final words come so; of each way that its fake knows. */
  finals: Partial<Record<'never' | 'late' | 'twice' | 'empty', Outcome>>;
  /** Finals that come out of their order are put into it. Default: true. */
  isOrdering?: boolean;
  /** Interim words, where each second result lacks or changes a word. Default: as of most services. */
  interims?: { shrink: readonly string[]; revise: readonly string[] };
  /** Default: true. */
  hasInterimWords?: boolean;
  /** Default: true. */
  hasTimes?: boolean;
  /** What its fault says of a refused key. */
  refusedKey?: string;
  /** The body of a refusal with these words. Undefined: its words are not read. */
  refusal?: (words: string) => string;
  /** Close codes, and what they are reported as. */
  closes: readonly (readonly [code: number, kind: FaultKind])[];
  /** Messages that break the protocol. */
  broken: readonly string[];
  /** A message of a later version. Undefined: none can be told from an answer. */
  unknown?: string;
  /** It says when it is ready. */
  isAwaited?: boolean;
}

/** What a service needs that is followed by another one. */
export type FollowedRow = Pick<ServiceRow, 'name' | 'start' | 'create' | 'isAwaited'>;

const KEY = 'key-0123456789';
const SAID = 'w1 w2 w3 w4 w5 w6 w7 w8 w9';

const STATUSES = [
  [400, 'request'],
  [401, 'auth'],
  [402, 'quota'],
  [403, 'forbidden'],
  [429, 'rate'],
  [503, 'overload'],
] as const;

/** What another service makes good. */
const MADE_GOOD: readonly [string, SttFaults][] = [
  ['closes in a word', { close: { atMs: 1_300, code: 1011 } }],
  ['closes in place of the final words', { closeOnFinalize: 1011 }],
  ['refuses the key', { refuse: { status: 401, body: '{}' } }],
  ['breaks its connections', { isReset: true }],
  ['answers the connection late', { connectDelayMs: 5_000 }],
  ['is never ready', { ready: 'never' }],
  ['is ready late', { ready: 'late' }],
  ['says nothing at all', { stallAtMs: 0 }],
  ['says nothing, not even pongs', { muteAtMs: 0 }],
  ['stops in the middle of words', { stallAtMs: 1_500 }],
  ['ends its sessions', { sessionMsMax: 1_500 }],
  ['takes interim words back', { partials: 'shrink' }],
  ['changes interim words', { partials: 'revise' }],
  ['sends what is no message', { send: { atMs: 900, data: '{' } }],
  ['sends a message of 15 MB', { send: { atMs: 900, data: 'x'.repeat(15_000_000) } }],
];

const INTERIMS = {
  shrink: ['w1', 'w1 w2 w3'],
  revise: ['w1', 'w1 revised', 'w1 w2 w3'],
};

interface Given {
  faults?: SttFaults | undefined;
  key?: string;
  withNext?: boolean;
}

/** Connects a call to the fake of a service. All that it opens is closed behind each case. */
function connecting(row: FollowedRow) {
  const opened: { close(): unknown }[] = [];

  afterEach(async () => {
    for (const each of opened.splice(0).reverse()) await each.close();
  });

  return async ({ faults, key = KEY, withNext = false }: Given = {}) => {
    const clock = new FakeClock();
    const ofEach = faults === undefined ? [] : [faults, faults, faults];
    const server = await row.start({ clock, key: KEY, faults: ofEach });
    const stt = row.create({ url: server.url, key }, serviceMeans(clock));
    const next = new RecognizingService({ clock, name: 'next' });
    const services = [stt, next].map((service) => ({
      service,
      circuit: new CircuitBreaker({ clock, job: 'stt', service: service.name }),
    }));
    const used = withNext ? createSttFallback({ services, clock, log: quietLog().log }) : stt;
    const rig = new RecognizerRig(clock, used, { ...OPEN_SPEECH, boost: ['Ada'] });
    opened.push(server, rig.recognizer, stt);
    // A request before the connection takes real time, of which the clock knows nothing.
    await soon(() => {
      const { sessions, refusals, attempts } = server;
      const begun = [sessions, refusals, rig.errors, next.sessions];
      const isDelayed = faults?.connectDelayMs !== undefined && attempts() > 0;
      expect(isDelayed || begun.some(({ length }) => length > 0)).toBe(true);
    });
    await settle();
    return { rig, server, next };
  };
}

const soon = (check: () => void) => vi.waitFor(check, { timeout: 20_000, interval: 1 });

async function faultOf(rig: RecognizerRig): Promise<ServiceFault> {
  await soon(() => expect(rig.errors).toHaveLength(1));
  return rig.fault;
}

export function serviceContract(row: ServiceRow): void {
  const { name, service, pausesMs = [100, 300, 500, 700], endMs = 400, wordsMost = 6 } = row;
  const { isOrdering = true, hasInterimWords = true } = row;

  describe(`${name}, as a service with a websocket`, () => {
    const connect = connecting(row);

    it('recognises two turns, each word once and at its time, and bills them once', async () => {
      const { rig, server } = await connect();
      await rig.silence(400);
      await rig.turn('w1 w2 w3 w4');
      await rig.silence(1_500);
      await rig.turn('w5 w6');
      await rig.silence(1_500);
      expect([rig.text, rig.errors, server.violations]).toEqual(['w1 w2 w3 w4 w5 w6', [], []]);
      if (hasInterimWords) expect(rig.partials[0]).toBe('w1');
      const times = rig.finals.flatMap(({ words }) => words ?? []);
      if (row.hasTimes !== false) {
        expect(times.map(({ startMs }) => startMs)).toEqual([400, 660, 920, 1_180, 3_140, 3_400]);
        expect(times.map(({ endMs }) => endMs)).toEqual([600, 860, 1_120, 1_380, 3_340, 3_600]);
      }
      await rig.pause(2_000);
      rig.recognizer.close();
      rig.recognizer.close();
      const [session] = server.sessions as [SttSession];
      await soon(() => expect(session.closedAt).toBeDefined());
      expect(rig.usage).toMatchObject([
        { job: 'stt', service, unit: 'seconds', source: 'counted' },
      ]);
      const [{ model, amount }] = rig.usage as [ServiceUsage];
      if (row.model !== undefined) expect(model).toBe(row.model);
      const { audioMs, openedAt, closedAt = 0 } = session;
      const billedMs = row.bills === 'session' ? closedAt - openedAt : audioMs;
      expect(Math.abs(amount * 1_000 - billedMs)).toBeLessThan(100);
      expect(server.violations).toEqual([]);
    });

    it('understands 200 turns, each word once', async () => {
      const { rig, server } = await connect();
      const turns = Array.from({ length: 200 }, (_, nth) =>
        Array.from({ length: 1 + (nth % wordsMost) }, (_each, at) => wordOf(nth + at)).join(' '),
      );
      for (const [nth, turn] of turns.entries()) {
        await rig.turn(turn, pausesMs[nth % pausesMs.length]);
        // The demand for final words is behind the audio.
        await rig.silence(100);
      }
      await rig.silence(1_500);
      expect([rig.errors, server.violations]).toEqual([[], []]);
      expect(rig.text).toBe(turns.join(' '));
    });

    it('answers finalize in silence once, with no words', async () => {
      const { rig } = await connect();
      await rig.silence(500);
      rig.recognizer.finalize();
      await rig.silence(2_600);
      expect([rig.finals.map(({ text }) => text), rig.errors]).toEqual([[''], []]);
    });

    it('answers what was asked for before it was connected', async () => {
      const { rig } = await connect({ faults: { connectDelayMs: 2_000 } });
      await rig.turn('w1 w2');
      await rig.silence(1_000);
      expect(rig.finals).toEqual([]);
      await rig.silence(2_500);
      expect([rig.text, rig.errors]).toEqual(['w1 w2', []]);
    });

    const comings = Object.entries(row.finals) as [keyof ServiceRow['finals'], Outcome][];
    it.each(comings)('has no word twice where final words come %s: %s', async (finals, outcome) => {
      const { rig } = await connect({ faults: { finals } });
      await rig.turn('w1 w2');
      await rig.silence(5_000);
      if (outcome === 'timeout') {
        expect([rig.text, rig.errors.length, rig.fault.kind]).toEqual(['', 1, outcome]);
        return;
      }
      expect([rig.text, rig.errors]).toEqual([outcome === 'given' ? 'w1 w2' : '', []]);
      await rig.turn('w3');
      await rig.silence(5_000);
      expect([rig.text, rig.errors]).toEqual([outcome === 'given' ? 'w1 w2 w3' : '', []]);
    });

    it('has every word once where final words come before those in front of them', async () => {
      const { rig, server } = await connect({ faults: { finals: 'swapped' } });
      for (const turn of ['w1', 'w2', 'w3', 'w4']) {
        await rig.turn(turn, endMs);
        await rig.silence(100);
      }
      await rig.silence(4_000);
      expect([rig.errors, server.violations]).toEqual([[], []]);
      const words = rig.text.split(' ');
      expect(isOrdering ? words : words.sort()).toEqual(['w1', 'w2', 'w3', 'w4']);
    });

    it.skipIf(!hasInterimWords).each(['shrink', 'revise'] as const)(
      'has the words that are fixed where interim words %s',
      async (partials) => {
        const { rig, server } = await connect({ faults: { partials } });
        await rig.turn('w1 w2 w3 w4');
        await rig.silence(1_500);
        expect([rig.text, rig.errors, server.violations]).toEqual(['w1 w2 w3 w4', [], []]);
        const seen = (row.interims ?? INTERIMS)[partials];
        expect(rig.partials.slice(0, seen.length)).toEqual(seen);
      },
    );

    it('reports a refused key without the key', async () => {
      const { rig } = await connect({ key: 'wrong-key-98765' });
      const fault = await faultOf(rig);
      expect(fault).toMatchObject({ kind: 'auth', isPermanent: true, service });
      if (row.refusedKey !== undefined) expect(fault.detail).toBe(row.refusedKey);
      expect(JSON.stringify([fault.facts, fault.detail])).not.toContain('wrong-key');
    });

    it.each(STATUSES)('reports a refusal with %d as %s, once', async (status, kind) => {
      const body = row.refusal?.(`no ${KEY}`) ?? '';
      const { rig } = await connect({
        faults: { refuse: { status, body, headers: { 'retry-after': '5' } } },
      });
      const fault = await faultOf(rig);
      expect(fault).toMatchObject({ kind, service });
      if (kind === 'rate') expect(fault.retryAfterMs).toBe(5_000);
      if (row.refusal !== undefined) expect(fault.detail).toBe('no [redacted]');
      rig.recognizer.push(new Int16Array(160));
      rig.recognizer.finalize();
      await rig.pause(5_000);
      expect([rig.errors.length, rig.finals]).toEqual([1, []]);
    });

    it.each(row.closes)('reports a close with %d in a word as %s', async (code, kind) => {
      const { rig } = await connect({ faults: { close: { atMs: 300, code } } });
      await rig.turn('w1 w2 w3');
      expect((await faultOf(rig)).kind).toBe(kind);
      expect([rig.finals, rig.usage.length]).toEqual([[], 1]);
    });

    it('reports a close in place of the final words', async () => {
      const { rig } = await connect({ faults: { closeOnFinalize: 1011 } });
      await rig.turn('w1');
      await rig.silence(1_000);
      expect([rig.fault.kind, rig.finals]).toEqual(['network', []]);
    });

    it('reports a service that stops in the middle of words, though it pongs', async () => {
      const { rig } = await connect({ faults: { stallAtMs: 500 } });
      await rig.turn('w1 w2 w3 w4');
      await rig.silence(3_000);
      expect([rig.fault.kind, rig.errors.length]).toEqual(['timeout', 1]);
    });

    it('reports a connection without traffic', async () => {
      const { rig } = await connect({ faults: { muteAtMs: 100 } });
      await rig.silence(19_000);
      expect(rig.fault).toMatchObject({ kind: 'network', isRepeatable: true });
    });

    it.each(row.broken)('reports what is no message: %s', async (data) => {
      const { rig } = await connect({ faults: { send: { atMs: 100, data } } });
      await rig.turn('w1');
      expect((await faultOf(rig)).kind).toBe('protocol');
    });

    it('goes on after messages that it does not know, and after binary ones', async () => {
      for (const data of [row.unknown, new Uint8Array(400)]) {
        if (data === undefined) continue;
        const { rig } = await connect({ faults: { send: { atMs: 60, data } } });
        await rig.turn('w1 w2');
        await rig.silence(1_500);
        expect([rig.text, rig.errors]).toEqual(['w1 w2', []]);
      }
    });

    it.runIf(row.isAwaited)(
      'waits until the service is ready, and reports one that never is',
      async () => {
        const late = await connect({ faults: { ready: 'late' } });
        await late.rig.turn('w1 w2 w3 w4 w5 w6');
        await late.rig.silence(2_000);
        expect([late.rig.text, late.rig.errors]).toEqual(['w1 w2 w3 w4 w5 w6', []]);
        expect(late.server.violations).toEqual([]);
        const { rig } = await connect({ faults: { ready: 'never' } });
        await rig.turn('w1 w2');
        await rig.silence(3_000);
        expect(rig.fault.kind).toBe('timeout');
      },
    );
  });

  followedServiceContract(row);
}

/** A service behind which there is another one. */
export function followedServiceContract(row: FollowedRow): void {
  describe(`${row.name}, as a service that another one follows`, () => {
    const connect = connecting(row);

    it.each(MADE_GOOD.filter(([, { ready }]) => row.isAwaited === true || ready === undefined))(
      'loses and doubles no word when it %s',
      async (_what, faults) => {
        const { rig, server, next } = await connect({ faults, withNext: true });
        await rig.turn(SAID);
        await rig.silence(9_000);
        await rig.turn('w20 w21');
        await rig.silence(6_000);
        expect([rig.text, rig.errors]).toEqual([`${SAID} w20 w21`, []]);
        expect(server.violations).toEqual([]);
        expect(rig.usage.every(({ amount }) => amount > 0)).toBe(true);
        const isLeft = faults.partials === undefined && faults.ready !== 'late';
        expect(next.sessions.length > 0).toBe(isLeft);
      },
    );
  });
}
