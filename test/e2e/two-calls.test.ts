// The demo's two calls as a test, at the same time: gateways from the build, each with a provider in a process of its
// own, real time. All gateways are started before the first call begins, as a start takes a whole core; then all
// calls are held beside each other, which are mostly silence.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { ProviderLink } from '../demo/provider-link.ts';
import { type CallMeans, holdInbound, holdOutbound, setUp } from '../demo/two-calls.ts';
import { type CallResult, faultsOf } from '../demo/verdict.ts';
import { freePort } from '../fakes/free-port.ts';

const CALL_MS = 120_000;
const hasRecogniser = ['x86_64', 'aarch64'].some((machine) =>
  existsSync(`/usr/lib/${machine}-linux-gnu/libpocketsphinx.so.3`),
);

interface Scene {
  means: 'voice' | 'keys';
  stt: 'auto' | 'none';
  provider: 'twilio' | 'ari';
}

class TwoCalls {
  readonly scene: Scene;
  readonly lines: string[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'patchbay-e2e-'));
  #gateway: Gateway | undefined;
  #link: ProviderLink | undefined;
  #held: Promise<CallResult>[] = [];

  constructor(scene: Scene) {
    this.scene = scene;
  }

  get isSkipped(): boolean {
    return this.scene.means === 'voice' && !hasRecogniser;
  }

  get logFile(): string {
    return join(this.#folder, 'gateway.log');
  }

  /** What the calls need, once the gateway and the provider run. */
  async start(): Promise<CallMeans> {
    const { means, stt, provider } = this.scene;
    const env = { PATCHBAY_STT: stt, OPENAI_BASE_URL: '', OPENAI_API_KEY: '' };
    const dataFolder = join(this.#folder, 'data');
    const options = { dataFolder, logFile: this.logFile, port: await freePort(), env };
    const gateway = await Gateway.start(options);
    this.#gateway = gateway;
    const api = new ApiClient(gateway.url, await gateway.firstKey());
    const recogniser = means === 'voice';
    const played = provider === 'ari' ? { name: provider, url: '' } : { name: provider };
    const started = await ProviderLink.start(gateway.url, recogniser, played);
    this.#link = started.provider;
    const agents = await setUp(api, started.apiUrl, provider);
    const onLine: CallMeans['onLine'] = ({ who, text }) => this.lines.push(`${who}: ${text}`);
    return { api, provider: started.provider, agents, recogniser, model: false, onLine };
  }

  hold(means: CallMeans): void {
    if (this.isSkipped) return;
    this.#held = [holdInbound(means), holdOutbound(means)];
    for (const call of this.#held) call.catch(() => undefined); // Met again by its test.
  }

  async faultsIn(call: number): Promise<string[]> {
    const held = this.#held[call];
    return held === undefined ? ['no call'] : faultsOf(await held);
  }

  async end(): Promise<void> {
    this.#link?.stop();
    await this.#gateway?.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const scenes: TwoCalls[] = [
  new TwoCalls({ means: 'voice', stt: 'auto', provider: 'twilio' }),
  new TwoCalls({ means: 'keys', stt: 'none', provider: 'twilio' }),
  new TwoCalls(
    hasRecogniser
      ? { means: 'voice', stt: 'auto', provider: 'ari' }
      : { means: 'keys', stt: 'none', provider: 'ari' },
  ),
];

beforeAll(async () => {
  const means: CallMeans[] = [];
  for (const each of scenes) means.push(await each.start());
  for (const [nth, each] of means.entries()) scenes[nth]?.hold(each);
}, 240_000);

afterAll(async () => {
  await Promise.all(scenes.map((each) => each.end()));
}, 60_000);

describe.each(scenes.map((calls) => ({ calls, ...calls.scene })))(
  'a gateway whose callers use their $means (STT $stt) over $provider',
  ({ calls }) => {
    it.skipIf(calls.isSkipped)(
      'answers a call, yields to an interruption and gathers what was said',
      async () => {
        expect(await calls.faultsIn(0), calls.lines.join('\n')).toEqual([]);
      },
      CALL_MS,
    );

    it.skipIf(calls.isSkipped)(
      'places a call and gathers what was said',
      async () => {
        expect(await calls.faultsIn(1), calls.lines.join('\n')).toEqual([]);
      },
      CALL_MS,
    );

    it('logs no speech and no secret', () => {
      const log = readFileSync(calls.logFile, 'utf8');
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
  },
);
