// The plan of a call, complete before its media arrive: the run, its organization, the agent's behaviour.

import { GatewayError } from '../../../errors/gateway-error.ts';
import { answerClipRefs } from '../../../model/answer-handling.ts';
import type { Run } from '../../../model/run.ts';
import type { TelephonyConfiguration } from '../../../model/telephony.ts';
import type {
  DialoguePolicy,
  WorkflowConfigurations,
  WorkflowVersion,
} from '../../../model/workflow.ts';
import { workflowConfigurations } from '../../../model/workflow.ts';
import {
  BackgroundNoise,
  officeBackgroundNoise,
} from '../../../pipeline/speak/background-noise.ts';
import {
  type PlannedSpeech,
  type SpeechPlace,
  type SpeechPlan,
  speechAt,
} from '../../../speech/speech-plan.ts';
import type { TelephonyProvider } from '../../../telephony/provider/provider.ts';
import { clipRefsOf } from '../../../workflow/engine/clip-refs.ts';
import { linesFor } from '../../../workflow/engine/dialogue-lines.ts';
import { type AgentOptions, createEngine, type DialogueEngine } from '../../../workflow/engine.ts';
import { hasPostCallNodes } from '../../../workflow/graph/post-call-nodes.ts';
import { NO_TOOLS, type NodeTools } from '../../../workflow/tools/offered-functions.ts';
import { handlingOf } from './answering-machine.ts';
import type { PlannedAgent, PlannedAgents } from './plan-agents.ts';
import type { PreCallFetch } from './pre-call-fetch.ts';
import type { CallClips, ClipLibrary } from './sound-library.ts';

export interface CallPlan {
  run: Run;
  configuration: Pick<TelephonyConfiguration, 'credentials'>;
  provider: TelephonyProvider;
  engine: DialogueEngine;
  settings: WorkflowConfigurations;
  clips: CallClips;
  /** Functions that nodes offer to the model in addition to their edges. */
  tools: NodeTools;
  /** The services for recognition, language model and voice. */
  speech: SpeechPlan;
  /** Background noise; undefined: the agent's pauses are silent. */
  ambient: BackgroundNoise | undefined;
  /** Resources that could not be loaded, for the call's log. */
  faults: readonly GatewayError[];
  /** The stored configurations, for settings outside the call folders. */
  storedSettings: Record<string, unknown>;
  /** Pre-call fetch; undefined if nothing is fetched before the first word. */
  preCall: PreCallFetch | undefined;
  /** Whether the call goes on after another process had it. Default: false. */
  isResumed?: boolean;
  /** Whether a review or webhook may follow the call. A draft may get one until the end of the call. */
  hasAfterwork: boolean;
}

/** Plans a call. `languages`: as in `PlannedSpeech`. */
export function planCall(input: {
  run: Run;
  configuration: Pick<TelephonyConfiguration, 'credentials'>;
  provider: TelephonyProvider;
  agents: Pick<PlannedAgents, 'first' | 'others'>;
  speech: SpeechPlan;
  languages?: PlannedSpeech['languages'];
  sounds: PlannedSounds;
}): CallPlan {
  const { agents, speech, provider } = input;
  const { version } = agents.first;
  const optionsOf = (agent: PlannedAgent, uuid?: string): AgentOptions => {
    const languages = input.languages?.get(uuid ?? '');
    const own = agentOptions(agent, speechAt(speech, startOf(agent, uuid)), languages);
    const { settings } = own;
    const isPossible = isHandOverPossible(settings, provider);
    return { ...own, settings: { ...settings, fault_transfer_enabled: isPossible } };
  };
  const first = optionsOf(agents.first);
  return {
    run: input.run,
    configuration: input.configuration,
    provider,
    engine: createEngine({
      ...first,
      agents: new Map(
        [...agents.others].map(([uuid, agent]) => [uuid, agent && optionsOf(agent, uuid)]),
      ),
      clips: input.sounds.clips.find,
      answerHandling: handlingOf(input.run, version.configurations),
    }),
    tools: first.tools ?? NO_TOOLS,
    settings: turnSettingsOf(version.configurations),
    speech,
    ...input.sounds,
    storedSettings: version.configurations,
    preCall: undefined,
    hasAfterwork: version.status === 'draft' || hasPostCallNodes(version.definition),
  };
}

/** The place in which an agent begins. `uuid`: undefined for the first one. */
export function startOf({ graph }: PlannedAgent, uuid: string | undefined): SpeechPlace {
  return { nodeId: graph.start.id, agent: uuid };
}

/** An agent for the engine. `speech`: the services with which it begins. */
export function agentOptions(
  { name, version, graph, tools }: PlannedAgent,
  speech: Pick<SpeechPlan, 'llm'> & { tts?: Pick<SpeechPlan['tts'], 'isLatinOnly'> },
  languages: readonly string[] | undefined,
): AgentOptions & { settings: WorkflowConfigurations } {
  const settings = turnSettingsOf(version.configurations);
  const isLatinOnly = speech.tts?.isLatinOnly === true;
  const policy = policyOf(speech);
  const { workflowId, id: definitionId } = version;
  return {
    graph,
    policy,
    settings,
    identity: { name, workflowId, definitionId },
    tools: policy === 'model' ? tools : NO_TOOLS,
    lines: linesFor(settings.agent_language, isLatinOnly),
    isLatinOnly,
    ...(languages && { languages }),
  };
}

function isHandOverPossible(
  { fault_transfer_enabled: isWanted }: WorkflowConfigurations,
  { capabilities }: TelephonyProvider,
): boolean {
  return isWanted && capabilities.transfer.includes('cold');
}

/** The policy that leads the conversation: the language model, or without one the scripted policy. */
export function policyOf({ llm }: Pick<SpeechPlan, 'llm'>): DialoguePolicy {
  return llm === undefined ? 'scripted' : 'model';
}

export type PlannedSounds = Pick<CallPlan, 'clips' | 'ambient' | 'faults'>;

/** Loads the clips and the noise of the version and the run. What cannot be loaded is omitted. Never rejects. */
export async function planClips(
  library: ClipLibrary,
  run: Run,
  version: WorkflowVersion,
): Promise<PlannedSounds> {
  const { organizationId, initialContext } = run;
  const refs = [
    ...clipRefsOf(version.definition, initialContext),
    ...answerClipRefs(version.configurations['voicemail_detection']),
  ];
  const clips = await library.clips(organizationId, refs);
  const wanted = turnSettingsOf(version.configurations).ambient_noise_configuration;
  if (!wanted.enabled) return { clips, ambient: undefined, faults: [] };
  const { storage_key: key, volume } = wanted;
  const own =
    typeof key === 'string' && key !== '' ? await library.noise(organizationId, key) : null;
  // `null`: no noise was configured.
  const faults = own === undefined ? [new GatewayError('AMBIENT_NOISE_MISSING')] : [];
  return { clips, ambient: new BackgroundNoise(own ?? officeBackgroundNoise(), volume), faults };
}

/** Stored settings with defaults; a value out of range counts as not set. */
export function turnSettingsOf(stored: Record<string, unknown>): WorkflowConfigurations {
  const whole = workflowConfigurations.safeParse(stored);
  if (whole.success) return whole.data;
  const bad = new Set(whole.error.issues.map((issue) => issue.path[0]));
  const kept = Object.entries(stored).filter(([key, value]) => !bad.has(key) && value !== null);
  return workflowConfigurations.parse(Object.fromEntries(kept));
}
