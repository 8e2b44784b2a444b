import { afterEach, describe, expect, it, vi } from 'vitest';
import { createEgress } from '../../../../src/egress/egress-rule.ts';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { sttServices } from '../../../../src/model/speech-services/services.ts';
import { createSttService } from '../../../../src/speech/vendors/stt-registry.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import {
  startFakeWyoming,
  type WireEvent,
  type WyomingPeer,
} from '../../../fakes/services/fake-wyoming.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';
import { heardBy, pushMs } from '../../stt/heard.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

type Answer = (peer: WyomingPeer, event: WireEvent) => void;

/** Answers the end of the audio with this text. */
const says =
  (text: string): Answer =>
  (peer, { type }) => {
    if (type === 'audio-stop') peer.send('transcript', { text });
  };

async function call(answer: Answer, settings: object = {}, egress = createEgress()) {
  const server = await startFakeWyoming((peer, event) => answer(peer, event));
  opened.push(server);
  const clock = new FakeClock();
  const row = { provider: 'wyoming', base_url: server.url, ...settings };
  const stt = createSttService(sttServices.wyoming.parse(row), serviceMeans(clock, egress));
  const heard = heardBy();
  const recognizer = stt.open(OPEN_SPEECH, heard);
  opened.push(recognizer);
  return Object.assign(heard, { server, clock, recognizer, stt });
}

type Call = Awaited<ReturnType<typeof call>>;

function utter({ recognizer }: Call, ms: number): void {
  pushMs(recognizer, 700);
  recognizer.speechStarted();
  pushMs(recognizer, ms);
  recognizer.finalize();
}

describe('the Wyoming recogniser', () => {
  it('asks for a transcript of the speech at 16 kHz, on one connection for each utterance', async () => {
    const held = await call(says(' two  tickets '), { model: 'base', language: 'en' });
    utter(held, 1_000);
    await vi.waitFor(() => expect(held.finals).toHaveLength(1));
    utter(held, 260);
    await vi.waitFor(() => expect(held.finals).toHaveLength(2));
    expect(held.finals[0]).toEqual({ text: 'two tickets', confidence: null });
    const [first, second] = held.server.peers;
    const format = { rate: 16_000, width: 2, channels: 1 };
    expect(first?.events[0]).toMatchObject({
      type: 'transcribe',
      data: { name: 'base', language: 'en' },
    });
    expect(first?.events[1]).toMatchObject({ type: 'audio-start', data: format });
    expect(first?.events.at(-1)?.type).toBe('audio-stop');
    const bytes = (peer?: WyomingPeer) =>
      peer?.events.reduce((sum, { payloadBytes }) => sum + payloadBytes, 0);
    // 500 ms before the voice, and the speech.
    expect([bytes(first), bytes(second)]).toEqual([1_500 * 32, 760 * 32]);
    expect(held.usage.map(({ amount }) => amount)).toEqual([1.5, 0.76]);
    expect([held.faults, held.clock.timers]).toEqual([[], 0]);
  });

  it('sends nothing between utterances, and asks nothing about silence', async () => {
    const held = await call(says('x'));
    pushMs(held.recognizer, 5_000);
    held.recognizer.finalize();
    expect(held.finals).toEqual([]);
    held.clock.advance(1);
    expect(held.finals).toEqual([{ text: '', confidence: null }]);
    expect(held.server.peers).toEqual([]);
  });

  it('passes on words that come while the caller speaks', async () => {
    const held = await call(
      (peer, { type }) => {
        if (type === 'audio-start') {
          peer.send('transcript-start', {});
          peer.send('transcript-chunk', { text: 'two ' });
          peer.send('transcript-chunk', { text: 'tickets' });
        }
        if (type === 'audio-stop') peer.send('transcript-stop', {});
      },
      { streaming: true },
    );
    expect(held.stt.capabilities.interimWords).toBe(true);
    held.recognizer.speechStarted();
    pushMs(held.recognizer, 300);
    await vi.waitFor(() => expect(held.partials).toEqual(['two', 'two tickets']));
    held.recognizer.finalize();
    await vi.waitFor(() => expect(held.finals.map(({ text }) => text)).toEqual(['two tickets']));
  });

  it('goes on with a new connection where the server found an end by itself', async () => {
    let sent = 0;
    const held = await call((peer, { type }) => {
      if (type === 'audio-chunk' && sent++ === 1) peer.send('transcript', { text: 'one two' });
      if (type === 'audio-stop') peer.send('transcript', { text: 'three' });
    });
    held.recognizer.speechStarted();
    pushMs(held.recognizer, 400);
    await vi.waitFor(() => expect(held.server.peers).toHaveLength(2));
    pushMs(held.recognizer, 400);
    held.recognizer.finalize();
    await vi.waitFor(() => expect(held.finals.map(({ text }) => text)).toEqual(['one two three']));
  });

  it('gives the words of utterances in their order', async () => {
    const ends: WyomingPeer[] = [];
    const held = await call((peer, { type }) => {
      if (type === 'audio-stop') ends.push(peer);
    });
    utter(held, 200);
    utter(held, 200);
    await vi.waitFor(() => expect(ends).toHaveLength(2));
    ends[1]?.send('transcript', { text: 'second' });
    await new Promise((resolve) => ends[1]?.socket.once('close', resolve));
    expect(held.finals).toEqual([]);
    ends[0]?.send('transcript', { text: 'first' });
    await vi.waitFor(() =>
      expect(held.finals.map(({ text }) => text)).toEqual(['first', 'second']),
    );
  });

  it('reports an error of the server, in its words', async () => {
    const held = await call((peer, { type }) => {
      if (type === 'transcribe') peer.send('error', { text: 'model not loaded', code: 'X' });
    });
    utter(held, 200);
    await vi.waitFor(() => expect(held.faults).toHaveLength(1));
    expect(held.faults[0]).toMatchObject({
      kind: 'overload',
      detail: 'model not loaded',
      service: 'wyoming',
    });
    utter(held, 200);
    expect([held.finals, held.faults.length, held.clock.timers]).toEqual([[], 1, 0]);
  });

  it('reports words that do not come within 10 s', async () => {
    const held = await call(() => undefined);
    utter(held, 200);
    await vi.waitFor(() => expect(held.server.peers[0]?.events.at(-1)?.type).toBe('audio-stop'));
    held.clock.advance(10_000);
    expect(held.faults.map(({ kind }) => kind)).toEqual(['timeout']);
  });

  it.each([
    ['a server that ends the connection', 'network', ''],
    ['a server that speaks another protocol', 'protocol', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ])('reports %s', async (_, kind, bytes) => {
    const held = await call((peer, { type }) => {
      if (type === 'transcribe') peer.socket.end(bytes);
    });
    utter(held, 200);
    await vi.waitFor(() => expect(held.faults.map((fault) => fault.kind)).toEqual([kind]));
  });

  it('reports a server that does not listen, and does not connect where the egress rule forbids', async () => {
    const away = await call(says('x'), { base_url: 'tcp://127.0.0.1:1' });
    utter(away, 200);
    await vi.waitFor(() => expect(away.faults.map(({ kind }) => kind)).toEqual(['network']));
    const closed = createEgress({ isSignUpOpen: true, allowed: [] });
    const forbidden = await call(says('x'), {}, closed);
    utter(forbidden, 200);
    forbidden.clock.advance(1);
    expect(forbidden.faults.map(({ kind }) => kind)).toEqual(['request']);
    expect(forbidden.server.peers).toEqual([]);
  });

  it('closes its connections and says nothing after it was closed', async () => {
    const held = await call(() => undefined);
    utter(held, 200);
    await vi.waitFor(() => expect(held.server.peers).toHaveLength(1));
    held.recognizer.close();
    await vi.waitFor(() => expect(held.server.peers[0]?.socket.closed).toBe(true));
    expect([held.finals, held.faults, held.clock.timers]).toEqual([[], [], 0]);
  });

  it('recognises 200 turns', async () => {
    let turn = 0;
    const held = await call((peer, { type }) => {
      if (type === 'audio-stop') peer.send('transcript', { text: `turn ${turn++}` });
    });
    for (let i = 1; i <= 200; i++) {
      utter(held, 100);
      await vi.waitFor(() => expect(held.finals).toHaveLength(i), { interval: 1 });
    }
    expect(held.finals.at(-1)?.text).toBe('turn 199');
    expect([held.faults, held.clock.timers]).toEqual([[], 0]);
  });
});
