// Agents of the real-PBX run: one that plays a tone, a long one, and two that transfer.

import { randomUUID } from 'node:crypto';
import { RATE_HZ } from '../../src/audio/pcm.ts';
import { wavHeader } from '../../src/audio/wav.ts';
import { sine, taken } from '../audio/sounds.ts';
import type { ApiClient } from '../demo/api-client.ts';
import {
  calls,
  type FakeOpenAiServer,
  says,
  startOpenAiServer,
} from '../fakes/services/openai-server.ts';
import { TONE } from './rtp-end.ts';

export const EXTENSIONS = { short: '8001', long: '8002' } as const;
export const SHORT_S = 3;
export const LONG_S = 15;
/** Shorter than any time on hold in the run. */
export const IDLE_S = 6;
export const NOBODY = 'Nobody is free at the moment.';
const FRAMES_PER_S = 50;

export interface Agent {
  id: string;
  uuid: string;
}

export interface Agents {
  short: Agent;
  long: Agent;
}

export async function createAgents(api: ApiClient, configurationId: string): Promise<Agents> {
  const short = await toneAgent(api, { name: 'short', seconds: SHORT_S, idleS: 60 });
  const long = await toneAgent(api, { name: 'long', seconds: LONG_S, idleS: IDLE_S });
  for (const [name, agent] of [
    [EXTENSIONS.short, short],
    [EXTENSIONS.long, long],
  ] as const) {
    await api.addNumber(configurationId, { address: name, inbound_workflow_id: agent.id });
  }
  return { short, long };
}

/** Plays a tone, and ends the call at key 1. */
async function toneAgent(
  api: ApiClient,
  { name, seconds, idleS }: { name: string; seconds: number; idleS: number },
): Promise<Agent> {
  const clip = await api.addRecording(`tone-${name}`, toneWav(seconds), 'A tone.');
  const greeting = { greeting_type: 'audio', greeting_recording_id: clip, allow_interrupt: false };
  const agent = await api.createWorkflow(name, {
    nodes: [node('1', 'startCall', greeting), node('2', 'endCall', { say: 'Goodbye.' })],
    edges: [edge({ dtmf: '1' })],
  });
  await api.configureWorkflow(agent.id, { max_user_idle_timeout: idleS, filler_delay_seconds: 0 });
  return agent;
}

/** A language model that transfers whoever presses a key, and says that nobody is free when that failed. */
export async function startModel(): Promise<FakeOpenAiServer> {
  const model = await startOpenAiServer();
  model.otherwise(({ body }) => {
    const messages = body['messages'] as { role: string; content: string }[]; // As the gateway sends it.
    if (body['response_format'] !== undefined) return says('{}');
    const isTried = messages.some(({ role }) => role === 'tool');
    return isTried ? says(NOBODY) : calls('front_desk', {});
  });
  return model;
}

/** Greets, and at a key transfers to `destination`. */
export async function transferAgent(
  api: ApiClient,
  to: { destination: string; isWarm: boolean; modelUrl: string },
): Promise<Agent> {
  const warm = { message: 'A caller for you.', accept: 'key', timeout: 15, caller_hears: 'music' };
  const tool = await api.createTool({
    name: 'Front desk',
    description: 'Connects the caller with the front desk.',
    definition: {
      type: 'transfer_call',
      config: { destination: to.destination, timeout: 20, ...(to.isWarm && { warm }) },
    },
  });
  const start = { greeting_type: 'text', greeting: 'Hello.', tool_uuids: [tool] };
  const agent = await api.createWorkflow(`transfer ${randomUUID()}`, {
    nodes: [node('1', 'startCall', start), node('2', 'endCall', { say: 'Goodbye.' })],
    edges: [edge({})],
  });
  const llm = {
    provider: 'openai',
    api_key: 'sk-run',
    model: 'test-model',
    base_url: to.modelUrl,
  };
  await api.configureWorkflow(agent.id, {
    max_user_idle_timeout: 60,
    model_configuration_v2_override: {
      version: 2,
      mode: 'byok',
      byok: { mode: 'pipeline', pipeline: { llm } },
    },
  });
  return agent;
}

export function toneWav(seconds: number): Buffer {
  const pcm = taken(sine(TONE), seconds * FRAMES_PER_S);
  const data = Buffer.from(pcm.buffer);
  return Buffer.concat([wavHeader({ rateHz: RATE_HZ, channels: 1, dataBytes: data.length }), data]);
}

const position = { x: 0, y: 0 };

function node(id: string, type: string, data: Record<string, unknown>): unknown {
  return { id, type, position, data: { name: `Step ${id}`, prompt: 'Talk.', ...data } };
}

function edge(data: Record<string, unknown>): unknown {
  const facts = { label: 'Finish', condition: 'The caller wants to end the call.', ...data };
  return { id: '1-2', source: '1', target: '2', data: facts };
}
