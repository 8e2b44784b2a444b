import { describe, expect, it } from 'vitest';
import { heardTextOf } from '../../../src/pipeline/speak/heard-text.ts';
import {
  faultOf,
  StreamedTts,
  type StreamedTtsOptions,
} from '../../fakes/services/streamed-tts.ts';
import { CallRig } from '../call-rig.ts';

function rigOf(options: Omit<StreamedTtsOptions, 'clock'> = {}) {
  let tts: StreamedTts | undefined;
  const rig = new CallRig({
    tts: (clock) => {
      tts = new StreamedTts({ clock, ...options });
      return tts;
    },
  });
  if (tts === undefined) throw new Error('no voice');
  return { rig, tts, log: tts.log };
}

const CLAUSE = 'Your table is booked,';
const SENTENCE = 'for eight on Friday the second.';
const LAST = 'See you then, and good bye!';
const TEXT = `${CLAUSE} ${SENTENCE} ${LAST}`;

describe('a turn at a service that takes its text in pieces', () => {
  it('is one utterance: the first clause at once, the rest as it is written', async () => {
    const { rig, log } = rigOf();
    const speech = rig.audio.speak({ utteranceId: 1, interruptible: true });
    speech.text(`${CLAUSE} for `);
    expect(log).toEqual([`push ${CLAUSE}`, 'flush']);
    speech.text('eight on Friday the second. See ');
    speech.text('you then, and good bye!');
    expect(log.slice(2)).toEqual([`push ${SENTENCE}`]);
    speech.end();
    expect(log.slice(3)).toEqual([`push ${LAST}`, 'end']);
    await rig.run(TEXT.length * 60 + 2_000);
    expect(rig.reports).toMatchObject([{ utteranceId: 1, heardText: TEXT, interrupted: false }]);
    expect(rig.of('fault')).toEqual([]);
  });

  it('is reported to the word where the caller cuts it off', async () => {
    const { rig, log } = rigOf();
    rig.say(TEXT);
    await rig.run(1_500);
    await rig.says('stop it please now', 1_600);
    await rig.run(2_000);
    const [report] = rig.reports;
    expect(report?.interrupted).toBe(true);
    // Without the three frames in which the voice fades out.
    const heardMs = rig.farEnd.playedMs - 60;
    const words = TEXT.split(' ');
    const middles = words.map((word, at) => {
      const start = words.slice(0, at).join(' ').length + (at === 0 ? 0 : 1);
      return (start + word.length / 2) * 60;
    });
    const heard = report?.heardText.split(' ') ?? [];
    expect(heard).toEqual(words.slice(0, heard.length));
    expect(heard.length).toBeGreaterThan(1);
    expect(heard).toHaveLength(middles.filter((middle) => middle < heardMs).length);
    expect(log.at(-1)).toBe('end');
  });

  it('is cancelled at the service when the caller interrupts before its audio is complete', async () => {
    const { rig, log } = rigOf({ speed: 1.2 });
    rig.say(TEXT);
    await rig.run(400);
    await rig.says('stop it please now', 1_600);
    expect(log.at(-1)).toBe('cancel');
    await rig.run(2_000);
    expect(rig.reports).toHaveLength(1);
    expect(TEXT.startsWith(rig.reports[0]?.heardText ?? '?')).toBe(true);
    rig.say('Good bye then.');
    await rig.run(3_000);
    expect(rig.reports[1]).toMatchObject({ heardText: 'Good bye then.', interrupted: false });
  });

  it('has no more than 20 s and a piece of audio ahead, and goes on in a new stream', async () => {
    const { rig, log } = rigOf();
    const sentences = Array.from({ length: 40 }, (_, nth) => `This is sentence ${nth} of a story.`);
    rig.say(sentences.join(' '));
    await rig.run(100);
    expect(log.filter((line) => line.startsWith('push'))).toHaveLength(10);
    await rig.run(10_000);
    const pushes = log.filter((line) => line.startsWith('push')).length;
    expect(pushes).toBeGreaterThan(10);
    expect(pushes).toBeLessThan(20);
    await rig.run(90_000);
    expect(rig.reports).toMatchObject([{ heardText: sentences.join(' '), interrupted: false }]);
    expect(log.filter((line) => line === 'end').length).toBeGreaterThan(1);
    expect(rig.of('fault')).toEqual([]);
  });

  it('counts a Chinese character as a syllable: a stream of it has half a minute as well', async () => {
    const { rig, log } = rigOf({ speed: 1.5, msPerCharacter: 220, wordTimes: false });
    const sentences = Array.from({ length: 30 }, () => '这是一个关于酒店预订的故事。');
    rig.say(sentences.join(''));
    await rig.run(100);
    expect(log.filter((line) => line.startsWith('push'))).toHaveLength(7);
    await rig.run(110_000);
    expect(log.indexOf('end')).toBe(1 + 10);
    expect(rig.reports[0]?.heardText.replaceAll(' ', '')).toBe(sentences.join(''));
    expect(rig.of('fault')).toEqual([]);
  });

  it('speaks turns in order, and none of them twice', async () => {
    const { rig } = rigOf();
    for (const text of ['One is first.', 'Two comes next.', '…', 'Three is last.']) rig.say(text);
    await rig.run(8_000);
    expect(rig.reports.map(({ heardText }) => heardText)).toEqual([
      'One is first.',
      'Two comes next.',
      '',
      'Three is last.',
    ]);
  });

  it('goes on with what the model still writes after the service failed', async () => {
    let streams = 0;
    const failure = () =>
      ++streams === 1 ? { afterMs: 300, fault: faultOf('overload') } : undefined;
    const { rig } = rigOf({ failure });
    const speech = rig.audio.speak({ utteranceId: 1, interruptible: true });
    speech.text(`${CLAUSE} for `);
    await rig.run(1_000);
    expect(rig.of('fault')).toHaveLength(1);
    speech.text(`eight on Friday the second. `);
    speech.end();
    await rig.run(5_000);
    expect(rig.reports[0]?.heardText).toBe(`Your ${SENTENCE}`);
  });

  it('ends with a fault when the service says nothing for 5 s', async () => {
    const { rig, log } = rigOf({ failure: () => ({ afterMs: 0, fault: 'silent' }) });
    rig.say('Hello, is anybody there?');
    await rig.run(4_900);
    expect(rig.of('fault')).toEqual([]);
    await rig.run(200);
    expect(rig.of('fault')).toMatchObject([{ error: { code: 'TTS_TIMEOUT' } }]);
    expect(log.at(-1)).toBe('cancel');
    expect(rig.reports).toHaveLength(1);
  });

  it('is waited for as long as the service has itself', async () => {
    const { rig } = rigOf({ firstAudioMs: 7_900, audioWaitMs: 8_000 });
    rig.say('Hello, is anybody there?');
    await rig.run(11_000);
    expect(rig.of('fault')).toEqual([]);
    expect(rig.reports).toMatchObject([{ heardText: 'Hello, is anybody there?' }]);
  });

  it('is one line of the bill', async () => {
    const { rig } = rigOf();
    rig.say(TEXT);
    await rig.run(2_000);
    expect(rig.of('usage').map(({ usage }) => usage)).toEqual([
      {
        job: 'tts',
        service: 'streamed',
        model: 'fake',
        unit: 'characters',
        amount: CLAUSE.length + SENTENCE.length + LAST.length,
        source: 'counted',
      },
    ]);
  });

  it('leaves no timer behind', async () => {
    const { rig } = rigOf();
    rig.say(TEXT);
    await rig.run(300);
    rig.audio.close();
    await rig.run(100);
    expect(rig.clock.timers).toBe(0);
  });
});

describe('the words that were heard', () => {
  const words = [
    { word: 'Your', startMs: 0, endMs: 240 },
    { word: 'table', startMs: 300, endMs: 600 },
  ];
  const part = { text: 'Your table is booked for eight.', words, knownMs: 1_900 };

  it('are those whose middle was played, while later times have not come', () => {
    expect(heardTextOf({ ...part, heardMs: 400, totalMs: undefined })).toBe('Your');
    expect(heardTextOf({ ...part, heardMs: 460, totalMs: undefined })).toBe('Your table');
    expect(heardTextOf({ ...part, heardMs: 1_100, totalMs: undefined })).toBe('Your table');
  });

  it('go on by characters where the times end and the speech does not', () => {
    expect(heardTextOf({ ...part, heardMs: 1_700, totalMs: undefined })).toMatch(
      /^Your table is booked/,
    );
  });

  it('are found in a text without spaces between words', () => {
    const parts = [...'你好世界'].map((word, at) => ({
      word,
      startMs: at * 200,
      endMs: at * 200 + 200,
    }));
    const chinese = { text: '你好世界', words: parts, knownMs: 800, totalMs: 800 };
    expect(heardTextOf({ ...chinese, heardMs: 500 })).toBe('你好');
  });
});
