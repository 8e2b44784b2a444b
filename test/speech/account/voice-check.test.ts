// The voice of a synthesiser is looked for in the service's list of voices, beside its key.

import { describe, expect, it, vi } from 'vitest';
import { checkServices } from '../../../src/speech/account/service-check.ts';
import type { Asked } from '../../fakes/services/service-hosts.ts';
import { KEY, withHosts } from './hosts-of-services.ts';

const world = withHosts();

function checked(provider: string, fields: Record<string, unknown>) {
  const services = [{ job: 'tts' as const, service: { provider, api_key: KEY, ...fields } }];
  const means = { clock: world.clock, egress: world.hosts.egress };
  return checkServices(services, means, new AbortController().signal).then(([verdict]) => verdict);
}

/** Answers by the end of the address. */
function answers(table: Record<string, { status: number; body?: unknown }>) {
  world.hosts.answer = ({ url }: Asked) => {
    const [, answer] = Object.entries(table).find(([end]) => url.endsWith(end)) ?? [];
    return answer ?? { status: 200 };
  };
}

const RACHEL = { voice_id: 'r1', name: 'Rachel' };
const LISTS: [string, Record<string, unknown>, string, unknown, string][] = [
  ['elevenlabs', {}, '/v1/voices', { voices: [RACHEL] }, 'r1'],
  ['deepgram', {}, '/v1/models', { tts: [{ canonical_name: 'aura-2-zeus-en' }] }, 'aura-2-zeus-en'],
  ['cartesia', {}, '/voices?limit=100', { data: [{ id: 'c1', name: 'Ann' }] }, 'c1'],
  [
    'azure_speech',
    { region: 'westeurope' },
    'westeurope.tts.speech.microsoft.com/cognitiveservices/voices/list',
    JSON.parse('[{"ShortName":"de-DE-KatjaNeural","DisplayName":"Katja","Locale":"de-DE"}]'),
    'de-DE-KatjaNeural',
  ],
  [
    'google',
    {},
    '/v1/voices',
    { voices: [{ name: 'en-US-Chirp3-HD-Kore' }] },
    'en-US-Chirp3-HD-Kore',
  ],
  ['inworld', {}, '/voices/v1/voices', { voices: [{ voiceId: 'Ashley' }] }, 'Ashley'],
  ['lmnt', {}, '/v1/ai/voice/list', [{ id: 'lily' }], 'lily'],
  ['xai', {}, '/v1/tts/voices', { voices: [{ voice_id: 'eve' }] }, 'eve'],
  [
    'piper_http',
    { api_key: undefined },
    '/voices',
    { 'en_US-lessac-medium': {} },
    'en_US-lessac-medium',
  ],
];

describe('the check of a voice', () => {
  it.each(LISTS)('finds an unknown voice of %s, and names some that it has', async (...row) => {
    const [provider, fields, path, list, voice] = row;
    const unknown = { status: 404, body: { detail: { message: `no such voice, ${KEY}` } } };
    answers({ [path]: { status: 200, body: list }, nobody: unknown });
    const verdict = await checked(provider, { ...fields, voice: 'nobody' });
    expect(verdict).toMatchObject({
      verdict: 'refused',
      message: expect.stringContaining(`Unknown ${provider} voice: nobody.`),
    });
    expect(verdict?.message).toContain(voice);
    expect(verdict?.message).not.toContain(KEY);
    expect(await checked(provider, { ...fields, voice })).not.toMatchObject({ verdict: 'refused' });
  });

  it('repeats the words of the service, without the key', async () => {
    answers({
      '/v1/voices': { status: 200, body: { voices: [RACHEL, { voice_id: 'a1' }] } },
      nobody: { status: 400, body: { detail: { status: 'invalid_uid', message: `bad ${KEY}` } } },
    });
    const { message = '' } = (await checked('elevenlabs', { voice: 'X - nobody' })) ?? {};
    expect(message).toBe(
      'Unknown elevenlabs voice: nobody. The service says: bad [redacted] Some that it has: Rachel (r1), a1.',
    );
  });

  it('takes a voice that the list leaves out, if the service knows it', async () => {
    answers({
      '/v1/voices': { status: 200, body: { voices: [RACHEL] } },
      shared: { status: 200, body: { voice_id: 'shared' } },
    });
    expect(await checked('elevenlabs', { voice: 'shared' })).toMatchObject({ verdict: 'ok' });
    const [list] = world.hosts.asked.filter(({ url }) => url.endsWith('/v1/voices'));
    expect(list?.headers['xi-api-key']).toBe(KEY);
  });

  it.each([
    ['an error', { status: 500 }],
    ['a key that may not list', { status: 401, body: { detail: 'missing the permission' } }],
    ['no voice', { status: 200, body: { voices: [] } }],
    ['something else', { status: 200, body: 'hello' }],
    [
      'a page of several',
      { status: 200, body: { voices: [{ voiceId: 'A' }], nextPageToken: 'x' } },
    ],
  ])('proves nothing where the list is %s', async (_what, answer) => {
    answers({ '/voices/v1/voices': answer, '/v1/voices': answer, '/v1/models': { status: 200 } });
    for (const provider of ['inworld', 'elevenlabs']) {
      const verdict = await checked(provider, { voice: 'nobody' });
      expect(verdict).not.toMatchObject({ verdict: 'refused' });
    }
  });

  it('proves nothing where the service gives no answer about the voice itself', async () => {
    const list = { status: 200, body: { voices: [RACHEL] } };
    for (const status of [401, 403, 429, 500, 302]) {
      answers({ '/v1/voices': list, nobody: { status } });
      expect(await checked('elevenlabs', { voice: 'nobody' })).toMatchObject({ verdict: 'ok' });
    }
  });

  it('asks at the address of the settings, with the id as one part of the path', async () => {
    await checked('elevenlabs', { voice: 'a/../b?c', base_url: 'https://eu.example.com' });
    expect(world.hosts.asked.map(({ url }) => url).sort()).toEqual([
      'eu.example.com/v1/models',
      'eu.example.com/v1/voices',
      'eu.example.com/v1/voices/a%2F..%2Fb%3Fc',
    ]);
  });

  it('says that the key is refused where it is, not the voice', async () => {
    world.hosts.answer = () => ({ status: 401 });
    expect(await checked('deepgram', { voice: 'nobody' })).toMatchObject({
      verdict: 'refused',
      message: expect.stringContaining('Invalid deepgram API key'),
    });
  });

  it('asks no service without a list, and none without a voice', async () => {
    await checked('constructor', { voice: 'x' });
    expect(world.hosts.asked).toEqual([]);
    // One request each: for the key.
    await checked('rime', { voice: 'celeste' });
    await checked('deepgram', {});
    expect(world.hosts.asked).toHaveLength(2);
  });

  it('ends with the check of the key: three seconds for a silent service', async () => {
    world.hosts.answer = () => undefined;
    const verdict = checked('elevenlabs', { voice: 'nobody' });
    await vi.waitFor(() => expect(world.hosts.asked).toHaveLength(3), { timeout: 10_000 });
    world.clock.advance(3_000);
    expect(await verdict).toMatchObject({ verdict: 'unverified', durationMs: 3_000 });
    expect(world.clock.timers).toBe(0);
  });

  it('keeps within the requests of one configuration', async () => {
    const services = Array.from({ length: 14 }, (_, nth) => ({
      job: 'tts' as const,
      service: { provider: 'elevenlabs', api_key: KEY, voice: `v${nth}` },
    }));
    const means = { clock: world.clock, egress: world.hosts.egress };
    await checkServices(services, means, new AbortController().signal);
    expect(world.hosts.asked.length).toBeLessThanOrEqual(24);
  });
});
