// A described voice whose audio comes as binary messages: which utterance it belongs to after a cancel.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { createEgress } from '../../../../src/egress/egress-rule.ts';
import { ttsServices } from '../../../../src/model/speech-services/services.ts';
import { createTtsService } from '../../../../src/speech/vendors/tts-registry.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';
import { startSocketService } from '../../../fakes/services/service-socket.ts';
import { HeardUtterance } from '../heard-utterance.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

const description = {
  format: 'ulaw8',
  text: { text: '{text}', context: '{context}' },
  cancel: [{ cancel: '{context}' }],
  context: 'context',
  done: { when: [{ path: 'done', equals: true }], per: 'text' },
};

describe('a described voice with contexts and binary audio', () => {
  it('gives no audio of a cancelled sentence to the next one', async () => {
    const server = await startSocketService();
    const row = { provider: 'websocket_tts', base_url: server.url, description };
    const settings = ttsServices.websocket_tts.parse(row);
    const tts = createTtsService(settings, serviceMeans(new FakeClock(), createEgress()));
    opened.push(server, tts);
    const say = (text: string) => {
      const heard = new HeardUtterance();
      const stream = tts.stream?.(undefined, heard);
      stream?.push(text);
      return { heard, stream };
    };
    const first = say('The sentence that is interrupted.');
    const { socket } = await server.connected();
    socket.send(Buffer.alloc(80));
    await first.heard.begun.promise;
    first.stream?.cancel();
    const second = say('The next one.');
    // The service did not stop at once.
    socket.send(Buffer.alloc(800));
    const speaking = await vi.waitFor(() => {
      const [text] = server.connections.at(-1)?.texts.slice(-1) ?? [];
      expect(text).toContain('The next one.');
      return server.connections.at(-1);
    });
    const { context } = JSON.parse(speaking?.texts.at(-1) ?? '{}');
    speaking?.socket.send(Buffer.alloc(160));
    speaking?.socket.send(JSON.stringify({ context, done: true }));
    second.stream?.end();
    await second.heard.over.promise;
    expect([first.heard.ms, second.heard.ms, second.heard.end]).toEqual([10, 20, 'done']);
  });
});

describe('a described voice at 48 kHz alone', () => {
  it('is heard at 8 kHz, in messages that cut through samples', async () => {
    const server = await startSocketService();
    const row = {
      provider: 'websocket_tts',
      base_url: server.url,
      description: {
        format: 's16@48000',
        text: { text: '{text}' },
        audio: { path: 'audio' },
        done: { when: [{ path: 'last', equals: true }], per: 'text' },
      },
    };
    const settings = ttsServices.websocket_tts.parse(row);
    const tts = createTtsService(settings, serviceMeans(new FakeClock(), createEgress()));
    opened.push(server, tts);
    const heard = new HeardUtterance();
    const stream = tts.stream?.(undefined, heard);
    stream?.push('A tone.');
    stream?.end();
    const { socket } = await server.connected();
    const tone = Int16Array.from({ length: 48_000 }, (_, at) => 8_000 * Math.sin(at / 20));
    const bytes = Buffer.from(tone.buffer);
    for (let at = 0; at < bytes.length; at += 4_801) {
      const audio = bytes.subarray(at, at + 4_801).toString('base64');
      socket.send(JSON.stringify({ audio, last: at + 4_801 >= bytes.length }));
    }
    await heard.over.promise;
    expect([heard.end, heard.ms]).toEqual(['done', 1_000]);
  });
});
