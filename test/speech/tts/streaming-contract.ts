// What every synthesiser must do whose utterances share websockets. Each service runs it against its fake.

import { once } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import type { ServiceMeans } from '../../../src/speech/service/service-means.ts';
import type { TextToSpeech } from '../../../src/speech/tts/tts.ts';
import type { Clock } from '../../../src/std/clock.ts';
import { MS_PER_CHARACTER, type VoiceFaults } from '../../fakes/call/scripted-voice.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { serviceMeans } from '../../fakes/services/service-means.ts';
import type { Refusal, ServiceConnection } from '../../fakes/services/service-socket.ts';
import { HeardUtterance } from './heard-utterance.ts';

export interface FakeService {
  url: string;
  connections: ServiceConnection[];
  accepted(): number;
  faults: VoiceFaults & { refuse?: Refusal };
  /** What the client did against the protocol. */
  errors: string[];
  /** Close codes of the client. */
  closes: number[];
  close(): Promise<void>;
}

export interface Setup {
  service: string;
  start(options: {
    clock: Clock;
    key: string;
    faults: FakeService['faults'];
  }): Promise<FakeService>;
  create(options: { url: string; key: string; means: ServiceMeans }): TextToSpeech;
  /** Whether the service gives times of words; estimates count. */
  hasWords: boolean;
  /** Connections for 20 concurrent calls. Default: one for each. */
  connectionsMax?: number;
}

const KEY = 'key-1234567890';
const CLAUSE = 'Your table is booked,';
const REST = 'for eight on Friday. See you then!';

export function streamingContract({
  service,
  start,
  create,
  hasWords,
  connectionsMax = 20,
}: Setup): void {
  const opened: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const each of opened.splice(0).reverse()) await each.close();
  });

  async function setUp(faults: FakeService['faults'] = {}, key = KEY) {
    const clock = new FakeClock();
    const fake = await start({ clock, key: KEY, faults });
    const tts = create({ url: fake.url.replace('ws', 'http'), key, means: serviceMeans(clock) });
    opened.push(fake, tts);
    const say = (...texts: string[]) => {
      const heard = new HeardUtterance();
      const stream = tts.stream?.(undefined, heard);
      if (stream === undefined) throw new Error('no streams');
      for (const [at, text] of texts.entries()) {
        stream.push(text);
        if (at === 0) stream.flush();
      }
      return { heard, stream };
    };
    return { clock, fake, tts, say };
  }

  const ended = async (heard: HeardUtterance) => {
    await heard.over.promise;
    expect(heard.ends).toHaveLength(1);
  };
  const msOf = (...texts: string[]) =>
    texts.reduce((ms, text) => ms + (text.length + 1) * MS_PER_CHARACTER, 0);

  describe(`${service}, as a service with utterances`, () => {
    it('speaks an utterance whose text comes in pieces, with its words and its bill', async () => {
      const { fake, say } = await setUp();
      const { heard, stream } = say(CLAUSE, REST);
      stream.end();
      await ended(heard);
      expect(heard.end).toBe('done');
      expect(heard.ms).toBe(msOf(CLAUSE, REST));
      expect(heard.characters).toBe(CLAUSE.length + REST.length);
      expect(fake.errors).toEqual([]);
      if (!hasWords) return;
      expect(heard.words.map(({ word }) => word)).toEqual(`${CLAUSE} ${REST}`.split(' '));
      for (const [at, { startMs, endMs }] of heard.words.entries()) {
        expect(startMs).toBeGreaterThanOrEqual(heard.words[at - 1]?.endMs ?? 0);
        expect(endMs).toBeLessThanOrEqual(heard.ms);
      }
    });

    it('begins to speak at the flush, before the text is complete', async () => {
      const { say } = await setUp();
      const { heard, stream } = say(CLAUSE);
      await vi.waitFor(() => expect(heard.ms).toBe(msOf(CLAUSE)));
      expect(heard.ends).toEqual([]);
      stream.push(REST);
      stream.end();
      await ended(heard);
      expect(heard.ms).toBe(msOf(CLAUSE, REST));
    });

    it('gives nothing more after a cancel, and the next utterance is whole', async () => {
      const { clock, fake, say } = await setUp({ goesOnAfterCancel: true, speed: 20 });
      const first = say(CLAUSE, REST);
      await first.heard.begun.promise;
      first.stream.cancel();
      const { samples } = first.heard;
      const second = say('Good bye then, and thanks.');
      second.stream.end();
      while (second.heard.ends.length === 0) await clock.advanceAsync(20);
      expect(second.heard.ms).toBe(msOf('Good bye then, and thanks.'));
      expect(first.heard.samples).toBe(samples);
      expect(first.heard.ends).toEqual([]);
      expect(fake.errors).toEqual([]);
    });

    it('needs no message of the service to cancel what was never said', async () => {
      const { clock, fake, say, tts } = await setUp();
      say().stream.cancel();
      const { heard, stream } = say();
      stream.end();
      clock.advance(0);
      expect(heard.end).toBe('done');
      stream.push('Too late.');
      stream.cancel();
      const { samples } = await synthesizeOne(tts, 'Still here.');
      expect(samples).toBe(msOf('Still here.') * 8);
      expect(fake.connections).toHaveLength(1);
    });

    it('sends no piece that cannot be spoken', async () => {
      const { say, fake } = await setUp();
      const { heard, stream } = say('Hello there,', ' … ', '?!', '', 'good  \n morning.');
      stream.end();
      await ended(heard);
      expect(heard.ms).toBe(msOf('Hello there,', 'good morning.'));
      expect(fake.errors).toEqual([]);
    });

    it('speaks the audio of one utterance alike whatever the size of its messages', async () => {
      const { say } = await setUp({ pieceBytes: 333 });
      const { heard, stream } = say(CLAUSE, REST);
      stream.end();
      await ended(heard);
      expect(heard.ms).toBe(msOf(CLAUSE, REST));
    });

    it('reports an utterance without audio as a fault', async () => {
      const { say } = await setUp({ doneWithoutAudio: true });
      const { heard, stream } = say(CLAUSE);
      stream.end();
      await ended(heard);
      expect(heard.end).toMatchObject({ kind: 'overload', service });
    });

    it.each([
      [1006, 'network'],
      [1011, 'network'],
      [1013, 'overload'],
    ] as const)('reports a connection that closes with %d in a word as %s', async (code, kind) => {
      const { say, fake } = await setUp({
        failsAfterMs: 500,
        failure: code === 1006 ? 1001 : code,
      });
      const { heard, stream } = say(CLAUSE, REST);
      stream.end();
      await ended(heard);
      expect(heard.end).toMatchObject({ kind, service, isRepeatable: true });
      expect(heard.ms).toBe(500);
      fake.faults = {};
      const next = say(CLAUSE);
      next.stream.end();
      await ended(next.heard);
      expect(next.heard.end).toBe('done');
    });

    it('begins no utterance on a connection that stopped answering', async () => {
      const { clock, say, fake } = await setUp({ failsAfterMs: 500, failure: 'silent' });
      const { heard, stream } = say(CLAUSE, REST);
      await vi.waitFor(() => expect(heard.ms).toBe(500));
      clock.advance(2_500);
      stream.cancel();
      fake.faults = {};
      const next = say(CLAUSE);
      next.stream.end();
      await ended(next.heard);
      expect(next.heard.end).toBe('done');
      expect(fake.connections).toHaveLength(2);
    });

    it('reports a refused key as permanent, and the key nowhere', async () => {
      const { say } = await setUp({}, 'wrong-key-987654');
      const { heard, stream } = say(CLAUSE);
      stream.end();
      await ended(heard);
      const fault = heard.end as ServiceFault;
      expect(fault).toMatchObject({ kind: 'auth', isPermanent: true });
      expect(JSON.stringify([fault.facts, fault.detail, fault.message])).not.toContain('wrong-key');
    });

    it('bills no text that never reached the service', async () => {
      const { fake, say } = await setUp({ refuse: { status: 503, body: '{"message":"no"}' } });
      const refused = say(CLAUSE, REST);
      refused.stream.end();
      await ended(refused.heard);
      expect(refused.heard.characters).toBe(0);
      fake.faults = {};
      const next = say(CLAUSE);
      next.stream.end();
      await ended(next.heard);
      expect(next.heard.characters).toBe(CLAUSE.length);
    });

    it.each([
      [402, 'quota'],
      [429, 'rate'],
      [503, 'overload'],
    ] as const)('reports status %d of the connection as %s', async (status, kind) => {
      const { say } = await setUp({ refuse: { status, body: '{"message":"no"}' } });
      const { heard } = say(CLAUSE);
      await ended(heard);
      expect(heard.end).toMatchObject({ kind });
    });

    it('ends an utterance whose connection is not ready in time', async () => {
      const { clock, fake, say } = await setUp();
      await fake.close();
      const { heard } = say(CLAUSE);
      clock.advance(2_000);
      await ended(heard);
      expect(['timeout', 'network']).toContain((heard.end as ServiceFault).kind);
    });

    it('keeps its connection for the next utterance and closes it when it is idle for long', async () => {
      const { clock, fake, tts } = await setUp();
      for (let i = 0; i < 5; i++) await synthesizeOne(tts, `Number ${i}.`);
      expect(fake.connections).toHaveLength(1);
      const [connection] = fake.connections;
      await passTime(clock, connection, 100_000);
      expect(connection?.socket.readyState).toBe(1);
      await passTime(clock, connection, 500_000);
      await vi.waitFor(() => expect(fake.connections[0]?.socket.readyState).toBe(3));
      expect(fake.closes).toEqual([1000]);
      expect(clock.timers).toBe(0);
    });

    it('connects while the phone rings, and opens its session with the first text', async () => {
      const { fake, tts } = await setUp();
      tts.prepare?.();
      await vi.waitFor(() => expect(fake.accepted()).toBe(1));
      expect(fake.connections).toEqual([]);
      await synthesizeOne(tts, 'Hello.');
      expect([fake.connections.length, fake.accepted()]).toEqual([1, 1]);
      // An idle one is there.
      tts.prepare?.();
      await synthesizeOne(tts, 'Hello.');
      expect([fake.connections.length, fake.accepted()]).toEqual([1, 1]);
    });

    it('speaks 200 utterances of 20 calls, some of them interrupted, none with the audio of another', async () => {
      // Time stands still: a busy machine misses no deadline.
      const { fake, say } = await setUp();
      const call = async (nth: number): Promise<void> => {
        for (let turn = 0; turn < 10; turn++) {
          const text = `Call ${nth}, turn ${turn}${', and so on'.repeat((nth + turn) % 5)}.`;
          const { heard, stream } = say('One moment please,', text);
          if ((nth + turn) % 4 === 0) {
            await heard.begun.promise;
            stream.cancel();
            continue;
          }
          stream.end();
          await heard.over.promise;
          expect(heard.ends).toEqual(['done']);
          expect(heard.ms).toBe(msOf('One moment please,', text));
          if (hasWords) expect(heard.words.at(-1)?.word).toBe(text.split(' ').at(-1));
        }
      };
      await Promise.all(Array.from({ length: 20 }, (_, nth) => call(nth)));
      expect(fake.errors).toEqual([]);
      expect(fake.connections.length).toBeLessThanOrEqual(connectionsMax);
    });
  });
}

async function synthesizeOne(tts: TextToSpeech, text: string) {
  const heard = new HeardUtterance();
  await tts.synthesize({ text, voice: undefined }, heard, new AbortController().signal);
  return heard;
}

/** Time in which pings are answered. */
async function passTime(clock: FakeClock, connection: ServiceConnection | undefined, ms: number) {
  const socket = connection?.socket;
  if (socket === undefined) throw new Error('no connection');
  const closed = once(socket, 'close');
  for (let passed = 0; passed < ms && socket.readyState === 1; passed += 5_000) {
    clock.advance(5_000);
    for (let nth = 0; nth < 2 && socket.readyState === 1; nth++) {
      const pong = new AbortController();
      socket.ping();
      await Promise.race([once(socket, 'pong', { signal: pong.signal }), closed]);
      pong.abort();
    }
  }
}
