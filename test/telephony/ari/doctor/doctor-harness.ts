// A simulated Asterisk, the connector of a gateway, and the doctor that examines the one through the other. Time is the
// test's: it runs as fast as they can talk.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect } from 'vitest';
import WebSocket from 'ws';
import { systemRandom } from '../../../../src/std/random.ts';
import { type AriProviderOptions, ariProvider } from '../../../../src/telephony/ari/provider.ts';
import type { Finding, PbxInboundCall } from '../../../../src/telephony/provider/pbx.ts';
import type { PbxProvider } from '../../../../src/telephony/provider/provider.ts';
import {
  type FakeAsterisk,
  type FakeAsteriskOptions,
  startAsterisk,
} from '../../../fakes/asterisk/fake-asterisk.ts';
import { pump } from '../../../fakes/asterisk/media/pump.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';

export const APP = 'patchbay_0123456789ab';
export const PUBLIC_URL = 'https://gw.example.com';

export interface Examination {
  /** Fields of the configuration. */
  fields?: Record<string, unknown>;
  numbers?: string[];
  signal?: AbortSignal;
  /** Where numbers are called; null: looked for; undefined: not at all. */
  callFrom?: string | null;
  publicUrl?: string;
}

export class DoctorWorld {
  readonly clock = new FakeClock();
  provider: PbxProvider;
  #asterisk: FakeAsterisk | undefined;
  /** Run after the test, last first. */
  readonly close: (() => unknown)[] = [];
  /** Calls for which an agent would start. */
  readonly inbound: PbxInboundCall[] = [];

  constructor() {
    this.close.push(pump(this.clock));
    this.provider = this.createProvider({});
  }

  createProvider(more: Partial<AriProviderOptions>): PbxProvider {
    return ariProvider.create({ clock: this.clock, random: systemRandom, ...more });
  }

  async play(options: FakeAsteriskOptions = {}): Promise<void> {
    const asterisk = await startAsterisk({ clock: this.clock, ...options });
    this.#asterisk = asterisk;
    this.close.push(() => asterisk.stop());
  }

  get asterisk(): FakeAsterisk {
    if (this.#asterisk === undefined) throw new Error('nothing plays yet');
    return this.#asterisk;
  }

  get credentials(): Record<string, unknown> {
    return {
      ari_endpoint: this.asterisk.url,
      app_name: 'gw',
      app_password: 'gwsecret',
      stasis_app_name: APP,
      dial_template: 'PJSIP/{number}@trunk',
    };
  }

  /** A client of an application, as another program or another node of the gateway is. */
  async connectApp(app = APP): Promise<void> {
    const socket = new WebSocket(
      `${this.asterisk.url.replace('http', 'ws')}/ari/events?app=${app}`,
      {
        headers: { authorization: `Basic ${Buffer.from('gw:gwsecret').toString('base64')}` },
      },
    );
    this.close.push(() => socket.terminate());
    await new Promise((resolve) => socket.once('open', resolve));
  }

  /** The gateway's own connection, which is up. */
  async ownConnection(fields: Record<string, unknown> = {}) {
    const reached: Record<string, () => void> = {};
    const state = (kind: string) =>
      new Promise<void>((resolve) => {
        reached[kind] = resolve;
      });
    const up = state('up');
    const listener = {
      onState: ({ kind }: { kind: string }) => reached[kind]?.(),
      onInbound: (call: PbxInboundCall) => void this.inbound.push(call),
      onEarlyMedia: () => undefined,
      onAnswered: () => undefined,
      onStatus: () => undefined,
    };
    const account = { configurationId: '1', credentials: { ...this.credentials, ...fields } };
    const connection = this.provider.pbx.connect(account, { log: quietLog().log, listener });
    this.close.push(() => connection.close());
    return { connection, state, up };
  }

  /** Where a PBX opens its connection to the gateway, as `client`. */
  async serveUpgrades(client: string): Promise<string> {
    const server = createServer();
    server.on('upgrade', (request, socket, head) => {
      if (!this.provider.pbx.takeUpgrade(request, socket, head, client)) socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.close.push(
      () => server.closeAllConnections(),
      () => server.close(),
    );
    const { port } = server.address() as AddressInfo;
    return `ws://127.0.0.1:${port}/api/v1/telephony/pbx/`;
  }

  async examine(examination: Examination = {}): Promise<Map<string, Finding>> {
    const { fields = {}, numbers = ['8000'], callFrom } = examination;
    const findings = await this.provider.pbx.examine(
      {
        organizationId: '1',
        configurationId: '1',
        credentials: { ...this.credentials, ...fields },
      },
      {
        numbers,
        publicUrl: examination.publicUrl ?? PUBLIC_URL,
        ...(callFrom !== undefined && { calls: { context: callFrom } }),
        log: quietLog().log,
      },
      examination.signal ?? new AbortController().signal,
    );
    expect(new Set(findings.map(({ key }) => key)).size, 'one finding a key').toBe(findings.length);
    for (const { verdict, advice, key } of findings) {
      if (verdict === 'fail' || verdict === 'warn') expect(advice, key).toMatch(/\w{3}/);
    }
    return new Map(findings.map((finding) => [finding.key, finding]));
  }

  expectNothingLeft(): void {
    expect(this.asterisk.channels).toEqual([]);
    expect(this.asterisk.bridgeIds).toEqual([]);
    expect(this.asterisk.complaints).toEqual([]);
  }
}

/** A new world for each test of the file. */
export function withDoctor(): { readonly world: DoctorWorld } {
  let world: DoctorWorld | undefined;
  beforeEach(() => {
    world = new DoctorWorld();
  });
  afterEach(async () => {
    for (const each of world?.close.reverse() ?? []) await each();
  });
  return {
    get world() {
      if (world === undefined) throw new Error('outside of a test');
      return world;
    },
  };
}

export const failed = (findings: Map<string, Finding>): string[] =>
  [...findings.values()].filter(({ verdict }) => verdict === 'fail').map(({ key }) => key);
