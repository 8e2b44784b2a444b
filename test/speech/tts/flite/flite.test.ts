import { setMaxListeners } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { telephoneBand } from '../../../../src/audio/telephone-band.ts';
import { codeOf } from '../../../../src/errors/gateway-error.ts';
import { createFlite, FLITE_VOICES } from '../../../../src/speech/tts/flite/flite.ts';
import type { TextToSpeech } from '../../../../src/speech/tts/tts.ts';
import { openTextToSpeech } from '../../../../src/speech/vendors/tts-registry.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { synthesize, textToSpeechContract } from '../tts-contract.ts';

const means = () => ({ clock: new FakeClock(), log: quietLog().log });

textToSpeechContract('flite', () => openTextToSpeech({ service: 'flite', workers: 1 }, means()), {
  givesWordTimings: true,
});

/** RMS in the telephone band, of all samples, in dB below full scale. */
function levelInBandDb(samples: Int16Array): number {
  const signal = Float64Array.from(samples);
  telephoneBand().process(signal);
  const power = signal.reduce((sum, each) => sum + each * each, 0) / signal.length;
  return 10 * Math.log10(power / 32_768 ** 2);
}

describe('flite', () => {
  let speech: TextToSpeech;
  beforeAll(async () => {
    speech = await createFlite({ ...means(), workers: 1 });
  });
  afterAll(() => speech.close());

  it.each(FLITE_VOICES)(
    'speaks with the voice %s at -20 dBFS in the telephone band',
    async (voice) => {
      const texts = ['Good morning, how may I help you?', 'One moment, please.', 'Yes.'];
      for (const text of texts) {
        const { audio } = await synthesize(speech, text, { voice });
        const samples = audio[0] ?? new Int16Array();
        expect(levelInBandDb(samples)).toBeGreaterThan(-22);
        expect(levelInBandDb(samples)).toBeLessThan(-18);
        const peak = samples.reduce((most, each) => Math.max(most, Math.abs(each)), 0);
        expect(peak).toBeLessThan(31_500);
      }
    },
  );

  it('begins to speak within 40 ms of its audio and leaves a short pause after it', async () => {
    const { audio } = await synthesize(speech, 'Press one for sales.');
    const samples = audio[0] ?? new Int16Array();
    const onset = samples.findIndex((each) => Math.abs(each) > 1_000);
    const end = samples.findLastIndex((each) => Math.abs(each) > 1_000);
    expect(onset / 8).toBeLessThan(120);
    expect((samples.length - end) / 8).toBeLessThan(350);
    expect((samples.length - end) / 8).toBeGreaterThan(100);
  });

  it('gives a cached prompt before the call returns', async () => {
    await synthesize(speech, 'Welcome to the clinic.');
    let samples = 0;
    const listener = {
      onAudio: (audio: Int16Array) => {
        samples += audio.length;
      },
      onWords: () => undefined,
    };
    const { signal } = new AbortController();
    const done = speech.synthesize(
      { text: ' Welcome to  the clinic.', voice: 'slt' },
      listener,
      signal,
    );
    expect(samples).toBeGreaterThan(8_000);
    await done;
  });

  it('refuses a text that is no sentence', async () => {
    await expect(synthesize(speech, 'word '.repeat(300)).catch(codeOf)).resolves.toBe('TTS_FAILED');
  });
});

/** A thread that does what the text says. */
const moody = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { readlinkSync } from 'node:fs';
    import { parentPort, workerData } from 'node:worker_threads';
    let jobs = 0;
    parentPort.on('message', ({ id, text }) => {
      jobs += 1;
      if (text === 'who') {
        const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
        Atomics.store(new Int32Array(workerData.threadId), 0, thread);
      }
      if (text === 'starved') {
        setTimeout(() => parentPort.postMessage({ id, speech: { samples: new Int16Array(80), words: [] }, failure: '' }), 300);
        return;
      }
      if (text === 'die') process.exit(3);
      if (text === 'hang') for (;;);
      if (text.startsWith('wait')) return;
      if (text === 'late') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      const samples = new Int16Array(text.startsWith('count') ? jobs : 800);
      const speech = text === 'fail' ? undefined : { samples, words: [] };
      parentPort.postMessage({ id, speech, failure: 'RangeError' });
    });`)}`,
);

describe('flite, when its threads fail', () => {
  let clock: FakeClock;
  let speech: TextToSpeech;
  let lines: ReturnType<typeof quietLog>['lines'];
  afterEach(() => speech.close());
  async function open(workers = 1) {
    const quiet = quietLog();
    const { log } = quiet;
    lines = quiet.lines;
    clock = new FakeClock();
    speech = await createFlite({ clock, log, workers, entry: moody });
  }

  it('fails the sentence, and speaks the next one', async () => {
    await open();
    await expect(synthesize(speech, 'fail').catch(codeOf)).resolves.toBe('TTS_FAILED');
    expect((await synthesize(speech, 'next')).samples).toBe(800);
  });

  it('fails only the sentence under way when a thread ends, and starts another', async () => {
    await open();
    const [dead, queued] = await Promise.all([
      synthesize(speech, 'die').catch(codeOf),
      synthesize(speech, 'next'),
    ]);
    expect(dead).toBe('TTS_FAILED');
    expect(queued.samples).toBe(800);
  });

  it('says TTS_UNAVAILABLE when threads die again and again', async () => {
    await open();
    const codes = [];
    for (let i = 0; i < 6; i++) codes.push(await synthesize(speech, 'die').catch(codeOf));
    expect(codes).toEqual([...Array(5).fill('TTS_FAILED'), 'TTS_UNAVAILABLE']);
  });

  it('speaks again a minute after its threads died again and again: a few texts do not end speech', async () => {
    await open();
    for (let i = 0; i < 5; i++) await synthesize(speech, 'die').catch(codeOf);
    await expect(synthesize(speech, 'next').catch(codeOf)).resolves.toBe('TTS_UNAVAILABLE');
    clock.advance(60_000);
    expect((await synthesize(speech, 'next')).samples).toBe(800);
  });

  it('leaves no timer when it is closed while its threads rest', async () => {
    await open();
    for (let i = 0; i < 5; i++) await synthesize(speech, 'die').catch(codeOf);
    await speech.close();
    expect(clock.timers).toBe(0);
  });

  it('says TTS_TIMEOUT after eight seconds, before the call gives up, and replaces a thread that hangs after twelve', async () => {
    await open();
    let code: string | undefined;
    const outcome = synthesize(speech, 'hang').catch((error: unknown) => {
      code = codeOf(error);
    });
    await settle();
    clock.advance(7_999);
    await settle();
    expect(code).toBeUndefined();
    clock.advance(1);
    await outcome;
    expect(code).toBe('TTS_TIMEOUT');
    expect(speech.audioWaitMs).toBeGreaterThan(8_000);
    expect(speech.isLatinOnly).toBe(true);
    clock.advance(1_000);
    const next = synthesize(speech, 'next');
    await settle();
    clock.advance(3_000);
    expect((await next).samples).toBe(800);
    expect(clock.timers).toBe(0);
  });

  it.runIf(process.platform === 'linux')(
    'waits on while the machine gives its thread no time, and keeps the thread',
    async () => {
      await open();
      await synthesize(speech, 'who');
      const starved = synthesize(speech, 'starved');
      await settle();
      clock.advance(31_000);
      expect((await starved).samples).toBe(80);
      expect(lines()).toEqual([]);
      let code: string | undefined;
      const never = synthesize(speech, 'wait').catch((error: unknown) => {
        code = codeOf(error);
      });
      await settle();
      clock.advance(31_999);
      await settle();
      expect(code).toBeUndefined();
      clock.advance(1);
      await never;
      expect(code).toBe('TTS_TIMEOUT');
      expect(speech.audioWaitMs).toBeGreaterThan(32_000);
    },
  );

  it('replaces a thread that hangs at a line rendered ahead after twelve seconds as well', async () => {
    await open();
    const ahead = synthesize(speech, 'hang', { isAhead: true }).catch(codeOf);
    await settle();
    clock.advance(11_000);
    const next = synthesize(speech, 'next');
    await settle();
    clock.advance(1_000);
    expect(await ahead).toBe('TTS_FAILED');
    expect((await next).samples).toBe(800);
    expect(clock.timers).toBe(0);
  });

  it('starts a second thread while a sentence waits, and only then', async () => {
    await open(2);
    // The thread that has spoken before counts on.
    await synthesize(speech, 'one');
    expect((await synthesize(speech, 'count')).samples).toBe(3);
    const held = synthesize(speech, 'wait').catch(codeOf);
    expect((await synthesize(speech, 'count of the second')).samples).toBe(2);
    await settle();
    clock.advance(8_000);
    expect(await held).toBe('TTS_TIMEOUT');
  });

  it('kills no thread for a sentence that waited for its turn until its deadline', async () => {
    await open();
    const first = synthesize(speech, 'wait').catch(codeOf);
    const waiting = Array.from({ length: 10 }, (_, i) =>
      synthesize(speech, `next ${i}`).catch(codeOf),
    );
    await settle();
    clock.advance(8_000);
    expect(new Set([await first, ...(await Promise.all(waiting))])).toEqual(
      new Set(['TTS_TIMEOUT']),
    );
    expect(lines().filter(({ msg }) => msg === 'speech worker died')).toEqual([]);
  });

  it('renders equal sentences once for all who request them at the same time', async () => {
    await open();
    const all = await Promise.all(Array.from({ length: 200 }, () => synthesize(speech, 'count')));
    const jobs = new Set(all.map(({ samples }) => samples));
    expect(jobs.size).toBe(1);
    expect((await synthesize(speech, 'count again')).samples).toBe((all[0]?.samples ?? 0) + 1);
  });

  it('renders what a caller waits for before the lines of later', async () => {
    await open();
    const order: string[] = [];
    const note = (text: string) => () => void order.push(text);
    const first = synthesize(speech, 'late').then(note('late'));
    const ahead = ['a', 'b', 'c'].map((text) =>
      synthesize(speech, text, { isAhead: true }).then(note(text)),
    );
    const needed = ['d', 'b'].map((text) => synthesize(speech, text).then(note(`needed ${text}`)));
    await Promise.all([first, ...ahead, ...needed]);
    expect(order).toEqual(['late', 'needed d', 'b', 'needed b', 'a', 'c']);
  });

  it('keeps what was rendered after its deadline', async () => {
    await open();
    const late = synthesize(speech, 'late').catch(codeOf);
    await settle();
    clock.advance(8_000);
    expect(await late).toBe('TTS_TIMEOUT');
    await synthesize(speech, 'count');
    await synthesize(speech, 'late');
    expect((await synthesize(speech, 'count once more')).samples).toBe(4); // With the one of the start.
  });

  it('queues no more than 64 sentences', async () => {
    await open();
    const abort = new AbortController();
    const { signal } = abort;
    setMaxListeners(100, signal);
    const waiting = Array.from({ length: 65 }, (_, i) =>
      synthesize(speech, `wait ${i}`, { signal }).catch((error: unknown) => error),
    );
    await expect(synthesize(speech, 'one more').catch(codeOf)).resolves.toBe('TTS_UNAVAILABLE');
    abort.abort('over');
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(['over']));
    await speech.close();
    expect(clock.timers).toBe(0);
  });

  it('does not begin what was aborted while it waited', async () => {
    await open();
    const hanging = synthesize(speech, 'wait').catch(codeOf);
    const abort = new AbortController();
    const dropped = synthesize(speech, 'die', { signal: abort.signal }).catch((e: unknown) => e);
    await settle();
    abort.abort('barge-in');
    expect(await dropped).toBe('barge-in');
    clock.advance(8_000);
    expect(await hanging).toBe('TTS_TIMEOUT');
    clock.advance(1_000);
    const next = synthesize(speech, 'next');
    await settle();
    clock.advance(3_000);
    expect((await next).samples).toBe(800);
  });

  it('fails what is under way when it is closed', async () => {
    await open();
    const outcomes = [synthesize(speech, 'wait'), synthesize(speech, 'later')];
    const codes = Promise.all(outcomes.map((each) => each.catch(codeOf)));
    await speech.close();
    expect(await codes).toEqual(['TTS_UNAVAILABLE', 'TTS_UNAVAILABLE']);
  });

  it('takes no sentence and starts no thread after it was closed', async () => {
    await open();
    await speech.close();
    await expect(synthesize(speech, 'late').catch(codeOf)).resolves.toBe('TTS_UNAVAILABLE');
    expect(clock.timers).toBe(0);
  });
});
