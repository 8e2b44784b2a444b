// Watched lines over the API: what is accepted, what is answered, and whose they are.

import { describe, expect, it } from 'vitest';
import type { LineTest } from '../../../src/model/line-watch.ts';
import { withApi } from '../served.ts';

const api = withApi();
const ROOT = '/organizations/telephony-configs';

async function configuration(provider: 'ari' | 'twilio' = 'ari'): Promise<string> {
  const { id } = await api.test.store.telephony.createConfiguration(api.test.owner.organizationId, {
    name: provider,
    provider,
    isDefaultOutbound: false,
    credentials: {},
    accountId: provider,
    secretFields: [],
  });
  return `${ROOT}/${id}/lines`;
}

const silent: LineTest = {
  fault: 'no_audio',
  message: 'silence',
  delayMs: null,
  lossShare: 1,
  codec: 'PCMU',
};

describe('watched lines', () => {
  it('are none until one is added, and are changed and deleted', async () => {
    const lines = await configuration();
    expect(await api.ok('GET', lines)).toEqual({ lines: [] });
    const body = { name: 'main', kind: 'number', number: '+14155550100' };
    const made = await api.ok('POST', lines, body);
    expect(made).toMatchObject({
      ...body,
      context: null,
      enabled: true,
      interval_minutes: 30,
      channels: null,
      tests_keys: true,
      state: 'untested',
      fault: null,
      last_test: null,
    });
    const change = { interval_minutes: 5, channels: 2, context: 'from-pstn', tests_keys: false };
    const changed = await api.ok('PUT', `${lines}/${made.id}`, change);
    expect(changed).toMatchObject({ ...body, ...change });
    const off = await api.ok('PUT', `${lines}/${made.id}`, { enabled: false });
    expect(off).toMatchObject({ enabled: false, next_test_at: null });
    expect(await api.ok('GET', lines)).toEqual({ lines: [off] });
    expect(await api.ok('DELETE', `${lines}/${made.id}`)).toEqual({ success: true });
    expect((await api.call('DELETE', `/api/v1${lines}/${made.id}`)).status).toBe(404);
    expect((await api.call('PUT', `/api/v1${lines}/${made.id}`, { body: {} })).status).toBe(404);
  });

  it('say what the last test call found, and what to do', async () => {
    const lines = await configuration();
    const { id } = await api.ok('POST', lines, { name: 'pbx', kind: 'pbx' });
    await api.test.store.lines.record(id, silent, 60_000);
    const {
      lines: [line],
    } = await api.ok('GET', lines);
    const fault = {
      code: 'no_audio',
      summary: expect.stringContaining('hears'),
      remedy: expect.stringContaining('RTP'),
    };
    const test = { fault, message: 'silence', delay_ms: null, loss_share: 1, codec: 'PCMU' };
    expect(line).toMatchObject({ state: 'doubtful', fault, last_test: test });
    expect(await api.ok('GET', `${lines}/${id}/tests`)).toMatchObject({ tests: [test] });
  });

  it.each([
    ['a number without a number', { kind: 'number' }],
    ['a PBX with a number', { kind: 'pbx', number: '8000' }],
    ['a trunk with a context', { kind: 'trunk', number: '9196', context: 'from-pstn' }],
    ['words of the dialplan in the number', { kind: 'number', number: '8000,1)' }],
    ['an interval of a minute', { kind: 'pbx', interval_minutes: 1 }],
    ['an interval of two days', { kind: 'pbx', interval_minutes: 2_880 }],
    ['no channels', { kind: 'pbx', channels: 0 }],
    ['another kind', { kind: 'fax' }],
  ])('are refused: %s', async (_, body) => {
    const lines = await configuration();
    const { status } = await api.call('POST', `/api/v1${lines}`, { body: { name: 'x', ...body } });
    expect(status).toBe(422);
    expect(await api.ok('GET', lines)).toEqual({ lines: [] });
  });

  it('over a hosted provider are trunks, and half an hour apart at least', async () => {
    const hosted = `/api/v1${await configuration('twilio')}`;
    const trunk = { name: 'x', kind: 'trunk', number: '+14155550100' };
    const post = async (body: object) => (await api.call('POST', hosted, { body })).status;
    expect(await post({ name: 'x', kind: 'pbx' })).toBe(422);
    expect(await post({ ...trunk, kind: 'number' })).toBe(422);
    expect(await post({ ...trunk, interval_minutes: 29 })).toBe(422);
    const { status, body } = await api.call('POST', hosted, { body: trunk });
    expect(status).toBe(200);
    const often = { interval_minutes: 5 };
    expect((await api.call('PUT', `${hosted}/${body.id}`, { body: often })).status).toBe(422);
  });

  it('are at most twenty, and no other organization sees them', async () => {
    const pbx = { name: 'x', kind: 'pbx' };
    const lines = await configuration();
    for (let nth = 0; nth < 20; nth++) await api.ok('POST', lines, pbx);
    expect((await api.call('POST', `/api/v1${lines}`, { body: pbx })).status).toBe(409);
    const { apiKey: key } = await api.stranger();
    expect((await api.call('GET', `/api/v1${lines}`, { key })).status).toBe(404);
  });
});
