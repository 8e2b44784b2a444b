// A model that writes without punctuation: nothing was spoken until its text was complete (4.8 s). The voice gets words
// after a time.

import { describe, expect, it } from 'vitest';
import { spokenPieces, TimedPieces } from '../../../src/pipeline/speak/timed-pieces.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { StreamedTts } from '../../fakes/services/streamed-tts.ts';
import { CallRig } from '../call-rig.ts';

const UNPUNCTUATED =
  'i have looked at the calendar of the practice and there are two free appointments on friday one in the morning and one in the afternoon which one would you like to have';

function pieces({ isDry = (): boolean => true } = {}) {
  const clock = new FakeClock();
  const given: { text: string; atMs: number }[] = [];
  const text = new TimedPieces({
    clock,
    onPiece: (piece) => given.push({ text: piece, atMs: clock.monotonicMs() }),
    isDry,
  });
  return { clock, given, text };
}

/** The words of a text come `wordMs` apart. */
function write(at: ReturnType<typeof pieces>, text: string, wordMs: number): void {
  for (const word of text.split(' ')) {
    at.text.push(`${word} `);
    at.clock.advance(wordMs);
  }
}

describe('text that arrives in pieces', () => {
  it('without punctuation goes to the voice after eight words', () => {
    const at = pieces();
    write(at, UNPUNCTUATED.split(' ').slice(0, 12).join(' '), 40);
    expect(at.given[0]).toEqual({ text: 'i have looked at the calendar of the ', atMs: 280 });
  });

  it('of a slow model goes to the voice after 400 ms', () => {
    const at = pieces();
    write(at, 'i have looked at the', 150);
    expect(at.given[0]).toEqual({ text: 'i have looked ', atMs: 400 });
  });

  it('that comes at once, without punctuation, begins with its first eight words', () => {
    const at = pieces();
    at.text.push(UNPUNCTUATED);
    expect(at.given).toEqual([{ text: 'i have looked at the calendar of the ', atMs: 0 }]);
    at.text.end();
    expect(at.given.map(({ text }) => text).join('')).toBe(UNPUNCTUATED);
  });

  it('without punctuation and without spaces goes to the voice after eight words as well', () => {
    const at = pieces();
    for (const word of [
      '我想',
      '告诉',
      '您',
      '星期五',
      '还有',
      '两个',
      '空位',
      '一个',
      '在',
      '上午',
      '一个',
    ]) {
      at.text.push(word);
      at.clock.advance(40);
    }
    expect(at.given[0]).toEqual({ text: '我想告诉您星期五还有两个空位', atMs: 280 });
    const whole = pieces();
    whole.text.push('我想告诉您星期五还有两个空位一个在上午一个在下午您想要哪一个呢请您告诉我');
    expect(whole.given).toEqual([{ text: '我想告诉您星期五还有两个空位', atMs: 0 }]);
    const slow = pieces();
    slow.text.push('ผมอยากจอง');
    slow.clock.advance(450);
    expect(slow.given).toEqual([{ text: 'ผมอยาก', atMs: 400 }]);
  });

  it('is cut at the end of its sentence when that comes in time', () => {
    const at = pieces();
    write(at, 'I have two free appointments for you on that Friday. Which one would you like?', 20);
    at.text.end();
    expect(at.given.map(({ text }) => text.trim())).toEqual([
      'I have two free appointments for you on that Friday.',
      'Which one would you like?',
    ]);
  });

  it('is not cut within a number, behind a title or within brackets', () => {
    const at = pieces();
    write(at, 'your new doctor is Dr.', 100);
    expect(at.given).toEqual([{ text: 'your new doctor is ', atMs: 400 }]);
    const number = pieces();
    write(number, 'please call us at 0800 555', 100);
    expect(number.given[0]?.text).toBe('please call us at ');
    const link = pieces();
    write(link, 'see our [booking page](https://example.com/book a)', 120);
    expect(link.given[0]?.text).toBe('see our ');
  });

  it('waits for the sentence while the voice has something to say', () => {
    let dry = false;
    const at = pieces({ isDry: () => dry });
    at.text.push('Good morning and welcome. ');
    write(at, 'And then there was', 200);
    at.clock.advance(2_000);
    expect(at.given.map(({ text }) => text)).toEqual(['Good morning and welcome. ']);
    dry = true;
    at.clock.advance(400);
    expect(at.given.at(-1)?.text).toBe('And then there was ');
  });

  it('leaves no timer behind', () => {
    const ended = pieces();
    ended.text.push('some words ');
    ended.text.end();
    expect(ended.clock.timers).toBe(0);
    const stopped = pieces();
    stopped.text.push('some words ');
    stopped.text.stop();
    stopped.clock.advance(5_000);
    expect(stopped.clock.timers).toBe(0);
    expect(stopped.given).toEqual([]);
  });
});

describe.each([
  ['by sentences', undefined],
  ['as a stream', (clock: FakeClock) => new StreamedTts({ clock })],
])('a model without punctuation and a voice that speaks %s', (_how, tts) => {
  it('is heard within 500 ms, and without a gap of more than a second', async () => {
    const rig = new CallRig(
      tts === undefined ? {} : { tts: (clock) => tts(clock as unknown as FakeClock) },
    );
    const speech = rig.audio.speak({ utteranceId: 1, interruptible: true });
    for (const word of UNPUNCTUATED.split(' ')) {
      speech.text(`${word} `);
      await rig.run(160);
    }
    const [started] = rig.of('utterance-started');
    expect(started?.atMs).toBeLessThan(500);
    const spokenMs = rig.farEnd.playedMs;
    expect(spokenMs).toBeGreaterThan(rig.nowMs * 0.75);
    speech.end();
    await rig.run(12_000);
    expect(rig.reports).toMatchObject([{ heardText: UNPUNCTUATED, interrupted: false }]);
  });
});

describe('the pieces of a text that is there at once', () => {
  it.each([
    'Hello, and welcome to Riverside Dental. You can **book** an appointment, or ask Dr. Hill. How may I help?',
    UNPUNCTUATED,
    'Hi. 🙂',
  ])('are those that its utterance asks the voice for: %s', async (text) => {
    const rig = new CallRig();
    rig.say(text);
    await rig.run(20_000);
    const pieces = spokenPieces(text, rig.clock);
    expect(pieces.length).toBeGreaterThan(0);
    expect(rig.tts.asked).toEqual(pieces);
  });
});
