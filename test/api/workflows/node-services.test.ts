// Services of an agent's nodes over the API: sealed, masked, checked, and named by `validate` where they do not fit.

import { describe, expect, it, vi } from 'vitest';
import type { Asked } from '../../fakes/services/service-hosts.ts';
import { smallWorkflow } from '../served.ts';
import { KEY, MASK, withServiceHosts } from './service-world.ts';

const world = await withServiceHosts();
const { hosts, served } = world;
const openai = { provider: 'openai', api_key: KEY, model: 'gpt-5' };

type Data = Record<string, unknown>;

/** The small workflow, its first node with this data too. */
function withData(more: Data) {
  const [first, ...others] = smallWorkflow.nodes;
  if (first === undefined) throw new Error('no node');
  return { ...smallWorkflow, nodes: [{ ...first, data: { ...first.data, ...more } }, ...others] };
}

async function save(more: Data) {
  return served.call('PUT', `/api/v1/workflow/${world.id}`, {
    body: { workflow_definition: withData(more) },
  });
}

async function storedData(): Promise<Data> {
  const draft = await served.test.store.workflows.draft(world.id);
  return JSON.parse(JSON.stringify(draft?.definition.nodes[0]?.data ?? {}));
}

const organization = (pipeline: Data) =>
  served.ok('PUT', '/organizations/model-configurations/v2', {
    version: 2,
    mode: 'byok',
    byok: { mode: 'pipeline', pipeline },
  });

const validate = () => served.call('POST', `/api/v1/workflow/${world.id}/validate`);

describe('the services of a node', () => {
  it('are kept, masked in answers, and sealed in the store', async () => {
    const own = { language: 'en-GB', model_overrides: { llm: { ...openai, api_key: [KEY] } } };
    const answer = await save(own);
    expect(answer.status, answer.text).toBe(200);
    const [shown] = answer.body.workflow_definition.nodes;
    expect(shown.data.language).toBe('en-GB');
    expect(shown.data.model_overrides.llm.api_key).toEqual([MASK]);
    const rows = JSON.stringify(await served.test.sql('select * from workflow_versions'));
    expect(rows).not.toContain(KEY);
    expect((await storedData())['model_overrides']).toMatchObject({ llm: { api_key: [KEY] } });
  });

  it('keep their keys when the masks come back, and services are not asked again', async () => {
    await save({ model_overrides: { llm: openai } });
    hosts.asked.length = 0;
    const answer = await save({
      language: 'en',
      model_overrides: { llm: { ...openai, api_key: MASK } },
    });
    expect(answer.status, answer.text).toBe(200);
    expect(hosts.asked).toEqual([]);
    expect((await storedData())['model_overrides']).toMatchObject({ llm: { api_key: KEY } });
  });

  it('take no key of the organization that it has replaced while they were checked', async () => {
    await organization({ llm: openai });
    hosts.asked.length = 0;
    const isOld = ({ headers }: Asked) => headers['authorization'] === `Bearer ${KEY}`;
    hosts.answer = (asked) => (isOld(asked) ? undefined : { status: 200 });
    const masked = save({ model_overrides: { llm: { ...openai, api_key: MASK } } });
    await vi.waitFor(() => expect(hosts.asked.some(isOld)).toBe(true), { timeout: 10_000 });
    await organization({ llm: { ...openai, api_key: 'sk-fedcba9876543210' } });
    served.test.clock.advance(60_000);
    const { status, text } = await masked;
    expect([status, text]).toEqual([422, expect.stringContaining('appears to be masked')]);
    expect(await storedData()).not.toHaveProperty('model_overrides');
  });

  it('get no stored key for another address', async () => {
    await save({ model_overrides: { llm: openai } });
    const moved = { ...openai, api_key: MASK, base_url: 'https://llm.example.com/v1' };
    const answer = await save({ model_overrides: { llm: moved } });
    expect(answer.status).toBe(422);
    expect(answer.text).not.toContain(KEY);
    expect((await storedData())['model_overrides']).toMatchObject({ llm: openai });
  });

  it('are refused when they do not fit or their key is refused', async () => {
    expect((await save({ model_overrides: { llm: { provider: 'nobody' } } })).status).toBe(422);
    hosts.answer = () => ({ status: 401 });
    const answer = await save({ model_overrides: { llm: openai } });
    expect(answer.status).toBe(422);
    expect(answer.text).not.toContain(KEY);
  });

  it('are named by validate where a language or voice does not fit', async () => {
    await save({ language: 'de', voice: 'nobody' });
    const { status, body } = await validate();
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain('pocketsphinx, understands English only');
    expect(JSON.stringify(body)).toContain('data.voice');
    await save({ language: 'en-GB', voice: 'rms' });
    expect((await validate()).status).toBe(200);
  });

  it('are refused with a voice that the service does not have, and asked about once', async () => {
    hosts.answer = ({ url }) => {
      if (url.endsWith('/v1/voices')) {
        return { status: 200, body: { voices: [{ voice_id: 'r1', name: 'Rachel' }] } };
      }
      return { status: url.endsWith('/nobody') ? 404 : 200 };
    };
    const elevenlabs = { provider: 'elevenlabs', api_key: KEY, voice: 'r1' };
    const configurations = { model_overrides: { tts: elevenlabs } };
    const [first, ...others] = withData({ voice: 'nobody' }).nodes;
    const nodes = [first, ...others];
    const saved = (definition: unknown) =>
      served.call('PUT', `/api/v1/workflow/${world.id}`, {
        body: { workflow_definition: definition, workflow_configurations: configurations },
      });
    const refused = await saved({ ...smallWorkflow, nodes });
    expect(refused.status, refused.text).toBe(422);
    expect(refused.text).toContain(`node ${first?.id}: Unknown elevenlabs voice: nobody.`);
    expect(refused.text).toContain('Some that it has: Rachel (r1).');
    const known = withData({ voice: 'r1' });
    expect((await saved(known)).status).toBe(200);
    hosts.asked.length = 0;
    expect((await saved(known)).status).toBe(200);
    expect(hosts.asked).toEqual([]);
    const own = withData({ model_overrides: { tts: { ...elevenlabs, voice: 'nobody' } } });
    expect((await saved(own)).text).toContain('Unknown elevenlabs voice: nobody.');
  });
});
