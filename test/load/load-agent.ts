// What a load measurement needs at the gateway: a telephony configuration, a number, and an agent for the
// scenario. The agent speaks recordings that carry the watermark, and few short sentences that are
// synthesised once: what is measured is the gateway, not a voice.

import type { ApiClient } from '../demo/api-client.ts';
import { markedClip, wavOf } from './caller/prepared-speech.ts';
import type { Scenario } from './load-options.ts';

export interface AgentOptions {
  /** The telephony configuration, as a client stores it. */
  configuration: Record<string, unknown>;
  scenario: Scenario;
  /** It converses by a language model, and speaks by a service. */
  isConversing: boolean;
  number: string;
  /** Tells this measurement's recordings from those of others at the same gateway. */
  series: number;
}

/** What an agent may be set to at most. */
const CALL_SECONDS_MAX = 1_200;
const IDLE_SECONDS_MAX = 600;
/** Two clips that take turns, of 20 s. */
const TALK_FRAMES = 1_000;
const CLIPS = 2;
/** An interruptible opening of a minute. */
const OPENING_FRAMES = 3_000;
/** About 12 s each: a caller who cuts in always finds the agent speaking. */
const SENTENCE =
  'All right, then let us go on with the next part of this long announcement, which is spoken without any haste, so that whoever listens can cut in at any place, as people on the telephone like to do. ';
const SENTENCES = 5;

/** The lengths of the clips that the agent plays, by their number in the watermark. */
export function clipFramesOf(scenario: Scenario): number[] {
  if (scenario === 'talk' || scenario === 'sequence')
    return Array.from({ length: CLIPS }, () => TALK_FRAMES);
  return scenario === 'barge-in' ? [OPENING_FRAMES] : [TALK_FRAMES / 10];
}

/** Said by the voice of the service. */
export const GREETING = 'Hello, please go on.';

export interface LoadAgent {
  workflowId: string;
  /** Takes everything back that was set up. */
  remove(): Promise<void>;
}

/** Resolves once the agent answers calls to the number. */
export async function setUpAgent(api: ApiClient, options: AgentOptions): Promise<LoadAgent> {
  const name = `load ${options.series}`;
  const configurationId = await api.createConfiguration(name, options.configuration, false);
  const clips: Clip[] = [];
  const lengths = options.isConversing ? [] : clipFramesOf(options.scenario);
  for (const [clip, frames] of lengths.entries()) {
    const clipName = `load-${options.series}-${clip}`;
    const wav = wavOf(markedClip(clip, frames));
    const id = await api.addRecording(clipName, wav, 'A long talk.');
    clips.push({ id, name: clipName });
  }
  const graph = options.isConversing ? conversation() : definition(options.scenario, clips);
  const { id: workflowId } = await api.createWorkflow(name, graph);
  await api.configureWorkflow(workflowId, {
    max_call_duration: CALL_SECONDS_MAX,
    max_user_idle_timeout: IDLE_SECONDS_MAX,
  });
  const number = { address: options.number, inbound_workflow_id: workflowId };
  const numberId = await api.addNumber(configurationId, number);
  const recordings = clips.map((clip) => clip.name);
  const made = { configurationId, numberId, recordings, workflowId };
  return { workflowId, remove: () => api.remove(made) };
}

interface Clip {
  id: string;
  name: string;
}

const position = { x: 0, y: 0 };

/** One node in which the model and the caller converse until the caller hangs up. */
function conversation(): unknown {
  const nodes = [
    node('1', 'startCall', { greeting_type: 'text', greeting: GREETING, allow_interrupt: false }),
    node('2', 'endCall', { say: 'Bye.' }),
  ];
  return { nodes, edges: [edge('1', '2', {})] };
}

function definition(scenario: Scenario, clips: readonly Clip[]): unknown {
  const nodes = [
    node('1', 'startCall', {
      greeting_type: 'audio',
      greeting_recording_id: clips[0]?.id,
      allow_interrupt: scenario === 'barge-in',
    }),
    ...['2', '3'].map((id) =>
      node(id, 'agentNode', {
        say: scenario === 'barge-in' ? SENTENCE.repeat(SENTENCES) : 'Go on.',
        allow_interrupt: scenario === 'barge-in',
      }),
    ),
    node('4', 'endCall', { say: 'Bye.' }),
  ];
  const edges = [
    wayOn('1', '2', scenario, clips[1]),
    wayOn('2', '3', scenario, clips[0]),
    wayOn('3', '2', scenario, clips[1]),
    edge('2', '4', { dtmf: '9' }),
  ];
  return { nodes, edges };
}

/** A key leads on to the next clip, two words to the next answer. */
function wayOn(from: string, to: string, scenario: Scenario, clip: Clip | undefined): unknown {
  if (scenario === 'barge-in') return edge(from, to, { phrases: ['yes please', 'yes'] });
  return edge(from, to, {
    dtmf: '1',
    ...(clip === undefined
      ? {}
      : { transition_speech_type: 'audio', transition_speech_recording_id: clip.name }),
  });
}

function node(id: string, type: string, data: Record<string, unknown>): unknown {
  return { id, type, position, data: { name: `Step ${id}`, prompt: 'Talk.', ...data } };
}

function edge(source: string, target: string, data: Record<string, unknown>): unknown {
  const facts = { label: `to ${target}`, condition: `The caller wants step ${target}.`, ...data };
  return { id: `${source}-${target}`, source, target, data: facts };
}
