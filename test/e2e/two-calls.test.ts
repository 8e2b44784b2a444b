// The demo's two calls as a test, at the same time: a gateway from the build, a provider in a process of its
// own, real time.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { ProviderLink } from '../demo/provider-link.ts';
import {
  type Agents,
  type CallMeans,
  holdInbound,
  holdOutbound,
  setUp,
} from '../demo/two-calls.ts';
import { type CallResult, faultsOf } from '../demo/verdict.ts';
import { freePort } from '../fakes/free-port.ts';

const CALL_MS = 120_000;
const hasRecogniser = ['x86_64', 'aarch64'].some((machine) =>
  existsSync(`/usr/lib/${machine}-linux-gnu/libpocketsphinx.so.3`),
);

describe.each([
  ['voice', 'auto', 'twilio'],
  ['keys', 'none', 'twilio'],
  hasRecogniser ? ['voice', 'auto', 'ari'] : ['keys', 'none', 'ari'],
])('a gateway whose callers use their %s (STT %s) over %s', (means, stt, provider) => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-e2e-'));
  const logFile = join(folder, 'gateway.log');
  const recogniser = means === 'voice';
  const isAsterisk = provider === 'ari';
  const lines: string[] = [];
  let gateway: Gateway;
  let link: ProviderLink;
  let api: ApiClient;
  let agents: Agents;
  let held: Promise<CallResult>[] = [];

  beforeAll(async () => {
    const env = { PATCHBAY_STT: stt, OPENAI_BASE_URL: '', OPENAI_API_KEY: '' };
    const dataFolder = join(folder, 'data');
    gateway = await Gateway.start({ dataFolder, logFile, port: await freePort(), env });
    api = new ApiClient(gateway.url, await gateway.firstKey());
    const played = isAsterisk ? { name: 'ari' as const, url: '' } : { name: 'twilio' as const };
    const started = await ProviderLink.start(gateway.url, recogniser, played);
    link = started.provider;
    agents = await setUp(api, started.apiUrl, played.name);
    if (recogniser && !hasRecogniser) return;
    held = [holdInbound(callMeans()), holdOutbound(callMeans())];
    for (const call of held) call.catch(() => undefined); // Met again by its test.
  }, 60_000);

  afterAll(async () => {
    link?.stop();
    await gateway?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function callMeans(): CallMeans {
    const onLine: CallMeans['onLine'] = ({ who, text }) => lines.push(`${who}: ${text}`);
    return { api, provider: link, agents, recogniser, model: false, onLine };
  }

  async function faultsIn(call: Promise<CallResult> | undefined): Promise<string[]> {
    return call === undefined ? ['no call'] : faultsOf(await call);
  }

  it.skipIf(recogniser && !hasRecogniser)(
    'answers a call, yields to an interruption and gathers what was said',
    async () => {
      expect(await faultsIn(held[0]), lines.join('\n')).toEqual([]);
    },
    CALL_MS,
  );

  it.skipIf(recogniser && !hasRecogniser)(
    'places a call and gathers what was said',
    async () => {
      expect(await faultsIn(held[1]), lines.join('\n')).toEqual([]);
    },
    CALL_MS,
  );

  it('logs no speech and no secret', () => {
    const log = readFileSync(logFile, 'utf8');
    expect(log).toContain('run completed');
    for (const said of [
      /(?<!\d)48213(?!\d)/,
      /15005550101/,
      /fedcba9876543210/,
      /gwsecret/,
      /wednesday/,
    ]) {
      expect(log).not.toMatch(said);
    }
  });
});
