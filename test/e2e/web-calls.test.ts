// Calls from browsers through a gateway of an API process and two call workers: a websocket client acts as the page, with
// the fixtures' caller and the machine's recogniser.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ApiClient } from '../demo/api-client.ts';
import { Caller, rms } from '../demo/caller.ts';
import { GatewayRig } from '../demo/gateway-rig.ts';
import { machine } from '../demo/machine-pace.ts';
import { callerLines, inbound } from '../demo/scenario.ts';
import { type BrowserOptions, FakeBrowser } from '../fakes/web/fake-browser.ts';

/** A call without a page is closed after half a minute. */
const POLL = { timeout: 60_000, interval: 20 };
const LOUD_RMS = 250;
const PAGE = 'https://shop.example.com';

const startedCall = z.object({
  run_id: z.string(),
  token: z.string(),
  media_url: z.string(),
  expires_in: z.number(),
});
type Started = z.infer<typeof startedCall>;

const rig = new GatewayRig('web-calls');
const figures: string[] = [];
let api: ApiClient;
let key = '';
let agentId = '';

beforeAll(async () => {
  machine.watch();
  api = await rig.start({
    PATCHBAY_WORKERS: '2',
    PATCHBAY_STT: 'auto',
    PATCHBAY_CORS_ORIGINS: PAGE,
    PATCHBAY_CALL_LIMIT: '6',
  });
  key = await rig.gateway.firstKey();
  agentId = (await api.createWorkflow(inbound.agentName, inbound.definition)).id;
}, 180_000);

afterAll(async () => {
  process.stdout.write(`${figures.join('\n')}\n`);
  await rig.end();
}, 60_000);

async function post(body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${rig.gateway.url}/api/v1/web-calls`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key, ...headers },
    body: JSON.stringify({ workflow_id: agentId, ...body }),
    signal: AbortSignal.timeout(30_000),
  });
}

async function started(body: object = {}, headers: Record<string, string> = {}): Promise<Started> {
  const response = await post(body, headers);
  const answer: unknown = await response.json();
  expect(response.status, JSON.stringify(answer)).toBe(200);
  return startedCall.parse(answer);
}

const open = ({ media_url: url, token }: Started, more: Partial<BrowserOptions> = {}) =>
  FakeBrowser.open({ url, token, ...more });

/** Hears the agent's first words. */
async function greeted(browser: FakeBrowser): Promise<void> {
  let loud = 0;
  browser.onFrame = (frame) => {
    if (rms(frame) > LOUD_RMS) loud += 1;
  };
  await expect.poll(() => loud, POLL).toBeGreaterThan(20);
}

async function ask(method: string, path: string): Promise<Record<string, unknown>> {
  const url = `${rig.gateway.url}/api/v1${path}`;
  const signal = AbortSignal.timeout(30_000);
  const response = await fetch(url, { method, headers: { 'x-api-key': key }, signal });
  return z.record(z.string(), z.unknown()).parse(await response.json());
}

async function completed(runId: string): Promise<Record<string, unknown>> {
  let run: Record<string, unknown> = {};
  await expect
    .poll(async () => {
      run = await ask('GET', `/workflow/${agentId}/runs/${runId}`);
      return run['is_completed'];
    }, POLL)
    .toBe(true);
  return run;
}

async function left(browser: FakeBrowser, { run_id: runId }: Started) {
  browser.send({ type: 'bye' });
  await expect.poll(() => browser.closed?.code, POLL).toBe(1000);
  return completed(runId);
}

describe('a call from a browser', () => {
  it('is held to its end, by words, a barge-in and keys', async () => {
    const call = await started({ items: 'all' });
    expect(call.expires_in).toBe(30);
    expect(call.media_url).toBe(`${rig.gateway.url.replace('http', 'ws')}/api/v1/web-calls/media`);
    const browser = await open(call);
    expect(browser.protocol).toBe('patchbay.v1');
    const caller = new Caller(callerLines(inbound, !rig.gateway.keypadOnly), machine);
    const narrow = new Int16Array(160);
    browser.onFrame = (frame) => {
      for (let i = 0; i < 160; i++) narrow[i] = ((frame[2 * i] ?? 0) + (frame[2 * i + 1] ?? 0)) / 2;
      const line = caller.hear(narrow);
      if (line === undefined) return;
      browser.say(line.samples);
      for (const digit of line.keys) browser.send({ type: 'key', digit });
    };
    await expect.poll(() => browser.closed, { timeout: 120_000, interval: 50 }).toBeDefined();
    expect(browser.closed).toEqual({ code: 1000, reason: '' });

    expect(browser.of('started')[0]).toMatchObject({ run_id: call.run_id, resume_ms: 5_000 });
    expect(browser.of('ended')).toEqual([
      { type: 'ended', reason: expect.any(String), disposition: 'booked' },
    ]);
    const path = browser.of('rtf-node-transition').map(({ payload }) => payload);
    expect(path.length).toBeGreaterThan(2);
    // Marks come back with the sample that is due, in the frame in which it is played.
    expect(browser.marks.length).toBeGreaterThan(3);
    for (const { dueAt, playedAt } of browser.marks) expect(playedAt - dueAt).toBeLessThan(320);
    expect(browser.clearedMs.length).toBeGreaterThan(0);
    const [{ silentAfterMs } = { silentAfterMs: null }] = caller.facts.interruptions;
    figures.push(
      `barge-in: silent after ${silentAfterMs} ms; rings at clears ${browser.clearedMs.join(', ')} ms; ` +
        `answers after ${caller.facts.waitedMs.map(Math.round).join(', ')} ms; ${browser.marks.length} marks`,
    );
    const run = await completed(call.run_id);
    expect(run['gathered_context']).toMatchObject({
      extracted_variables: inbound.expected.gathered,
      provider: 'web',
    });
    expect(run).toMatchObject({ call_type: 'inbound', disposition: 'booked', mode: 'web' });
  }, 180_000);

  it('counts a muted caller as silent, and hears them again', async () => {
    const call = await started();
    const browser = await open(call);
    await greeted(browser);
    browser.send({ type: 'mute', on: true });
    browser.say(callerLines(inbound, true)[0]?.samples ?? new Int16Array(0));
    await pause(3_000);
    expect(browser.of('clear')).toEqual([]);
    expect(browser.of('rtf-user-transcription')).toEqual([]);
    browser.send({ type: 'mute', on: false });
    browser.say(callerLines(inbound, true)[0]?.samples ?? new Int16Array(0));
    await expect.poll(() => browser.of('rtf-user-transcription').length, POLL).toBeGreaterThan(0);
    // Without `items` the page gets the words of both sides alone.
    expect(browser.of('rtf-node-transition')).toEqual([]);
    await left(browser, call);
  }, 60_000);

  it('goes on when its socket breaks and the page returns in time', async () => {
    const call = await started();
    const first = await open(call, { rate: 8000 });
    await greeted(first);
    first.breakOff();
    await pause(1_500);
    const token = String(first.of('started')[0]?.['resume_token']);
    const second = await open({ ...call, token }, { rate: 8000 });
    await greeted(second);
    expect(second.of('started')[0]?.['resume_token']).not.toBe(token);
    await refused({ ...call, token }, 4401);

    // The page notices first: the old socket still seems to be there.
    const again = String(second.of('started')[0]?.['resume_token']);
    const third = await open({ ...call, token: again }, { rate: 8000 });
    await expect.poll(() => second.closed?.code, POLL).toBe(1001);
    await third.send({ type: 'key', digit: '1' });
    await expect.poll(() => third.of('rtf-user-transcription').length, POLL).toBeGreaterThan(0);
    const run = await left(third, call);
    expect(run['disposition']).toBe('user_hangup');
    expect(run['duration']).toBeGreaterThan(2);
  }, 60_000);

  it('ends when its socket breaks and the page does not return in five seconds', async () => {
    const call = await started();
    const browser = await open(call);
    await greeted(browser);
    const token = String(browser.of('started')[0]?.['resume_token']);
    const brokenAt = performance.now();
    browser.breakOff();
    const run = await completed(call.run_id);
    const waitedMs = performance.now() - brokenAt;
    figures.push(`closed ${Math.round(waitedMs)} ms after the socket broke`);
    expect(waitedMs).toBeGreaterThan(4_800);
    expect(run['disposition']).toBe('user_hangup');
    await refused({ ...call, token }, 4404);
  }, 60_000);

  it('uses the draft if that is wanted', async () => {
    const call = await started({ draft: true, initial_context: { name: 'Ada' } });
    const browser = await open(call);
    await greeted(browser);
    const run = await left(browser, call);
    expect(run['initial_context']).toMatchObject({ name: 'Ada', trigger_mode: 'test' });
  }, 60_000);
});

/** The socket is closed with the code. */
async function refused(
  call: Started,
  code: number,
  more: Partial<BrowserOptions> = {},
): Promise<FakeBrowser> {
  const browser = await open(call, more);
  await expect.poll(() => browser.closed?.code, POLL).toBe(code);
  return browser;
}

describe('a socket', () => {
  it('is refused with a token that was used, is wrong or is of another page', async () => {
    const call = await started({}, { origin: PAGE });
    await refused({ ...call, token: `${call.token.slice(0, -1)}x` }, 4401, { origin: PAGE });
    await refused(call, 4401);
    await expect(open(call, { origin: 'https://evil.example.com' })).rejects.toThrow('403');
    const browser = await open(call, { origin: PAGE });
    await greeted(browser);
    await refused(call, 4401, { origin: PAGE });
    await left(browser, call);
  }, 60_000);

  it('may be of a page of the gateway itself', async () => {
    const origin = rig.gateway.url;
    const call = await started({}, { origin });
    const browser = await open(call, { origin });
    await greeted(browser);
    await left(browser, call);
  }, 60_000);

  it('is not opened by the path of providers, and needs the protocol', async () => {
    const call = await started();
    const [run, workflow, organization, ...token] = call.token.split('.');
    const path = [workflow, organization, run, token.join('.')].join('/');
    const url = `${rig.gateway.url.replace('http', 'ws')}/api/v1/telephony/ws/${path}`;
    await refused({ ...call, media_url: url }, 4401);
  }, 60_000);

  it('is closed when nothing comes for ten seconds', async () => {
    const call = await started();
    const browser = await open(call);
    await greeted(browser);
    browser.isStill = true;
    const stillAt = performance.now();
    await expect.poll(() => browser.closed, POLL).toEqual({ code: 4408, reason: 'MEDIA_SILENT' });
    expect(performance.now() - stillAt).toBeGreaterThan(9_000);
    expect(await completed(call.run_id)).toMatchObject({ disposition: 'system_connect_error' });
  }, 60_000);

  it.each([
    [
      'a message that is too large',
      1009,
      (browser: FakeBrowser) => browser.sendRaw(Buffer.alloc(5_000)),
    ],
    [
      'too many messages',
      1008,
      (browser: FakeBrowser) => {
        for (let i = 0; i < 2_000; i++) browser.send({ type: 'key', digit: '#' });
      },
    ],
  ])('is closed for %s', async (_what, code, fault) => {
    const call = await started();
    const browser = await open(call);
    await greeted(browser);
    fault(browser);
    await expect.poll(() => browser.closed?.code, POLL).toBe(code);
    await completed(call.run_id);
  });
});

it('waits for its page for thirty seconds', async () => {
  const call = await started();
  const run = await completed(call.run_id);
  expect(run['disposition']).toBe('system_connect_error');
  await refused(call, 4401);
}, 90_000);

it('is refused beyond the limit of concurrent calls', async () => {
  const calls = await Promise.all(Array.from({ length: 6 }, () => started()));
  const response = await post({});
  expect([response.status, await response.json()]).toEqual([
    429,
    expect.objectContaining({ code: 'CALL_LIMIT_REACHED' }),
  ]);
  for (const call of calls) await ask('POST', `/workflow/${agentId}/runs/${call.run_id}/hang-up`);
  await Promise.all(calls.map(({ run_id: id }) => completed(id)));
  await refused(calls[0] as Started, 4404);
}, 60_000);

it('is not among the providers that can be configured', async () => {
  const { providers } = await ask('GET', '/organizations/telephony-providers/metadata');
  expect(JSON.stringify(providers)).toContain('"twilio"');
  expect(JSON.stringify(providers)).not.toContain('"web"');
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
