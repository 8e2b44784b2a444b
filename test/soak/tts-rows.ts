// The voices of a soak that speak by websocket: how the fake of each is started, and what its client is given.

import { ttsServices } from '../../src/model/speech-services/services.ts';
import { createTtsService } from '../../src/speech/vendors/tts-registry.ts';
import type { Clock } from '../../src/std/clock.ts';
import { ttsPresets } from '../fakes/described/presets.ts';
import { startVoiceServer } from '../fakes/described/tts-servers.ts';
import { startCartesia } from '../fakes/services/cartesia-server.ts';
import { startDeepgramSpeak } from '../fakes/services/deepgram-speak-server.ts';
import { startElevenLabs } from '../fakes/services/elevenlabs-server.ts';
import type { SocketService } from '../fakes/services/service-socket.ts';
import { type Bench, KEY } from './soak-run.ts';
import { azureVoice, openAiVoice, wyomingVoice } from './tts-requests.ts';
import {
  type SoakVoiceFaults,
  type SpokenBySoak,
  type TtsRow,
  VOICE_FAULTS,
  type VoiceFaultName,
} from './tts-soak.ts';

interface VoiceFake extends SocketService {
  faults: SoakVoiceFaults;
  errors: string[];
  closes: number[];
  contexts?: unknown[];
}

type Start = (options: { clock: Clock; key: string }) => Promise<VoiceFake>;

/** Counts the text in the messages of a fake, and empties its record. */
const counting =
  (start: Start, textOf: (message: Record<string, unknown>) => unknown) =>
  async ({ clock }: Bench): Promise<SpokenBySoak> => {
    const server = await start({ clock, key: KEY });
    let characters = 0;
    let requests = 0;
    const fold = (): void => {
      for (const { texts, binaries } of server.connections) {
        for (const text of texts.splice(0)) {
          requests += 1;
          const said = textOf(JSON.parse(text));
          if (typeof said === 'string') characters += said.trim().length;
        }
        binaries.length = 0;
      }
      const open = server.connections.filter(({ socket }) => socket.readyState !== socket.CLOSED);
      server.connections.splice(0, server.connections.length, ...open);
      server.contexts?.splice(0, Math.max(0, server.contexts.length - 100));
      server.closes.length = 0;
    };
    return {
      url: server.url,
      errors: server.errors,
      set(faults) {
        fold();
        server.faults = faults;
        if (faults.isReset === true) server.resetNext();
        // A refusal is met by a new connection.
        if (faults.refuse === undefined && faults.isReset !== true) return;
        for (const { socket } of server.connections) socket.close(1001);
      },
      requests() {
        fold();
        return requests;
      },
      characters() {
        fold();
        return characters;
      },
      close: () => server.close(),
    };
  };

const http = (url: string): string => url.replace(/^ws/, 'http');
const without = (...names: VoiceFaultName[]) =>
  VOICE_FAULTS.filter((name) => !names.includes(name));

export const TTS_ROWS: readonly TtsRow[] = [
  {
    name: 'elevenlabs',
    faults: VOICE_FAULTS,
    start: counting(startElevenLabs, ({ text }) => text),
    create(url, means) {
      const row = { provider: 'elevenlabs', api_key: KEY, base_url: http(url) };
      return createTtsService(ttsServices.elevenlabs.parse(row), means);
    },
  },
  {
    name: 'cartesia',
    faults: VOICE_FAULTS,
    start: counting(startCartesia, ({ transcript }) => transcript),
    create(url, means) {
      const row = { provider: 'cartesia', api_key: KEY, base_url: http(url) };
      return createTtsService(ttsServices.cartesia.parse(row), means);
    },
  },
  {
    name: 'deepgram',
    faults: without('words before audio', 'words after audio', 'no words'),
    start: counting(startDeepgramSpeak, ({ text }) => text),
    create(url, means) {
      const row = { provider: 'deepgram', api_key: KEY, base_url: http(url) };
      return createTtsService(ttsServices.deepgram.parse(row), means);
    },
  },
  azureVoice,
  wyomingVoice,
  openAiVoice,
  {
    name: 'described',
    faults: without('words before audio', 'words after audio', 'no words'),
    start: counting(
      (options) => startVoiceServer('inworld', options),
      (message) => Object(message['send_text'])['text'],
    ),
    create(url, means) {
      const row = { provider: 'websocket_tts', api_key: KEY, base_url: url };
      const given = {
        ...row,
        voice: 'Ashley',
        model: 'm',
        language: 'en',
        description: ttsPresets.inworld,
      };
      return createTtsService(ttsServices.websocket_tts.parse(given), means);
    },
  },
];
