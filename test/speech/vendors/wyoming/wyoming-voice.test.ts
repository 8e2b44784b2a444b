import { afterEach, describe, expect, it, vi } from 'vitest';
import { ttsServices } from '../../../../src/model/speech-services/services.ts';
import type { ServiceUsage } from '../../../../src/speech/service/service-means.ts';
import { createTtsService } from '../../../../src/speech/vendors/tts-registry.ts';
import { amplitudeAt, sine } from '../../../audio/sine.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import {
  startFakeWyoming,
  type WireEvent,
  type WyomingPeer,
} from '../../../fakes/services/fake-wyoming.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

type Answer = (peer: WyomingPeer, event: WireEvent) => void;

async function open(answer: Answer, settings: object = {}) {
  const server = await startFakeWyoming((peer, event) => answer(peer, event));
  opened.push(server);
  const clock = new FakeClock();
  const row = { provider: 'wyoming', base_url: server.url, ...settings };
  const tts = createTtsService(ttsServices.wyoming.parse(row), serviceMeans(clock));
  const audio: Int16Array[] = [];
  const usage: ServiceUsage[] = [];
  const listener = {
    onAudio: (samples: Int16Array) => void audio.push(samples),
    onWords: () => undefined,
    onUsage: (each: ServiceUsage) => void usage.push(each),
  };
  const ended: unknown[] = [];
  const utterance = {
    ...listener,
    onDone: () => void ended.push('done'),
    onError: (error: unknown) => void ended.push(error),
  };
  const samples = (): number => audio.reduce((sum, { length }) => sum + length, 0);
  return { server, clock, tts, audio, usage, listener, utterance, ended, samples };
}

/** A tone of 1 kHz in chunks of an odd number of bytes. */
function speak(peer: WyomingPeer, rate: number, ms: number): void {
  const tone = sine({ hz: 1_000, rateHz: rate, count: (rate * ms) / 1_000, amplitude: 10_000 });
  const bytes = Buffer.from(tone.buffer);
  const format = { rate, width: 2, channels: 1 };
  peer.send('audio-start', format);
  for (let at = 0; at < bytes.length; at += 1_001) {
    peer.send('audio-chunk', format, bytes.subarray(at, at + 1_001));
  }
}

const speaking =
  (rate = 22_050): Answer =>
  (peer, { type }) => {
    if (type !== 'synthesize') return;
    speak(peer, rate, 500);
    peer.send('audio-stop', {});
  };

const { signal } = new AbortController();

describe('the Wyoming synthesiser', () => {
  it.each([8_000, 16_000, 22_050, 24_000])(
    'speaks audio of %i Hz at 8 kHz, at its pitch',
    async (rate) => {
      const held = await open(speaking(rate), { voice: 'amy', speaker: '3', language: 'en' });
      const { tts, listener, audio } = held;
      await tts.synthesize({ text: 'Hello\n there.', voice: undefined }, listener, signal);
      const [event] = held.server.peers[0]?.events ?? [];
      expect(event).toMatchObject({
        type: 'synthesize',
        data: { text: 'Hello there.', voice: { name: 'amy', speaker: '3', language: 'en' } },
      });
      const all = Int16Array.from(audio.flatMap((samples) => [...samples]));
      expect(Math.abs(all.length - 4_000)).toBeLessThan(2);
      expect(amplitudeAt(all.subarray(800), 1_000, 8_000) / 10_000).toBeCloseTo(1, 1);
      expect(held.usage).toMatchObject([{ job: 'tts', unit: 'characters', amount: 13 }]);
      await vi.waitFor(() => expect(held.server.peers[0]?.socket.closed).toBe(true));
      expect(held.clock.timers).toBe(0);
    },
  );

  it('asks for the voice of the request', async () => {
    const { tts, listener, server } = await open(speaking());
    await tts.synthesize({ text: 'Hello.', voice: 'joe' }, listener, signal);
    expect(server.peers[0]?.events[0]?.data).toEqual({ text: 'Hello.', voice: { name: 'joe' } });
    await tts.synthesize({ text: 'Hello.', voice: undefined }, listener, signal);
    expect(server.peers[1]?.events[0]?.data).toEqual({ text: 'Hello.' });
  });

  it.each(['', ' ', '?!', '😀'])('asks nothing for %j', async (text) => {
    const { tts, listener, server } = await open(speaking());
    await tts.synthesize({ text, voice: undefined }, listener, signal);
    expect(server.peers).toEqual([]);
  });

  it('closes the connection when it is aborted, and gives nothing more', async () => {
    const held = await open((peer, { type }) => {
      if (type === 'synthesize') speak(peer, 16_000, 500);
    });
    const abort = new AbortController();
    const spoken = held.tts.synthesize(
      { text: 'Hello.', voice: undefined },
      held.listener,
      abort.signal,
    );
    await vi.waitFor(() => expect(held.samples()).toBeGreaterThan(0));
    abort.abort('barge-in');
    await expect(spoken).rejects.toBe('barge-in');
    const before = held.samples();
    await vi.waitFor(() => expect(held.server.peers[0]?.socket.closed).toBe(true));
    expect([held.samples(), held.clock.timers]).toEqual([before, 0]);
  });

  it.each<[string, string, Answer]>([
    ['no audio for a text', 'protocol', (peer) => peer.send('audio-stop', {})],
    ['the end of the connection in the middle', 'network', (peer) => peer.socket.destroy()],
    ['an error of the server', 'overload', (peer) => peer.send('error', { text: 'no voice' })],
    [
      'audio of two channels',
      'protocol',
      (peer) => peer.send('audio-chunk', { rate: 16_000, width: 2, channels: 2 }, Buffer.alloc(8)),
    ],
    [
      'audio at an unknown rate',
      'protocol',
      (peer) => peer.send('audio-chunk', { rate: 12_345, width: 2, channels: 1 }, Buffer.alloc(8)),
    ],
  ])('rejects for %s', async (_, kind, answer) => {
    const { tts, listener, clock } = await open((peer, event) => {
      if (event.type === 'synthesize') answer(peer, event);
    });
    const spoken = tts.synthesize({ text: 'Hello.', voice: undefined }, listener, signal);
    await expect(spoken).rejects.toMatchObject({ kind, job: 'tts', service: 'wyoming' });
    expect(clock.timers).toBe(0);
  });

  it('rejects when nothing comes for 6 s', async () => {
    const { tts, listener, clock, server } = await open(() => undefined);
    const spoken = tts.synthesize({ text: 'Hello.', voice: undefined }, listener, signal);
    spoken.catch(() => undefined);
    await vi.waitFor(() => expect(server.peers).toHaveLength(1));
    clock.advance(6_000);
    await expect(spoken).rejects.toMatchObject({ code: 'TTS_TIMEOUT' });
  });

  it('has no text in pieces unless the server takes it', async () => {
    const { tts } = await open(speaking());
    expect(tts.stream).toBeUndefined();
  });

  it('passes on text in pieces, and is done when the server says so', async () => {
    const held = await open(
      (peer, { type }) => {
        if (type === 'synthesize-chunk') speak(peer, 16_000, 100);
        if (type !== 'synthesize-stop') return;
        peer.send('audio-stop', {});
        peer.send('synthesize-stopped', {});
      },
      { streaming: true, voice: 'amy' },
    );
    const stream = held.tts.stream?.(undefined, held.utterance);
    stream?.push('Your table,');
    stream?.push('…');
    stream?.flush();
    await vi.waitFor(() => expect(held.samples()).toBeGreaterThan(700));
    stream?.push('is ready.');
    stream?.end();
    stream?.push('late');
    await vi.waitFor(() => expect(held.ended).toEqual(['done']));
    expect(Math.abs(held.samples() - 1_600)).toBeLessThan(4);
    const events = held.server.peers[0]?.events.map(({ type, data }) => [type, data['text']]);
    expect(events).toEqual([
      ['synthesize-start', undefined],
      ['synthesize-chunk', 'Your table, '],
      ['synthesize-chunk', 'is ready. '],
      ['synthesize', 'Your table, is ready.'],
      ['synthesize-stop', undefined],
    ]);
    expect(held.clock.timers).toBe(0);
  });

  it('is done 500 ms after the audio of a server that takes no pieces', async () => {
    const held = await open(speaking(16_000), { streaming: true });
    const stream = held.tts.stream?.(undefined, held.utterance);
    stream?.push('Hello.');
    stream?.end();
    await vi.waitFor(() => expect(held.samples()).toBe(4_000));
    await vi.waitFor(() => expect(held.clock.timers).toBe(2));
    expect(held.ended).toEqual([]);
    held.clock.advance(500);
    expect([held.ended, held.clock.timers]).toEqual([['done'], 0]);
  });

  it('gives nothing after a cancel, and is done at once without anything to speak', async () => {
    const held = await open(
      (peer, { type }) => {
        if (type === 'synthesize-chunk') speak(peer, 16_000, 100);
      },
      { streaming: true },
    );
    const stream = held.tts.stream?.(undefined, held.utterance);
    stream?.push('Hello.');
    await vi.waitFor(() => expect(held.samples()).toBeGreaterThan(0));
    stream?.cancel();
    await vi.waitFor(() => expect(held.server.peers[0]?.socket.closed).toBe(true));
    const silent = held.tts.stream?.(undefined, held.utterance);
    silent?.push('…');
    silent?.end();
    held.clock.advance(1);
    expect(held.ended).toEqual(['done']);
    expect(held.server.peers).toHaveLength(1);
  });

  it('speaks 200 sentences', async () => {
    const { tts, listener, clock, server } = await open(speaking(16_000));
    for (let i = 0; i < 200; i++) {
      await tts.synthesize({ text: `Number ${i}.`, voice: undefined }, listener, signal);
    }
    expect([server.peers.length, clock.timers]).toEqual([200, 0]);
  });
});
