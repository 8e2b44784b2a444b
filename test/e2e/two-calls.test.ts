// The demo's two calls as a test, over three gateways from the build, each with a provider in a process of its own,
// in real time. The gateways start one after another; then all six calls run at the same time.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { machine } from '../demo/machine-pace.ts';
import { ProviderLink } from '../demo/provider-link.ts';
import { type CallMeans, holdInbound, holdOutbound, setUp } from '../demo/two-calls.ts';
import { type CallResult, faultsOf } from '../demo/verdict.ts';
import { freePort } from '../fakes/free-port.ts';

const CALL_MS = 120_000;
const hasRecogniser = ['x86_64', 'aarch64'].some((machine) =>
  existsSync(`/usr/lib/${machine}-linux-gnu/libpocketsphinx.so.3`),
);

interface Setting {
  /** How the callers answer. */
  means: 'voice' | 'keys';
  stt: string;
  provider: 'twilio' | 'ari';
}

const settings: Setting[] = [
  { means: 'voice', stt: 'auto', provider: 'twilio' },
  { means: 'keys', stt: 'none', provider: 'twilio' },
  hasRecogniser
    ? { means: 'voice', stt: 'auto', provider: 'ari' }
    : { means: 'keys', stt: 'none', provider: 'ari' },
];

/** A gateway, its provider and its two calls. */
class Trial {
  readonly setting: Setting;
  readonly lines: string[] = [];
  calls: Promise<CallResult>[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'patchbay-e2e-'));
  #gateway: Gateway | undefined;
  #link: ProviderLink | undefined;
  #means: CallMeans | undefined;

  constructor(setting: Setting) {
    this.setting = setting;
  }

  async start(): Promise<void> {
    const { means, stt, provider } = this.setting;
    const env = { PATCHBAY_STT: stt, OPENAI_BASE_URL: '', OPENAI_API_KEY: '' };
    const dataFolder = join(this.#folder, 'data');
    const port = await freePort();
    const gateway = await Gateway.start({ dataFolder, logFile: this.#logFile, port, env });
    this.#gateway = gateway;
    const api = new ApiClient(gateway.url, await gateway.firstKey());
    const recogniser = means === 'voice';
    const played = provider === 'ari' ? { name: provider, url: '' } : { name: provider };
    const started = await ProviderLink.start(gateway.url, recogniser, played);
    this.#link = started.provider;
    const agents = await setUp(api, started.apiUrl, provider);
    const onLine: CallMeans['onLine'] = ({ who, text }) => this.lines.push(`${who}: ${text}`);
    this.#means = { api, provider: this.#link, agents, recogniser, model: false, onLine };
  }

  /** Holds both calls, anew at a second try: the same ones would be judged the same. */
  call(): void {
    if (this.#means === undefined) return;
    this.lines.length = 0;
    this.calls = [holdInbound(this.#means), holdOutbound(this.#means)];
    for (const call of this.calls) call.catch(() => undefined); // Met again by its test.
  }

  async faultsIn(call: Promise<CallResult> | undefined): Promise<string[]> {
    return call === undefined ? ['no call'] : faultsOf(await call);
  }

  log(): string {
    return readFileSync(this.#logFile, 'utf8');
  }

  async stop(): Promise<void> {
    this.#link?.stop();
    await this.#gateway?.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #logFile(): string {
    return join(this.#folder, 'gateway.log');
  }
}

const trials = settings
  .filter(({ means }) => means === 'keys' || hasRecogniser)
  .map((setting) => new Trial(setting));

beforeAll(async () => {
  // Callers wait in proportion to what the machine does, as in the demo: six calls begin at the same time.
  machine.watch();
  for (const trial of trials) await trial.start();
  for (const trial of trials) trial.call();
}, 300_000);

afterAll(async () => {
  await Promise.all(trials.map((trial) => trial.stop()));
});

describe.each(settings)(
  'a gateway whose callers use their $means (STT $stt) over $provider',
  (setting) => {
    const trial = trials.find((each) => each.setting === setting);

    it.skipIf(trial === undefined)(
      'answers a call, yields to an interruption and gathers what was said',
      async ({ task }) => {
        if (task.result?.retryCount) trial?.call();
        expect(await trial?.faultsIn(trial.calls[0]), trial?.lines.join('\n')).toEqual([]);
      },
      CALL_MS,
    );

    it.skipIf(trial === undefined)(
      'places a call and gathers what was said',
      async ({ task }) => {
        if (task.result?.retryCount) trial?.call();
        expect(await trial?.faultsIn(trial.calls[1]), trial?.lines.join('\n')).toEqual([]);
      },
      CALL_MS,
    );

    it.skipIf(trial === undefined)('logs no speech and no secret', () => {
      const log = trial?.log();
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
