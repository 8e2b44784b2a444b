// What the calls of a process share: the clock of their media, the model of their VAD, and the source of their speech
// services.

import type { GatewayError } from '../../errors/gateway-error.ts';
import type { WorkflowDefinition } from '../../model/workflow.ts';
import type { CallAudioOptions } from '../../pipeline/call-audio-options.ts';
import type { LanguageModel } from '../../speech/llm/llm.ts';
import type { PlannedSpeech, SpeechPlan } from '../../speech/speech-plan.ts';

/** Whose services they are: an organization's, unless the agent's version or a node of it names its own. */
export interface SpeechOwner {
  organizationId: string;
  /** Of the workflow's version. */
  configurations: Record<string, unknown>;
  /** Of the same version. Default: no node has services of its own. */
  definition?: WorkflowDefinition;
  /** Of the call: log lines about its services have it. */
  runId?: string | undefined;
}

/** The language model of the first node, and of the nodes that have others. The listeners are set by who leads the
 *  conversation, before the first request. */
export interface PlannedModels extends Pick<SpeechPlan, 'onPermanentFault' | 'onServiceChanged'> {
  /** Undefined: the scripted policy leads the conversation. */
  llm: LanguageModel | undefined;
  nodes?: ReadonlyMap<string, { llm: LanguageModel | undefined }>;
  /** Models that cannot be used, and faults of earlier conversations that last, for the run. Default: none. */
  faults?: readonly GatewayError[];
}

/** Never rejects: what cannot be used is replaced by the gateway's own. */
export interface LanguageModelSource {
  /** Undefined: the scripted policy leads the conversation. */
  languageModelOf(owner: SpeechOwner): Promise<LanguageModel | undefined>;
  /** For a conversation in writing. */
  modelsOf(owner: SpeechOwner): Promise<PlannedModels>;
}

export interface SpeechSource extends LanguageModelSource {
  planOf(owner: SpeechOwner): Promise<PlannedSpeech>;
}

export interface CallServices extends Pick<CallAudioOptions, 'mediaClock' | 'vad'> {
  speech: SpeechSource;
}
