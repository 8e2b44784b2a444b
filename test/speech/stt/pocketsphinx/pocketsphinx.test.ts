import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ulaw } from '../../../../src/audio/companding.ts';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { trustIn } from '../../../../src/model/word-trust.ts';
import { createGrammarDecoder } from '../../../../src/speech/stt/pocketsphinx/grammar-decoder.ts';
import { buildGrammar } from '../../../../src/speech/stt/pocketsphinx/jsgf.ts';
import { openPocketSphinx } from '../../../../src/speech/stt/pocketsphinx/pocketsphinx.ts';
import {
  DICTIONARY_FILE,
  loadLibrary,
  missingLibraries,
} from '../../../../src/speech/stt/pocketsphinx/pocketsphinx-library.ts';
import { parseDictionary } from '../../../../src/speech/stt/pocketsphinx/pronunciation-dictionary.ts';
import { SPHINX_SETTINGS } from '../../../../src/speech/stt/pocketsphinx/recognition.ts';
import type { SpeechToText } from '../../../../src/speech/stt/stt.ts';
import { createFlite } from '../../../../src/speech/tts/flite/flite.ts';
import { openSpeechToText } from '../../../../src/speech/vendors/stt-registry.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { rounds } from '../../../rounds.ts';
import { openRecognizer, speechToTextContract, utter } from '../stt-contract.ts';
import { SLOTS } from './slots.ts';

const missing = missingLibraries();
const skipped = missing === undefined ? '' : ` (skipped: ${missing})`;
const run = promisify(execFile);
const memory = z.object({ openedMb: z.number(), calledMb: z.number() });
const means = () => ({ clock: new FakeClock(), log: quietLog().log });

/** Speech by the embedded synthesiser, through G.711, between two silences. */
async function openVoice() {
  const speech = await createFlite({ ...means(), workers: 1, voice: 'rms' });
  return {
    close: () => speech.close(),
    async say(text: string): Promise<Int16Array> {
      let line = new Int16Array();
      const onAudio = (samples: Int16Array) => {
        line = new Int16Array(samples.length + 4_000);
        for (const [index, sample] of samples.entries()) {
          line[2_000 + index] = ulaw.samples[ulaw.codes[sample & 0xffff] ?? 0] ?? 0;
        }
      };
      const { signal } = new AbortController();
      await speech.synthesize({ text, voice: undefined }, { onAudio, onWords: () => 0 }, signal);
      return line;
    },
  };
}

describe.skipIf(missing !== undefined)(`pocketsphinx${skipped}`, () => {
  it('takes the memory of its model with the first call, not at the start', async () => {
    const script = 'test/speech/stt/pocketsphinx/model-memory-process.ts';
    const { stdout } = await run(process.execPath, ['--import', 'tsx', script]);
    const { openedMb, calledMb } = memory.parse(JSON.parse(stdout));
    expect(calledMb).toBeGreaterThanOrEqual(60);
    // The dictionary and the sources that are loaded then; with the model it were 110 at least.
    expect(openedMb).toBeLessThan(90);
  }, 60_000);

  speechToTextContract('pocketsphinx', async () => {
    const voice = await openVoice();
    const stt = await openSpeechToText({ service: 'pocketsphinx' }, means());
    if (stt === undefined) throw new Error('pocketsphinx did not start');
    return {
      stt,
      understandsOpenSpeech: false,
      say: voice.say,
      async close() {
        await stt.close();
        await voice.close();
      },
    };
  });

  describe('understands', () => {
    let stt: SpeechToText | undefined;
    let voice: Awaited<ReturnType<typeof openVoice>>;
    beforeAll(async () => {
      voice = await openVoice();
      stt = await openPocketSphinx(means());
    });
    afterAll(async () => {
      await stt?.close();
      await voice.close();
    });

    it.each([
      ['yes_no', 'no thank you'],
      ['digit', 'seven'],
      ['digits', 'four two seven nine'],
      ['digits', 'oh one oh'],
      ['digits', 'three oh'],
      ['number', 'one hundred and five'],
      ['date', 'the twenty second of june'],
      ['time', 'half past nine'],
      ['weekday', 'next tuesday'],
      ['money', 'twenty five dollars'],
    ] as const)('%s: %s', async (slot, text) => {
      if (stt === undefined) expect.unreachable();
      const call = openRecognizer(stt, { ...OPEN_SPEECH, closed: true, slots: [slot] });
      utter(call.recognizer, await voice.say(`${text}.`));
      const words = await call.final();
      expect(words.text).toBe(text);
      // Some are asked about: a scale that believes all of them believes foreign speech too.
      expect(trustIn(words.confidence)).not.toBe('reject');
      expect(call.partials.length).toBeGreaterThan(0);
      call.recognizer.close();
    });

    it('is not sure of speech that was not expected', async () => {
      if (stt === undefined) expect.unreachable();
      const call = openRecognizer(stt, { ...OPEN_SPEECH, closed: true, slots: ['digits'] });
      utter(call.recognizer, await voice.say('My dog ate the newspaper this morning.'));
      expect((await call.final()).confidence ?? 0).toBeLessThan(0.5);
      call.recognizer.close();
    });
  });

  it('takes every grammar that can be built', () => {
    const dictionary = parseDictionary(readFileSync(DICTIONARY_FILE, 'utf8'));
    const decoder = loadLibrary().openDecoder({ ...SPHINX_SETTINGS });
    const grammars = createGrammarDecoder(decoder, dictionary, 3);
    const word = fc.constantFrom(
      ...["o'clock", 'A.M.', 'x.y.', "rock'n'roll", '42', 'dsl', 'a', '...', '<b>', "'tis", 'e.g.'],
      ...[
        'naïve',
        'sales',
        'u.s.a',
        'mr.',
        'ph.d.',
        'null',
        '-',
        'I',
        'grammar',
        'public',
        'import',
      ],
    );
    const phrase = fc.array(word, { maxLength: 5 }).map((words) => words.join(' '));
    fc.assert(
      fc.property(fc.array(phrase, { maxLength: 8 }), fc.subarray(SLOTS), (phrases, slots) => {
        const { grammar } = buildGrammar({ ...OPEN_SPEECH, phrases, slots }, { dictionary });
        if (grammar === undefined) return;
        expect(grammar.words.filter((each) => !dictionary.has(each))).toEqual([]);
        expect(grammars.use(grammar)).toBe(true);
      }),
      { numRuns: rounds(60, 120) },
    );
    decoder.close();
  });
});

/** A thread that answers `finish` by what is expected of the call. */
const moody = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { readlinkSync } from 'node:fs';
    import { parentPort, workerData } from 'node:worker_threads';
    const counts = new Int32Array(workerData.counts);
    const moods = new Map();
    let audio = 0;
    const waiting = [];
    parentPort.on('message', (request) => {
      const { kind, id } = request;
      if (kind === 'expect') {
        if (moods.get(id) === 'starved') parentPort.postMessage({ kind: 'final', id, text: 'late', confidence: 1 });
        moods.set(id, request.expectation.phrases[0]);
        if (moods.get(id) === 'starved') Atomics.store(counts, 3, Number(readlinkSync('/proc/thread-self').split('/').at(-1)));
      }
      const mood = moods.get(id);
      if (kind === 'audio') { audio += 1; if (mood !== 'slow') Atomics.add(counts, 0, 1); }
      if (mood !== 'hang' && mood !== 'starved') Atomics.add(counts, 2, 1);
      if (kind === 'finish' && mood === 'late') waiting.push(request);
      if (kind !== 'finish' || mood === 'late') return;
      const needed = waiting.filter(({ slot, nth }) => nth > Atomics.load(counts, 4 + slot));
      if (mood === 'die') process.exit(3);
      if (mood === 'hang' || mood === 'starved') return;
      if (mood === 'fail') parentPort.postMessage({ kind: 'failed', id, reason: 'scripted' });
      else parentPort.postMessage({ kind: 'final', id, text: mood === 'queue' ? 'queue' + needed.length : mood + audio, confidence: 1 });
    });
    parentPort.postMessage({ kind: 'ready' });`)}`,
);
const absent = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    parentPort.postMessage({ kind: 'missing', reason: 'no library' });`)}`,
);

describe('pocketsphinx, when its threads fail', () => {
  let clock: FakeClock;
  let stt: SpeechToText | undefined;
  let quiet: ReturnType<typeof quietLog>;
  afterEach(() => stt?.close());
  async function open(entry = moody) {
    clock = new FakeClock();
    quiet = quietLog();
    stt = await openPocketSphinx({ clock, log: quiet.log, entry });
  }
  function call(mood: string) {
    if (stt === undefined) expect.unreachable();
    return openRecognizer(stt, { ...OPEN_SPEECH, phrases: [mood] });
  }
  const sound = new Int16Array(1_600);

  it('is absent without its library, and says how to install it', async () => {
    const opening = open(absent);
    // The thread's word and its end come at once.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    await opening;
    expect(stt).toBeUndefined();
    expect(quiet.lines()).toMatchObject([
      { level: 'warn', command: 'apt install libpocketsphinx3 pocketsphinx-en-us' },
    ]);
    expect(clock.timers).toBe(0);
  });

  it('fails only the call whose recognition fails', async () => {
    await open();
    const [bad, good] = [call('fail'), call('ok')];
    utter(bad.recognizer, sound);
    utter(good.recognizer, sound);
    expect(await bad.error()).toBe('STT_FAILED');
    expect((await good.final()).text).toBe('ok4');
    expect(clock.timers).toBe(0);
  });

  it('replaces a thread that ends: its calls continue, and its pending requests are answered without words', async () => {
    await open();
    const [bad, silent] = [call('die'), call('ok')];
    utter(bad.recognizer, sound);
    expect(await bad.final()).toEqual({ text: '', confidence: 0 });
    utter(silent.recognizer, sound);
    expect((await silent.final()).text).toBe('ok2');
    bad.recognizer.expect({ ...OPEN_SPEECH, phrases: ['ok'] });
    utter(bad.recognizer, sound);
    expect((await bad.final(2)).text).toBe('ok4');
    expect(bad.errors).toEqual([]);
    expect(clock.timers).toBe(0);
  });

  it('goes on with an utterance that was in progress when the thread died', async () => {
    await open();
    const [bad, speaking] = [call('die'), call('ok')];
    speaking.recognizer.speechStarted();
    utter(bad.recognizer, sound);
    await bad.final();
    speaking.recognizer.push(sound);
    speaking.recognizer.finalize();
    expect((await speaking.final()).text).toBe('ok2');
  });

  it('fails a call whose utterances ended three threads', async () => {
    await open();
    const bad = call('die');
    for (const count of [1, 2]) {
      utter(bad.recognizer, sound);
      await bad.final(count);
    }
    utter(bad.recognizer, sound);
    expect(await bad.error()).toBe('STT_FAILED');
  });

  it('replaces a thread that handles nothing for three seconds', async () => {
    await open();
    const first = call('ok'); // Before its first message a thread may take longer.
    utter(first.recognizer, sound);
    await first.final();
    const bad = call('hang');
    utter(bad.recognizer, sound);
    await settle();
    for (let passed = 0; passed < 3_500; passed += 250) clock.advance(250);
    expect(await bad.final()).toEqual({ text: '', confidence: 0 });
    const next = call('ok');
    utter(next.recognizer, sound);
    expect((await next.final()).text).toBe('ok2');
  });

  it.runIf(process.platform === 'linux')(
    'keeps a thread that has not worked: the machine was busy',
    async () => {
      await open();
      const [starved, first] = [call('starved'), call('ok')];
      utter(first.recognizer, sound);
      await first.final(); // The thread has said which one it is.
      utter(starved.recognizer, sound);
      await settle();
      for (let passed = 0; passed < 7_500; passed += 250) clock.advance(250);
      starved.recognizer.expect({ ...OPEN_SPEECH, phrases: ['ok'] });
      expect((await starved.final()).text).toBe('late');
      expect(quiet.lines()).toEqual([]);
    },
  );

  it('delays the words of a queue, and gives up an utterance after eight seconds', async () => {
    await open();
    const [late, busy] = [call('late'), call('queue')];
    utter(late.recognizer, sound);
    for (let passed = 250; passed < 8_000; passed += 250) {
      // Other calls are served: the thread does not hang.
      utter(busy.recognizer, sound);
      await busy.final(passed / 250);
      clock.advance(250);
    }
    expect(late.finals).toEqual([]);
    expect(late.delays).toHaveLength(31);
    clock.advance(250);
    expect(late.finals).toEqual([{ text: '', confidence: 0 }]);
    expect(late.errors).toEqual([]);
    // The thread need not decode it.
    expect(busy.finals.at(-1)?.text).toBe('queue1');
    utter(busy.recognizer, sound);
    expect((await busy.final(32)).text).toBe('queue0');
  });

  it('marks for the thread the queued utterances that are not needed any more', async () => {
    await open();
    const [late, leaving, queue] = [call('late'), call('late'), call('queue')];
    utter(late.recognizer, sound);
    utter(leaving.recognizer, sound);
    utter(queue.recognizer, sound);
    expect((await queue.final()).text).toBe('queue2');
    leaving.recognizer.close();
    utter(queue.recognizer, sound);
    expect((await queue.final(2)).text).toBe('queue1');
    const next = call('late'); // In the slot of the one that left.
    utter(next.recognizer, sound);
    utter(queue.recognizer, sound);
    expect((await queue.final(3)).text).toBe('queue2');
  });

  it.each(['late', 'die'])(
    'reports nothing to a call that its listener has closed: %s',
    async (end) => {
      await open();
      if (stt === undefined) expect.unreachable();
      const finals: string[] = [];
      const expectation = { ...OPEN_SPEECH, phrases: ['late'] };
      const recognizer = stt.open(expectation, {
        onPartial: () => undefined,
        onFinal({ text }) {
          finals.push(text);
          recognizer.close();
        },
        onDelayed: () => finals.push('delayed'),
        onError: () => finals.push('error'),
      });
      utter(recognizer, sound);
      utter(recognizer, sound);
      finals.length = 0; // The second waited for the first.
      const other = call(end);
      utter(other.recognizer, sound);
      if (end === 'die') {
        await other.final();
      } else {
        const busy = call('ok');
        for (let passed = 250; passed < 8_000; passed += 250) {
          utter(busy.recognizer, sound);
          await busy.final(passed / 250);
          clock.advance(250);
        }
        finals.length = 0;
        clock.advance(250);
      }
      expect(finals).toEqual(['']);
    },
  );

  it('gives up the oldest when a fifth utterance of one call waits in the queue', async () => {
    await open();
    const [late, queue] = [call('late'), call('queue')];
    for (let nth = 1; nth <= 4; nth++) utter(late.recognizer, sound);
    utter(queue.recognizer, sound);
    expect((await queue.final()).text).toBe('queue4');
    expect(late.finals).toEqual([]);
    utter(late.recognizer, sound);
    expect(late.finals).toEqual([{ text: '', confidence: 0 }]);
    utter(queue.recognizer, sound);
    expect((await queue.final(2)).text).toBe('queue4');
    expect(late.errors).toEqual([]);
  });

  it('says STT_UNAVAILABLE while threads die again and again, and is back a minute later', async () => {
    await open();
    for (let i = 0; i < 4; i++) {
      const bad = call('die');
      utter(bad.recognizer, sound);
      await bad.final();
    }
    const bad = call('die');
    utter(bad.recognizer, sound);
    expect(await bad.error()).toBe('STT_FAILED');
    expect(await call('ok').error()).toBe('STT_UNAVAILABLE');
    clock.advance(60_000);
    const next = call('ok');
    utter(next.recognizer, sound);
    expect((await next.final()).text).toBe('ok2');
  });

  it('takes no more than a hundred calls, and one more when one has ended', async () => {
    await open();
    const calls = Array.from({ length: 100 }, () => call('ok'));
    expect(await call('ok').error()).toBe('STT_UNAVAILABLE');
    calls[0]?.recognizer.close();
    const next = call('ok');
    utter(next.recognizer, sound);
    expect((await next.final()).text).toBe('ok2');
  });

  it('drops audio of an endless utterance, and counts it', async () => {
    await open();
    const slow = call('slow');
    utter(slow.recognizer, new Int16Array(800 * 260));
    expect((await slow.final()).text).toBe('slow250');
    expect(quiet.lines()).toMatchObject([{ droppedBatches: 10 }]);
  });

  it('reports no fault to a call that another call has closed meanwhile', async () => {
    await open();
    if (stt === undefined) expect.unreachable();
    const expectation = { ...OPEN_SPEECH, phrases: ['ok'] };
    const listener = { onPartial: () => undefined, onFinal: () => undefined };
    stt.open(expectation, { ...listener, onError: () => second.recognizer.close() });
    const second = call('ok');
    await stt.close();
    expect(second.errors).toEqual([]);
  });

  it('fails its calls when it is closed', async () => {
    await open();
    const open1 = call('ok');
    await stt?.close();
    expect(open1.errors).toEqual(['STT_FAILED']);
    expect(clock.timers).toBe(0);
  });
});
