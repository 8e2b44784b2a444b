// Speech services of a workflow's own: checked, sealed and masked as those of organizations. Source: contract §5.5.

import { describe, expect, it, vi } from 'vitest';
import type { Asked } from '../../fakes/services/service-hosts.ts';
import { KEY, MASK, withServiceHosts } from './service-world.ts';

const world = await withServiceHosts();
const { hosts, served } = world;
const openai = { provider: 'openai', api_key: KEY, model: 'gpt-4.1' };

const whole = (pipeline: Record<string, unknown>) => ({
  model_configuration_v2_override: {
    version: 2,
    mode: 'byok',
    byok: { mode: 'pipeline', pipeline },
  },
});
const parts = (modelOverrides: Record<string, unknown>) => ({ model_overrides: modelOverrides });

async function save(workflowConfigurations: unknown) {
  return served.call('PUT', `/api/v1/workflow/${world.id}`, {
    body: { workflow_configurations: workflowConfigurations },
  });
}
async function stored() {
  const draft = await served.test.store.workflows.draft(world.id);
  return JSON.parse(JSON.stringify(draft?.configurations ?? {}));
}
const organization = (pipeline: Record<string, unknown>) =>
  served.ok('PUT', '/organizations/model-configurations/v2', {
    version: 2,
    mode: 'byok',
    byok: { mode: 'pipeline', pipeline },
  });

describe("a workflow's own services", () => {
  it('are masked in answers and sealed in the store', async () => {
    const answer = await save(whole({ llm: { ...openai, api_key: [KEY, `${KEY}2`] } }));
    expect(answer.status, answer.text).toBe(200);
    const { model_configuration_v2_override: shown } = answer.body.workflow_configurations;
    expect(shown.byok.pipeline.llm.api_key).toEqual([MASK, '************def2']);
    expect(JSON.stringify(await served.test.sql('select * from workflow_versions'))).not.toContain(
      KEY,
    );
    const kept = (await stored()).model_configuration_v2_override.byok.pipeline.llm;
    expect(kept.api_key).toEqual([KEY, `${KEY}2`]);
  });

  it('keep their keys when the masks come back, and services are not asked again', async () => {
    const answer = await save(whole({ llm: openai }));
    hosts.asked.length = 0;
    const { workflow_configurations: shown } = answer.body;
    expect((await save({ ...shown, max_call_duration: 60 })).status).toBe(200);
    expect(hosts.asked).toEqual([]);
    const kept = await stored();
    expect(kept.model_configuration_v2_override.byok.pipeline.llm.api_key).toBe(KEY);
    expect(kept.max_call_duration).toBe(60);
  });

  // The mask was resolved before the check of the keys, and what it had stood for was stored after it.
  it('do not bring back a key that another client has replaced while they were checked', async () => {
    expect((await save(whole({ llm: openai }))).status).toBe(200);
    hosts.asked.length = 0;
    const isOld = ({ headers }: Asked) => headers['authorization'] === `Bearer ${KEY}`;
    hosts.answer = (asked) => (isOld(asked) ? undefined : { status: 200 });
    const masked = save(whole({ llm: { ...openai, api_key: MASK, model: 'gpt-5' } }));
    await vi.waitFor(() => expect(hosts.asked.some(isOld)).toBe(true), { timeout: 10_000 });
    const replaced = { ...openai, api_key: 'sk-fedcba9876543210' };
    expect((await save(whole({ llm: replaced }))).status).toBe(200);
    served.test.clock.advance(60_000);
    const { status, text } = await masked;
    expect([status, text]).toEqual([422, expect.stringContaining('appears to be masked')]);
    const kept = (await stored()).model_configuration_v2_override.byok.pipeline.llm;
    expect(kept).toMatchObject(replaced);
  });

  it("take the organization's key for its mask", async () => {
    await organization({ llm: openai });
    expect((await save(whole({ llm: { ...openai, api_key: MASK } }))).status).toBe(200);
    const kept = (await stored()).model_configuration_v2_override.byok.pipeline.llm;
    expect(kept.api_key).toBe(KEY);
  });

  // The mask was resolved before the check of the keys, and the key that it had stood for was stored after it, though the
  // organization had another one by then.
  it.each([
    { as: 'whole', sent: whole({ llm: { ...openai, api_key: MASK } }) },
    { as: 'in parts', sent: parts({ llm: { model: 'gpt-5', api_key: MASK } }) },
  ])(
    'take no key of the organization, $as, that it has replaced while they were checked',
    async ({ sent }) => {
      await organization({ llm: openai });
      hosts.asked.length = 0;
      const isOld = ({ headers }: Asked) => headers['authorization'] === `Bearer ${KEY}`;
      hosts.answer = (asked) => (isOld(asked) ? undefined : { status: 200 });
      const masked = save(sent);
      await vi.waitFor(() => expect(hosts.asked.some(isOld)).toBe(true), { timeout: 10_000 });
      await organization({ llm: { ...openai, api_key: 'sk-fedcba9876543210' } });
      served.test.clock.advance(60_000);
      const { status, text } = await masked;
      expect([status, text]).toEqual([422, expect.stringContaining('appears to be masked')]);
      expect(await stored()).toEqual({});
    },
  );

  it('are refused as those of organizations', async () => {
    expect((await save(whole({ llm: { ...openai, api_key: MASK } }))).status).toBe(422);
    expect((await save({ model_configuration_v2_override: 'x' })).status).toBe(422);
    expect((await save(parts({ is_realtime: true }))).status).toBe(422);
    const unknown = await save(whole({ tts: { provider: 'acme' } }));
    expect(unknown.body.detail).toEqual([
      {
        model: 'tts',
        message: expect.stringMatching(/^Unknown provider: acme\. There are: flite, /),
      },
    ]);
    hosts.answer = () => ({ status: 401 });
    const refused = await save(whole({ llm: openai }));
    expect([refused.status, refused.body.detail]).toMatchObject([422, [{ model: 'llm' }]]);
    expect(await stored()).toEqual({});
  });

  it('change fields of the organization in the older form, which stays as it was sent', async () => {
    await organization({ llm: openai, tts: { provider: 'flite', voice: 'rms' } });
    const answer = await save(parts({ llm: { model: 'gpt-5' }, tts: { voice: 'awb' } }));
    expect(answer.status, answer.text).toBe(200);
    expect(await stored()).toEqual(parts({ llm: { model: 'gpt-5' }, tts: { voice: 'awb' } }));
    expect((await save(parts({ tts: { voice: 'nobody' } }))).status).toBe(422);
  });

  it('are taken from the older form as its texts mean them, without its empty inputs', async () => {
    const typed = { provider: 'deepgram', api_key: KEY, base_url: '', concurrency_limit: '20' };
    expect((await save(parts({ stt: typed }))).status).toBe(200);
    const kept = { provider: 'deepgram', api_key: KEY, concurrency_limit: 20 };
    expect(await stored()).toEqual(parts({ stt: kept }));
    const again = await save(parts({ stt: { ...typed, api_key: MASK } }));
    expect(again.status, again.text).toBe(200);
    expect(await stored()).toEqual(parts({ stt: kept }));
  });

  it('have masked keys restored in the older form, not those of another provider', async () => {
    const own = { provider: 'openai', base_url: 'http://llm:8080/v1', model: 'm', api_key: KEY };
    expect((await save(parts({ llm: own }))).status).toBe(200);
    const again = await save(parts({ llm: { ...own, model: 'n', api_key: MASK } }));
    expect(again.status, again.text).toBe(200);
    expect((await stored()).model_overrides.llm).toMatchObject({ model: 'n', api_key: KEY });
    const moved = { ...own, base_url: 'http://other:8080/v1', api_key: MASK };
    expect((await save(parts({ llm: moved }))).status).toBe(422);
  });
});
