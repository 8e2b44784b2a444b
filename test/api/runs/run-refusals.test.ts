// What starts of calls, lists of runs and links to files are refused for beyond their schemas, which
// request-rules/refusals.test.ts tries. Source: contract §6.1, §6.2, §6.4 and §6.5.

import { describe, expect, it } from 'vitest';
import { type ErrorCode, GatewayError } from '../../../src/errors/gateway-error.ts';
import { type CallOptions, PUBLIC_URL, withApi } from '../served.ts';
import { withStoredRuns } from './stored-runs.ts';

const served = withApi();
const stored = withStoredRuns(served);
const { call, ok } = served;

async function answer(method: 'GET' | 'POST', path: string, options: CallOptions = {}) {
  const { status, body } = await call(method, `/api/v1${path}`, options);
  return [status, body?.detail];
}
const filters = (...items: unknown[]) => `filters=${encodeURIComponent(JSON.stringify(items))}`;

describe('a start', () => {
  const Starts = [
    '/public/agent/x',
    '/public/agent/test/x',
    '/public/agent/workflow/x',
    '/public/agent/test/workflow/x',
  ];

  it('is 401 with a wrong key and 422 without one before its body is looked at', async () => {
    for (const path of Starts) {
      expect(await answer('POST', path, { key: 'wrong', body: {} })).toEqual([
        401,
        'Invalid API key',
      ]);
      expect(await answer('POST', path, { key: null, body: {} })).toEqual([
        422,
        [expect.objectContaining({ type: 'missing', loc: ['header', 'X-API-Key'] })],
      ]);
    }
  });

  it.each<[ErrorCode, number, string, Record<string, string>?]>([
    ['AGENT_NOT_ACTIVE', 404, 'Workflow is not active'],
    [
      'CONFIGURATION_NOT_READY',
      400,
      "'x' is not ready for outbound calls. Why.",
      { name: 'x', reason: 'Why.' },
    ],
    ['CALL_NOT_PLACED', 400, 'Failed to initiate call: no', { reason: 'no' }],
    [
      'PROVIDER_NOT_BUILT',
      400,
      'Calls over x are not supported by this version',
      { provider: 'x' },
    ],
    ['GATEWAY_DRAINING', 503, 'This gateway is shutting down and accepts no new calls'],
    [
      'GATEWAY_OVERLOADED',
      503,
      'This gateway is at its limit and accepts no new calls now. Try again in a few seconds',
    ],
  ])('that is a test is refused with %s as %i', async (code, status, detail, facts) => {
    served.callService.refusal = new GatewayError(code, facts);
    const body = { workflow_id: stored.workflowId };
    expect(await answer('POST', '/telephony/initiate-call', { body })).toEqual([status, detail]);
  });
});

describe('a run without a call', () => {
  const create = (options: CallOptions) =>
    answer('POST', `/workflow/${stored.workflowId}/runs`, {
      body: { mode: 'ari', name: 'x' },
      ...options,
    });

  it('is 404 for an agent of another organization, or one that is archived', async () => {
    const { apiKey: key } = await served.stranger();
    expect(await create({ key })).toEqual([404, 'Workflow not found']);
    await ok('PUT', `/workflow/${stored.workflowId}/status`, { status: 'archived' });
    expect(await create({})).toEqual([404, 'Workflow is not active']);
    expect((await ok('GET', `/workflow/${stored.workflowId}/runs`)).total_count).toBe(0);
  });
});

describe('a list of runs', () => {
  const Usage = '/organizations/usage/runs';
  const lists = () => [`/workflow/${stored.workflowId}/runs`, Usage];

  it.each([
    ['text', 'x'],
    ['an object', '{}'],
    ['a number', '1'],
    ['null', 'null'],
    ['a list of numbers', '[1]'],
    ['an item without an attribute', '[{"type":"radio"}]'],
    ['JSON that breaks off', '[{"attribute":"duration"'],
  ])('is 400 for filters that are %s', async (_what, text) => {
    for (const path of [...lists(), `${Usage}/report`]) {
      const query = `filters=${encodeURIComponent(text)}`;
      expect(await answer('GET', `${path}?${query}`)).toEqual([400, 'Invalid filter format']);
    }
  });

  it.each<[string, string, unknown]>([
    ['dateRange', 'dateRange', { from: 'yesterday' }],
    ['dateRange', 'dateRange', null],
    ['dispositionCode', 'multiSelect', { codes: 'busy' }],
    ['duration', 'numberRange', { max: '10' }],
    ['status', 'radio', { status: 'lost' }],
    ['tokenUsage', 'numberRange', { min: true }],
  ])('is 400 for a filter by %s that is no %s', async (attribute, type, value) => {
    for (const path of [...lists(), `${Usage}/report`]) {
      const query = filters({ attribute, type, value });
      expect(await answer('GET', `${path}?${query}`)).toEqual([400, 'Invalid filter format']);
    }
  });

  it.each<[string, unknown]>([
    ['runId', { value: 'x' }],
    ['workflowId', {}],
    ['campaignId', { value: 1.5 }],
    ['callTags', { codes: [1] }],
    ['callerNumber', { value: 7 }],
    ['calledNumber', {}],
    ['callDirection', { status: 'sideways' }],
    ['callChannel', { status: 'pigeon' }],
  ])('of an agent may not be filtered by %s: 403', async (attribute, value) => {
    const query = filters({ attribute, type: 'text', value });
    expect(await answer('GET', `/workflow/${stored.workflowId}/runs?${query}`)).toEqual([
      403,
      `Invalid attribute '${attribute}'. Must be one of: dateRange, dispositionCode, duration, status, tokenUsage`,
    ]);
    // The organization's may, with a value that can be one.
    expect(await answer('GET', `${Usage}?${query}`)).toEqual([400, 'Invalid filter format']);
  });

  it('is 403 for what no list can be filtered by, and the report is too', async () => {
    const query = filters({ attribute: 'secret', type: 'text', value: {} });
    for (const path of [...lists(), `${Usage}/report`]) {
      expect(await answer('GET', `${path}?${query}`)).toEqual([
        403,
        expect.stringMatching(/^Invalid attribute 'secret'\. Must be one of: dateRange, /),
      ]);
    }
  });

  it('is 404 for an agent that is not there or is another organization’s', async () => {
    await stored.aRun();
    const { apiKey: key } = await served.stranger();
    const { workflowId: id } = stored;
    const missing = (agent: string) => [404, `Workflow with id ${agent} not found`];
    expect(await answer('GET', '/workflow/999999/runs')).toEqual(missing('999999'));
    expect(await answer('GET', `/workflow/${id}/runs`, { key })).toEqual(missing(id));
    expect(await answer('GET', '/workflow/x/runs')).toEqual(missing('x'));
    expect(await answer('GET', `/workflow/${id}/runs/x`)).toEqual([404, 'Workflow run not found']);
  });
});

describe('a link to a file', () => {
  const Operations = ['signed-url', 'file-metadata'];
  const ask = (operation: string, key: string, options: CallOptions = {}) =>
    answer('GET', `/s3/${operation}?key=${encodeURIComponent(key)}`, options);
  const keysOf = (id: string) => [
    `recordings/${id}.wav`,
    `recordings/${id}/user.wav`,
    `recordings/${id}/bot.wav`,
    `transcripts/${id}.txt`,
  ];

  it.each(Operations)('of a run is its organization’s alone: %s', async (operation) => {
    const { id } = await stored.aRun();
    const { apiKey: key } = await served.stranger();
    for (const file of keysOf(id)) {
      expect((await ask(operation, file))[0], file).toBe(200);
      expect(await ask(operation, file, { key }), file).toEqual([403, 'Access denied']);
      const link = `${PUBLIC_URL}/api/v1/files/${file}?expires=1&signature=x`;
      expect((await ask(operation, link))[0], link).toBe(200);
      expect(await ask(operation, link, { key }), link).toEqual([403, 'Access denied']);
    }
    for (const file of keysOf('999999')) {
      expect(await ask(operation, file), file).toEqual([403, 'Access denied']);
    }
  });

  it.each(Operations)('is 400 for a key of no family: %s', async (operation) => {
    for (const key of [
      '',
      'x',
      'recordings/1.mp3',
      'recordings/1/caller.wav',
      'recordings/-1.wav',
      'transcripts/1.json',
      'transcripts/x.txt',
      '/transcripts/1.txt',
      'transcripts/1.txt/',
      'https://elsewhere.example.com/api/v1/files/transcripts/1.txt',
      `${PUBLIC_URL}/api/v1/health`,
      `${PUBLIC_URL}/api/v1/files/`,
    ]) {
      expect(await ask(operation, key), key).toEqual([400, 'Invalid key format']);
    }
  });
});

describe('a file of a run under its public token', () => {
  const get = (token: string, artifact: string) =>
    answer('GET', `/public/download/workflow/${token}/${artifact}`, { key: null });

  it.each(['recording', 'transcript', 'user_recording', 'bot_recording'])(
    'is 404 where there is no %s, and under an unknown token',
    async (artifact) => {
      const { id } = await stored.aRun();
      const token = await served.test.store.runs.publicToken(id);
      const none = [404, `No ${artifact} available for this workflow run`];
      expect(await get(token, artifact)).toEqual(none);
      const nobodys = '0f8fad5b-d9cb-469f-a165-70867728950e';
      expect(await get(nobodys, artifact)).toEqual([404, 'Invalid or expired token']);
    },
  );

  it('is 400 for what no run has, whatever the token', async () => {
    for (const artifact of ['video', 'recording.wav', 'toString', 'Recording']) {
      expect(await get('made-up', artifact)).toEqual([400, 'Unsupported artifact type']);
    }
  });
});
