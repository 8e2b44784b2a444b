// Every protocol of a soak.

import { LLM_ROWS } from './llm-rows.ts';
import { llmSoak } from './llm-soak.ts';
import type { SoakProtocol } from './soak-run.ts';
import { STT_ROWS } from './stt-rows.ts';
import { sttSoak } from './stt-soak.ts';
import { TTS_ROWS } from './tts-rows.ts';
import { ttsSoak } from './tts-soak.ts';

export const PROTOCOLS: readonly SoakProtocol[] = [
  ...STT_ROWS.map(sttSoak),
  ...TTS_ROWS.map(ttsSoak),
  ...LLM_ROWS.map(llmSoak),
];
