// A target that takes a part of what is written, and refuses the rest: a disk that becomes full within a line.

import { beforeEach, describe, expect, it } from 'vitest';
import { LineOutput, type LineTarget } from '../../src/std/line-output.ts';
import { FakeClock } from '../fakes/fake-clock.ts';

/** What the disk takes of each write: so many bytes, nothing, or, when these are over, everything. */
let answers: (number | 'ENOSPC')[] = [];
let text = '';

const disk: LineTarget = {
  write(chunk, done) {
    const answer = answers.shift() ?? chunk.length;
    if (answer === 'ENOSPC') {
      done(Object.assign(new Error(answer), { code: answer }), 0);
      return;
    }
    text += chunk.toString('utf8', 0, answer);
    done(null, answer);
  },
  writeSync(chunk) {
    text += chunk.toString();
    return chunk.length;
  },
};

describe('output of lines to a disk that becomes full', () => {
  let clock: FakeClock;
  let dropped: number;
  let output: LineOutput;
  beforeEach(() => {
    clock = new FakeClock();
    dropped = 0;
    text = '';
    answers = [];
    const onDropped = (lines: number): void => {
      dropped += lines;
    };
    output = new LineOutput({ target: disk, clock, retryMs: 100, onDropped });
  });

  it('ends a line of which a part was written, before the next one', () => {
    answers = [3, 'ENOSPC'];
    output.write('{"torn":1}\n');
    clock.advance(100);
    output.write('{"whole":2}\n');
    expect(text).toBe('{"t\n{"whole":2}\n');
    expect(dropped).toBe(1);
  });

  it('ends it once, however often the disk is full', () => {
    answers = [3, 'ENOSPC', 'ENOSPC', 1, 'ENOSPC', 2, 'ENOSPC'];
    for (const line of ['first', 'second', 'third', 'fourth', 'fifth']) {
      output.write(`${line}\n`);
      clock.advance(100);
    }
    expect(text).toBe('fir\nfo\nfifth\n');
    expect(dropped).toBe(4);
  });

  it('counts no line as dropped that was written', () => {
    answers = ['ENOSPC', 'one\ntwo\nth'.length, 'ENOSPC'];
    output.write('zero\n');
    for (const line of ['one', 'two', 'three', 'four']) output.write(`${line}\n`);
    clock.advance(100);
    expect([text, dropped]).toEqual(['one\ntwo\nth', 3]);
  });

  it('counts none where only the line feed was missing', () => {
    answers = [3, 'ENOSPC'];
    output.write('one\n');
    clock.advance(100);
    output.write('two\n');
    expect([text, dropped]).toEqual(['one\ntwo\n', 0]);
  });

  it('ends it at the end of the process as well', () => {
    answers = [3, 'ENOSPC'];
    output.write('first\n');
    output.write('second\n');
    output.flushSync();
    expect(text).toBe('fir\nsecond\n');
  });
});
