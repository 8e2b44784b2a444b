// Recognisers that get whole utterances, in a soak: a Wyoming server and one with OpenAI's transcription interface, whose
// words are those of the audio. Both refuse what breaks their protocol.

import { readWav } from '../../src/audio/wav.ts';
import { sttServices } from '../../src/model/speech-services/services.ts';
import { createSttService } from '../../src/speech/vendors/stt-registry.ts';
import type { Clock } from '../../src/std/clock.ts';
import { ulawOf, WordFinder } from '../fakes/call/spoken-words.ts';
import { type HttpAsked, startHttpService } from '../fakes/services/fake-http-service.ts';
import {
  startFakeWyoming,
  type WireEvent,
  type WyomingPeer,
} from '../fakes/services/fake-wyoming.ts';
import { LATE_MS, type SttFaults } from '../fakes/services/stt-server.ts';
import { KEY } from './soak-run.ts';
import type { HeardBySoak, SttRow } from './stt-soak.ts';

const FIELDS = new Set(['model', 'response_format', 'temperature', 'language', 'prompt']);

export const openAiUploads: SttRow = {
  name: 'openai',
  faultShare: 0.15,
  unsentSecondsMax: 0,
  faults: [
    ...['refused, 401', 'refused, 402', 'refused, 403', 'refused, 429', 'refused, 500'],
    ...['refused, 503', 'reset connection', 'stalled', 'closed at a final', 'no finals'],
    ...['late finals', 'empty finals', 'malformed', 'unknown'],
  ] as SttRow['faults'],
  create(url, means) {
    const row = { provider: 'openai_compatible', api_key: KEY, base_url: url, model: 'm' };
    return createSttService(sttServices.openai_compatible.parse(row), means);
  },
  async start(clock, faults) {
    const violations: string[] = [];
    let count = 0;
    let ms = 0;
    let disputedMs = 0;
    let open = 0;
    const server = await startHttpService((asked) => {
      server.asked.length = 0;
      count += 1;
      open += 1;
      asked.response.on('close', () => {
        open -= 1;
      });
      const broken = uploadBroken(asked);
      if (broken !== undefined) {
        violations.push(broken);
        asked.response.writeHead(400).end('{}');
        return;
      }
      const { samples } = readWav(asked.file);
      const drawn = faults();
      if (drawn.refuse === undefined) ms += samples.length / 8;
      // A kept connection that breaks is not at fault: the client asks again.
      if (drawn.isReset === true) disputedMs += samples.length / 8;
      answerUpload(asked, { samples, faults: drawn, clock });
    });
    return {
      url: server.url,
      violations,
      close: () => server.close(),
      sessions: () => count,
      open: () => open,
      seconds: () => ms / 1_000,
      disputedSeconds: () => disputedMs / 1_000,
    };
  },
};

function uploadBroken({ path, headers, fields, method }: HttpAsked): string | undefined {
  if (method !== 'POST' || path !== '/audio/transcriptions') return `${method} ${path}`;
  if (headers.authorization !== `Bearer ${KEY}`) return 'another key';
  const unknown = fields.find(([name]) => !FIELDS.has(name));
  return unknown === undefined ? undefined : `the field ${unknown[0]}`;
}

function answerUpload(
  { response }: HttpAsked,
  of: { samples: Int16Array; faults: SttFaults; clock: Clock },
): void {
  const { refuse, isReset, stallAtMs, closeOnFinalize, finals, send } = of.faults;
  const finder = new WordFinder();
  const words = finder.push(ulawOf(of.samples));
  const text = finals === 'empty' ? '' : words.map(({ word }) => word).join(' ');
  const answer = JSON.stringify({ text });
  if (refuse !== undefined) response.writeHead(refuse.status, refuse.headers).end(refuse.body);
  else if (isReset === true) response.socket?.resetAndDestroy();
  else if (closeOnFinalize !== undefined) {
    response.write(answer.slice(0, 5), () => response.destroy());
  } else if (send !== undefined) response.end(send.data);
  else if (finals === 'late') of.clock.after(LATE_MS, () => response.end(answer));
  else if (stallAtMs === undefined && finals !== 'never') response.end(answer);
}

/** Packets of 16 kHz: every second sample has the words. */
const RATE_RATIO = 2;

export const wyomingUtterances: SttRow = {
  name: 'wyoming',
  faultShare: 0.15,
  faults: [
    ...['refused, 500', 'reset connection', 'mute', 'stalled', 'closed', 'closed at a final'],
    ...['no finals', 'late finals', 'doubled finals', 'empty finals', 'malformed', 'unknown'],
  ] as SttRow['faults'],
  create(url, means) {
    const row = { provider: 'wyoming', base_url: url.replace('http', 'tcp') };
    return createSttService(sttServices.wyoming.parse(row), means);
  },
  async start(clock, faults): Promise<HeardBySoak> {
    const violations: string[] = [];
    const utterances = new Map<WyomingPeer, WyomingUtterance>();
    let count = 0;
    let ms = 0;
    const server = await startFakeWyoming((peer, event) => {
      let utterance = utterances.get(peer);
      if (utterance === undefined) {
        count += 1;
        utterance = new WyomingUtterance(peer, { faults: faults(), clock, violations });
        utterances.set(peer, utterance);
        peer.socket.on('close', () => utterances.delete(peer));
        server.peers.length = 0;
      }
      ms += event.type === 'audio-chunk' ? event.payload.length / 32 : 0;
      utterance.take(event);
    });
    return {
      url: server.url,
      violations,
      sessions: () => count,
      open: () => utterances.size,
      seconds: () => ms / 1_000,
      close() {
        for (const { socket } of utterances.keys()) socket.destroy();
        return server.close();
      },
    };
  },
};

interface UtteranceMeans {
  faults: SttFaults;
  clock: Clock;
  violations: string[];
}

class WyomingUtterance {
  readonly #peer: WyomingPeer;
  readonly #of: UtteranceMeans;
  readonly #finder = new WordFinder();
  readonly #words: string[] = [];
  #before = '';

  constructor(peer: WyomingPeer, of: UtteranceMeans) {
    this.#peer = peer;
    this.#of = of;
  }

  take({ type, data, payload }: WireEvent): void {
    const { refuse, isReset } = this.#of.faults;
    if (type === 'transcribe') {
      if (refuse !== undefined) this.#peer.send('error', { text: 'no model', code: 'X' });
      if (isReset === true) this.#peer.socket.resetAndDestroy();
    } else if (type === 'audio-start') this.#follows('transcribe', data['rate'] === 16_000, type);
    else if (type === 'audio-chunk') {
      this.#follows('audio-start audio-chunk', payload.length % 2 === 0, type);
      this.#hear(payload);
    } else if (type === 'audio-stop') {
      this.#follows('audio-start audio-chunk', true, type);
      this.#answer();
    } else this.#of.violations.push(`unknown event ${type}`);
    this.#before = type;
  }

  #follows(before: string, isRight: boolean, type: string): void {
    if (isRight && before.split(' ').includes(this.#before)) return;
    this.#of.violations.push(`${type} after ${this.#before}`);
  }

  #hear(payload: Buffer): void {
    const samples = new Int16Array(Math.floor(payload.length / 2 / RATE_RATIO));
    for (const at of samples.keys()) samples[at] = payload.readInt16LE(at * 2 * RATE_RATIO);
    this.#words.push(...this.#finder.push(ulawOf(samples)).map(({ word }) => word));
    const { close, send } = this.#of.faults;
    if (send !== undefined && this.#finder.positionMs >= send.atMs)
      this.#peer.socket.write(send.data);
    if (close !== undefined && this.#finder.positionMs >= close.atMs) this.#peer.socket.destroy();
  }

  #answer(): void {
    const { finals, closeOnFinalize, muteAtMs, stallAtMs } = this.#of.faults;
    const text = finals === 'empty' ? '' : this.#words.join(' ');
    const send = (): void => this.#peer.send('transcript', { text });
    if (closeOnFinalize !== undefined) this.#peer.socket.destroy();
    else if (finals === 'late') this.#of.clock.after(LATE_MS, send);
    else if (finals !== 'never' && muteAtMs === undefined && stallAtMs === undefined) {
      send();
      if (finals === 'twice') send();
    }
  }
}
