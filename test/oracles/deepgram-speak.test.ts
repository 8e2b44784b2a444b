// Deepgram's own SDK against our fake of its voices.

import { DeepgramClient } from '@deepgram/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/std/clock.ts';
import { isObject } from '../../src/std/json.ts';
import { MS_PER_CHARACTER } from '../fakes/call/scripted-voice.ts';
import { deferred } from '../fakes/deferred.ts';
import {
  type DeepgramSpeakServer,
  startDeepgramSpeak,
} from '../fakes/services/deepgram-speak-server.ts';
import { KEY } from './sdk-fixture.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function connect(apiKey = KEY) {
  const server: DeepgramSpeakServer = await startDeepgramSpeak({ clock: systemClock, key: KEY });
  opened.push(server);
  const { url } = server;
  const environment = { base: url, production: url, agent: url, agentRest: url };
  const client = new DeepgramClient({ apiKey, environment, reconnect: false });
  const socket = await client.speak.v1.connect({
    ...({ model: 'aura-2-helena-en', encoding: 'mulaw', sample_rate: '8000' } as const),
    queryParams: { container: 'none' },
    reconnectAttempts: 0,
  });
  return { server, socket };
}

/** The SDK gives audio as what the platform's websocket gives. */
function bytesOf(message: unknown): number {
  if (message instanceof Blob) return message.size;
  return message instanceof ArrayBuffer || ArrayBuffer.isView(message) ? message.byteLength : 0;
}

const TEXT = 'Your table is booked. ';

describe('the SDK of Deepgram on speak/v1', () => {
  it('receives the audio that the fake speaks, and each confirmation', async () => {
    const { server, socket } = await connect();
    let bytes = 0;
    const types: string[] = [];
    const cleared = deferred();
    socket.on('message', (message: unknown) => {
      const type = isObject(message) ? message['type'] : undefined;
      if (typeof type !== 'string' || type === '') {
        bytes += bytesOf(message);
        return;
      }
      types.push(type);
      if (type === 'Flushed') socket.sendClear({ type: 'Clear' });
      if (type === 'Cleared') cleared.resolve();
    });
    socket.connect();
    await socket.waitForOpen();
    socket.sendText({ type: 'Speak', text: TEXT });
    socket.sendFlush({ type: 'Flush' });
    await cleared.promise;
    expect(types).toEqual(['Metadata', 'Flushed', 'Cleared']);
    expect(bytes).toBe(TEXT.length * MS_PER_CHARACTER * 8);
    expect(server.errors).toEqual([]);
    const closed = new Promise((resolve) => socket.on('close', ({ code }) => resolve(code)));
    socket.sendClose({ type: 'Close' });
    expect(await closed).toBe(1000);
  });

  it('fails on a wrong key', async () => {
    const { socket } = await connect('wrong');
    const failed = new Promise<Error>((resolve) => socket.on('error', resolve));
    socket.connect();
    expect((await failed).message).toContain('401');
  });
});
