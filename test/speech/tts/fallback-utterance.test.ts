// One utterance over several voices, clause by clause of its rules: what goes to a service, what of it is heard, and when
// the next one takes over. Whole calls: tts-fallback.test.ts.

import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { serviceFaults } from '../../../src/metrics/speech-metrics.ts';
import type {
  SpeechStream,
  StreamOptions,
  TextToSpeech,
  UtteranceListener,
} from '../../../src/speech/tts/tts.ts';
import { MS_PER_CHARACTER, wordsOf } from '../../fakes/call/scripted-voice.ts';
import { faultOf } from '../../fakes/services/streamed-tts.ts';
import { CLAUSE, failing, LAST, SENTENCE, setUp, TEXT } from './voices-of-a-call.ts';

const CLAUSE_MS = CLAUSE.length * MS_PER_CHARACTER;

/** A voice whose answers the test gives by hand: `onAsked` within what it is asked. */
class HandVoice implements TextToSpeech {
  readonly name = 'hand';
  readonly model = 'fake';
  readonly log: string[] = [];
  readonly listeners: UtteranceListener[] = [];
  /** Whether each was to have a new connection. */
  readonly retries: boolean[] = [];
  readonly #onAsked: (what: string, listener: UtteranceListener) => void;

  constructor(onAsked: (what: string, listener: UtteranceListener) => void = () => undefined) {
    this.#onAsked = onAsked;
  }

  get listener(): UtteranceListener {
    return this.listeners[0] as UtteranceListener;
  }

  stream(
    _voice: string | undefined,
    listener: UtteranceListener,
    { isRetry = false }: StreamOptions = {},
  ): SpeechStream {
    this.listeners.push(listener);
    this.retries.push(isRetry);
    const asked = (what: string): void => {
      this.log.push(what);
      this.#onAsked(what, listener);
    };
    return {
      push: (text) => asked(`push ${text}`),
      flush: () => asked('flush'),
      end: () => asked('end'),
      cancel: () => asked('cancel'),
    };
  }

  synthesize(): Promise<void> {
    return Promise.reject(new GatewayError('TTS_FAILED', { reason: 'not asked by this test' }));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Faults of a voice, of all kinds. */
const counted = async (name = 'hand') => {
  const { values } = await serviceFaults.get();
  const own = values.filter(({ labels }) => labels['service'] === name);
  return own.reduce((sum, { value }) => sum + value, 0);
};
const audio = (ms: number) => new Int16Array(ms * 8).fill(500);
const usage = { job: 'tts', service: 'hand', model: 'fake', source: 'counted' } as const;

describe('the text of an utterance', () => {
  it('goes to the voice until its end, once, and not where it has no words', async () => {
    const { clock, say, logOf } = setUp({}, {});
    const { heard, stream } = say('…');
    expect(logOf(0)).toEqual([]);
    stream.push(CLAUSE);
    stream.push('—');
    stream.end();
    stream.end();
    stream.push(LAST);
    await clock.advanceAsync(100);
    expect(logOf(0)).toEqual([`push ${CLAUSE}`, 'flush', 'end']);
    expect(heard.ends).toEqual(['done']);
  });

  it('goes to no voice after a cancel, which it gets once', async () => {
    const { clock, say, logOf } = setUp({ speed: 1 }, {});
    const { heard, stream } = say(CLAUSE);
    stream.cancel();
    stream.cancel();
    stream.push(LAST);
    stream.end();
    await clock.advanceAsync(5_000, 500);
    expect(logOf(0)).toEqual([`push ${CLAUSE}`, 'flush', 'cancel']);
    expect([heard.ends, logOf(1), clock.timers]).toEqual([[], [], 0]);
  });

  it('may be none: the utterance is done, after the call of its end has returned', () => {
    const { clock, say } = setUp({});
    const { heard, stream } = say();
    stream.end();
    expect(heard.ends).toEqual([]);
    clock.advance(0);
    expect(heard.ends).toEqual(['done']);
    const cancelled = say();
    cancelled.stream.end();
    cancelled.stream.cancel();
    clock.advance(100);
    expect(cancelled.heard.ends).toEqual([]);
  });

  it('goes on within a piece, at its first clause that was not delivered', async () => {
    const { clock, say, logOf } = setUp({ failure: failing(1_900, faultOf('network')) }, {});
    const { stream } = say(`${CLAUSE} ${SENTENCE}`, LAST);
    stream.end();
    await clock.advanceAsync(100);
    expect(logOf(1)).toEqual([`push ${SENTENCE}`, `push ${LAST}`, 'flush', 'end']);
  });

  it('without spaces goes on at a clause of its own marks, by the rate of its script', async () => {
    const clauses = ['您的座位已经订好了，', '星期五晚上八点；', '请准时到达、', '谢谢。'];
    const from = async (text: string, afterMs: number) => {
      const voice = { failure: failing(afterMs, faultOf('network')), wordTimes: false };
      const { clock, say, logOf } = setUp({ ...voice, msPerCharacter: 220 }, {});
      say(text).stream.end();
      await clock.advanceAsync(100);
      return logOf(1)[0];
    };
    const text = clauses.join('');
    expect(await from(text, 1_900)).toBe(`push ${text}`);
    expect(await from(text, 3_600)).toBe(`push ${clauses.slice(1).join('')}`);
    expect(await from(text, 5_900)).toBe(`push ${clauses.slice(2).join('')}`);
    const thai = ['ดิฉันจองโต๊ะให้แล้วค่ะ', 'วันศุกร์ตอนสองทุ่ม'];
    expect(await from(thai.join(' '), 3_500)).toBe(`push ${thai[1]}`);
  });

  it('may be over for the next voice: it is done with nothing to say', async () => {
    const { clock, say, logOf, changes } = setUp(
      { failure: failing(CLAUSE_MS, faultOf('network')) },
      {},
    );
    const { heard, stream } = say(CLAUSE);
    await clock.advanceAsync(10_000, 500);
    const before = await counted('voice-1');
    stream.end();
    await clock.advanceAsync(100);
    expect([logOf(1), heard.ends]).toEqual([['flush', 'end'], ['done']]);
    expect(changes).toEqual(['voice-0 to voice-1, network']);
    expect(await counted('voice-1')).toBe(before);
  });

  it('goes whole to the voice that is there when it comes, after others failed behind what was said', async () => {
    const refusing = new HandVoice((what, { onError }) => {
      if (what === 'flush') onError(faultOf('quota'));
    });
    const { clock, say, logOf } = setUp(
      { failure: failing(CLAUSE_MS, faultOf('network')) },
      refusing,
      { failure: failing(0, faultOf('quota')) },
      {},
    );
    const { heard, stream } = say(CLAUSE);
    await clock.advanceAsync(10_000, 500);
    stream.push(LAST);
    stream.end();
    await clock.advanceAsync(100);
    expect(logOf(2)).toEqual(['flush', `push ${LAST}`, 'end']);
    expect(logOf(3)).toEqual([`push ${LAST}`, 'flush', 'end']);
    expect(heard.ends).toEqual(['done']);
    expect(heard.from).toEqual([0, CLAUSE.length + 1]);
  });

  it('is not given on to a voice that fails while it gets it', async () => {
    const failingAt = (at: string) =>
      new HandVoice((what, { onError }) => {
        if (what === at) onError(faultOf('quota'));
      });
    const [first, second, third] = [
      failingAt(`push ${SENTENCE}`),
      failingAt(`push ${CLAUSE}`),
      failingAt('end'),
    ];
    const { clock, say } = setUp(first, second, third);
    const { heard, stream } = say(CLAUSE);
    stream.push(SENTENCE);
    expect(first.log).toEqual([`push ${CLAUSE}`, 'flush', `push ${SENTENCE}`]);
    expect(second.log).toEqual([`push ${CLAUSE}`]);
    expect(third.log).toEqual([`push ${CLAUSE}`, `push ${SENTENCE}`, 'flush']);
    stream.end();
    expect(heard.end).toMatchObject({ kind: 'quota' });
    expect(clock.timers).toBe(0);
    const last = failingAt(`push ${SENTENCE}`);
    const alone = setUp(last);
    const { stream: said } = alone.say(CLAUSE);
    said.push(SENTENCE);
    expect(alone.clock.timers).toBe(0);
  });
});

describe('what is heard of an utterance', () => {
  it('is nothing of a voice that was left', async () => {
    const hand = new HandVoice();
    const { clock, say, logOf } = setUp(hand, { speed: 1 });
    const { heard, stream } = say(CLAUSE);
    await clock.advanceAsync(2_000);
    expect(hand.log.at(-1)).toBe('cancel');
    expect(logOf(1)).toEqual([`push ${CLAUSE}`, 'flush']);
    const { samples } = heard;
    hand.listener.onAudio(audio(500));
    hand.listener.onWords(wordsOf('Other words.'));
    hand.listener.onDone();
    hand.listener.onError(faultOf('network'));
    expect([heard.samples, heard.words, heard.ends]).toEqual([samples, [], []]);
    stream.end();
    hand.listener.onDone();
    expect(heard.ends).toEqual([]);
    await clock.advanceAsync(5_000, 100);
    expect([heard.ends, heard.ms]).toEqual([['done'], CLAUSE_MS]);
    expect(logOf(1)).toEqual([`push ${CLAUSE}`, 'flush', 'end']);
  });

  it('is nothing after a cancel or the end, whatever the voice still sends, but for what it bills', () => {
    for (const isCancelled of [true, false]) {
      const hand = new HandVoice();
      const { clock, say, services } = setUp(hand, {});
      const { heard, stream } = say(CLAUSE);
      hand.listener.onAudio(audio(CLAUSE_MS));
      if (!isCancelled) {
        stream.end();
        hand.listener.onDone();
      } else stream.cancel();
      const { samples, ends } = heard;
      const known = [...ends];
      hand.listener.onAudio(audio(500));
      hand.listener.onWords(wordsOf('More words.'));
      hand.listener.onDone();
      hand.listener.onError(faultOf('auth'));
      hand.listener.onUsage?.({ ...usage, unit: 'characters', amount: 7 });
      expect([heard.samples, heard.words, heard.ends]).toEqual([samples, [], known]);
      expect([heard.characters, clock.timers]).toEqual([7, 0]);
      expect(services[0]?.circuit.state).toBe('closed');
    }
  });

  it('and is no fault of a voice that was cancelled before its audio', async () => {
    const before = await counted();
    const hand = new HandVoice();
    const { say } = setUp(hand, {});
    say(CLAUSE).stream.cancel();
    hand.listener.onDone();
    expect(await counted()).toBe(before);
  });

  it('is no audio without samples: it puts no deadline off', async () => {
    const hand = new HandVoice();
    const { clock, say, logOf } = setUp(hand, {});
    say(CLAUSE);
    await clock.advanceAsync(1_000);
    hand.listener.onAudio(audio(0));
    await clock.advanceAsync(980);
    expect(logOf(1)).toEqual([]);
    await clock.advanceAsync(40);
    expect(logOf(1)).toEqual([`push ${CLAUSE}`, 'flush']);
  });

  it('is a part of its own of each voice with audio or words, and of no other', async () => {
    const untimed = setUp({ wordTimes: false, failure: failing(300, faultOf('network')) }, {});
    const first = untimed.say(CLAUSE);
    await untimed.clock.advanceAsync(100);
    expect(first.heard.from).toEqual([0, 0]);
    const hand = new HandVoice();
    const { say } = setUp(hand, {});
    const { heard } = say(CLAUSE);
    hand.listener.onWords([{ word: 'Your', startMs: 0, endMs: 240 }]);
    hand.listener.onError(faultOf('quota'));
    expect(heard.from).toEqual([0, 0]);
    const silent = setUp({ failure: failing(0, faultOf('quota')) }, {});
    const other = silent.say(CLAUSE);
    await silent.clock.advanceAsync(100);
    expect(other.heard.from).toEqual([0]);
  });

  it('is complete where a voice fails after the last word, and the model has ended', async () => {
    const { clock, say, logOf } = setUp({ failure: failing(CLAUSE_MS, faultOf('network')) }, {});
    const { heard, stream } = say(CLAUSE);
    stream.end();
    await clock.advanceAsync(100);
    expect([heard.ends, heard.from, logOf(1)]).toEqual([['done'], [0], []]);
  });
});

describe('a voice that is silent', () => {
  it('has a fault for it', async () => {
    const before = await counted();
    const { clock, say } = setUp(new HandVoice(), {});
    say(CLAUSE);
    await clock.advanceAsync(2_020);
    expect(await counted()).toBe(before + 1);
  });

  it('is found by what is pushed behind everything that was said, 2.5 s later', async () => {
    const { clock, say, logOf } = setUp(
      { wordTimes: false, failure: failing(CLAUSE_MS, 'silent') },
      {},
    );
    const { stream } = say(CLAUSE);
    await clock.advanceAsync(30_000, 500);
    // Not too short for the speech that came: only the missing answer shows it.
    stream.push('Yes.');
    await clock.advanceAsync(2_480);
    expect(logOf(1)).toEqual([]);
    await clock.advanceAsync(40);
    expect(logOf(1)).toEqual([`push ${CLAUSE}`, 'push Yes.', 'flush']);
  });

  it('has its time from the first text on, whatever is pushed meanwhile', async () => {
    const { clock, say, logOf } = setUp({ failure: failing(0, 'silent') }, {});
    const { stream } = say(CLAUSE);
    await clock.advanceAsync(1_500);
    stream.push(SENTENCE);
    await clock.advanceAsync(480);
    expect(logOf(1)).toEqual([]);
    await clock.advanceAsync(40);
    expect(logOf(1)).toEqual([`push ${CLAUSE}`, `push ${SENTENCE}`, 'flush']);
  });

  it('is found by the end of the turn, if it does not confirm it', async () => {
    const { clock, say } = setUp({ failure: failing(CLAUSE_MS, 'silent') }, {});
    const { heard, stream } = say(CLAUSE);
    await clock.advanceAsync(30_000, 500);
    stream.end();
    await clock.advanceAsync(2_480);
    expect(heard.ends).toEqual([]);
    await clock.advanceAsync(40);
    expect(heard.ends).toEqual(['done']);
  });

  it('is not one that had nothing to say before its text came', async () => {
    const { clock, say, logOf } = setUp(
      { failure: failing(CLAUSE_MS, faultOf('network')) },
      { firstAudioMs: 1_000 },
      {},
    );
    const { heard, stream } = say(CLAUSE);
    await clock.advanceAsync(1_900);
    stream.push(LAST);
    await clock.advanceAsync(1_200);
    expect(logOf(2)).toEqual([]);
    stream.end();
    await clock.advanceAsync(100);
    expect(heard.ends).toEqual(['done']);
  });

  it('is measured by the first audio where that comes in real time', async () => {
    const { clock, say, logOf } = setUp({ speed: 1, failure: failing(900, 'silent') }, {});
    say(CLAUSE);
    await clock.advanceAsync(3_380);
    expect(logOf(1)).toEqual([]);
    await clock.advanceAsync(60);
    expect(logOf(1)).toEqual([`push ${CLAUSE}`, 'flush']);
  });

  it('is not one that speaks at half of the speed of speech', async () => {
    const { clock, say, logOf } = setUp({ speed: 0.5 }, {});
    const { heard, stream } = say(CLAUSE, SENTENCE, LAST);
    stream.end();
    await clock.advanceAsync(TEXT.length * MS_PER_CHARACTER * 2 + 500, 100);
    expect([heard.ends, logOf(1)]).toEqual([['done'], []]);
  });

  it('is not one whose words show that all was said: the model is awaited', async () => {
    const { clock, say, logOf } = setUp({}, {});
    const { heard, stream } = say(CLAUSE);
    await clock.advanceAsync(30_000, 500);
    stream.push(LAST);
    stream.end();
    await clock.advanceAsync(100);
    expect([heard.ends, logOf(1)]).toEqual([['done'], []]);
  });
});

describe('a voice that fails', () => {
  it('is tried once more, for the rest of the text, where its longest session is over', async () => {
    let count = 0;
    const failure = () =>
      count++ === 0 ? { afterMs: CLAUSE_MS, fault: faultOf('session') } : undefined;
    const { clock, say, logOf } = setUp({ failure }, {});
    const { heard, stream } = say(CLAUSE, SENTENCE);
    stream.end();
    await clock.advanceAsync(100);
    expect(logOf(0).slice(-3)).toEqual([`push ${SENTENCE}`, 'flush', 'end']);
    expect([heard.ends, logOf(1)]).toEqual([['done'], []]);
  });

  it('is tried once more on a new connection, where the one that was kept open has broken', () => {
    const hand = new HandVoice((what, { onError }) => {
      if (what.startsWith('push')) onError(faultOf('network'));
    });
    const { say, logOf } = setUp(hand, {});
    say(CLAUSE);
    expect(hand.retries).toEqual([false, true]);
    expect(logOf(1)).toEqual([`push ${CLAUSE}`, 'flush']);
  });

  it('is not tried again for an error that no service reported', () => {
    const hand = new HandVoice((what, { onError }) => {
      if (what === 'flush') onError(new GatewayError('TTS_FAILED', { reason: 'test' }));
    });
    const { say, logOf } = setUp(hand, {});
    say(CLAUSE);
    expect(hand.listeners).toHaveLength(1);
    expect(logOf(1)).toEqual([`push ${CLAUSE}`, 'flush']);
  });

  it('and cannot say a text that another one says is told to its owner, once', async () => {
    const { clock, say, changes } = setUp({ failure: failing(0, 'done') }, {});
    const { heard, stream } = say(CLAUSE);
    stream.end();
    await clock.advanceAsync(100);
    expect(heard.ends).toEqual(['done']);
    expect(changes).toEqual(['voice-0 to voice-1, overload']);
    const alone = setUp({ failure: failing(0, 'done') });
    const only = alone.say(CLAUSE);
    only.stream.end();
    await alone.clock.advanceAsync(100);
    expect(alone.changes).toEqual([]);
    expect(only.heard.end).toMatchObject({ kind: 'overload' });
  });
});

describe('a voice that is left for a fault that passes', () => {
  it('is named with the one that speaks, also where that speaks the next text', async () => {
    const { clock, say, changes } = setUp(
      { failure: failing(0, faultOf('timeout')) },
      { failure: failing(0, faultOf('rate')) },
      {},
    );
    const { heard, stream } = say(CLAUSE);
    stream.end();
    await clock.advanceAsync(200);
    expect(heard.ends).toEqual(['done']);
    expect(changes).toEqual(['voice-0 to voice-1, timeout', 'voice-1 to voice-2, rate']);
  });

  it('is no change where the fault lasts, which is reported by itself', async () => {
    const { clock, say, changes, faults } = setUp({ failure: failing(0, faultOf('auth')) }, {});
    say(CLAUSE).stream.end();
    await clock.advanceAsync(200);
    expect([changes, faults.length]).toEqual([[], 1]);
  });
});

describe('the voices behind one that fails', () => {
  it('keep the call where an older utterance fails late, though a better voice has rested', () => {
    const [first, second, third] = [new HandVoice(), new HandVoice(), new HandVoice()];
    const { clock, say, services } = setUp(first, second, third);
    for (let nth = 0; nth < 3; nth++) services[0]?.circuit.failed(faultOf('overload'));
    const [one, other] = [say(CLAUSE), say(SENTENCE)];
    // More than is played by then: nothing is awaited.
    for (const listener of second.listeners) listener.onAudio(audio(60_000));
    second.listeners[0]?.onError(faultOf('quota'));
    third.listener.onAudio(audio(60_000));
    clock.advance(15_000);
    second.listeners[1]?.onError(faultOf('quota'));
    say(LAST);
    expect([first, second, third].map(({ listeners }) => listeners.length)).toEqual([0, 2, 3]);
    for (const { stream } of [one, other]) stream.cancel();
  });
});

describe('the circuit of a voice', () => {
  /** After two faults, a third one opens it unless the voice has worked meanwhile. */
  function judged(work: (given: ReturnType<typeof setUp>) => unknown) {
    const given = setUp({}, {});
    const circuit = given.services[0]?.circuit;
    for (let nth = 0; nth < 2; nth++) circuit?.failed(faultOf('network'));
    work(given);
    circuit?.failed(faultOf('network'));
    return circuit?.state;
  }

  it('has a success with the end of an utterance, and with a cancel after audio', () => {
    expect(judged(() => undefined)).toBe('open');
    const ended = judged(({ clock, say }) => {
      say(CLAUSE).stream.end();
      clock.advance(100);
    });
    expect(ended).toBe('closed');
    const cancelled = judged(({ clock, say }) => {
      const { stream } = say(CLAUSE);
      clock.advance(100);
      stream.cancel();
    });
    expect(cancelled).toBe('closed');
    expect(judged(({ say }) => say(CLAUSE).stream.cancel())).toBe('open');
  });
});
