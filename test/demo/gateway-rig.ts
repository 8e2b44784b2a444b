// A gateway from the build for one test file, with a folder and a port of its own and without the machine's speech
// services; also with a simulated Twilio and the demo's agents. It can be killed and started again.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { freePort } from '../fakes/free-port.ts';
import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import { ACCOUNT_SID, AUTH_TOKEN } from '../fakes/twilio/row.ts';
import { ApiClient } from './api-client.ts';
import { Gateway, type GatewayOptions } from './gateway.ts';
import { OWN_NUMBER } from './scenario.ts';
import { type Agents, setUp } from './two-calls.ts';

const served = z.object({
  msg: z.literal('a worker serves'),
  worker: z.string(),
  pid: z.number(),
});

export class GatewayRig {
  readonly folder: string;
  readonly logFile: string;
  #options: GatewayOptions | undefined;
  #gateway: Gateway | undefined;

  /** `name`: of its folder. */
  constructor(name: string) {
    this.folder = mkdtempSync(join(tmpdir(), `patchbay-${name}-`));
    this.logFile = join(this.folder, 'gateway.log');
  }

  get dataFolder(): string {
    return join(this.folder, 'data');
  }

  get gateway(): Gateway {
    if (this.#gateway === undefined) throw new Error('the gateway has not been started');
    return this.#gateway;
  }

  /** With its first key. */
  async start(env: Record<string, string> = {}): Promise<ApiClient> {
    this.#options = {
      dataFolder: this.dataFolder,
      logFile: this.logFile,
      port: await freePort(),
      env: { PATCHBAY_STT: 'none', OPENAI_BASE_URL: '', OPENAI_API_KEY: '', ...env },
    };
    this.#gateway = await Gateway.start(this.#options);
    return new ApiClient(this.gateway.url, await this.gateway.firstKey());
  }

  /** After a kill, on the same folder and port; `env` beside that of before. */
  async startAgain(env: Record<string, string> = {}): Promise<void> {
    if (this.#options === undefined) throw new Error('the gateway has not been started');
    const options = { ...this.#options, env: { ...this.#options.env, ...env } };
    this.#gateway = await Gateway.start(options);
  }

  /** The process of a worker, the newest by the gateway's log; 0 if none has served yet. */
  pidOf(worker: string): number {
    const lines = readFileSync(this.logFile, 'utf8').split('\n');
    const pids = lines.flatMap((line) => {
      const parsed = served.safeParse(line.startsWith('{') ? JSON.parse(line) : undefined);
      return parsed.success && parsed.data.worker === worker ? [parsed.data.pid] : [];
    });
    return pids.at(-1) ?? 0;
  }

  kill(): Promise<void> {
    return this.gateway.kill();
  }

  /** Kills what runs, and removes the folder. */
  async end(): Promise<void> {
    await this.#gateway?.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export interface TwilioRig {
  twilio: FakeTwilio;
  agents: Agents;
}

/** A simulated Twilio with the demo's number and agents on a gateway that runs. */
export async function connectTwilio({ gateway }: GatewayRig, api: ApiClient): Promise<TwilioRig> {
  const twilio = await startFakeTwilio({
    publicWebhookBase: gateway.url,
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    numbers: [OWN_NUMBER],
  });
  return { twilio, agents: await setUp(api, twilio.baseUrl) };
}
