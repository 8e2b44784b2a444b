// A call with several voices behind one another, and what is heard of an utterance.

import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import type { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import type { TextToSpeech } from '../../../src/speech/tts/tts.ts';
import { createTtsFallback } from '../../../src/speech/tts/tts-fallback.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { StreamedTts, type StreamedTtsOptions } from '../../fakes/services/streamed-tts.ts';
import { FakeTts } from '../../fakes/speech-services.ts';
import { changeInWords } from '../change-in-words.ts';
import { HeardUtterance } from './heard-utterance.ts';

export const CLAUSE = 'Your table is booked,';
export const SENTENCE = 'for eight on Friday the second.';
export const LAST = 'See you then, and good bye!';
export const TEXT = `${CLAUSE} ${SENTENCE} ${LAST}`;

/** The parts of an utterance, one for each voice, as playout cuts them. */
export class Parts extends HeardUtterance {
  readonly from = [0];
  readonly partMs = [0];

  override onAudio(samples: Int16Array): void {
    super.onAudio(samples);
    this.partMs[this.partMs.length - 1] = (this.partMs.at(-1) ?? 0) + samples.length / 8;
  }

  onContinued(fromCharacter: number): void {
    this.from.push(fromCharacter);
    this.partMs.push(0);
  }
}

export type VoiceOptions = Omit<StreamedTtsOptions, 'clock'>;

/** A voice that is a service itself is used as it is. */
export function setUp(...voices: (VoiceOptions | TextToSpeech | 'sentences')[]) {
  const clock = new FakeClock();
  const faults: ServiceFault[] = [];
  const changes: string[] = [];
  const services = voices.map((voice, nth) => ({
    service: serviceOf(voice, nth, clock),
    circuit: new CircuitBreaker({ clock, job: 'tts', service: `voice-${nth}` }),
    voice: `mapped-${nth}`,
  }));
  const open = () =>
    createTtsFallback({
      services,
      clock,
      log: quietLog().log,
      onPermanentFault: (fault) => faults.push(fault),
      onChanged: (change) => changes.push(changeInWords(change)),
    });
  const call = open();
  const say = (...pieces: string[]) => {
    const heard = new Parts();
    const stream = call.stream?.('Anna', heard);
    if (stream === undefined) throw new Error('no streams');
    for (const [at, piece] of pieces.entries()) {
      stream.push(piece);
      if (at === 0) stream.flush();
    }
    return { heard, stream };
  };
  const fakeOf = (nth: number): StreamedTts => {
    const fake = services[nth]?.service;
    if (fake instanceof StreamedTts) return fake;
    throw new Error('no streamed voice');
  };
  const logOf = (nth: number) => fakeOf(nth).log;
  const voicesOf = (nth: number) => fakeOf(nth).voices;
  return { clock, services, faults, changes, say, logOf, voicesOf, open };
}

function serviceOf(
  voice: VoiceOptions | TextToSpeech | 'sentences',
  nth: number,
  clock: FakeClock,
): TextToSpeech {
  if (voice === 'sentences') return new FakeTts(clock);
  return 'synthesize' in voice ? voice : new StreamedTts({ clock, name: `voice-${nth}`, ...voice });
}

export const failingOnce = (afterMs: number, fault: 'silent' | 'done' | ServiceFault) => {
  let count = 0;
  return () => (++count === 1 ? { afterMs, fault } : undefined);
};
export const failing = (afterMs: number, fault: 'silent' | 'done' | ServiceFault) => () => ({
  afterMs,
  fault,
});
