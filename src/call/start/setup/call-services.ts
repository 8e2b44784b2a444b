// Services that the calls of a process share: the clock of their media, the model of their VAD, and the source of their
// speech services.

import type { GatewayError } from '../../../errors/gateway-error.ts';
import type { WorkflowDefinition } from '../../../model/workflow.ts';
import type { CallAudioOptions } from '../../../pipeline/call-audio-options.ts';
import type { LanguageModel } from '../../../speech/llm/llm.ts';
import type { PlannedSpeech, SpeechPlan } from '../../../speech/speech-plan.ts';

/** Owner of the services: an organization, unless the agent's version or a node of it names its own. */
export interface SpeechOwner {
  organizationId: string;
  /** Configurations of the workflow's version. */
  configurations: Record<string, unknown>;
  /** Definition of the same version. Default: no node has services of its own. */
  definition?: WorkflowDefinition;
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
