// What the rows of one mode work with: a gateway of its own with a temporary data folder, set up over its API; the PBX
// configured for the mode; the network between both; a trunk with telephones.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { AdminMode } from '../../src/telephony/registry/asterisk-files.ts';
import { ApiClient, type RunDetail } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { freePort } from '../fakes/free-port.ts';
import type { FakeOpenAiServer } from '../fakes/services/openai-server.ts';
import { type Agent, type Agents, createAgents, EXTENSIONS, startModel } from './agents.ts';
import { type AsteriskSide, CALLER, OPUS_CALLER, planOf, TRUNK } from './asterisk-side.ts';
import { OTHER_MACHINE_ENV } from './doctor/other-machine.ts';
import { type Interruption, Relay } from './relay.ts';
import { type Callee, Caller, type Fate, freeUdpPort, type SipPlace, Trunk } from './sip-client.ts';
import { pause, until } from './waiting.ts';

/** The address beside the gateway's own at which AudioSocket is relayed. */
const RELAYED_HOST = '127.0.0.2';
/** One for all modes: Asterisk's outbound websocket goes on with the password that its user had before a reload. */
const PASSWORD = randomBytes(12).toString('hex');
const CONNECTION_MS_MAX = 30_000;
const COMPLETION_MS_MAX = 30_000;
const RECONNECTION_MS = 2_000;
/** Extensions that rows give to agents of their own. */
const SPARE = ['8003', '8004', '8005', '8006', '8007'];
export const DIRECT = `PJSIP/{number}@${TRUNK}`;

export interface StageOptions {
  mode: AdminMode;
  place: SipPlace;
  pbx: AsteriskSide;
  folder: string;
  /** Call workers of the gateway. */
  workers: number;
}

export class Stage {
  readonly mode: AdminMode;
  readonly pbx: AsteriskSide;
  readonly api: ApiClient;
  readonly gateway: Gateway;
  readonly model: FakeOpenAiServer;
  readonly agents: Agents;
  readonly configurationId: string;
  /** As it was given to the API. */
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly app: string;
  /** As Asterisk reaches it. */
  readonly gatewayUrl: string;
  readonly logFile: string;
  readonly #place: SipPlace;
  readonly #trunk: Trunk;
  readonly #relays: readonly Relay[];
  readonly #spare = [...SPARE];
  #opened: (() => Promise<void>)[] = [];

  private constructor(parts: {
    options: StageOptions;
    made: SetUp;
    gateway: Gateway;
    model: FakeOpenAiServer;
    trunk: Trunk;
    relays: readonly Relay[];
    gatewayUrl: string;
  }) {
    const { options, made } = parts;
    this.mode = options.mode;
    this.pbx = options.pbx;
    this.logFile = logFileOf(options);
    this.#place = options.place;
    this.api = made.api;
    this.agents = made.agents;
    this.configurationId = made.configurationId;
    this.configuration = made.configuration;
    this.app = made.app;
    this.gatewayUrl = parts.gatewayUrl;
    this.gateway = parts.gateway;
    this.model = parts.model;
    this.#trunk = parts.trunk;
    this.#relays = parts.relays;
  }

  static async open(options: StageOptions): Promise<Stage> {
    const { mode, pbx, folder, place } = options;
    const ports = { gateway: await freePort(), audioSocket: await freePort() };
    const network = await openNetwork(mode, pbx, ports);
    const gateway = await Gateway.start({
      dataFolder: join(folder, `data-${mode}`),
      port: ports.gateway,
      logFile: logFileOf(options),
      env: {
        PATCHBAY_STT: 'none',
        PATCHBAY_WORKERS: String(options.workers),
        OPENAI_BASE_URL: '',
        OPENAI_API_KEY: '',
        ...(mode === 'server' && OTHER_MACHINE_ENV),
        ...(mode === 'audiosocket' && {
          PATCHBAY_AUDIOSOCKET_PORT: String(ports.audioSocket),
          PATCHBAY_MEDIA_HOST: RELAYED_HOST,
        }),
      },
    });
    const { relays, gatewayUrl } = network;
    try {
      const trunkPort = await freeUdpPort();
      const made = await setUp(options, { gateway, trunkPort, ...network });
      const model = await startModel();
      const trunk = new Trunk(place, trunkPort);
      return new Stage({ options, made, gateway, model, trunk, relays, gatewayUrl });
    } catch (error) {
      await gateway.stop();
      for (const relay of relays) await relay.stop();
      throw error;
    }
  }

  /** A telephone that calls an extension, and can transfer its call to `referTo`; closed at the end of the row. */
  async callIn(extension: string, referTo?: string): Promise<Caller> {
    const call = { user: CALLER, to: extension, ...(referTo !== undefined && { referTo }) };
    return await this.#caller(call);
  }

  /** One that speaks Opus alone. */
  async callInWithOpus(extension: string): Promise<Caller> {
    return await this.#caller({ user: OPUS_CALLER, to: extension, codec: 'opus' });
  }

  async #caller(call: Parameters<typeof Caller.call>[1]): Promise<Caller> {
    const caller = await Caller.call(this.#place, call);
    this.#opened.push(() => caller.close());
    return caller;
  }

  /** A telephone for the gateway to dial, closed at the end of the row. */
  async callee(fate: Fate): Promise<Callee> {
    const callee = await this.#trunk.callee(fate);
    this.#opened.push(() => callee.close());
    return callee;
  }

  /** An extension of an agent that a row has made. */
  async giveExtension(agent: Agent): Promise<string> {
    const address = this.#spare.shift() ?? '';
    await this.api.addNumber(this.configurationId, { address, inbound_workflow_id: agent.id });
    return address;
  }

  async interrupt(interruption: Interruption): Promise<void> {
    for (const relay of this.#relays) await relay.interrupt(interruption);
  }

  /** Changes the configuration, whose connection is then opened anew. */
  async change(fields: Record<string, unknown>): Promise<void> {
    await this.api.updateConfiguration(this.configurationId, fields);
    await pause(RECONNECTION_MS);
    await this.pbx.untilConnected(this.app, CONNECTION_MS_MAX);
  }

  /** The latest run of an agent. */
  async lastRunId(agent: Agent): Promise<string> {
    const ids = await this.api.runIds(agent.id);
    return ids.sort((a, b) => Number(b) - Number(a))[0] ?? '';
  }

  async completed(agent: Agent, runId: string, msMax = COMPLETION_MS_MAX): Promise<RunDetail> {
    return await until('the run is completed', msMax, async () => {
      const run = await this.api.run(agent.id, runId);
      return run.is_completed ? run : undefined;
    });
  }

  async endRow(): Promise<void> {
    for (const close of this.#opened.splice(0)) await close();
    await this.interrupt('none');
  }

  async close(): Promise<void> {
    await this.endRow();
    await this.#trunk.stop();
    await this.gateway.stop();
    await this.model.close();
    for (const relay of this.#relays) await relay.stop();
  }
}

interface Network {
  relays: Relay[];
  /** Asterisk's HTTP server, as the gateway reaches it. */
  ariUrl: string;
  /** The gateway, as Asterisk reaches it. */
  gatewayUrl: string;
}

async function openNetwork(
  mode: AdminMode,
  pbx: AsteriskSide,
  ports: { gateway: number; audioSocket: number },
): Promise<Network> {
  const ari = await Relay.open({ target: Number(new URL(pbx.account.url).port) });
  const gateway = await Relay.open({ target: ports.gateway });
  const relays = [ari, gateway];
  if (mode === 'audiosocket') {
    const port = ports.audioSocket;
    relays.push(await Relay.open({ host: RELAYED_HOST, port, target: port, isMedia: true }));
  }
  return {
    relays,
    ariUrl: `http://127.0.0.1:${ari.port}`,
    gatewayUrl: `http://127.0.0.1:${gateway.port}`,
  };
}

interface SetUp {
  api: ApiClient;
  agents: Agents;
  configurationId: string;
  configuration: Record<string, unknown>;
  app: string;
}

async function setUp(
  { mode, pbx }: StageOptions,
  parts: { gateway: Gateway; trunkPort: number } & Network,
): Promise<SetUp> {
  const { gateway, trunkPort, ariUrl, gatewayUrl } = parts;
  const numbers = [...Object.values(EXTENSIONS), ...SPARE];
  const facts = { mode, gatewayUrl, user: CALLER, password: PASSWORD, numbers, trunkPort };
  const plan = planOf({ ...facts, app: 'unknown' });
  const configuration = {
    ...plan.configuration,
    ...(mode !== 'incoming' && { ari_endpoint: ariUrl }),
    app_password: PASSWORD,
    dial_template: DIRECT,
  };
  const api = new ApiClient(gateway.url, await gateway.firstKey());
  await api.useOwnKey('Real-PBX run');
  const configurationId = await api.createConfiguration('PBX', configuration);
  const app = await api.stasisApp(configurationId);
  await pbx.configure({ ...facts, app });
  const agents = await createAgents(api, configurationId);
  await pbx.untilConnected(app, CONNECTION_MS_MAX);
  return { api, agents, configurationId, configuration, app };
}

function logFileOf({ folder, mode }: StageOptions): string {
  return join(folder, `gateway-${mode}.log`);
}
