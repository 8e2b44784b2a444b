// The list of speech services: clients, key check and voices of every provider in the settings. The embedded engines
// and the scripted policy have no entry.

import { createWebsocketStt } from '../stt/described/described-stt.ts';
import { createHttpTts } from '../tts/described/described-request.ts';
import { createWebsocketTts } from '../tts/described/described-voice.ts';
import { anthropic } from './anthropic.ts';
import { assemblyai } from './assemblyai.ts';
import { azure, azureSpeech } from './azure/azure.ts';
import { camb } from './camb.ts';
import { cartesia } from './cartesia.ts';
import { deepgram } from './deepgram/deepgram.ts';
import { elevenlabs } from './elevenlabs/elevenlabs.ts';
import { gladia } from './gladia.ts';
import { google } from './google.ts';
import { inworld } from './inworld.ts';
import { lmnt } from './lmnt.ts';
import { minimax } from './minimax.ts';
import { openAiInterfaces } from './openai-interfaces.ts';
import { ownServers } from './own-servers.ts';
import { rime } from './rime.ts';
import { sarvam } from './sarvam.ts';
import { smallest } from './smallest.ts';
import { soniox } from './soniox.ts';
import { speechmatics } from './speechmatics.ts';
import type { KeyCheck, LlmVendors, SttVendors, TtsVendors, Vendor, VoiceList } from './vendor.ts';
import { xai } from './xai.ts';

export const vendors = {
  ...openAiInterfaces,
  ...ownServers,
  anthropic,
  assemblyai,
  azure,
  azure_speech: azureSpeech,
  camb,
  cartesia,
  deepgram,
  elevenlabs,
  gladia,
  google,
  http_tts: { tts: createHttpTts },
  inworld,
  lmnt,
  minimax,
  rime,
  sarvam,
  smallest,
  soniox,
  speechmatics,
  websocket_stt: { stt: createWebsocketStt },
  websocket_tts: { tts: createWebsocketTts },
  xai,
} satisfies LlmVendors & SttVendors & TtsVendors & Record<string, Vendor>;

const accounts: Readonly<Record<string, Vendor>> = vendors;

/** Undefined if no request checks a key of the service. */
export function keyCheckOf(provider: string): KeyCheck | undefined {
  return Object.hasOwn(accounts, provider) ? accounts[provider]?.keyCheck : undefined;
}

/** Undefined if the service has no list of voices. */
export function voiceListOf(provider: string): VoiceList | undefined {
  return Object.hasOwn(accounts, provider) ? accounts[provider]?.voices : undefined;
}
