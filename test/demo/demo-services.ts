// The services of `--services`: a recogniser and a voice as programs of their own, which the gateway reaches over a
// protocol that many programs speak, set for its organization through the API.

import { Peer } from '../peers/peer.ts';
import type { ApiClient } from './api-client.ts';
import { inbound, outbound } from './scenario.ts';

export type DemoServices = 'embedded' | 'vosk' | 'wyoming' | 'openai';

/** What callers of such agents say besides: a recogniser of a few phrases alone would find them in anything. */
const MORE_PHRASES = [
  ...['cancel an appointment', 'opening hours', 'in the afternoon', "that's wrong", 'no', 'yes'],
  ...['monday', 'tuesday', 'thursday', 'friday'].map((day) => `on ${day}`),
];

export function demoServices(name: string): DemoServices {
  if (name === 'embedded' || name === 'vosk' || name === 'wyoming' || name === 'openai')
    return name;
  throw new Error(`There is no demo of ${name}: embedded, vosk, wyoming and openai are`);
}

/** Starts them, and has the calls of the organization use them. */
export async function useServices(api: ApiClient, name: DemoServices): Promise<Peer[]> {
  if (name === 'embedded') return [];
  const sayings = [...inbound.sayings, ...outbound.sayings].filter(({ alwaysKeys }) => !alwaysKeys);
  const phrases = [...sayings.map(({ text }) => text), ...MORE_PHRASES];
  const ears = await Peer.start(name, { phrases, slots: [] });
  // Vosk has no voice.
  const mouth = name === 'vosk' ? await Peer.start('wyoming', { phrases, slots: [] }) : ears;
  const voice = name === 'vosk' ? 'wyoming' : name;
  await api.useSpeech({ stt: serviceAt(name, ears.port), tts: serviceAt(voice, mouth.port) });
  return name === 'vosk' ? [ears, mouth] : [ears];
}

function serviceAt(provider: Exclude<DemoServices, 'embedded'>, port: number): object {
  const host = `127.0.0.1:${port}`;
  if (provider === 'vosk') return { provider, base_url: `ws://${host}` };
  if (provider === 'wyoming') return { provider, base_url: `tcp://${host}` };
  return {
    provider: 'openai_compatible',
    base_url: `http://${host}/v1`,
    model: 'demo',
    voice: 'slt',
  };
}
