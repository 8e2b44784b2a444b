// The speech services of organizations and users over the API. Source: contract §3.5 and §10.4.

import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Asked, startServiceHosts } from '../../fakes/services/service-hosts.ts';
import { withApi } from '../served.ts';

const hosts = await startServiceHosts();
afterAll(() => hosts.close());

const served = withApi(() => ({ egress: hosts.egress }));
const V2 = '/api/v1/organizations/model-configurations/v2';
const USER = '/api/v1/user/configurations/user';
const KEY = 'sk-0123456789abcdef';
const MASK = '************cdef';
const openai = { provider: 'openai', api_key: KEY, model: 'gpt-4.1' };
const flite = { provider: 'flite', voice: 'rms' };
const pocketsphinx = { provider: 'pocketsphinx' };
const shownOpenai = { ...openai, api_key: MASK, base_url: 'https://api.openai.com/v1' };

beforeEach(() => {
  hosts.asked.length = 0;
  hosts.answer = () => ({ status: 200 });
});

function v2(pipeline: Record<string, unknown>) {
  return { version: 2, mode: 'byok', byok: { mode: 'pipeline', pipeline } };
}

const put = (body: unknown, key?: string) =>
  served.call('PUT', V2, { body, ...(key === undefined ? {} : { key }) });
const get = async () => (await served.call('GET', V2)).body;
/** As calls read it. */
const stored = () =>
  served.test.store.modelConfigurations.forCalls(served.test.owner.organizationId);
/** By another process, which does not wait for changes of this one. */
const storedElsewhere = (configuration: Record<string, unknown>) => {
  const { organizationId } = served.test.owner;
  return served.test.store.modelConfigurations.save(
    { organizationId, userId: null },
    configuration,
  );
};
const storedLlm = async () =>
  JSON.parse(JSON.stringify(await stored())).organization.byok.pipeline.llm;

describe('lasting faults of services', () => {
  const fault = { job: 'llm', service: 'openai', kind: 'auth', detail: 'key refused' } as const;
  const faults = async () => (await get()).service_faults;
  const note = (of: object) => {
    const { organizationId } = served.test.owner;
    return served.test.store.serviceFaults.note(
      { organizationId, runId: '7' },
      { ...fault, ...of },
    );
  };

  it('are shown with the time of the first and the last call, of the own organization alone', async () => {
    const since = new Date(served.test.clock.now()).toISOString();
    await note({});
    served.test.clock.advance(60_000);
    await note({ detail: 'key refused again' });
    const own = {
      model: 'llm',
      provider: 'openai',
      kind: 'auth',
      message: 'key refused again',
      workflow_run_id: '7',
      first_at: since,
      last_at: new Date(served.test.clock.now()).toISOString(),
    };
    expect(await faults()).toEqual([own]);
    const { apiKey } = await served.stranger();
    expect((await served.call('GET', V2, { key: apiKey })).body.service_faults).toEqual([]);
    served.test.clock.advance(60_000);
    await note({ kind: 'quota' });
    const [changed] = await faults();
    expect([changed.kind, changed.first_at]).toEqual(['quota', changed.last_at]);
  });

  it('end with a new configuration', async () => {
    await note({});
    await note({ service: 'groq', kind: 'quota' });
    expect((await put(v2({ llm: openai }))).body.service_faults).toEqual([]);
  });

  it('of a key end with a check that accepts it, others do not', async () => {
    await put(v2({ llm: openai, tts: flite, stt: pocketsphinx }));
    await note({});
    await note({ service: 'groq' });
    await served.ok('POST', '/organizations/model-configurations/v2/check', {});
    expect((await faults()).map(({ provider }: { provider: string }) => provider)).toEqual([
      'groq',
    ]);
    await note({ kind: 'quota' });
    await served.ok('POST', '/organizations/model-configurations/v2/check', {});
    expect(await faults()).toHaveLength(2);
  });
});

describe("an organization's services", () => {
  it('are none at first', async () => {
    expect(await get()).toEqual({
      configuration: null,
      effective_configuration: {
        llm: null,
        tts: null,
        stt: null,
        embeddings: null,
        realtime: null,
        is_realtime: false,
        test_phone_number: null,
        timezone: null,
      },
      source: 'empty',
      service_faults: [],
    });
  });

  it('are stored with their keys, and shown with masks', async () => {
    const answer = await put(v2({ llm: openai, tts: flite, stt: pocketsphinx, embeddings: null }));
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({
      configuration: v2({ llm: shownOpenai, tts: flite, stt: pocketsphinx }),
      effective_configuration: { llm: shownOpenai, tts: flite, embeddings: null },
      source: 'organization_v2',
    });
    expect(answer.text).not.toContain(KEY);
    expect(await get()).toEqual(answer.body);
    expect(await storedLlm()).toMatchObject(openai);
    const { body } = await served.call('GET', '/api/v1/organizations/context');
    expect(body.model_services).toMatchObject({
      config_source: 'organization_v2',
      has_model_configuration_v2: true,
    });
  });

  it.each([
    ['left out', undefined],
    ['null', null],
    ['the mask', MASK],
    ["the reference's mask", `${'*'.repeat(KEY.length - 4)}cdef`],
  ])('keep their key when it comes back as %s', async (_what, apiKey) => {
    await put(v2({ llm: openai }));
    const answer = await put(v2({ llm: { ...openai, model: 'gpt-5', api_key: apiKey } }));
    expect(answer.status, answer.text).toBe(200);
    expect(await storedLlm()).toMatchObject({ model: 'gpt-5', api_key: KEY });
  });

  // The mask was resolved before the check of the keys, and what it had stood for was stored after it.
  it('do not bring back a key that another process has replaced while they were checked', async () => {
    await put(v2({ llm: openai }));
    hosts.asked.length = 0;
    const isOld = ({ headers }: Asked) => headers['authorization'] === `Bearer ${KEY}`;
    hosts.answer = (asked) => (isOld(asked) ? undefined : { status: 200 });
    const masked = put(v2({ llm: { ...openai, api_key: MASK, model: 'gpt-5' } }));
    await vi.waitFor(() => expect(hosts.asked.some(isOld)).toBe(true), { timeout: 10_000 });
    const replaced = { ...openai, api_key: 'sk-fedcba9876543210' };
    await storedElsewhere(v2({ llm: replaced }));
    served.test.clock.advance(60_000);
    const { status, text } = await masked;
    expect([status, text]).toEqual([422, expect.stringContaining('appears to be masked')]);
    expect(await storedLlm()).toMatchObject(replaced);
  });

  // They asked the services side by side, of which an organization may three at a time, and began anew where another one had
  // been sooner: some were answered with 503.
  it('are changed by fifty clients at once, one after the other', async () => {
    await put(v2({ llm: openai }));
    const changes = Array.from({ length: 50 }, (_, nth) =>
      put(v2({ llm: { ...openai, api_key: MASK, model: `gpt-${nth}` } })),
    );
    const answers = await Promise.all(changes);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await storedLlm()).toMatchObject({
      api_key: KEY,
      model: expect.stringMatching(/^gpt-/),
    });
  }, 30_000);

  it('are refused with a mask of nothing that is stored', async () => {
    const answer = await put(v2({ llm: { ...openai, api_key: MASK } }));
    expect([answer.status, answer.body.detail]).toEqual([
      422,
      'The api_key appears to be masked. Please provide the actual value, not the masked value.',
    ]);
    expect(hosts.asked).toEqual([]);
  });

  it('do not send a stored key to another address', async () => {
    await put(v2({ llm: openai }));
    hosts.asked.length = 0;
    const baseUrl = 'http://attacker.example.com/v1';
    expect((await put(v2({ llm: { ...openai, base_url: baseUrl, api_key: MASK } }))).status).toBe(
      422,
    );
    const answer = await put(v2({ llm: { ...openai, base_url: baseUrl, api_key: undefined } }));
    expect(answer.status).toBe(200);
    expect(JSON.stringify(hosts.asked)).not.toContain(KEY);
    expect(await storedLlm()).not.toHaveProperty('api_key');
  });

  it('are refused where a service refuses its key, in its words, and nothing is stored', async () => {
    hosts.answer = () => ({ status: 401, body: { error: { message: `Incorrect key ${KEY}` } } });
    const fallbacks = [{ ...openai, model: 'second' }];
    const answer = await put(v2({ llm: { ...openai, fallbacks }, tts: flite }));
    const words = 'Invalid openai API key. The service says: Incorrect key [redacted]';
    expect([answer.status, answer.body.detail]).toEqual([
      422,
      [
        { model: 'llm', message: words },
        { model: 'llm', message: `fallbacks.0: ${words}` },
      ],
    ]);
    expect(await stored()).toBeUndefined();
  });

  it('are refused with a voice that a service does not have, also that of a fallback', async () => {
    const tts = [{ canonical_name: 'aura-2-zeus-en' }, { canonical_name: 'aura-2-hera-en' }];
    hosts.answer = () => ({ status: 200, body: { tts } });
    const deepgram = { provider: 'deepgram', api_key: KEY, voice: 'aura-2-zeus-en' };
    const other = { ...deepgram, voice: 'aura-2-nobody-en' };
    const answer = await put(v2({ tts: { ...deepgram, fallbacks: [other] } }));
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toEqual([
      {
        model: 'tts',
        message:
          'fallbacks.0: Unknown deepgram voice: aura-2-nobody-en. Some that it has: aura-2-zeus-en, aura-2-hera-en.',
      },
    ]);
    expect((await put(v2({ tts: deepgram }))).status).toBe(200);
  });

  it('are stored where a service cannot be asked', async () => {
    hosts.answer = () => ({ status: 503 });
    expect((await put(v2({ llm: openai }))).status).toBe(200);
  });

  it.each([
    [
      'an unknown provider',
      { provider: 'acme' },
      expect.stringMatching(/^Unknown provider: acme\./),
    ],
    [
      'a service of the reference that is not built',
      { provider: 'google_vertex', project_id: 'p', credentials: '{}' },
      'This gateway does not have the provider google_vertex: it requires tokens of a service account; google accepts a key of the Gemini API',
    ],
    ["the reference's own provider", { provider: 'dograh' }, 'BYOK llm cannot use Dograh provider'],
    ['a wrong field', { ...openai, base_url: 'no' }, expect.stringMatching(/^base_url: /)],
    [
      'a metadata address',
      { ...openai, base_url: 'http://169.254.169.254/' },
      expect.stringContaining('metadata'),
    ],
    [
      'a key in the added fields',
      { ...openai, extra_body: { auth: { header: `Bearer ${KEY}` } } },
      'extra_body.auth.header: must have no key: it is shown as it is. Put it into api_key',
    ],
    [
      'a secret in the added fields',
      { ...openai, extra_body: { list: [{ client_secret: 'abc' }] } },
      expect.stringMatching(/^extra_body\.list\.0\.client_secret: must have no key/),
    ],
  ])('are refused with %s, under the name of the job', async (_what, llm, message) => {
    const answer = await put(v2({ llm }));
    expect([answer.status, answer.body.detail]).toEqual([422, [{ model: 'llm', message }]]);
  });

  it.each([
    [{ version: 2, mode: 'dograh', dograh: { api_key: 'mps' } }, 'dograh'],
    [{ mode: 'byok', byok: { mode: 'realtime', realtime: {} } }, 'realtime'],
  ])('are refused in a mode that is not offered (%#)', async (body, mode) => {
    const answer = await put(body);
    expect([answer.status, answer.body.detail]).toEqual([
      422,
      `This gateway does not offer the mode ${mode}. Use mode byok, with byok.mode pipeline.`,
    ]);
  });

  it('are shown with the fields that are added to their requests', async () => {
    const extra = { prompt_cache_key: 'agent-1', max_tokens: 50, stop: ['Bearer'] };
    const answer = await put(v2({ llm: { ...openai, extra_body: extra } }));
    expect(answer.body.configuration.byok.pipeline.llm.extra_body).toEqual(extra);
  });

  it('are refused if they are too large', async () => {
    // No row has a maximum for these.
    const embeddings = { provider: 'openai', model: 'm'.repeat(70_000) };
    for (const answer of [
      await put(v2({ embeddings })),
      await served.call('PUT', USER, { body: { embeddings } }),
    ]) {
      expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('too large')]);
    }
  });

  it('are of one organization alone', async () => {
    await put(v2({ llm: openai }));
    const { apiKey } = await served.stranger();
    const other = await served.call('GET', V2, { key: apiKey });
    expect(other.body.configuration).toBeNull();
    const answer = await put(v2({ llm: { ...openai, api_key: MASK } }), apiKey);
    expect(answer.status).toBe(422);
  });

  it('are checked with their services on request, each with the time that it took', async () => {
    await put(v2({ llm: { ...openai, fallbacks: [{ provider: 'scripted' }] }, tts: flite }));
    hosts.answer = () => ({ status: 403, body: { message: 'no permission' } });
    const { body } = await served.call('POST', `${V2}/check`);
    expect(body).toEqual({
      ok: false,
      services: [
        {
          model: 'llm',
          position: 0,
          provider: 'openai',
          verdict: 'refused',
          message: 'Invalid openai API key. The service says: no permission',
          warning: expect.stringContaining('gpt-4.1 ends on'),
          duration_ms: expect.any(Number),
        },
        expect.objectContaining({ model: 'llm', position: 1, provider: 'scripted', verdict: 'ok' }),
        expect.objectContaining({ model: 'tts', position: 0, provider: 'flite', verdict: 'ok' }),
      ],
    });
  });

  it('are checked with a warning of the model that their service ends', async () => {
    await put(v2({ llm: { ...openai, provider: 'xai', model: 'grok-3' }, tts: flite }));
    const { body } = await served.call('POST', `${V2}/check`);
    const warning = expect.stringMatching(/^The model grok-3 end(s|ed) on 2026-05-15\. Use grok/);
    expect(body.services[0]).toMatchObject({ provider: 'xai', verdict: 'ok', warning });
    expect(body.services[1]).not.toHaveProperty('warning');
  });

  it('are checked although the services of another organization do not answer', async () => {
    await put(v2({ llm: openai }));
    const stranger = await served.stranger();
    await put(v2({ llm: openai }), stranger.apiKey);
    hosts.asked.length = 0;
    hosts.answer = () => undefined;
    const check = (key?: string) => served.call('POST', `${V2}/check`, key ? { key } : {});
    const held = [check(), check(), check()];
    await vi.waitFor(() => expect(hosts.asked).toHaveLength(1), { timeout: 10_000 });
    const late = check();
    const save = put(v2({ llm: { ...openai, model: 'late' } }));
    hosts.answer = () => ({ status: 200 });
    expect(await check(stranger.apiKey)).toMatchObject({ status: 200, body: { ok: true } });
    served.test.clock.advance(60_000);
    await Promise.all(held);
    const [service] = (await late).body.services;
    expect(['ok', 'unverified']).toContain(service.verdict);
    expect(await save).toMatchObject({ status: 200 });
    expect((await storedLlm()).model).toBe('late');
    expect(await check()).toMatchObject({ status: 200 });
  });
});

describe("checks of an organization's services at the same time", () => {
  it('ask each service once', async () => {
    await put(v2({ llm: openai }));
    hosts.asked.length = 0;
    hosts.answer = () => undefined;
    const checks = Array.from({ length: 4 }, () => served.call('POST', `${V2}/check`));
    await vi.waitFor(() => expect(hosts.asked).toHaveLength(1), { timeout: 10_000 });
    await served.test.clock.advanceAsync(10_000, 500);
    const verdicts = (await Promise.all(checks)).map(({ body }) => body.services[0].verdict);
    expect(verdicts).toEqual(Array(4).fill('unverified'));
    expect(hosts.asked).toHaveLength(1);
  });
});

describe('the forms of services', () => {
  it('are JSON schemas by job and provider, with lists of keys', async () => {
    const { body } = await served.call('GET', `${V2}/defaults`);
    const { properties } = body.byok.pipeline.llm.openai;
    expect(properties.base_url).toMatchObject({ default: 'https://api.openai.com/v1' });
    expect(properties.api_key).toMatchObject({ secret: true, anyOf: [{}, { type: 'array' }] });
    expect(body.byok.pipeline.llm).not.toHaveProperty('dograh');
    expect(body.byok.pipeline.default_providers).toEqual({ llm: 'scripted', tts: 'flite' });
    expect(body.dograh.defaults.language).toBe('multi');
  });

  it('have no prices', async () => {
    const { body } = await served.call('GET', `${V2}/pricing`);
    expect(body).toEqual({ platform_usage: null, dograh_model: null });
  });
});

describe("a user's services", () => {
  const save = (body: unknown) => served.call('PUT', USER, { body });

  it('are merged section by section, and calls use them while the organization has none', async () => {
    expect((await save({ llm: openai, timezone: 'Europe/Oslo' })).status).toBe(200);
    const answer = await save({ tts: flite });
    expect(answer.body).toMatchObject({ llm: shownOpenai, tts: flite, timezone: 'Europe/Oslo' });
    expect(await stored()).toMatchObject({ legacyUser: { llm: openai, tts: flite } });
    expect((await get()).source).toBe('legacy_user_v1');
    expect((await served.call('GET', USER)).body).toEqual(answer.body);
    await put(v2({ tts: { ...flite, voice: 'awb' } }));
    const { body } = await served.call('GET', USER);
    expect(body).toMatchObject({ llm: null, tts: { voice: 'awb' } });
  });

  it.each(['a user', 'the organization'])(
    'of %s keep both of two changes at once',
    async (whose) => {
      if (whose === 'the organization') await put(v2({ stt: pocketsphinx }));
      const answers = await Promise.all([save({ llm: openai }), save({ tts: flite })]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      const { body } = await served.call('GET', USER);
      expect(body).toMatchObject({ llm: shownOpenai, tts: flite });
    },
  );

  it('are those of the organization where it has some: what is read can be sent back', async () => {
    await put(v2({ llm: openai, tts: flite }));
    const { body: shown } = await served.call('GET', USER);
    const answer = await save({ ...shown, llm: { ...shown.llm, model: 'gpt-5' } });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.llm).toMatchObject({ model: 'gpt-5', api_key: MASK });
    expect(await storedLlm()).toMatchObject({ model: 'gpt-5', api_key: KEY });
    expect(await get()).toMatchObject({
      source: 'organization_v2',
      effective_configuration: { llm: { model: 'gpt-5' }, tts: flite },
    });
  });

  it('are those that another user of the organization saved last', async () => {
    await save({ llm: openai, tts: flite });
    const { organizationId } = served.test.owner;
    const [other] = await served.test.sql(
      `insert into users (organization_id, name, created_at) values ($1, 'Other', now()) returning id`,
      [organizationId],
    );
    const { apiKey: key } = await served.test.store.accounts.createApiKey(
      { organizationId, userId: String(other?.['id']) },
      'of the other',
    );
    const validated = await served.call('GET', `${USER}/validate?validity_ttl_seconds=0`, { key });
    expect(validated.body).toEqual({ status: [{ model: 'all', message: 'ok' }] });
    const { body: shown } = await served.call('GET', USER, { key });
    const body = { llm: { ...shown.llm, model: 'gpt-5' } };
    const answer = await served.call('PUT', USER, { body, key });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ llm: { model: 'gpt-5', api_key: MASK }, tts: flite });
    expect(await stored()).toMatchObject({ legacyUser: { llm: { api_key: KEY }, tts: flite } });
    served.test.clock.advance(60_000);
    hosts.answer = () => ({ status: 401 });
    expect((await served.call('GET', `${USER}/validate`)).status).toBe(422);
  });

  it('keep their key when its mask comes back, and refuse another mask', async () => {
    await save({ llm: openai });
    expect((await save({ llm: { ...openai, api_key: MASK, model: 'gpt-5' } })).status).toBe(200);
    expect(await stored()).toMatchObject({ legacyUser: { llm: { api_key: KEY, model: 'gpt-5' } } });
    const answer = await save({ llm: { ...openai, api_key: '***' } });
    expect([answer.status, answer.body.detail]).toEqual([
      400,
      'The llm api_key appears to be masked. Please provide the actual value, not the masked value.',
    ]);
  });

  it('are refused as those of the organization', async () => {
    expect((await save({ is_realtime: true })).status).toBe(422);
    expect((await save({ timezone: 'Moon/Base' })).status).toBe(422);
    const { body } = await save({ stt: { provider: 'acme' } });
    expect(body.detail).toEqual([
      { model: 'stt', message: expect.stringMatching(/^Unknown provider: acme\./) },
    ]);
  });

  it('are validated again after the given time', async () => {
    const validate = (seconds: number) =>
      served.call('GET', `${USER}/validate?validity_ttl_seconds=${seconds}`);
    expect((await validate(0)).body).toEqual({ status: [] });
    await save({ llm: openai });
    served.test.clock.advance(30_000);
    hosts.asked.length = 0;
    expect((await validate(60)).body).toEqual({ status: [] });
    expect(hosts.asked).toEqual([]);
    expect((await validate(10)).body).toEqual({ status: [{ model: 'all', message: 'ok' }] });
    expect(hosts.asked).toHaveLength(1);
    expect((await validate(10)).body).toEqual({ status: [] });
    served.test.clock.advance(30_000);
    hosts.answer = () => ({ status: 401 });
    const refused = await validate(10);
    expect([refused.status, refused.body.detail]).toMatchObject([422, [{ model: 'llm' }]]);
    expect((await validate(86_401)).status).toBe(422);
  });

  it("become the organization's by migration, once", async () => {
    const preview = () => served.call('GET', `${V2}/migration-preview`);
    const migrate = (query = '') => served.call('POST', `${V2}/migrate${query}`);
    expect((await preview()).body.detail).toBe('Pipeline legacy configuration is incomplete');
    expect((await migrate()).status).toBe(422);
    await save({ llm: openai, tts: flite });
    expect((await preview()).body.configuration).toEqual(v2({ llm: shownOpenai, tts: flite }));
    expect((await migrate()).body).toMatchObject({ source: 'organization_v2' });
    expect(await storedLlm()).toMatchObject(openai);
    const again = await migrate();
    expect([again.status, again.body.detail]).toEqual([
      409,
      'Organization already has a v2 model configuration',
    ]);
    expect((await migrate('?force=true')).status).toBe(200);
  });

  it('do not replace, by a migration without force, what another process has stored meanwhile', async () => {
    await save({ llm: openai });
    hosts.asked.length = 0;
    hosts.answer = () => undefined;
    const migrated = served.call('POST', `${V2}/migrate`);
    await vi.waitFor(() => expect(hosts.asked).toHaveLength(1), { timeout: 10_000 });
    await storedElsewhere(v2({ tts: flite }));
    served.test.clock.advance(60_000);
    expect((await migrated).status).toBe(409);
    expect(await stored()).toMatchObject({ organization: v2({ tts: flite }) });
  });
});

describe('the voices of a service', () => {
  const named = (voice: string, labels: object) => ({ voice_id: voice, name: voice, labels });

  it.each([
    ['gender=female&accent=us&language=en', ['Ann', 'Eve']],
    ['gender=male', ['Bob', 'Eve']],
    ['accent=british', ['Bob', 'Eve']],
    ['accent=gb&q=bo', ['Bob']],
    ['language=de', ['Eve']],
  ])(
    'are filtered by %s, also as the reference names it, and not by what is unknown',
    async (query, names) => {
      const voices = [
        named('Ann', { gender: 'feminine', accent: 'American', language: 'en' }),
        named('Bob', { gender: 'male', accent: 'british', language: 'en' }),
        named('Eve', {}),
      ];
      hosts.answer = () => ({ status: 200, body: { voices } });
      await put(v2({ tts: { provider: 'elevenlabs', api_key: KEY, voice: 'Ann' } }));
      const { body } = await served.call(
        'GET',
        `/api/v1/user/configurations/voices/elevenlabs?${query}`,
      );
      expect(body.voices.map(({ name }: { name: string }) => name)).toEqual(names);
      expect(body.facets).toEqual({
        genders: ['feminine', 'male'],
        accents: ['American', 'british'],
        languages: ['en'],
      });
    },
  );

  const voices = (path: string) => served.call('GET', `/api/v1/user/configurations/voices/${path}`);

  it('are asked for once by forms that are open at the same time', async () => {
    hosts.answer = () => ({ status: 200, body: { voices: [] } });
    await put(v2({ tts: { provider: 'elevenlabs', api_key: KEY, voice: 'Ann' } }));
    hosts.asked.length = 0;
    hosts.answer = () => undefined;
    const asking = Array.from({ length: 5 }, () => voices('elevenlabs'));
    await vi.waitFor(() => expect(hosts.asked).toHaveLength(1));
    // Every one waits for at most 8 s.
    await served.test.clock.advanceAsync(10_000, 500);
    expect((await Promise.all(asking)).map(({ status }) => status)).toEqual(Array(5).fill(502));
    expect(hosts.asked).toHaveLength(1);
  });

  it('are those of this version when the service cannot be reached', async () => {
    const { body } = await voices('flite?q=rm');
    expect(body).toMatchObject({ provider: 'flite', voices: [{ voice_id: 'rms', name: 'rms' }] });
    expect(hosts.asked).toEqual([]);
  });

  it('are not to be had of a service without a key, or of none', async () => {
    expect((await voices('dograh')).status).toBe(502);
    expect((await voices('acme')).status).toBe(422);
  });
});
