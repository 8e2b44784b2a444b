// What a tool says before it acts: nothing, a text, or a recorded clip. Source: contract §8.7.

import type { EndCallConfig, HttpApiConfig } from './definition.ts';

export interface ToolMessage {
  /** A template; empty for none. */
  text: string;
  /** The clip to play, by its id or its name; the text stands in for one that is not there. */
  recordingId: string | null;
}

/** Of an end or a transfer. */
export function preToolMessageOf(
  config: Pick<EndCallConfig, 'messageType' | 'customMessage' | 'audioRecordingId'>,
): ToolMessage {
  if (config.messageType === 'none') return { text: '', recordingId: null };
  return {
    text: config.customMessage ?? '',
    recordingId: config.messageType === 'audio' ? config.audioRecordingId || null : null,
  };
}

export function httpApiMessage(config: HttpApiConfig): ToolMessage {
  return {
    text: config.customMessage ?? '',
    recordingId:
      config.customMessageType === 'audio' ? config.customMessageRecordingId || null : null,
  };
}
