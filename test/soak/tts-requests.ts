// Voices of a soak that are asked for a sentence at a time: Azure's REST interface, OpenAI's speech interface, and a Wyoming
// server. Each refuses what breaks its protocol, and speaks 60 ms for each character.

import { ttsServices } from '../../src/model/speech-services/services.ts';
import { createTtsService } from '../../src/speech/vendors/tts-registry.ts';
import { ScriptedVoice } from '../fakes/call/scripted-voice.ts';
import { type HttpAsked, startHttpService } from '../fakes/services/fake-http-service.ts';
import { startFakeWyoming } from '../fakes/services/fake-wyoming.ts';
import { type Bench, KEY } from './soak-run.ts';
import type { SoakVoiceFaults, SpokenBySoak, TtsRow, VoiceFaultName } from './tts-soak.ts';

const FAULTS: VoiceFaultName[] = [
  ...(['refused, 401', 'refused, 402', 'refused, 403', 'refused, 429'] as const),
  ...(['refused, 500', 'refused, 503', 'reset connection', 'no audio'] as const),
  ...(['done without audio', 'audio after a cancel', 'at 0.8 times real time'] as const),
  ...(['at 50 times real time', 'half samples', 'closed', 'silent in an utterance'] as const),
];
const RATE_HZ = 8_000;

/** The sentence of a request, or what is wrong with it. */
type Read = (asked: HttpAsked) => { text: string } | { broken: string };

const requests =
  (read: Read, format: 'ulaw8' | 's16') =>
  async ({ clock }: Bench): Promise<SpokenBySoak> => {
    const errors: string[] = [];
    let faults: SoakVoiceFaults = {};
    let count = 0;
    let characters = 0;
    const server = await startHttpService((asked) => {
      server.asked.length = 0;
      const given = read(asked);
      const { response } = asked;
      count += 1;
      if ('broken' in given) {
        errors.push(given.broken);
        response.writeHead(400).end();
      } else if (faults.isReset === true) response.socket?.resetAndDestroy();
      else if (faults.refuse !== undefined) {
        response.writeHead(faults.refuse.status).end(faults.refuse.body);
      } else {
        characters += given.text.length;
        const voice = new ScriptedVoice({
          clock,
          format,
          faults,
          onPiece: ({ audio }) => void response.write(audio),
          onFailure: () => void response.destroy(),
          onDone: () => void response.end(),
        });
        response.flushHeaders();
        response.on('close', () => voice.stop());
        voice.speak(given.text);
        voice.end();
      }
    });
    return {
      url: server.url,
      errors,
      close: () => server.close(),
      set(next) {
        faults = next;
      },
      requests: () => count,
      characters: () => characters,
    };
  };

const azureText: Read = ({ headers, body, path }) => {
  const text = /<voice [^>]*>([^<]*)<\/voice>/.exec(body.toString())?.[1];
  if (path !== '/cognitiveservices/v1') return { broken: path };
  if (headers['ocp-apim-subscription-key'] !== KEY) return { broken: 'another key' };
  if (headers['content-type'] !== 'application/ssml+xml') return { broken: 'no SSML' };
  const format = headers['x-microsoft-outputformat'];
  if (format !== 'raw-8khz-8bit-mono-mulaw') return { broken: `the format ${format}` };
  return text === undefined ? { broken: 'no text' } : { text };
};

const openAiText: Read = ({ headers, body, path }) => {
  if (path !== '/audio/speech') return { broken: path };
  if (headers.authorization !== `Bearer ${KEY}`) return { broken: 'another key' };
  const { input, response_format: format, model, voice, ...rest } = JSON.parse(body.toString());
  if (format !== 'pcm' || model !== 'm' || voice !== 'v') return { broken: 'other settings' };
  const unknown = Object.keys(rest).find((name) => !['speed', 'sample_rate'].includes(name));
  return unknown === undefined ? { text: input } : { broken: `the field ${unknown}` };
};

export const azureVoice: TtsRow = {
  name: 'azure',
  disputedShareMax: 0.001,
  faults: FAULTS,
  start: requests(azureText, 'ulaw8'),
  create(url, means) {
    const row = { provider: 'azure_speech', api_key: KEY, base_url: url };
    return createTtsService(ttsServices.azure_speech.parse(row), means);
  },
};

export const openAiVoice: TtsRow = {
  name: 'openai',
  disputedShareMax: 0.001,
  faults: FAULTS,
  start: requests(openAiText, 's16'),
  create(url, means) {
    const row = { provider: 'openai_compatible', api_key: KEY, base_url: url, model: 'm' };
    const given = { ...row, voice: 'v', sample_rate: RATE_HZ };
    return createTtsService(ttsServices.openai_compatible.parse(given), means);
  },
};

export const wyomingVoice: TtsRow = {
  name: 'wyoming',
  disputedShareMax: 0.001,
  faults: FAULTS.filter((name) => !name.startsWith('refused') || name === 'refused, 500'),
  create(url, means) {
    return createTtsService(
      ttsServices.wyoming.parse({ provider: 'wyoming', base_url: url }),
      means,
    );
  },
  async start({ clock }): Promise<SpokenBySoak> {
    const errors: string[] = [];
    let faults: SoakVoiceFaults = {};
    let count = 0;
    let characters = 0;
    const server = await startFakeWyoming((peer, { type, data }) => {
      server.peers.splice(0, Math.max(0, server.peers.length - 10));
      if (type !== 'synthesize' || typeof data['text'] !== 'string') {
        errors.push(`the event ${type}`);
        return;
      }
      count += 1;
      characters += data['text'].length;
      if (faults.isReset === true) {
        peer.socket.resetAndDestroy();
        return;
      }
      if (faults.refuse !== undefined) {
        peer.send('error', { text: 'no voice' });
        return;
      }
      const format = { rate: RATE_HZ, width: 2, channels: 1 };
      peer.send('audio-start', format);
      const voice = new ScriptedVoice({
        clock,
        format: 's16',
        faults,
        onPiece: ({ audio }) => peer.send('audio-chunk', format, audio),
        onFailure: () => void peer.socket.destroy(),
        onDone: () => peer.send('audio-stop'),
      });
      peer.socket.on('close', () => voice.stop());
      voice.speak(data['text']);
      voice.end();
    });
    return {
      url: server.url,
      errors,
      close: () => server.close(),
      set(next) {
        faults = next;
      },
      requests: () => count,
      characters: () => characters,
    };
  },
};
