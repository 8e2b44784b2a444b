// Services that the calls of a process share: the clock of their media, the model of their VAD, and the source of their
// speech services.

import type { GatewayError } from '../../../errors/gateway-error.ts';
import type { CallAudioOptions } from '../../../pipeline/call-audio-options.ts';
import type { LanguageModel } from '../../../speech/llm/llm.ts';
import type { PlannedSpeech, SpeechPlan } from '../../../speech/speech-plan.ts';
import type { SpeechAgent } from './agent-settings.ts';

/** Owner of the services: an organization, unless the agent's version or a node of it names its own. */
export interface SpeechOwner extends Omit<SpeechAgent, 'agent'> {
  organizationId: string;
  /** Agents to which the call may be transferred. Default: none. */
  others?: readonly SpeechAgent[];
  /** Run of the call, for log lines about its services. */
  runId?: string | undefined;
}

/** The language models of the first node and of nodes with other models. The owner of the conversation sets the
 *  listeners before the first request. */
export interface PlannedModels extends Pick<SpeechPlan, 'onPermanentFault' | 'onServiceChanged'> {
  /** Undefined: the scripted policy leads the conversation. */
  llm: LanguageModel | undefined;
  nodes?: ReadonlyMap<string, { llm: LanguageModel | undefined }>;
  /** Models that cannot be used, and faults of earlier conversations that last, for the run. Default: none. */
  faults?: readonly GatewayError[];
}

/** Source of language models. Never rejects: a model that cannot be used is replaced by the gateway's own. */
export interface LanguageModelSource {
  /** The first node's model; undefined: the scripted policy leads the conversation. */
  languageModelOf(owner: SpeechOwner): Promise<LanguageModel | undefined>;
  /** The models of a conversation in writing. */
  modelsOf(owner: SpeechOwner): Promise<PlannedModels>;
}

export interface SpeechSource extends LanguageModelSource {
  planOf(owner: SpeechOwner): Promise<PlannedSpeech>;
}

export interface CallServices extends Pick<CallAudioOptions, 'mediaClock' | 'vad'> {
  speech: SpeechSource;
}
