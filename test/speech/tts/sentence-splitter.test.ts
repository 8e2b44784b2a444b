import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSentenceSplitter } from '../../../src/speech/tts/sentence-splitter.ts';

/** The pieces, and after which character of `text` each came out. */
function speak(text: string, options = {}): { pieces: string[]; at: number[] } {
  const splitter = createSentenceSplitter(options);
  const pieces: string[] = [];
  const at: number[] = [];
  for (const [index, char] of [...text].entries()) {
    for (const piece of splitter.push(char)) {
      pieces.push(piece);
      at.push(index + 1);
    }
  }
  pieces.push(...splitter.end());
  return { pieces, at };
}

describe('sentences of streaming text', () => {
  it('speaks a short first sentence as soon as the next one begins', () => {
    const { pieces, at } = speak('Hello. How can I help you today? Tell me.');
    expect(pieces).toEqual(['Hello. ', 'How can I help you today? ', 'Tell me.']);
    expect(at[0]).toBe('Hello. H'.length);
  });

  it('speaks a first clause of twenty characters before the sentence is complete', () => {
    const { pieces } = speak('Thank you for calling us, I will look that up, one moment please.');
    expect(pieces).toEqual([
      'Thank you for calling us, ',
      'I will look that up, one moment please.',
    ]);
  });

  it('does not open with a clause shorter than that', () => {
    expect(speak('Well, let me see.').pieces).toEqual(['Well, let me see.']);
  });

  it('joins short sentences after the first', () => {
    expect(speak('Yes. Sure. OK. I will send it to you now. Bye.').pieces).toEqual([
      'Yes. ',
      'Sure. OK. I will send it to you now. ',
      'Bye.',
    ]);
  });

  it.each([
    'Please ask Dr. Smith about it.',
    'The price is 3.50 dollars.',
    'Visit www.example.com or https://example.com/a.html?b=c. there',
    'Call 555. 123. 4567 today.',
    'We open at 9 a.m. on weekdays.',
    'That is J. Edgar for you.',
    'Use e.g. Fridays for that.',
    'Ask for room No. 5 upstairs.',
    '1. Open the door',
    'The U.S. Embassy is closed.',
    'Wait... what was that',
    'Version 1.2.3 is out',
  ])('does not split: %s', (text) => {
    expect(speak(text, { firstMinChars: 1_000 }).pieces).toEqual([text]);
  });

  it('never splits a number between its digit groups', () => {
    expect(speak('The number you want is 1, 2, 3, 4, 5, 6.').pieces).toHaveLength(1);
  });

  it('splits after "p.m." where a sentence begins', () => {
    expect(speak('We close at 5 p.m. Please come early.').pieces).toEqual([
      'We close at 5 p.m. ',
      'Please come early.',
    ]);
  });

  it('keeps closing quotes with their sentence', () => {
    expect(speak('He said "stop!" Then he left.').pieces).toEqual([
      'He said "stop!" ',
      'Then he left.',
    ]);
  });

  it('splits at line ends', () => {
    expect(speak('These are the choices\nSales is the first one').pieces).toHaveLength(2);
  });

  it('cuts endless text at a word near 400 characters', () => {
    const { pieces } = speak('word '.repeat(300));
    expect(pieces.every((piece) => piece.length <= 400)).toBe(true);
    expect(pieces.every((piece) => piece.endsWith('word '))).toBe(true);
  });

  it('starts again after the end', () => {
    const splitter = createSentenceSplitter();
    splitter.push('One two three. ');
    splitter.end();
    expect(splitter.push('Hi. There')).toEqual(['Hi. ']);
  });

  it('loses, adds and changes nothing, however the text is cut', () => {
    const alphabet = fc.constantFrom(
      ...'aA1 .!?,;:\n"\')…。é😀-'.split(''),
      'Dr. ',
      'p.m. ',
      '3.5',
    );
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string(),
            fc.array(alphabet).map((parts) => parts.join('')),
          ),
        ),
        fc.nat(40),
        fc.nat(40),
        (deltas, firstMinChars, minChars) => {
          const splitter = createSentenceSplitter({ firstMinChars, minChars });
          const pieces = [...deltas.flatMap((delta) => splitter.push(delta)), ...splitter.end()];
          expect(pieces.join('')).toBe(deltas.join(''));
          expect(pieces.every((piece) => piece !== '')).toBe(true);
        },
      ),
    );
  });

  it('stays linear in the length of a text without boundaries', () => {
    const splitter = createSentenceSplitter();
    const pieces = splitter.push('x'.repeat(200_000));
    expect(pieces.length + splitter.end().length).toBe(500);
  });
});
