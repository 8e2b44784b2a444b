// Whole calls with real audio and real words through the clients of protocols that many programs speak. Behind each
// protocol stands a program of its own that recognises with PocketSphinx and speaks with Flite.

import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { batchedVad } from '../../src/audio/vad/vad-batch.ts';
import { loadVadKernel } from '../../src/audio/vad/vad-loader.ts';
import { pcmu } from '../../src/codec/g711.ts';
import { OPEN_SPEECH } from '../../src/model/expected-input.ts';
import { sttServices, ttsServices } from '../../src/model/speech-services/services.ts';
import { CallAudio } from '../../src/pipeline/call-audio.ts';
import type { CallAudioEvent } from '../../src/pipeline/call-audio-event.ts';
import { MediaClock } from '../../src/pipeline/media-clock.ts';
import { defaultTuning } from '../../src/pipeline/turn/turn-tuning.ts';
import type { SpeechToText } from '../../src/speech/stt/stt.ts';
import type { TextToSpeech } from '../../src/speech/tts/tts.ts';
import { createSttService, openSpeechToText } from '../../src/speech/vendors/stt-registry.ts';
import { createTtsService } from '../../src/speech/vendors/tts-registry.ts';
import { systemClock } from '../../src/std/clock.ts';
import { recording } from '../demo/scenario.ts';
import { FarEnd } from '../fakes/call/far-end.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { serviceMeans } from '../fakes/services/service-means.ts';
import { Peer } from '../peers/peer.ts';

const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday'];
const PHRASES = [
  ...['book an appointment', 'cancel an appointment', 'in the morning', 'yes please'],
  ...DAYS.map((day) => `on ${day}`),
];
const MENU = ['sales', 'support', 'billing', 'speak to an agent'];
const WAIT_MS_MAX = 20_000;
const FRAME = 160;
const log = quietLog().log;
const embedded = await openSpeechToText({ service: 'pocketsphinx' }, { clock: systemClock, log });
const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});
afterAll(() => embedded?.close());

interface Services {
  stt: SpeechToText;
  tts: TextToSpeech;
}

async function peer(name: 'vosk' | 'wyoming' | 'openai'): Promise<number> {
  const started = await Peer.start(name, { phrases: PHRASES, slots: [] });
  opened.push(() => started.stop());
  return started.port;
}

const means = serviceMeans(systemClock);

const protocols: [string, () => Promise<Services>][] = [
  [
    'vosk, with the voice of wyoming',
    async () => {
      const url = `ws://127.0.0.1:${await peer('vosk')}`;
      const voiceUrl = `tcp://127.0.0.1:${await peer('wyoming')}`;
      return {
        stt: createSttService(sttServices.vosk.parse({ provider: 'vosk', base_url: url }), means),
        tts: createTtsService(
          ttsServices.wyoming.parse({ provider: 'wyoming', base_url: voiceUrl }),
          means,
        ),
      };
    },
  ],
  [
    'wyoming',
    async () => {
      const row = { provider: 'wyoming', base_url: `tcp://127.0.0.1:${await peer('wyoming')}` };
      return {
        stt: createSttService(sttServices.wyoming.parse(row), means),
        tts: createTtsService(ttsServices.wyoming.parse(row), means),
      };
    },
  ],
  [
    'openai',
    async () => {
      const baseUrl = `http://127.0.0.1:${await peer('openai')}/v1`;
      const row = { provider: 'openai', base_url: baseUrl, api_key: 'test-key' };
      return {
        stt: createSttService(sttServices.openai.parse(row), means),
        tts: createTtsService(ttsServices.openai.parse(row), means),
      };
    },
  ],
];

/** A telephone call in real time, in µ-law both ways. */
class Call {
  readonly events: CallAudioEvent[] = [];
  readonly farEnd = new FarEnd({ clock: systemClock, codec: pcmu, semantics: 'echo-on-clear' });
  readonly audio: CallAudio;
  #line: Int16Array = new Int16Array();
  #sentMs = 0;
  readonly #startMs = systemClock.monotonicMs();
  readonly #timer: NodeJS.Timeout;

  constructor({ stt, tts }: Services) {
    this.audio = new CallAudio({
      clock: systemClock,
      mediaClock: new MediaClock(systemClock),
      codecIn: pcmu,
      codecOut: pcmu,
      wire: this.farEnd,
      lead: { aimMs: 80, maxMs: 160, stallMsMax: 160, stepMs: 60 },
      marks: true,
      vad: batchedVad(loadVadKernel(), systemClock),
      stt,
      tts,
      voice: undefined,
      recording: undefined,
      tuning: defaultTuning,
      onEvent: (event) => this.events.push(event),
      log,
    });
    this.farEnd.onMark = (name) => this.audio.mark(name);
    this.#timer = setInterval(() => this.#send(), 10);
  }

  say(utteranceId: number, text: string): void {
    const speech = this.audio.speak({ utteranceId, interruptible: true });
    speech.text(text);
    speech.end();
  }

  /** The caller speaks from now on. */
  callerSays(samples: Int16Array): void {
    this.#line = samples;
  }

  async until<T extends CallAudioEvent['type']>(
    type: T,
    count: number,
  ): Promise<Extract<CallAudioEvent, { type: T }>> {
    for (const deadline = Date.now() + WAIT_MS_MAX; Date.now() < deadline; ) {
      const found = this.events.filter(
        (event): event is Extract<CallAudioEvent, { type: T }> => event.type === type,
      );
      const wanted = found[count - 1];
      if (wanted !== undefined) return wanted;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`no ${type}, but ${JSON.stringify(this.events)}`);
  }

  /** All that the far end was played. */
  get heard(): Int16Array {
    return Int16Array.from(this.farEnd.frames.flatMap(({ pcm }) => [...pcm]));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.audio.close();
  }

  /** The frames that are due. */
  #send(): void {
    for (; this.#sentMs < systemClock.monotonicMs() - this.#startMs; this.#sentMs += 20) {
      const frame = new Int16Array(FRAME);
      frame.set(this.#line.subarray(0, FRAME));
      this.#line = this.#line.subarray(FRAME);
      const payload = new Uint8Array(FRAME);
      pcmu.encode(frame, payload);
      this.audio.audioIn(payload, this.#sentMs);
    }
  }
}

describe.skipIf(embedded === undefined)('a call over', () => {
  it.each(protocols)(
    '%s: what the caller says is understood, and what the agent says is heard',
    async (_, open) => {
      const services = await open();
      opened.push(
        () => services.stt.close(),
        () => services.tts.close(),
      );
      const call = new Call(services);
      opened.push(() => call.close());
      call.say(1, 'Billing.');
      const spoken = await call.until('utterance-finished', 1);
      expect(spoken.report.heardText).toBe('Billing.');
      expect(await understood(call.heard)).toBe('billing');
      call.callerSays(recording('book-an-appointment'));
      expect((await call.until('turn', 1)).turn.text).toBe('book an appointment');
      call.say(2, 'On which day?');
      await call.until('utterance-finished', 2);
      call.callerSays(recording('on-wednesday'));
      expect((await call.until('turn', 2)).turn.text).toBe('on wednesday');
      expect(call.events.filter(({ type }) => type === 'fault' || type === 'broken')).toEqual([]);
    },
    120_000,
  );
});

/** 300 ms. */
const SILENCE_SAMPLES = 2_400;

/** What a recogniser finds in the agent's voice at the far end. */
async function understood(samples: Int16Array): Promise<string> {
  return await new Promise((resolve, reject) => {
    const recognizer = embedded?.open(
      { ...OPEN_SPEECH, closed: true, phrases: MENU },
      {
        onPartial: () => undefined,
        onFinal: ({ text }) => resolve(text),
        onError: reject,
      },
    );
    recognizer?.speechStarted();
    // Between two silences, as a call passes it on.
    const line = new Int16Array(samples.length + 2 * SILENCE_SAMPLES);
    line.set(samples, SILENCE_SAMPLES);
    for (let at = 0; at < line.length; at += FRAME) {
      recognizer?.push(line.subarray(at, at + FRAME));
    }
    recognizer?.finalize();
  });
}
