// The list of services: every service of this version by job and name, with the schema of its settings, which is the
// source of its type, check, form and mask. Provider ids, field names and defaults are the reference's where it has the
// provider, except `base_url` where it has none, `temperature` and `extra_body`. Source: contract §10.4.

import type { z } from 'zod';
import type { Announcement } from './service-fields.ts';
import { anthropic } from './vendors/anthropic.ts';
import { assemblyai } from './vendors/assemblyai.ts';
import { azure } from './vendors/azure.ts';
import { camb } from './vendors/camb.ts';
import { cartesia } from './vendors/cartesia.ts';
import { deepgram } from './vendors/deepgram.ts';
import { described } from './vendors/described.ts';
import { elevenlabs } from './vendors/elevenlabs.ts';
import { embedded } from './vendors/embedded.ts';
import { gladia } from './vendors/gladia.ts';
import { google } from './vendors/google.ts';
import { groq } from './vendors/groq.ts';
import { hostedModels } from './vendors/hosted-models.ts';
import { huggingface } from './vendors/huggingface.ts';
import { inworld } from './vendors/inworld.ts';
import { lmnt } from './vendors/lmnt.ts';
import { minimax } from './vendors/minimax.ts';
import { openai } from './vendors/openai.ts';
import { ownServers } from './vendors/own-servers.ts';
import { rime } from './vendors/rime.ts';
import { sarvam } from './vendors/sarvam.ts';
import { smallest } from './vendors/smallest.ts';
import { soniox } from './vendors/soniox.ts';
import { speechmatics } from './vendors/speechmatics.ts';
import { xai } from './vendors/xai.ts';

export const llmServices = {
  scripted: embedded.llm,
  openai: openai.llm,
  azure: azure.llm,
  anthropic: anthropic.llm,
  google: google.llm,
  groq: groq.llm,
  ...hostedModels.llm,
  xai: xai.llm,
  huggingface: huggingface.llm,
  minimax: minimax.llm,
  sarvam: sarvam.llm,
  ...ownServers.llm,
} as const;

export const sttServices = {
  pocketsphinx: embedded.stt,
  deepgram: deepgram.stt,
  assemblyai: assemblyai.stt,
  azure_speech: azure.stt,
  vosk: ownServers.stt.vosk,
  wyoming: ownServers.stt.wyoming,
  openai: openai.stt,
  groq: groq.stt,
  speaches: ownServers.stt.speaches,
  huggingface: huggingface.stt,
  whisper_cpp: ownServers.stt.whisper_cpp,
  openai_compatible: ownServers.stt.openai_compatible,
  cartesia: cartesia.stt,
  elevenlabs: elevenlabs.stt,
  gladia: gladia.stt,
  sarvam: sarvam.stt,
  smallest: smallest.stt,
  soniox: soniox.stt,
  speechmatics: speechmatics.stt,
  xai: xai.stt,
  vapi_transcriber: ownServers.stt.vapi_transcriber,
  jambonz_stt: ownServers.stt.jambonz_stt,
  websocket_stt: described.stt,
} as const;

export const ttsServices = {
  flite: embedded.tts,
  elevenlabs: elevenlabs.tts,
  cartesia: cartesia.tts,
  deepgram: deepgram.tts,
  wyoming: ownServers.tts.wyoming,
  azure_speech: azure.tts,
  openai: openai.tts,
  speaches: ownServers.tts.speaches,
  openai_compatible: ownServers.tts.openai_compatible,
  inworld: inworld.tts,
  lmnt: lmnt.tts,
  rime: rime.tts,
  sarvam: sarvam.tts,
  smallest: smallest.tts,
  xai: xai.tts,
  google: google.tts,
  minimax: minimax.tts,
  camb: camb.tts,
  speechmatics: speechmatics.tts,
  piper_http: ownServers.tts.piper_http,
  websocket_tts: described.tts,
  http_tts: described.requests,
} as const;

export const services = { llm: llmServices, stt: sttServices, tts: ttsServices } as const;

/** Announced ends of models, by provider. OpenRouter passes requests on to other vendors. */
export const announcements: Readonly<Record<string, readonly Announcement[]>> = {
  openai: [openai.retirements],
  azure: [openai.retirements],
  openrouter: [openai.retirements, anthropic.retirements],
  anthropic: [anthropic.retirements],
  google: [google.retirements],
  groq: [groq.retirements],
  ...hostedModels.retirements,
  xai: [xai.retirements],
  elevenlabs: [elevenlabs.retirements],
  cartesia: [cartesia.retirements],
};

/** Providers with a model; the scripted policy has none. */
export type LlmProvider = Exclude<keyof typeof llmServices, 'scripted'>;
/** The settings of one service by its provider. */
export type LlmServiceSettings<P extends LlmProvider = LlmProvider> = z.output<
  (typeof llmServices)[P]
>;
export type SttProvider = Exclude<keyof typeof sttServices, 'pocketsphinx'>;
export type SttServiceSettings<P extends keyof typeof sttServices = keyof typeof sttServices> =
  z.output<(typeof sttServices)[P]>;
export type TtsProvider = Exclude<keyof typeof ttsServices, 'flite'>;
export type TtsServiceSettings<P extends keyof typeof ttsServices = keyof typeof ttsServices> =
  z.output<(typeof ttsServices)[P]>;

/** The service of a gateway without configured ones; null for a job that it cannot do. */
export interface SpeechServiceNames {
  llm: keyof typeof services.llm;
  stt: keyof typeof services.stt | null;
  tts: keyof typeof services.tts;
}
