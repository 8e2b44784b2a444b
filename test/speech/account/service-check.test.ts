// Keys are checked with their services: one request each, with a verdict that only a refusal makes bad.

import { describe, expect, it, vi } from 'vitest';
import { createEgress, type Egress } from '../../../src/egress/egress-rule.ts';
import { checkServices } from '../../../src/speech/account/service-check.ts';
import { keyCheckOf, vendors } from '../../../src/speech/vendors/vendors.ts';
import { openSignUpEgress } from '../../fakes/egress.ts';
import type { Asked } from '../../fakes/services/service-hosts.ts';
import { KEY, withHosts } from './hosts-of-services.ts';

const world = withHosts();

const service = (provider: string, fields: Record<string, unknown> = {}) => ({
  job: 'llm' as const,
  service: { provider, api_key: KEY, ...fields },
});

async function verdictOf(provider: string, fields: Record<string, unknown> = {}) {
  const means = { clock: world.clock, egress: world.hosts.egress };
  const signal = new AbortController().signal;
  const [verdict] = await checkServices([service(provider, fields)], means, signal);
  return verdict;
}

const lineOf = ({ method, url, body }: Asked) => `${method} ${url} ${body}`.trim();

describe('the check of a key', () => {
  it.each([
    ['openai', {}, 'GET api.openai.com/v1/models', 'authorization', `Bearer ${KEY}`],
    [
      'openai',
      { base_url: 'http://llm:8080/v1/' },
      'GET llm:8080/v1/models',
      'authorization',
      `Bearer ${KEY}`,
    ],
    ['groq', {}, 'GET api.groq.com/openai/v1/models', 'authorization', `Bearer ${KEY}`],
    ['openrouter', {}, 'GET openrouter.ai/api/v1/key', 'authorization', `Bearer ${KEY}`],
    ['deepgram', {}, 'GET api.deepgram.com/v1/projects', 'authorization', `Token ${KEY}`],
    [
      'deepgram',
      { base_url: 'wss://dg.example.com/x' },
      'GET dg.example.com/v1/projects',
      'authorization',
      `Token ${KEY}`,
    ],
    [
      'assemblyai',
      {},
      'GET streaming.assemblyai.com/v3/token?expires_in_seconds=60',
      'authorization',
      KEY,
    ],
    ['elevenlabs', {}, 'GET api.elevenlabs.io/v1/models', 'xi-api-key', KEY],
    ['cartesia', {}, 'GET api.cartesia.ai/voices?limit=1', 'x-api-key', KEY],
    ['soniox', {}, 'GET api.soniox.com/v1/models', 'authorization', `Bearer ${KEY}`],
    ['gladia', {}, 'GET api.gladia.io/v2/live?limit=1', 'x-gladia-key', KEY],
    ['anthropic', {}, 'GET api.anthropic.com/v1/models?limit=1', 'x-api-key', KEY],
    [
      'google',
      {},
      'GET generativelanguage.googleapis.com/v1beta/models?pageSize=1',
      'x-goog-api-key',
      KEY,
    ],
    [
      'google',
      { base_url: 'https://texttospeech.googleapis.com' },
      'GET texttospeech.googleapis.com/v1/voices?languageCode=en-US',
      'x-goog-api-key',
      KEY,
    ],
    [
      'azure',
      { endpoint: 'https://me.openai.azure.com/' },
      'GET me.openai.azure.com/openai/v1/models',
      'api-key',
      KEY,
    ],
    [
      'azure_speech',
      { region: 'eastus' },
      'POST eastus.api.cognitive.microsoft.com/sts/v1.0/issueToken',
      'ocp-apim-subscription-key',
      KEY,
    ],
    [
      'inworld',
      {},
      'GET api.inworld.ai/voices/v1/voices?pageSize=1',
      'authorization',
      `Basic ${KEY}`,
    ],
    [
      'speechmatics',
      { base_url: 'https://preview.tts.speechmatics.com' },
      'POST mp.speechmatics.com/v1/api_keys?type=rt {"ttl":60}',
      'authorization',
      `Bearer ${KEY}`,
    ],
    [
      'speechmatics',
      { base_url: 'wss://eu2.rt.speechmatics.com' },
      'POST mp.speechmatics.com/v1/api_keys?type=rt {"ttl":60}',
      'authorization',
      `Bearer ${KEY}`,
    ],
    [
      'sarvam',
      { base_url: 'wss://api.sarvam.ai' },
      'GET api.sarvam.ai/text-to-speech/pronunciation-dictionary',
      'api-subscription-key',
      KEY,
    ],
    [
      'rime',
      { base_url: 'wss://users-ws.rime.ai' },
      'POST users.rime.ai/oov {"text":"hello"}',
      'authorization',
      `Bearer ${KEY}`,
    ],
    [
      'smallest',
      {},
      'GET api.smallest.ai/waves/v1/voice-cloning',
      'authorization',
      `Bearer ${KEY}`,
    ],
    [
      'minimax',
      { base_url: 'https://api.minimax.io/v1/t2a_v2' },
      'POST api.minimax.io/v1/get_voice {"voice_type":"voice_cloning"}',
      'authorization',
      `Bearer ${KEY}`,
    ],
    ['camb', {}, 'GET client.camb.ai/apis/list-voices', 'x-api-key', KEY],
  ])(
    'asks %s once, with the key where it wants it (%o)',
    async (provider, fields, asked, name, value) => {
      expect(await verdictOf(provider, fields)).toMatchObject({ verdict: 'ok', message: '' });
      expect(world.hosts.asked.map(lineOf)).toEqual([asked]);
      expect(world.hosts.asked[0]?.headers[name]).toBe(value);
    },
  );

  it.each([401, 403])(
    'is a refusal at %i, in the words of the service and without the key',
    async (status) => {
      world.hosts.answer = () => ({ status, body: { error: { message: `bad key ${KEY}` } } });
      expect(await verdictOf('deepgram')).toMatchObject({
        verdict: 'refused',
        message: 'Invalid deepgram API key. The service says: bad key [redacted]',
      });
    },
  );

  it.each([302, 404, 429, 500])('verifies nothing at %i', async (status) => {
    world.hosts.answer = () => ({ status, body: { message: 'busy' } });
    expect(await verdictOf('openai')).toMatchObject({
      verdict: 'unverified',
      message: expect.stringContaining(`it answered ${status}`),
    });
  });

  it.each(['xai', 'lmnt'])('of %s is a refusal at 401 alone', async (provider) => {
    world.hosts.answer = () => ({ status: 403 });
    expect(await verdictOf(provider)).toMatchObject({ verdict: 'unverified' });
    world.hosts.answer = () => ({ status: 401 });
    expect(await verdictOf(provider)).toMatchObject({ verdict: 'refused' });
  });

  it('takes a key of few permissions for a good one', async () => {
    const message = 'The API key you used is missing the permission models_read';
    world.hosts.answer = () => ({ status: 401, body: { detail: { message } } });
    expect(await verdictOf('elevenlabs')).toMatchObject({ verdict: 'unverified' });
  });

  it('takes the key of a used-up account for a good one', async () => {
    const detail = { status: 'quota_exceeded', message: 'No credits are left.' };
    world.hosts.answer = () => ({ status: 401, body: { detail } });
    expect(await verdictOf('elevenlabs')).toMatchObject({
      verdict: 'unverified',
      message: 'it answered 401: No credits are left.',
    });
  });

  it('understands a refusal under another status', async () => {
    world.hosts.answer = () => ({
      status: 400,
      body: { error: { message: 'API key not valid.' } },
    });
    expect(await verdictOf('google')).toMatchObject({ verdict: 'refused' });
  });

  it('verifies nothing without a request that could: no row, no region, no key', async () => {
    expect(await verdictOf('piper_http')).toMatchObject({ verdict: 'unverified' });
    expect(await verdictOf('constructor')).toMatchObject({ verdict: 'unverified' });
    expect(await verdictOf('azure_speech', { region: 'evil.com/' })).toMatchObject({
      verdict: 'unverified',
    });
    expect(await verdictOf('google', { api_key: null })).toMatchObject({ verdict: 'unverified' });
    expect(world.hosts.asked).toEqual([]);
  });

  // "Not verified" alone said nothing to somebody whose server did not run, or whose address was wrong.
  it('says of a server without such a request whether something listens at its address', async () => {
    expect(await verdictOf('wyoming', { base_url: 'tcp://speech.lan:10300' })).toMatchObject({
      verdict: 'unverified',
      message: 'no request checks this service; something listens at speech.lan:10300',
    });
    expect(await verdictOf('vosk', { base_url: 'wss://speech.lan/asr' })).toMatchObject({
      message: 'no request checks this service; something listens at speech.lan:443',
    });
    expect(world.hosts.asked).toEqual([]);
  });

  it.each([
    ['nobody', 'no request checks this service, and nothing answers at 127.0.0.1:1: ECONNREFUSED'],
    [
      'metadata',
      'no request checks this service, and nothing answers at 169.254.169.254:1: OUTSIDE_FORBIDDEN',
    ],
  ])('says why it is not reached: %s', async (where, message) => {
    const host = where === 'nobody' ? '127.0.0.1' : '169.254.169.254';
    const wyoming = service('wyoming', { base_url: `tcp://${host}:1` });
    const means = { clock: world.clock, egress: createEgress() };
    const signal = new AbortController().signal;
    expect(await checkServices([wyoming], means, signal)).toMatchObject([
      { verdict: 'unverified', message },
    ]);
  });

  it('looks for no servers while sign-up is open', async () => {
    const wyoming = service('wyoming', { base_url: 'tcp://127.0.0.1:1' });
    const means = { clock: world.clock, egress: openSignUpEgress() };
    const signal = new AbortController().signal;
    expect(await checkServices([wyoming], means, signal)).toMatchObject([
      { verdict: 'unverified', message: 'this service has no request that checks a key' },
    ]);
  });

  it('waits for the connection as long as for all answers', async () => {
    let open: (error: Error) => void = () => undefined;
    const egress: Egress = {
      ...world.hosts.egress,
      connect: (_options, callback) => {
        open = (error) => callback(error, null);
      },
    };
    const wyoming = service('wyoming', { base_url: 'tcp://speech.lan:10300' });
    const means = { clock: world.clock, egress };
    const verdicts = checkServices([wyoming], means, new AbortController().signal);
    world.clock.advance(4_000);
    expect(await verdicts).toMatchObject([
      {
        message:
          'no request checks this service, and nothing answers at speech.lan:10300: no connection in time',
      },
    ]);
    open(new Error('late'));
    expect(world.clock.timers).toBe(0);
  });

  it.each(['speechmatics', 'rime'])(
    'of %s sends the key of a server of your own to nobody else',
    async (provider) => {
      for (const baseUrl of ['wss://voice.example.com', 'wss://evilrime.ai', 'wss://x']) {
        expect(await verdictOf(provider, { base_url: baseUrl })).toMatchObject({
          verdict: 'unverified',
        });
      }
      expect(world.hosts.asked).toEqual([]);
    },
  );

  it.each([
    [1004, 'refused'],
    [2049, 'refused'],
    [0, 'ok'],
    [1002, 'ok'],
  ])('of minimax reads the error %i in an answer of success: %s', async (code, verdict) => {
    const base = { status_code: code, status_msg: 'login fail' };
    world.hosts.answer = () => ({ status: 200, body: { base_resp: base, voice_cloning: [] } });
    expect(await verdictOf('minimax')).toMatchObject({ verdict });
  });

  it('refuses a key that cannot be one of the service', async () => {
    expect(await verdictOf('huggingface')).toMatchObject({ verdict: 'refused' });
    expect(await verdictOf('huggingface', { api_key: 'hf_1' })).toMatchObject({
      verdict: 'unverified',
    });
  });

  it('finds the embedded services good without a question', async () => {
    expect(await verdictOf('flite')).toMatchObject({ verdict: 'ok' });
    expect(world.hosts.asked).toEqual([]);
  });

  it('asks for every key of a list, and the worst one counts', async () => {
    world.hosts.answer = ({ headers }) => ({
      status: headers['authorization'] === 'Bearer b' ? 401 : 200,
    });
    expect(await verdictOf('openai', { api_key: ['a', 'b'] })).toMatchObject({
      verdict: 'refused',
    });
    expect(world.hosts.asked).toHaveLength(2);
  });

  it('asks no more than 24 times at once', async () => {
    const keys = Array.from({ length: 30 }, (_, nth) => `key-${nth}`);
    expect(await verdictOf('openai', { api_key: keys })).toMatchObject({ verdict: 'unverified' });
    expect(world.hosts.asked).toHaveLength(24);
  });

  it('waits three seconds for a silent service, and for all of them together', async () => {
    world.hosts.answer = () => undefined;
    const verdicts = checkServices(
      [service('openai'), service('deepgram')],
      { clock: world.clock, egress: world.hosts.egress },
      new AbortController().signal,
    );
    await vi.waitFor(() => expect(world.hosts.asked).toHaveLength(2));
    world.clock.advance(3_000);
    expect(await verdicts).toMatchObject([
      { verdict: 'unverified', durationMs: 3_000 },
      { verdict: 'unverified', durationMs: 3_000 },
    ]);
    expect(world.clock.timers).toBe(0);
  });

  it('ends after four seconds where an answer has begun and has no end', async () => {
    world.hosts.answer = () => ({ status: 200, endless: true });
    const timers = vi.spyOn(world.clock, 'after');
    const verdict = verdictOf('minimax');
    // Its body is read.
    await vi.waitFor(() => expect(timers).toHaveBeenCalledTimes(3));
    world.clock.advance(4_000);
    expect(await verdict).toMatchObject({ verdict: 'unverified', durationMs: 4_000 });
    expect(world.clock.timers).toBe(0);
  });

  it('does not reach a private network while sign-up is open', async () => {
    const [verdict] = await checkServices(
      [service('openai', { base_url: 'http://127.0.0.1:1/v1' })],
      { clock: world.clock, egress: openSignUpEgress() },
      new AbortController().signal,
    );
    expect(verdict).toMatchObject({
      verdict: 'unverified',
      message: expect.stringContaining('private'),
    });
  });

  it('has rows whose addresses are all of https, but for self-hosted services', () => {
    const fixed = Object.keys(vendors).flatMap((provider) => {
      const address = keyCheckOf(provider)?.url({ region: 'eastus' });
      return address === undefined || provider === 'speaches' ? [] : [address];
    });
    expect(fixed.filter((address) => !address.startsWith('https://'))).toEqual([]);
  });
});
