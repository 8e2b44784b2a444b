// Lists of voices, as the services send them and as nobody should.

import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fetchVoices, voiceListOrigin } from '../../../src/speech/account/voice-lists.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { type ServiceHosts, startServiceHosts } from '../../fakes/services/service-hosts.ts';
import { rounds } from '../../rounds.ts';

const KEY = 'sk-0123456789abcdef';
let hosts: ServiceHosts;

beforeAll(async () => {
  hosts = await startServiceHosts();
});
afterAll(() => hosts.close());
beforeEach(() => {
  hosts.asked.length = 0;
});

function voices(provider: string, body: unknown, status = 200) {
  hosts.answer = () => ({ status, body });
  const means = { clock: new FakeClock(), egress: hosts.egress };
  return fetchVoices({ provider, fields: {}, key: KEY }, means, new AbortController().signal);
}

const NONE = { description: null, accent: null, gender: null, language: null, preview_url: null };

describe('the voices of an account', () => {
  it.each([
    [
      'elevenlabs',
      {
        voices: [
          {
            voice_id: 'v1',
            name: 'Ada',
            description: 'Calm.',
            preview_url: 'https://a.example/v1.mp3',
            labels: { accent: 'british', gender: 'female', language: 'en' },
          },
        ],
      },
      {
        voice_id: 'v1',
        name: 'Ada',
        description: 'Calm.',
        accent: 'british',

        gender: 'female',
        language: 'en',
        preview_url: 'https://a.example/v1.mp3',
      },
      ['GET api.elevenlabs.io/v1/voices', 'xi-api-key', KEY],
    ],
    [
      'deepgram',
      {
        tts: [
          {
            name: 'helena',
            canonical_name: 'aura-2-helena-en',
            languages: ['en', 'en-US'],
            metadata: {
              accent: 'American',
              tags: ['feminine'],
              sample: 'https://d.example/h.wav',
            },
          },
        ],
      },
      {
        voice_id: 'aura-2-helena-en',
        name: 'helena',
        description: null,
        accent: 'American',

        gender: 'female',
        language: 'en',
        preview_url: 'https://d.example/h.wav',
      },
      ['GET api.deepgram.com/v1/models', 'authorization', `Token ${KEY}`],
    ],
    [
      'cartesia',
      { data: [{ id: 'c1', name: '', language: 'de', gender: 'masculine' }] },
      { ...NONE, voice_id: 'c1', name: 'c1', language: 'de', gender: 'masculine' },
      ['GET api.cartesia.ai/voices?limit=100', 'x-api-key', KEY],
    ],
  ] as const)('of %s are read', async (provider, body, voice, [asked, header, value]) => {
    expect(await voices(provider, body)).toEqual([voice]);
    expect(`${hosts.asked[0]?.method} ${hosts.asked[0]?.url}`).toBe(asked);
    expect(hosts.asked[0]?.headers[header]).toBe(value);
  });

  it('have previews at web addresses alone', async () => {
    const urls = ['javascript:alert(1)', 'data:text/html,x', 'no address', 'http://a.example/x'];
    const list = urls.map((previewUrl, at) => ({ id: `v${at}`, preview_url: previewUrl }));
    const found = await voices('cartesia', { data: list });
    expect(found.map(({ preview_url }) => preview_url)).toEqual([
      ...[null, null, null],
      'http://a.example/x',
    ]);
  });

  it('are at most 2,000, each once, with texts of at most 500 characters', async () => {
    const many = Array.from({ length: 2_500 }, (_, at) => ({ id: `v${at}` }));
    expect(await voices('cartesia', { data: many })).toHaveLength(2_000);
    const long = { id: 'v1', name: 'x'.repeat(10_000) };
    const found = await voices('cartesia', { data: [long, long, { id: 'v2' }] });
    expect(found.map(({ voice_id, name }) => [voice_id, name.length])).toEqual([
      ['v1', 500],
      ['v2', 2],
    ]);
  });

  it('are a fault where the answer is longer than 8 MiB, or none of its service', async () => {
    const body = { data: [{ id: 'v1', name: 'x'.repeat(9_000_000) }] };
    await expect(voices('cartesia', body)).rejects.toMatchObject({ kind: 'protocol' });
    const refusal = voices('elevenlabs', { detail: { message: `bad ${KEY}` } }, 401);
    await expect(refusal).rejects.toMatchObject({ kind: 'auth', detail: 'bad [redacted]' });
    expect(await voices('a-service', {})).toEqual([]);
    expect([voiceListOrigin('cartesia', {}), voiceListOrigin('toString', {})]).toEqual([
      'https://api.cartesia.ai',
      undefined,
    ]);
  });

  it('are listed at the scheme, host and port of their own address', () => {
    const other = { base_url: 'wss://api.cartesia.ai:8443/tts' };
    expect(voiceListOrigin('cartesia', other)).toBe('https://api.cartesia.ai:8443');
    expect(voiceListOrigin('cartesia', { base_url: 'no address' })).toBeUndefined();
  });

  it('are read from any JSON', async () => {
    const item = fc.oneof(
      fc.jsonValue(),
      fc.dictionary(fc.constantFrom(...FIELDS), fc.jsonValue()),
    );
    const answer = fc.oneof(
      fc.jsonValue(),
      fc.record({ voices: fc.array(item), tts: fc.array(item), data: fc.array(item) }),
    );
    await fc.assert(
      fc.asyncProperty(answer, async (body) => {
        for (const provider of ['elevenlabs', 'deepgram', 'cartesia']) {
          for (const voice of await voices(provider, body)) {
            expect(voice.voice_id.length).toBeGreaterThan(0);
            expect(Object.keys(voice).sort()).toEqual(
              [...Object.keys(NONE), 'name', 'voice_id'].sort(),
            );
          }
        }
      }),
      { numRuns: rounds(30, 60) },
    );
  });
});

const FIELDS = [
  ...['voice_id', 'id', 'canonical_name', 'name', 'labels', 'metadata', 'languages'],
  ...['description', 'accent', 'gender', 'language', 'preview_url', 'tags', 'sample'],
];
