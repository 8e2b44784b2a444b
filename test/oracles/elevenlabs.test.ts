// ElevenLabs' own SDK against our fake of its multi-context websocket. The SDK has no client of this interface: its
// serializers write each request and read each response.

import { AudioOutputMulti } from '@elevenlabs/elevenlabs-js/serialization/types/AudioOutputMulti.js';
import { CloseContext } from '@elevenlabs/elevenlabs-js/serialization/types/CloseContext.js';
import { FinalOutputMulti } from '@elevenlabs/elevenlabs-js/serialization/types/FinalOutputMulti.js';
import { FlushContext } from '@elevenlabs/elevenlabs-js/serialization/types/FlushContext.js';
import { InitializeConnectionMulti } from '@elevenlabs/elevenlabs-js/serialization/types/InitializeConnectionMulti.js';
import { KeepContextAlive } from '@elevenlabs/elevenlabs-js/serialization/types/KeepContextAlive.js';
import { SendTextMulti } from '@elevenlabs/elevenlabs-js/serialization/types/SendTextMulti.js';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { systemClock } from '../../src/std/clock.ts';
import { startElevenLabs } from '../fakes/services/elevenlabs-server.ts';
import { capturedRequest } from '../speech/captured-request.ts';
import { expectFixture, KEY } from './sdk-fixture.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

const strict = { unrecognizedObjectKeys: 'fail' } as const;
const contextId = 'u1';
const requests = [
  InitializeConnectionMulti.jsonOrThrow({
    text: ' ',
    voiceSettings: {
      stability: 0.5,
      similarityBoost: 0.75,
      style: 0,
      useSpeakerBoost: true,
      speed: 1,
    },
    contextId,
  }),
  SendTextMulti.jsonOrThrow({ text: 'Guten Tag. ', contextId, flush: false }),
  FlushContext.jsonOrThrow({ contextId, flush: true }),
  CloseContext.jsonOrThrow({ contextId, closeContext: true }),
];

describe('the SDK of ElevenLabs', () => {
  it('writes requests that the fake takes, and reads the fake’s responses', async () => {
    const server = await startElevenLabs({ clock: systemClock, key: KEY });
    opened.push(server);
    const path =
      '/v1/text-to-speech/abc123/multi-stream-input?model_id=eleven_flash_v2_5&output_format=ulaw_8000';
    const socket = new WebSocket(`${server.url}${path}`, { headers: { 'xi-api-key': KEY } });
    const responses: unknown[] = [];
    const isFinal = new Promise<void>((resolve) => {
      socket.on('message', (data) => {
        responses.push(JSON.parse(String(data)));
        if (String(data).includes('"isFinal":true')) resolve();
      });
    });
    await new Promise((resolve) => socket.on('open', resolve));
    const keepalive = KeepContextAlive.jsonOrThrow({ text: '', contextId });
    for (const request of requests.toSpliced(1, 0, keepalive)) socket.send(JSON.stringify(request));
    await isFinal;
    socket.close();
    const final = FinalOutputMulti.parseOrThrow(responses.at(-1), strict);
    expect(final).toEqual({ isFinal: true, contextId });
    const audio = responses.slice(0, -1).map((each) => AudioOutputMulti.parseOrThrow(each, strict));
    expect(audio.flatMap(({ alignment }) => alignment?.chars ?? []).join('')).toBe('Guten Tag. ');
    const bytes = audio.map((each) => Buffer.from(each.audio, 'base64').length);
    expect(bytes.reduce((sum, each) => sum + each, 0)).toBe('Guten Tag. '.length * 480);
    expect(server.errors).toEqual([]);
    const request = server.connections[0]?.request ?? { headers: {} };
    expectFixture(
      'elevenlabs/multi-stream-input',
      capturedRequest(request, { key: KEY, headers: ['xi-api-key'], messages: requests }),
    );
  });
});
