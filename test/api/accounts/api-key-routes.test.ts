// Keys of the API. Source: contract §3.4.

import { describe, expect, it } from 'vitest';
import { withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
const ROOT = '/user/api-keys';
const moment = expect.stringMatching(/Z$/);
const ids = (keys: { id: string }[]) => keys.map(({ id }) => id);

describe('API keys', () => {
  it('are shown in full once, when they are made', async () => {
    const made = await ok('POST', ROOT, { name: 'ci' });
    expect(made).toEqual({
      id: expect.stringMatching(/^\d+$/),
      name: 'ci',
      key_prefix: made.api_key.slice(0, 8),
      api_key: expect.stringMatching(/^pbk_[\w-]{43}$/),
      created_at: moment,
    });
    const listed = await call('GET', `/api/v1${ROOT}`);
    expect(listed.text).not.toContain(made.api_key);
    expect(listed.body.at(-1)).toEqual({
      id: made.id,
      name: 'ci',
      key_prefix: made.key_prefix,
      is_active: true,
      created_at: moment,
      last_used_at: null,
      archived_at: null,
    });
  });

  it('note when they were last used', async () => {
    const { api_key: key } = await ok('POST', ROOT, { name: 'ci' });
    expect((await call('GET', `/api/v1${ROOT}`, { key })).body.at(-1)).toMatchObject({
      last_used_at: moment,
    });
  });

  it('are refused at once when archived, listed on demand, and work again when reactivated', async () => {
    const { id, api_key: key } = await ok('POST', ROOT, { name: 'ci' });
    expect(await ok('DELETE', `${ROOT}/${id}`)).toEqual({
      success: true,
      message: 'API key archived successfully',
    });
    const refused = await call('GET', `/api/v1${ROOT}`, { key });
    expect([refused.status, refused.body]).toEqual([
      401,
      { detail: 'Invalid or expired API key', code: 'API_KEY_INVALID' },
    ]);
    expect(ids(await ok('GET', ROOT))).not.toContain(id);
    expect(ids(await ok('GET', `${ROOT}?include_archived=false`))).not.toContain(id);
    const all = await ok('GET', `${ROOT}?include_archived=true`);
    expect(all.at(-1)).toMatchObject({ id, is_active: false, archived_at: moment });
    expect(await ok('PUT', `${ROOT}/${id}/reactivate`)).toEqual({
      success: true,
      message: 'API key reactivated successfully',
    });
    expect((await call('GET', `/api/v1${ROOT}`, { key })).status).toBe(200);
    expect((await ok('GET', ROOT)).at(-1)).toMatchObject({ is_active: true, archived_at: null });
  });

  it("are 404 if they are not there or another organization's", async () => {
    const { id } = await ok('POST', ROOT, { name: 'ci' });
    const { apiKey: key } = await served.stranger();
    for (const [method, path] of [
      ['DELETE', `${ROOT}/999999`],
      ['PUT', `${ROOT}/999999/reactivate`],
      ['DELETE', `${ROOT}/${id}`],
      ['PUT', `${ROOT}/${id}/reactivate`],
    ] as const) {
      const { status, body } = await call(method, `/api/v1${path}`, { key });
      expect([path, status, body]).toEqual([
        path,
        404,
        { detail: 'API key not found', code: 'API_KEY_NOT_FOUND' },
      ]);
    }
  });
});
