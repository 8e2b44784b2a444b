import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import { deliveredCharacters } from '../../../src/speech/tts/fallback-utterance.ts';
import { createTtsFallback } from '../../../src/speech/tts/tts-fallback.ts';
import type { Clock } from '../../../src/std/clock.ts';
import { MS_PER_CHARACTER, wordsOf } from '../../fakes/call/scripted-voice.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { faultOf, StreamedTts } from '../../fakes/services/streamed-tts.ts';
import { FakeTts } from '../../fakes/speech-services.ts';
import { CallRig } from '../../pipeline/call-rig.ts';
import {
  CLAUSE,
  failing,
  failingOnce,
  LAST,
  Parts,
  SENTENCE,
  setUp,
  TEXT,
  type VoiceOptions,
} from './voices-of-a-call.ts';

/** A call that plays what its voices say. */
function rigOf(...voices: VoiceOptions[]): CallRig {
  const tts = (clock: Clock) => {
    const services = voices.map((voice) => ({
      service: new StreamedTts({ clock, ...voice }),
      circuit: new CircuitBreaker({ clock, job: 'tts', service: 'voice' }),
    }));
    return createTtsFallback({ services, clock, log: quietLog().log });
  };
  return new CallRig({ tts });
}

describe('the voices of a call', () => {
  it('are the first one alone while it works, in the voice that was asked for', async () => {
    const { clock, say, logOf, voicesOf } = setUp({}, {});
    const { heard, stream } = say(CLAUSE, SENTENCE);
    stream.push(LAST);
    stream.end();
    await clock.advanceAsync(100);
    expect(heard.ends).toEqual(['done']);
    expect(heard.partMs).toEqual([TEXT.length * MS_PER_CHARACTER]);
    expect(logOf(0)).toEqual([
      `push ${CLAUSE}`,
      'flush',
      `push ${SENTENCE}`,
      `push ${LAST}`,
      'end',
    ]);
    expect(voicesOf(0)).toEqual(['Anna']);
    expect(logOf(1)).toEqual([]);
  });

  it.each([
    ['network', 1],
    ['overload', 1],
    ['rate', 0],
    ['auth', 0],
    ['quota', 0],
  ] as const)(
    'after %s before any audio: %d more attempts at the same service',
    async (kind, more) => {
      const { clock, say, logOf, voicesOf } = setUp({ failure: failing(0, faultOf(kind)) }, {});
      const { heard, stream } = say(CLAUSE, SENTENCE);
      stream.end();
      await clock.advanceAsync(200);
      expect(logOf(0).filter((line) => line === `push ${CLAUSE}`)).toHaveLength(1 + more);
      expect(logOf(1)).toEqual([`push ${CLAUSE}`, `push ${SENTENCE}`, 'flush', 'end']);
      expect(voicesOf(1)).toEqual(['mapped-1']);
      expect(heard.ends).toEqual(['done']);
      expect(heard.from).toEqual([0]);
    },
  );

  it('change 2 s after text without audio', async () => {
    const { clock, say, logOf } = setUp({ failure: failing(0, 'silent') }, {});
    say(CLAUSE);
    await clock.advanceAsync(1_980);
    expect(logOf(1)).toEqual([]);
    await clock.advanceAsync(40);
    expect(logOf(0).at(-1)).toBe('cancel');
    expect(logOf(1)).toEqual([`push ${CLAUSE}`, 'flush']);
  });

  // Beside other work of the machine the embedded voice takes seconds, and nobody else could say that there is a fault.
  it('wait for the last one as long as it has itself, and for no other', async () => {
    const slow = { firstAudioMs: 6_000, audioWaitMs: 8_000 };
    const { clock, say, logOf } = setUp(slow, slow);
    const { heard, stream } = say(CLAUSE);
    stream.end();
    await clock.advanceAsync(7_980);
    expect([logOf(0).at(-1), heard.samples]).toEqual(['cancel', 0]);
    await clock.advanceAsync(40);
    expect([heard.ends, heard.from]).toEqual([['done'], [0]]);
    expect(heard.ms).toBe(CLAUSE.length * MS_PER_CHARACTER);
  });

  it('have Latin letters only where the first one has', () => {
    const latin = Object.assign(new FakeTts(new FakeClock()), { isLatinOnly: true });
    const of = (...voices: Parameters<typeof setUp>) => setUp(...voices).open().isLatinOnly;
    expect([of(latin, {}), of({}, latin), of({})]).toEqual([true, false, false]);
  });

  it('have as long in a call as all of them take', async () => {
    const silent = { failure: failing(0, 'silent') };
    const last = { firstAudioMs: 6_000, audioWaitMs: 8_000 };
    const rig = rigOf(silent, silent, last);
    rig.say(CLAUSE);
    await rig.run(15_000);
    expect(rig.reports).toMatchObject([{ heardText: CLAUSE, interrupted: false }]);
    expect(rig.of('fault')).toEqual([]);
  });

  it('change 2.5 s after what came was played, at the clause that was not delivered', async () => {
    const { clock, say, logOf } = setUp({ failure: failing(2_400, 'silent') }, {});
    const { heard, stream } = say(CLAUSE, SENTENCE, LAST);
    stream.end();
    await clock.advanceAsync(4_880);
    expect(logOf(1)).toEqual([]);
    await clock.advanceAsync(60);
    expect(logOf(1)).toEqual([`push ${SENTENCE}`, `push ${LAST}`, 'flush', 'end']);
    expect(heard.from).toEqual([0, CLAUSE.length + 1]);
    expect(heard.ends).toEqual(['done']);
  });

  it('stay where they are for the rest of the call', async () => {
    const { clock, say, logOf } = setUp({ failure: failingOnce(900, faultOf('network')) }, {});
    say(CLAUSE, SENTENCE).stream.end();
    await clock.advanceAsync(100);
    say('The next turn.').stream.end();
    await clock.advanceAsync(100);
    expect(logOf(0).filter((line) => line.startsWith('push'))).toHaveLength(2);
    expect(logOf(1)).toContain('push The next turn.');
  });

  it('take an utterance without audio for its text as a fault', async () => {
    const { clock, say, logOf } = setUp({ failure: failing(0, 'done') }, {});
    const { heard, stream } = say(CLAUSE);
    stream.end();
    await clock.advanceAsync(100);
    expect(logOf(1)).toEqual([`push ${CLAUSE}`, 'flush', 'end']);
    expect(heard.ends).toEqual(['done']);
  });

  it('go on with the next one when a service ends the utterance before the model does', async () => {
    const { clock, say, logOf } = setUp({ failure: failing(1_800, 'done') }, {});
    const { heard, stream } = say(CLAUSE, SENTENCE);
    await clock.advanceAsync(100);
    expect(logOf(1)).toEqual([`push ${SENTENCE}`, 'flush']);
    stream.push(LAST);
    stream.end();
    await clock.advanceAsync(100);
    expect(heard.from).toEqual([0, CLAUSE.length + 1]);
    expect(heard.ends).toEqual(['done']);
  });

  it('pass by a service whose circuit is open, and end with the embedded one', async () => {
    const { clock, say, services, logOf } = setUp({}, {}, 'sentences');
    for (const nth of [0, 1]) services[nth]?.circuit.failed(faultOf('auth'));
    const { heard, stream } = say(CLAUSE, SENTENCE);
    stream.end();
    await clock.advanceAsync(200);
    expect([logOf(0), logOf(1)]).toEqual([[], []]);
    expect(heard.ends).toEqual(['done']);
    expect(heard.words.map(({ word }) => word)).toEqual(`${CLAUSE} ${SENTENCE}`.split(' '));
    expect(heard.words.at(-1)?.endMs).toBe((CLAUSE.length + SENTENCE.length) * MS_PER_CHARACTER);
  });

  it('have the cushion of the one that speaks, and by requests only lines that may be kept', async () => {
    const { open, services } = setUp({}, {});
    const asked: string[] = [];
    Object.assign(services[0]?.service ?? {}, {
      cushionMs: 120,
      synthesize: ({ text }: { text: string }) => Promise.resolve(void asked.push(text)),
    });
    const call = open();
    expect(call.cushionMs).toBe(120);
    const { signal } = new AbortController();
    for (const isFixed of [false, true]) {
      void call.synthesize(
        { text: `Fixed: ${isFixed}.`, voice: 'v', isFixed },
        new Parts(),
        signal,
      );
    }
    expect(asked).toEqual(['Fixed: true.']);
  });

  it('speak as their settings have it where no voice is asked for', () => {
    const { open, voicesOf } = setUp({}, {});
    open().stream?.(undefined, new Parts()).push(CLAUSE);
    expect(voicesOf(0)).toEqual(['mapped-0']);
  });

  it('report no fault that passes to the owner', async () => {
    const { clock, say, faults, logOf } = setUp({ failure: failing(0, faultOf('network')) }, {});
    say(CLAUSE).stream.end();
    await clock.advanceAsync(100);
    expect([logOf(1).at(-1), faults]).toEqual(['end', []]);
  });

  it('are not left if they are the last one: the next text may be one that they can say', async () => {
    const { clock, say } = setUp({ failure: failingOnce(0, faultOf('quota')) });
    const first = say(CLAUSE);
    first.stream.end();
    await clock.advanceAsync(100);
    const next = say(SENTENCE);
    next.stream.end();
    await clock.advanceAsync(100);
    expect(first.heard.end).toMatchObject({ kind: 'quota' });
    expect(next.heard.ends).toEqual(['done']);
    expect(next.heard.ms).toBe(SENTENCE.length * MS_PER_CHARACTER);
  });

  it('are the last one where the circuits of all are open', async () => {
    const { clock, say, services, logOf } = setUp({}, {});
    for (const { circuit } of services) circuit.failed(faultOf('auth'));
    const { heard, stream } = say(CLAUSE);
    stream.end();
    await clock.advanceAsync(100);
    expect([heard.ends, logOf(0), logOf(1)]).toEqual([
      ['done'],
      [],
      [`push ${CLAUSE}`, 'flush', 'end'],
    ]);
  });

  // A call that began while its voice rested had another one from the first word on, and its run gave no reason.
  it('name the one that is passed by because it failed in other calls, once', async () => {
    const { clock, say, services, changes, open } = setUp(
      {},
      { failure: failing(0, faultOf('rate')) },
      {},
    );
    for (let nth = 0; nth < 3; nth++) services[0]?.circuit.failed(faultOf('overload'));
    for (const text of ['One.', 'Two.']) {
      say(text).stream.end();
      await clock.advanceAsync(200);
    }
    expect(changes.splice(0)).toEqual(['voice-0 to voice-1, overload', 'voice-1 to voice-2, rate']);
    open().kept?.('Hello.', undefined);
    expect(changes).toEqual(['voice-0 to voice-2, overload']);
  });

  it('name what the call has left alone, where the next one rests after faults in other calls', async () => {
    const { clock, say, services, changes } = setUp(
      { failure: failing(0, faultOf('rate')) },
      {},
      {},
    );
    for (let nth = 0; nth < 3; nth++) services[1]?.circuit.failed(faultOf('overload'));
    for (const text of ['One.', 'Two.']) say(text).stream.end();
    await clock.advanceAsync(200);
    expect(changes).toEqual(['voice-0 to voice-2, rate']);
  });

  it('report a fault that lasts and that another call met since the plan', () => {
    const { say, services, changes, faults, open } = setUp({}, {});
    services[0]?.circuit.failed(faultOf('quota'));
    for (const text of ['One.', 'Two.']) say(text).stream.end();
    open().stream?.(undefined, new Parts()).push('Hello.');
    expect([changes, faults.map(({ kind }) => kind)]).toEqual([[], ['quota']]);
  });

  it('report a permanent fault to the owner once', async () => {
    const { clock, say, faults } = setUp({ failure: failing(0, faultOf('auth', 'voice-0')) }, {});
    for (const text of ['One.', 'Two.', 'Three.']) say(text).stream.end();
    await clock.advanceAsync(200);
    expect(faults).toMatchObject([{ kind: 'auth', service: 'voice-0' }]);
  });

  it('leave the try of a service that has rested to a call that speaks, whatever phones ring', () => {
    const { clock, services, say, voicesOf, open } = setUp({}, {});
    for (let nth = 0; nth < 3; nth++) services[0]?.circuit.failed(faultOf('overload'));
    clock.advance(15_000);
    open().prepare?.();
    say(CLAUSE);
    expect([voicesOf(0), voicesOf(1)]).toEqual([['Anna'], []]);
  });

  it('open the circuit for later calls', async () => {
    const { clock, say, open, logOf } = setUp({ failure: failing(0, faultOf('quota')) }, {});
    say('One.').stream.end();
    await clock.advanceAsync(100);
    const heard = new Parts();
    const stream = open().stream?.(undefined, heard);
    stream?.push('Another call.');
    expect(logOf(0).filter((line) => line.startsWith('push'))).toEqual(['push One.']);
    expect(logOf(1).at(-1)).toBe('push Another call.');
  });

  it('fail with the last fault when none is left', async () => {
    const { clock, say } = setUp(
      { failure: failing(0, faultOf('auth')) },
      { failure: failing(0, faultOf('rate')) },
    );
    const { heard, stream } = say(CLAUSE);
    stream.end();
    await clock.advanceAsync(100);
    expect(heard.end).toBeInstanceOf(GatewayError);
    expect(heard.end).toMatchObject({ kind: 'rate' });
    expect(clock.timers).toBe(0);
  });

  it('wait for a model without a limit', async () => {
    const { clock, say, logOf } = setUp({ wordTimes: false }, {});
    const { heard, stream } = say(CLAUSE);
    await clock.advanceAsync(30_000, 500);
    stream.push(SENTENCE);
    stream.end();
    await clock.advanceAsync(100);
    expect(heard.ends).toEqual(['done']);
    expect(logOf(1)).toEqual([]);
  });

  it.each([true, false])(
    'change within a clause although no more text follows, and the turn has not ended (times: %s)',
    async (wordTimes) => {
      const { clock, say, logOf } = setUp({ wordTimes, failure: failing(300, 'silent') }, {});
      const { heard } = say(CLAUSE);
      await clock.advanceAsync(2_700, 100);
      expect(logOf(1)).toEqual([]);
      await clock.advanceAsync(400, 100);
      expect(logOf(1)).toEqual([`push ${CLAUSE}`, 'flush']);
      expect(heard.from).toEqual([0, 0]);
    },
  );

  it('are silent after a cancel, and leave no timer', async () => {
    const { clock, say, logOf } = setUp({ speed: 1 }, {});
    const { heard, stream } = say(CLAUSE, SENTENCE);
    await clock.advanceAsync(500);
    stream.cancel();
    const { samples } = heard;
    await clock.advanceAsync(10_000, 500);
    expect(heard.samples).toBe(samples);
    expect(heard.ends).toEqual([]);
    expect(logOf(1)).toEqual([]);
    expect(clock.timers).toBe(0);
  });

  it('speak every word, and each clause to its end once, whatever fails when', async () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    for (let round = 0; round < 150; round++) {
      const kinds = ['network', 'overload', 'rate', 'timeout', 'session', 'quota'] as const;
      const voice = (): VoiceOptions => ({
        wordTimes: random(3) > 0,
        ...(random(2) === 0 && { speed: 1 + random(4) }),
        firstAudioMs: random(600),
        failure: () => {
          if (random(3) === 0) return undefined;
          const fault = random(3) === 0 ? 'silent' : faultOf(kinds[random(kinds.length)] ?? 'rate');
          return { afterMs: random(5_500), fault };
        },
      });
      const { clock, say } = setUp(voice(), voice(), voice(), { wordTimes: round % 2 === 0 });
      const { heard, stream } = say(CLAUSE);
      await clock.advanceAsync(random(1_500), 100);
      stream.push(SENTENCE);
      await clock.advanceAsync(random(6_000), 100);
      stream.push(LAST);
      stream.end();
      await clock.advanceAsync(40_000, 250);
      expect(heard.ends, `round ${round}`).toEqual(['done']);
      const spoken = heard.from.map((from, at) => TEXT.slice(from, heard.from[at + 1]));
      expect(spoken.join(''), `round ${round}`).toBe(TEXT);
      for (const [at, text] of spoken.entries()) {
        const needMs = text.trimEnd().length * MS_PER_CHARACTER;
        expect(heard.partMs[at], `round ${round}, part ${at}: ${text}`).toBeGreaterThanOrEqual(
          needMs - 20,
        );
      }
      expect(clock.timers, `round ${round}`).toBe(0);
    }
  });

  it('are one transcript to playout, with nothing doubled or lost', async () => {
    const rig = rigOf({ failure: failing(2_400, faultOf('network')) }, {});
    rig.say(TEXT);
    await rig.run(9_000);
    expect(rig.reports).toMatchObject([{ heardText: TEXT, interrupted: false }]);
    expect(rig.of('fault')).toEqual([]);
  });
});

describe('the text that was delivered', () => {
  const text = 'Yes, of course. Your table is booked.';

  it('ends at the last clause whose words were all said', () => {
    const words = wordsOf(text);
    expect(text.slice(deliveredCharacters(text, words.slice(0, 2), 500))).toBe(
      'of course. Your table is booked.',
    );
    expect(text.slice(deliveredCharacters(text, words.slice(0, 3), 1_000))).toBe(
      'Your table is booked.',
    );
    expect(deliveredCharacters(text, words, 60 * text.length)).toBe(text.length);
    expect(deliveredCharacters(text, [], 0)).toBe(0);
    // The last milliseconds of a word may be missing, no more.
    const missing = (ms: number) => deliveredCharacters(text, words.slice(0, 3), ms);
    const third = words[2]?.endMs ?? 0;
    expect(text.slice(missing(third - 20))).toBe('Your table is booked.');
    expect(text.slice(missing(third - 21))).toBe('of course. Your table is booked.');
  });

  it('ends with what was played, whatever times came ahead of it', () => {
    const words = wordsOf(text);
    expect(text.slice(deliveredCharacters(text, words, 500))).toBe(
      'of course. Your table is booked.',
    );
  });

  it('is estimated where the words are others than those of the text', () => {
    const other = [{ word: 'Nope', startMs: 0, endMs: 700 }];
    expect(text.slice(deliveredCharacters(text, other, 800))).toBe(
      'of course. Your table is booked.',
    );
  });

  it('has clauses that end within quotes, and in scripts without spaces', () => {
    const quoted = 'He said "no." Then he left.';
    const said = wordsOf(quoted).slice(0, 3);
    const ms = said.at(-1)?.endMs ?? 0;
    expect(quoted.slice(deliveredCharacters(quoted, said, ms))).toBe('Then he left.');
    expect(deliveredCharacters('你好。再见。', [], 1_200)).toBe(3);
  });

  it('has no clause that ends within a number', () => {
    expect(deliveredCharacters('１０：３０见。再见，回头见。', [], 2_200)).toBe(7);
    expect(deliveredCharacters('１０：３０见。再见，回头见。', [], 700)).toBe(0);
  });

  it('has clauses that end with the marks of India and the Arab world', () => {
    const hindi = 'मैं देखती हूँ। आप रुकिए।';
    expect(hindi.slice(deliveredCharacters(hindi, [], 2_000))).toBe('आप रुकिए।');
    const arabic = 'نعم، سأبحث عن ذلك الآن.';
    expect(arabic.slice(deliveredCharacters(arabic, [], 900))).toBe('سأبحث عن ذلك الآن.');
  });

  it('is estimated by slow speech where words have no times', () => {
    // Each clause takes its own time.
    expect(text.slice(deliveredCharacters(text, [], 1_500))).toBe(
      'of course. Your table is booked.',
    );
    expect(text.slice(deliveredCharacters(text, [], 700))).toBe(text);
    expect(text.slice(deliveredCharacters(text, [], 800))).toBe('of course. Your table is booked.');
  });
});
