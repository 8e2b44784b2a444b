// A gateway from the build for one test file, with a folder and a port of its own and without the machine's speech
// services; also with a simulated Twilio and the demo's agents. It can be killed and started again.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../fakes/free-port.ts';
import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import { ACCOUNT_SID, AUTH_TOKEN } from '../fakes/twilio/row.ts';
import { ApiClient } from './api-client.ts';
import { Gateway, type GatewayOptions } from './gateway.ts';
import { OWN_NUMBER } from './scenario.ts';
import { type Agents, setUp } from './two-calls.ts';

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

  get gateway(): Gateway {
    if (this.#gateway === undefined) throw new Error('the gateway has not been started');
    return this.#gateway;
  }

  /** With its first key. */
  async start(env: Record<string, string> = {}): Promise<ApiClient> {
    this.#options = {
      dataFolder: join(this.folder, 'data'),
      logFile: this.logFile,
      port: await freePort(),
      env: { PATCHBAY_STT: 'none', OPENAI_BASE_URL: '', OPENAI_API_KEY: '', ...env },
    };
    this.#gateway = await Gateway.start(this.#options);
    return new ApiClient(this.gateway.url, await this.gateway.firstKey());
  }

  /** After a kill, on the same folder and port. */
  async startAgain(): Promise<void> {
    if (this.#options === undefined) throw new Error('the gateway has not been started');
    this.#gateway = await Gateway.start(this.#options);
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
