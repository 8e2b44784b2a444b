// The form of the reference's web client over what this gateway lists: every field is an input of text but numbers, lists
// of choices and keys; an empty input is sent as an empty text. What it loads, it sends back. Source: the reference's
// ServiceConfigurationForm.

import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startServiceHosts } from '../../fakes/services/service-hosts.ts';
import { withApi } from '../served.ts';

const hosts = await startServiceHosts();
afterAll(() => hosts.close());

const served = withApi(() => ({ egress: hosts.egress }));
const V2 = '/api/v1/organizations/model-configurations/v2';
const KEY = 'hf_0123456789abcdef';
const JOBS = ['llm', 'tts', 'stt'] as const;

const SOCKETS: readonly string[] = ['vapi_transcriber', 'jambonz_stt'];

interface Form {
  properties: Record<string, Record<string, unknown> & { anyOf?: { type?: string }[] }>;
  required?: string[];
}
type Fields = Record<string, unknown>;

beforeEach(() => {
  hosts.answer = () => ({ status: 200 });
});

/** What somebody types into inputs that must not stay empty. */
const TYPED: Readonly<Record<string, string>> = {
  base_url: 'https://llm.example.com/v1',
  endpoint: 'https://llm.example.com',
  model: 'a-model',
  region: 'eastus',
  voice: 'a-voice',
  group_id: '1234',
};

function typed(provider: string, name: string): string {
  const isSocket = name === 'base_url' && SOCKETS.includes(provider);
  return isSocket ? 'wss://stt.example.com' : (TYPED[name] ?? `typed ${name}`);
}

function filled(provider: string, { properties, required = [] }: Form): Fields {
  const config: Fields = { provider };
  for (const [name, field] of Object.entries(properties)) {
    if (name === 'provider') continue;
    if (name === 'api_key') config['api_key'] = [KEY];
    else if (field['default'] !== undefined) config[name] = field['default'];
    else if (required.includes(name)) config[name] = typed(provider, name);
    else if (!hasOwnInput(field)) config[name] = '';
  }
  return config;
}

/** Inputs of numbers and lists of choices send nothing if they are left alone. */
function hasOwnInput(field: Form['properties'][string]): boolean {
  const isNumber = [field['type'], ...(field.anyOf ?? []).map(({ type }) => type)].includes(
    'number',
  );
  return isNumber || field['enum'] !== undefined || field['examples'] !== undefined;
}

const put = (pipeline: Fields) =>
  served.call('PUT', V2, {
    body: { version: 2, mode: 'byok', byok: { mode: 'pipeline', pipeline } },
  });

async function storedOf(job: string): Promise<Fields> {
  const { organizationId } = served.test.owner;
  const used = await served.test.store.modelConfigurations.forCalls(organizationId);
  return JSON.parse(JSON.stringify(used)).organization.byok.pipeline[job];
}

/** Services whose required description is typed as JSON. */
const DESCRIBED: readonly string[] = ['websocket_stt', 'websocket_tts', 'http_tts'];

describe("the form of the reference's web client", () => {
  it.each(JOBS)(
    'saves every %s with its optional inputs left empty',
    async (job) => {
      const { body } = await served.call('GET', `${V2}/defaults`);
      const forms: [string, Form][] = Object.entries(body.byok.pipeline[job]);
      for (const [provider, form] of forms) {
        if (DESCRIBED.includes(provider)) continue;
        const answer = await put({ [job]: filled(provider, form) });
        expect([provider, answer.status, answer.body.detail]).toEqual([provider, 200, undefined]);
        const { [job]: shown } = answer.body.configuration.byok.pipeline;
        const again = await put({ [job]: { ...filled(provider, form), ...shown } });
        expect([provider, again.status, again.body.detail]).toEqual([provider, 200, undefined]);
        if (form.properties['api_key']) expect((await storedOf(job))['api_key']).toEqual([KEY]);
        served.test.clock.advance(600_000);
      }
      // Two requests for each of some twenty services.
    },
    60_000,
  );

  it('keeps the key of a service whose empty address comes back as an empty text', async () => {
    const deepgram = { provider: 'deepgram', api_key: [KEY], base_url: '', keyterms: '' };
    const { body } = await put({ stt: deepgram });
    const { stt: shown } = body.configuration.byok.pipeline;
    expect(shown).not.toHaveProperty('base_url');
    expect((await put({ stt: { ...deepgram, ...shown, base_url: ' ' } })).status).toBe(200);
    expect((await storedOf('stt'))['api_key']).toEqual([KEY]);
  });

  it('saves a service whose description is typed, without a second key', async () => {
    const result = { when: [{ path: 'final', equals: true }], is: 'final', text: 'text' };
    const description = JSON.stringify({ audio: { format: 'ulaw8' }, results: [result] });
    const described = {
      provider: 'websocket_stt',
      base_url: 'wss://stt.example.com',
      api_key: [KEY],

      api_secret: '',
      concurrency_limit: '',
      language: '',
      keyterms: '',
      description,
    };
    const answer = await put({ stt: described });
    expect([answer.status, answer.body.detail]).toEqual([200, undefined]);
    const { description: stored, ...others } = await storedOf('stt');
    expect(stored).toMatchObject({ results: [result] });
    expect(others).not.toHaveProperty('api_secret');
  });

  it('sends whole numbers, switches, lists and objects as they are typed', async () => {
    const deepgram = {
      provider: 'deepgram',
      api_key: [KEY],
      concurrency_limit: '20',

      keyterms: 'Acme, Wile E. Coyote',
      extra_query: '{"redact": "pci"}',
    };
    const vosk = { provider: 'vosk', phrases: 'false' };
    expect((await put({ stt: { ...deepgram, fallbacks: [vosk] } })).status).toBe(200);
    expect(await storedOf('stt')).toMatchObject({
      concurrency_limit: 20,
      keyterms: ['Acme', 'Wile E. Coyote'],
      extra_query: { redact: 'pci' },
      fallbacks: [{ phrases: false }],
    });
  });

  it.each([
    ['a word for a number', { concurrency_limit: 'many' }],
    ['a number that is too large', { concurrency_limit: '10001' }],
    ['an object that is none', { extra_query: '{"redact"' }],
    [
      'an object that is too deep',
      { extra_query: `{"a":${'['.repeat(2_000)}${']'.repeat(2_000)}}` },
    ],
  ])('is refused with %s', async (_what, fields) => {
    const answer = await put({ stt: { provider: 'deepgram', api_key: KEY, ...fields } });
    const message = expect.stringContaining(Object.keys(fields)[0] ?? '');
    expect([answer.status, answer.body.detail]).toEqual([422, [{ model: 'stt', message }]]);
  });
});
