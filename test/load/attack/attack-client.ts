// An attack on the API beside a measurement, as its parent sees it: the tenants are made, the attacker is started,
// pinned and asked, and at the end the API process is killed.

import { connect } from 'node:net';
import { z } from 'zod';
import { ApiClient } from '../../demo/api-client.ts';
import { isAlive } from '../../fakes/is-alive.ts';
import { childPid } from '../figures/process-figures.ts';
import type { LoadTarget } from '../load-target.ts';
import { OrderProcess } from '../order-process.ts';
import type { AttackFigures, AttackOptions, AttackOrder } from './attack-process.ts';

/** Between connections of the prober while the API process is away. */
const CONNECT_EVERY_MS = 20;
/** New calls after the API is back, so that what its absence held up has come. */
const AFTER_MS = 5_000;
const BACK_MS_MAX = 60_000;
/** The kernel frees the memory of a killed process before its connections. */
const DEAD_MS_MAX = 2_000;
const POLL_MS = 100;

/** What a killed API process cost. Null: not tried. */
export interface KillFigures {
  apiBackMs: number | null;
  refusedConnections: number | null;
  callsFailedAtKill: number | null;
  callFailuresAtKill: string[];
}

export class AttackClient {
  readonly #process = new OrderProcess<AttackOrder, AttackFigures>(
    new URL('./attack-process.ts', import.meta.url),
    { name: 'the attacker' },
  );
  readonly #target: LoadTarget;

  private constructor(target: LoadTarget) {
    this.#target = target;
  }

  /** The attack runs when this resolves. */
  static async start(target: LoadTarget, hostilePerSecond: number): Promise<AttackClient> {
    const client = new AttackClient(target);
    try {
      const options = await attackOptions(target, hostilePerSecond);
      await client.#process.ask({ order: 'start', options });
      return client;
    } catch (error) {
      client.end();
      throw error;
    }
  }

  get pid(): number {
    return this.#process.pid;
  }

  async measure(): Promise<void> {
    await this.#process.ask({ order: 'measure' });
  }

  report(): Promise<AttackFigures> {
    return this.#process.ask({ order: 'report' });
  }

  /** Kills the API process of the tool's own gateway while new calls come in; the calls that talk are judged by
   *  whoever holds them. */
  async killApi(): Promise<KillFigures> {
    const { pid, webhookUrl } = this.#target;
    if (pid === undefined) throw new Error('no process of the gateway is known');
    await this.#process.ask({ order: 'calm' });
    const api = childPid(pid, 'api');
    if (api === undefined) throw new Error('the gateway has no API process');
    const url = new URL(webhookUrl);
    const probe = new ConnectionProbe(url);
    const startMs = performance.now();
    process.kill(api, 'SIGKILL');
    // Requests that were on their way are lost with the process; those that begin once its connections are closed wait for
    // the next one.
    while (isAlive(api) && performance.now() - startMs < DEAD_MS_MAX) await sleep(1);
    await this.#process.ask({ order: 'measure' });
    while (!(await isHealthy(url.origin)) && performance.now() - startMs < BACK_MS_MAX) {
      await sleep(POLL_MS);
    }
    const apiBackMs = performance.now() - startMs;
    await sleep(AFTER_MS);
    probe.stop();
    const { newCallsFailed, newCallFailures } = await this.#process.ask({ order: 'stop' });
    return {
      apiBackMs,
      refusedConnections: probe.refused,
      callsFailedAtKill: newCallsFailed,
      callFailuresAtKill: newCallFailures,
    };
  }

  end(): void {
    this.#process.stop();
  }
}

/** Opens a connection every 20 ms and closes it when it is there. */
class ConnectionProbe {
  refused = 0;
  readonly #timer: NodeJS.Timeout;

  constructor({ hostname, port }: URL) {
    this.#timer = setInterval(() => {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.on('connect', () => socket.destroy());
      socket.on('error', () => {
        this.refused += 1;
      });
    }, CONNECT_EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

async function attackOptions(
  { webhookUrl, to, provider, credentials, series, agent }: LoadTarget,
  hostilePerSecond: number,
): Promise<AttackOptions> {
  if (agent === undefined) throw new Error('an attack needs an agent of the tool');
  const { apiKey, workflowId } = agent;
  const url = new URL(webhookUrl).origin;
  return {
    provider,
    credentials,
    to,
    webhookUrl,
    url,
    apiKey,
    workflowId,
    hostilePerSecond,
    series: (series + 2) % 2 ** 24,
    hostile: await hostileTenant(url),
  };
}

/** An organization of its own, by signing up. */
async function hostileTenant(url: string): Promise<AttackOptions['hostile']> {
  const headers = { 'content-type': 'application/json' };
  const email = `attacker-${Date.now()}@example.com`;
  const signUp = await fetch(`${url}/api/v1/auth/signup`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ email, password: 'an-attackers-password' }),
  });
  const { token } = z.object({ token: z.string() }).parse(await signUp.json());
  const keyReply = await fetch(`${url}/api/v1/user/api-keys`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${token}` },
    body: JSON.stringify({ name: 'attack' }),
  });
  const { api_key: apiKey } = z.object({ api_key: z.string() }).parse(await keyReply.json());
  const position = { x: 0, y: 0 };
  const { id, uuid } = await new ApiClient(url, apiKey).createWorkflow('hostile', {
    nodes: [
      { id: '1', type: 'startCall', position, data: { name: 'A', prompt: 'Hi' } },
      { id: '2', type: 'endCall', position, data: { name: 'B', prompt: 'Bye' } },
    ],
    edges: [{ id: '1-2', source: '1', target: '2', data: { label: 'end', condition: 'always' } }],
  });
  return { apiKey, workflowId: id, workflowUuid: uuid };
}

async function isHealthy(origin: string): Promise<boolean> {
  try {
    return (await fetch(`${origin}/api/v1/health`, { signal: AbortSignal.timeout(BACK_MS_MAX) }))
      .ok;
  } catch {
    return false;
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
