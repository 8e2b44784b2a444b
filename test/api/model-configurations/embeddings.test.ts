// The embeddings of a configuration: no call uses them, the reference's clients configure and check them. Source:
// contract §10.4; the reference's validator, in which the section is optional.

import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { startServiceHosts } from '../../fakes/services/service-hosts.ts';
import { withApi } from '../served.ts';

const hosts = await startServiceHosts();
afterAll(() => hosts.close());

const served = withApi(() => ({ egress: hosts.egress }));
const V2 = '/api/v1/organizations/model-configurations/v2';
const USER = '/api/v1/user/configurations/user';
const KEY = 'sk-0123456789abcdef';
const scripted = { provider: 'scripted' };
const embeddings = { provider: 'openai', api_key: KEY, model: 'text-embedding-3-small' };
const words = 'Invalid openai API key. The service says: Incorrect key [redacted]';

beforeEach(() => {
  hosts.asked.length = 0;
  hosts.answer = () => ({ status: 200 });
});

const put = (given: object) =>
  served.call('PUT', V2, {
    body: {
      version: 2,
      mode: 'byok',
      byok: { mode: 'pipeline', pipeline: { llm: scripted, embeddings: given } },
    },
  });
const refuse = () => {
  hosts.answer = () => ({ status: 401, body: { error: { message: `Incorrect key ${KEY}` } } });
};

describe('embeddings', () => {
  it('are stored as they are sent, with the fields that this version does not know', async () => {
    const azure = {
      provider: 'azure',
      api_key: KEY,
      model: 'ada',

      endpoint: 'https://my.openai.azure.com',
      api_version: '2024-02-15-preview',
    };
    const { status, body } = await put(azure);
    expect(status).toBe(200);
    const shown = { ...azure, api_key: '************cdef' };
    expect(body.effective_configuration.embeddings).toEqual(shown);
  });

  it('are refused where the service refuses their key, and nothing is stored', async () => {
    refuse();
    const answer = await put(embeddings);
    expect([answer.status, answer.body.detail]).toEqual([
      422,
      [{ model: 'embeddings', message: words }],
    ]);
    expect((await served.call('GET', V2)).body.configuration).toBeNull();
    const ofUser = await served.call('PUT', USER, { body: { embeddings } });
    expect(ofUser.body.detail).toEqual([{ model: 'embeddings', message: words }]);
  });

  it('are checked with the other services', async () => {
    await put(embeddings);
    served.test.clock.advance(600_000);
    refuse();
    const { body } = await served.call('POST', `${V2}/check`);
    expect(body.ok).toBe(false);
    expect(body.services).toMatchObject([
      { model: 'llm', provider: 'scripted', verdict: 'ok' },
      { model: 'embeddings', position: 0, provider: 'openai', verdict: 'refused', message: words },
    ]);
    const validated = await served.call('GET', `${USER}/validate`);
    expect([validated.status, validated.body.detail]).toEqual([
      422,
      [{ model: 'embeddings', message: words }],
    ]);
  });

  it('of a provider without a request that checks a key are stored', async () => {
    expect((await put({ provider: 'unknown', api_key: KEY })).status).toBe(200);
    expect(hosts.asked).toEqual([]);
  });

  it('of the reference’s own service are refused', async () => {
    const answer = await put({ provider: 'dograh', api_key: KEY });
    const message = 'BYOK embeddings cannot use Dograh provider';
    expect(answer.body.detail).toEqual([{ model: 'embeddings', message }]);
  });
});
