// A gateway that examines configurations by calls: the real API on a port of loopback, the real examination calls and
// their media server, and one fake provider that reaches it under its public address.

import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';
import type { AgentLines } from '../../../src/call/examination/examination-agent.ts';
import { ExaminationCalls } from '../../../src/call/examination/examination-calls.ts';
import { ExaminedCalls } from '../../../src/call/examination/examined-calls.ts';
import { OutboundRoutes } from '../../../src/call/start/outbound/outbound-route.ts';
import { type Clock, systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import type { HostedProvider } from '../../../src/telephony/provider/provider.ts';
import { secretFieldsOf, trunkSettingsOf } from '../../../src/telephony/registry/configuration.ts';
import { providersOf } from '../../../src/telephony/registry/registry.ts';
import {
  createMediaServer,
  type MediaServer,
} from '../../../src/transport/websocket/media-server.ts';
import { PUBLIC_URL, type Served, withApi } from '../../api/served.ts';
import { FakeCallService } from '../../fakes/call/fake-call-service.ts';
import { FakePbx } from '../../fakes/call/fake-pbx.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import type { HostedCall } from '../../fakes/hosted/hosted-call.ts';
import type { HostedFake, HostedRow } from '../../fakes/hosted/hosted-fake.ts';
import { hostedRows } from '../../fakes/hosted/hosted-rows.ts';
import { mediaTokens } from '../../fakes/media-tokens.ts';

export const OURS = '+14155550100';
export const THEIRS = '+442071838750';
const KEY_EVERY_MS = 400;

/** A loud tone at 8 kHz. */
function tone(ms: number): Int16Array {
  return Int16Array.from({ length: ms * 8 }, (_, i) => 8_000 * Math.sin((i * 2 * Math.PI) / 18));
}

const lines: AgentLines = {
  introduction: tone(300),
  cleared: tone(3_000),
  question: tone(200),
  goodbye: tone(100),
};

export interface ExaminingGateway extends Served {
  examinations: ExaminationCalls;
  /** A fake of the row's provider; the configuration's id. */
  configure(row: HostedRow): Promise<{ fake: HostedFake; path: string; secrets: string[] }>;
  publicUrl: string;
  /** What takes webhooks of runs. */
  runs: FakeCallService;
  /** How far this process's time is ahead. */
  aheadMs: number;
  isDraining: boolean;
  /** Before what the agent says is made. Default: nothing. */
  beforeSpeech: () => Promise<void>;
  /** Between a dial at the provider and its answer at the gateway; may reject. Default: nothing. */
  afterDial: () => Promise<void>;
  /** Where it listens. */
  base(): string;
}

export function withExaminations(): ExaminingGateway {
  const usual = () => ({
    publicUrl: PUBLIC_URL,
    aheadMs: 0,
    isDraining: false,

    beforeSpeech: () => Promise.resolve(),
    afterDial: () => Promise.resolve(),
  });
  const gateway = { ...usual(), runs: new FakeCallService() } as ExaminingGateway;
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => systemClock.monotonicMs() + gateway.aheadMs,
  };
  let media: MediaServer;
  const fakes: HostedFake[] = [];
  const pbx = new FakePbx(new FakeClock(), () => {
    throw new Error('nobody calls');
  });
  const rows = new Map(hostedRows.map((row) => [row.name, row]));
  const providers = providersOf([
    pbx,
    ...hostedRows.map((row) => row.create({ clock: systemClock })),
  ]);
  const served = withApi((test) => {
    gateway.examinations = new ExaminationCalls({
      store: test.store,
      clock,
      random: systemRandom,
      log: test.log,
      routes: new OutboundRoutes({ store: test.store, providers, random: systemRandom }),
      createProvider: (name, onExchange) => {
        const provider = rows.get(name)?.create({ clock: systemClock, onExchange });
        return provider && withLateAnswer(provider, () => gateway.afterDial());
      },
      speak: async () => {
        await gateway.beforeSpeech();
        return lines;
      },
      gateway: {
        get publicUrl() {
          return gateway.publicUrl;
        },
        version: '1.2.3',
      },
      tokens: mediaTokens({ clock }),
      isDraining: () => gateway.isDraining,
    });
    media = createMediaServer({
      log: test.log,
      clock: systemClock,
      authorize: (path, headers) => gateway.examinations.admit(path, headers),
      isExpected: (path) => gateway.examinations.isExpected(path),
    });
    return {
      examinations: gateway.examinations,
      callService: new ExaminedCalls(gateway.runs, gateway.examinations),
      providerByName: (name) => providers.byName(name),
      hostedProviders: providers.hosted,
    };
  });
  const listening = async (): Promise<string> => {
    const { server } = served.api;
    if (!server.listening) {
      server.on('upgrade', (request, socket, head) => {
        if (!media.handleUpgrade(request, socket, head)) socket.destroy();
      });
      await served.api.listen({ port: 0, host: '127.0.0.1' });
    }
    return gateway.base();
  };
  gateway.base = () => `http://127.0.0.1:${(served.api.server.address() as AddressInfo).port}`;
  gateway.configure = async (row) => {
    const base = await listening();
    const reach = (url: string): string =>
      url
        .replace(PUBLIC_URL, base)
        .replace(PUBLIC_URL.replace('http', 'ws'), base.replace('http', 'ws'));
    const fake = await row.startFake({ gatewayUrl: PUBLIC_URL, numbers: [OURS], reach });
    fakes.push(fake);
    const credentials = row.configuration(fake.baseUrl);
    const { store, owner } = served.test;
    const { id } = await store.telephony.createConfiguration(owner.organizationId, {
      name: `${row.name} ${fakes.length}`,
      provider: row.name,
      isDefaultOutbound: false,

      credentials,
      accountId: null,
      secretFields: secretFieldsOf(row.name),
    });
    await store.telephony.createNumber(owner.organizationId, id, {
      address: OURS,
      addressNormalized: OURS,
      addressType: 'pstn',
      countryCode: null,

      label: null,
      inboundWorkflowId: null,
      isActive: true,
      isDefaultCallerId: true,
      extraMetadata: {},
    });
    const path = `/organizations/telephony-configs/${id}`;
    if (trunkSettingsOf(row.name) !== undefined) {
      await served.ok('POST', `${path}/trunks`, { name: 'the way out' });
    }
    const secrets = textsIn(credentials).filter((text) => text !== row.name);
    return { fake, secrets, path };
  };
  afterEach(async () => {
    await gateway.examinations.close();
    Object.assign(gateway, usual());
    for (const fake of fakes.splice(0)) await fake.close();
  });
  return Object.assign(gateway, served, {
    get api() {
      return served.api;
    },
  });
}

function withLateAnswer(provider: HostedProvider, until: () => Promise<void>): HostedProvider {
  const { control } = provider;
  const dial: typeof control.dial = async (...given) => {
    const result = await control.dial(...given);
    await until();
    return result;
  };
  return { ...provider, control: { ...control, dial } };
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Somebody who answers and presses the key again and again. */
export function answersWith(key: string | undefined): (call: HostedCall) => void {
  return (call) => {
    call.answer();
    if (key !== undefined) void call.waitFor('clear').then(() => pressUntilOver(call, key));
  };
}

async function pressUntilOver(call: HostedCall, key: string): Promise<void> {
  while (!call.isOver) {
    await new Promise((resolve) => systemClock.after(KEY_EVERY_MS, () => resolve(undefined)));
    if (!call.isOver) await call.pressDigits(key);
  }
}
