// A gateway from the build on a Node whose internals do not do what runtime/ relies on: calls go on.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { ProviderLink } from '../demo/provider-link.ts';
import { type CallMeans, holdInbound, setUp } from '../demo/two-calls.ts';
import { faultsOf } from '../demo/verdict.ts';
import { freePort } from '../fakes/free-port.ts';

/** By process, as its log lines and metrics name it. */
const BROKEN = [
  '1 event-loop-watchdog',
  '1 native-kernels',
  '1 shared-reads',
  '1 thread-priority',
  'api event-loop-watchdog',
  'supervisor event-loop-watchdog',
  'supervisor listen-handle',
];

describe('a gateway on a Node with other internals', () => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-fallback-'));
  const logFile = join(folder, 'gateway.log');
  let gateway: Gateway;
  let link: ProviderLink;
  let means: CallMeans;

  beforeAll(async () => {
    const preload = new URL('./broken-runtime.mjs', import.meta.url).href;
    const env = {
      NODE_OPTIONS: `--import=${preload}`,
      PATCHBAY_STT: 'none',
      OPENAI_BASE_URL: '',
      OPENAI_API_KEY: '',
    };
    const dataFolder = join(folder, 'data');
    gateway = await Gateway.start({ dataFolder, logFile, port: await freePort(), env });
    const api = new ApiClient(gateway.url, await gateway.firstKey());
    const started = await ProviderLink.start(gateway.url, false, { name: 'twilio' });
    link = started.provider;
    const agents = await setUp(api, started.apiUrl, 'twilio');
    const onLine = (): void => undefined;
    means = { api, provider: link, agents, recogniser: false, model: false, onLine };
  }, 90_000);

  afterAll(async () => {
    link?.stop();
    await gateway?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('holds a call whose audio passes both ways', async () => {
    expect(faultsOf(await holdInbound(means))).toEqual([]);
  }, 120_000);

  it('has warned once in each process of each feature that it replaced', async () => {
    const features = readFileSync(logFile, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"code":"RUNTIME_FALLBACK"'))
      .map((line) => JSON.parse(line))
      .filter(({ feature }) => feature !== 'direct-sockets') // Tested where an addon was built.
      .map(({ worker = 'supervisor', feature }) => `${worker} ${feature}`);
    expect(features.sort()).toEqual(BROKEN);
  });

  it('shows them in its metrics', async () => {
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    for (const [worker, feature] of BROKEN.map((each) => each.split(' '))) {
      expect(metrics).toContain(`_runtime_fallback{feature="${feature}",worker="${worker}"} 1`);
    }
    expect(metrics).toContain('_runtime_fallback{feature="gc-tuning",worker="1"} 0');
  });
});
