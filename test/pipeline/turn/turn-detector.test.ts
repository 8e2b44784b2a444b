import { describe, expect, it } from 'vitest';
import { type ExpectedInput, OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import type { SpokenTurn } from '../../../src/pipeline/turn/spoken-turn.ts';
import { TurnDetector } from '../../../src/pipeline/turn/turn-detector.ts';
import type { TurnJudge } from '../../../src/pipeline/turn/turn-judge.ts';

const CLOSED: ExpectedInput = { closed: true, phrases: [], slots: ['yes_no'], boost: [] };
const FOUR_DIGITS: ExpectedInput = {
  closed: true,
  phrases: [],
  slots: ['digits'],
  boost: [],
  digits: { countMax: 4, terminator: '#' },
};

/** A detector that is told of speech in media time; its recogniser answers when told to. */
class Bench {
  readonly turns: SpokenTurn[] = [];
  readonly late: SpokenTurn[] = [];
  begins = 0;
  finalizes = 0;
  pauses = 0;
  resumes = 0;
  nothings = 0;
  nowMs = 0;
  readonly turn: TurnDetector;

  constructor(
    how: {
      interimWords?: boolean;
      expectation?: ExpectedInput;
      ownTurns?: 'ends';
      silenceEnds?: boolean;
      judge?: TurnJudge;
    } = {},
  ) {
    this.turn = new TurnDetector({
      recognizer: {
        finalMsP99: 200,
        interimWords: how.interimWords ?? true,
        ownTurns: how.ownTurns ?? 'none',
        silenceEnds: how.silenceEnds ?? false,
      },
      turnMaxMs: 5_000,
      ...(how.judge !== undefined && { judge: how.judge }),
      listener: {
        onBegin: () => this.begins++,
        onPause: () => this.pauses++,
        onResume: () => this.resumes++,
        onProbableEnd: () => undefined,
        onFinalize: () => this.finalizes++,
        onTurn: (turn) => this.turns.push(turn),
        onLate: (turn) => this.late.push(turn),
        onNothing: () => this.nothings++,
      },
    });
    this.turn.expect(how.expectation ?? OPEN_SPEECH);
  }

  run(ms: number): void {
    for (const until = this.nowMs + ms; this.nowMs < until; ) {
      this.nowMs += 20;
      this.turn.advance(this.nowMs, this.nowMs);
    }
  }

  speak(ms: number, text?: string): void {
    this.turn.speechStarted(this.nowMs);
    this.run(ms);
    if (text !== undefined) this.turn.partial({ text, confidence: null });
    this.turn.speechStopped(this.nowMs);
  }

  partial(text: string): void {
    this.turn.partial({ text, confidence: null });
  }

  final(text: string): void {
    this.turn.final({ text, confidence: 0.8 });
  }

  /** Milliseconds of silence until the recogniser is asked. */
  closesAfter(): number {
    const from = this.nowMs;
    while (this.finalizes === 0 && this.nowMs < from + 20_000) this.run(20);
    return this.nowMs - from;
  }
}

describe('a turn of a minute', () => {
  it('has all words of a fast speaker, though the recogniser fixes each alone', () => {
    const bench = new Bench();
    const words = Array.from({ length: 290 }, (_, nth) => `w${nth}`);
    bench.turn.speechStarted(0);
    for (const word of words) {
      bench.run(200);
      bench.final(word);
    }
    bench.turn.speechStopped(bench.nowMs);
    bench.run(5_000);
    expect(bench.turns.map(({ text }) => text.split(' ').length)).toEqual([290]);
  });
});

describe('the end of a turn', () => {
  it.each([
    ['a yes, where a yes is expected', CLOSED, 'yes please', 260, 300],
    ['all the digits expected', FOUR_DIGITS, 'one two three four', 260, 300],
    ['digits that are not all', FOUR_DIGITS, 'one two', 1_400, 1_600],
    ['open speech', OPEN_SPEECH, 'I lost my card', 500, 620],
    ['a sentence with its full stop', OPEN_SPEECH, 'I lost my card.', 480, 520],
    ['words that go on', OPEN_SPEECH, 'I lost my card and', 1_000, 1_200],
  ] as const)('comes after %s in due time', (_what, expectation, text, from, to) => {
    const bench = new Bench({ expectation });
    bench.speak(600, text);
    const closedMs = bench.closesAfter();
    expect(closedMs).toBeGreaterThanOrEqual(from);
    expect(closedMs).toBeLessThanOrEqual(to);
  });

  it('waits longer where a phrase is the beginning of another', () => {
    const phrases = ['sales', 'sales manager'];
    const bench = new Bench({ expectation: { closed: true, phrases, slots: [], boost: [] } });
    bench.speak(400, 'sales');
    expect(bench.closesAfter()).toBeGreaterThanOrEqual(440);
  });

  it('comes soon while the agent waits for it', () => {
    const bench = new Bench();
    bench.turn.hurried = true;
    bench.speak(400, 'and then');
    expect(bench.closesAfter()).toBeLessThanOrEqual(300);
  });

  it('reports when speech was last detected, when that was decided, and when the words came', () => {
    const bench = new Bench();
    bench.run(1_000);
    bench.speak(500, 'hello');
    bench.run(600);
    bench.run(100);
    bench.final('hello there');
    expect(bench.turns).toEqual([
      {
        text: 'hello there',
        confidence: 0.8,
        unvoiced: false,
        startMs: 1_000,
        endMs: 1_500,
        decidedMs: 2_100,
        finalMs: 2_200,
      },
    ]);
  });
});

describe('one turn', () => {
  it('goes on when the caller resumes within the pause', () => {
    const bench = new Bench();
    bench.speak(400, 'I would like');
    bench.run(400);
    bench.speak(400, 'I would like a taxi');
    bench.run(700);
    bench.final('I would like a taxi');
    expect(bench.turns.map(({ text }) => text)).toEqual(['I would like a taxi']);
    expect([bench.begins, bench.finalizes]).toEqual([1, 1]);
  });

  it('goes on when the caller resumes before the final words have come', () => {
    const bench = new Bench();
    bench.speak(400, 'I would like a');
    bench.run(1_120);
    expect(bench.finalizes).toBe(1);
    bench.turn.speechStarted(bench.nowMs);
    bench.final('I would like a');
    bench.run(400);
    bench.turn.speechStopped(bench.nowMs);
    bench.run(1_120);
    bench.final('taxi');
    expect(bench.turns.map(({ text }) => text)).toEqual(['I would like a taxi']);
  });

  it('is made of all the finals of a recogniser that endpoints by itself', () => {
    const bench = new Bench();
    bench.turn.speechStarted(0);
    bench.run(500);
    bench.final('First part.');
    bench.run(500);
    bench.final('Second part.');
    bench.turn.speechStopped(bench.nowMs);
    bench.run(700);
    bench.final('');
    expect(bench.turns.map(({ text }) => text)).toEqual(['First part. Second part.']);
  });

  it('ends by force when no new word comes while the line stays loud', () => {
    const bench = new Bench();
    bench.turn.speechStarted(0);
    bench.run(300);
    bench.turn.partial({ text: 'help', confidence: null });
    bench.run(5_100);
    expect(bench.finalizes).toBe(1);
    bench.final('help');
    expect(bench.turns.map(({ text }) => text)).toEqual(['help']);
  });
});

describe('words', () => {
  it('that do not come in time are replaced by what was understood so far, once', () => {
    const bench = new Bench();
    bench.speak(400, 'cancel my order');
    bench.run(1_000);
    expect(bench.turns.map(({ text }) => text)).toEqual(['cancel my order']);
    bench.final('cancel my order');
    bench.run(1_000);
    expect(bench.turns.length).toBe(1);
  });

  it('that come late, when nothing had been understood, are a turn all the same', () => {
    const bench = new Bench();
    bench.speak(400);
    bench.run(1_200);
    expect(bench.nothings).toBe(1);
    bench.final('late words');
    expect(bench.turns).toMatchObject([{ text: 'late words', unvoiced: false, startMs: 0 }]);
  });

  it('without detected speech are marked', () => {
    const bench = new Bench();
    bench.run(10_000);
    bench.final('quiet words');
    expect(bench.turns).toMatchObject([{ text: 'quiet words', unvoiced: true }]);
  });

  it('are no turn if there are none', () => {
    const bench = new Bench();
    bench.speak(400);
    bench.run(700);
    bench.final('');
    bench.run(5_000);
    expect(bench.turns).toEqual([]);
    expect(bench.nothings).toBe(1);
  });

  it('understood before the recogniser was lost still count', () => {
    const bench = new Bench();
    bench.speak(400, 'my name is');
    bench.run(1_120);
    expect(bench.finalizes).toBe(1);
    bench.turn.recognizerLost();
    expect(bench.turns.map(({ text }) => text)).toEqual(['my name is']);
  });
});

describe('a recogniser that ends turns itself', () => {
  it('ends the turn at once, and its words are final', () => {
    const bench = new Bench({ ownTurns: 'ends' });
    bench.speak(400, 'cancel my order');
    bench.run(200);
    bench.final('cancel my order');
    expect(bench.turns).toEqual([]);
    bench.turn.ended();
    expect(bench.turns).toMatchObject([{ text: 'cancel my order', endMs: 400, decidedMs: 600 }]);
    expect(bench.finalizes).toBe(0);
    bench.run(5_000);
    expect([bench.turns.length, bench.finalizes]).toEqual([1, 0]);
  });

  it('ends the turn also where the line stays loud', () => {
    const bench = new Bench({ ownTurns: 'ends' });
    bench.turn.speechStarted(0);
    bench.run(800);
    bench.final('help');
    bench.turn.ended();
    expect(bench.turns.map(({ text }) => text)).toEqual(['help']);
    expect(bench.begins).toBe(2);
  });

  it('is asked 700 ms after the silence that is enough otherwise', () => {
    const ours = new Bench();
    ours.speak(400, 'cancel my order');
    const theirs = new Bench({ ownTurns: 'ends' });
    theirs.speak(400, 'cancel my order');
    expect(theirs.closesAfter() - ours.closesAfter()).toBe(700);
  });

  it('is asked after the silence that is enough, where both end turns, and may be first', () => {
    const bench = new Bench({ ownTurns: 'ends', silenceEnds: true });
    bench.speak(400, 'cancel my order');
    expect(bench.closesAfter()).toBe(600);
    const first = new Bench({ ownTurns: 'ends', silenceEnds: true });
    first.speak(400, 'cancel my order');
    first.run(200);
    first.final('cancel my order');
    first.turn.ended();
    expect([first.turns.length, first.finalizes]).toEqual([1, 0]);
  });

  it('ends none where turns are ours: its words are those of the turn that silence ends', () => {
    const bench = new Bench();
    bench.speak(400, 'i would like');
    bench.run(200);
    bench.final('i would like');
    bench.turn.ended();
    expect(bench.turns).toEqual([]);
    bench.speak(400, 'to cancel my order');
    bench.final('to cancel my order');
    bench.turn.ended();
    expect(bench.closesAfter()).toBe(600);
    bench.final('');
    expect(bench.turns.map(({ text }) => text)).toEqual(['i would like to cancel my order']);
  });

  it('is asked without more patience while the agent is held', () => {
    const bench = new Bench({ ownTurns: 'ends' });
    bench.turn.hurried = true;
    bench.speak(400, 'cancel my order');
    expect(bench.closesAfter()).toBe(300);
  });

  it('does not end a number whose digits are missing', () => {
    const bench = new Bench({ ownTurns: 'ends', expectation: FOUR_DIGITS });
    bench.speak(400, 'one two');
    bench.final('one two');
    bench.turn.ended();
    expect(bench.turns).toEqual([]);
    bench.run(800);
    bench.speak(400, 'three four');
    bench.final('three four');
    bench.turn.ended();
    expect(bench.turns.map(({ text }) => text)).toEqual(['one two three four']);
  });

  it('does not end the next turn with a late event', () => {
    const bench = new Bench({ ownTurns: 'ends' });
    bench.speak(400, 'yes');
    bench.final('yes');
    bench.turn.ended();
    bench.speak(200);
    bench.turn.ended();
    expect([bench.turns.length, bench.nothings]).toEqual([1, 0]);
    expect(bench.turn.open).toBe(true);
  });

  it('may be replaced by one that does not', () => {
    const bench = new Bench({ ownTurns: 'ends' });
    bench.turn.recognizerReplaced({ finalMsP99: 400, interimWords: true });
    bench.speak(400, 'cancel my order');
    expect(bench.closesAfter()).toBe(600);
  });
});

describe('final words that come later', () => {
  it('are awaited longer', () => {
    const bench = new Bench();
    bench.speak(400, 'cancel');
    bench.closesAfter();
    bench.turn.delayed(1_500);
    bench.turn.delayed(2_000);
    bench.run(1_500);
    expect(bench.turns).toEqual([]);
    bench.final('cancel my order');
    expect(bench.turns.map(({ text }) => text)).toEqual(['cancel my order']);
    bench.speak(400, 'now');
    bench.run(1_000);
    expect(bench.turns).toHaveLength(2);
  });

  it('are awaited longer again when a later delay is announced', () => {
    const bench = new Bench();
    bench.speak(400, 'cancel');
    bench.closesAfter();
    bench.turn.delayed(1_000);
    bench.run(1_100);
    bench.turn.delayed(2_500);
    bench.run(2_200);
    expect(bench.turns).toEqual([]);
    bench.final('cancel my order');
    expect(bench.turns.map(({ text }) => text)).toEqual(['cancel my order']);
  });

  it('are not awaited without end', () => {
    const bench = new Bench();
    bench.speak(400, 'cancel');
    bench.closesAfter();
    bench.turn.delayed(60_000);
    bench.turn.delayed(60_000);
    bench.run(8_400);
    expect(bench.turns.map(({ text }) => text)).toEqual(['cancel']);
  });

  it('are awaited while interim words go on to grow', () => {
    const bench = new Bench();
    bench.speak(400, 'cancel');
    bench.closesAfter();
    for (const text of ['cancel my', 'cancel my order', 'cancel my order today']) {
      bench.run(200);
      bench.partial(text);
    }
    bench.run(960);
    expect(bench.turns).toEqual([]);
    bench.final('cancel my order today please');
    expect(bench.turns.map(({ text }) => text)).toEqual(['cancel my order today please']);
  });

  it('are not awaited because interim words are repeated', () => {
    const bench = new Bench();
    bench.speak(400, 'cancel');
    bench.closesAfter();
    for (let times = 0; times < 4; times++) {
      bench.partial('cancel');
      bench.run(100);
    }
    expect(bench.turns.map(({ text }) => text)).toEqual(['cancel']);
  });

  it('are not awaited because interim words change to and fro', () => {
    const bench = new Bench();
    bench.speak(400, 'cancel it');
    bench.closesAfter();
    for (let times = 0; times < 8; times++) {
      bench.partial(times % 2 === 0 ? 'cancel' : 'cancel it');
      bench.run(100);
    }
    expect(bench.turns.map(({ text }) => text)).toEqual(['cancel']);
  });

  it('are not awaited for more than 8 s, though interim words go on to grow', () => {
    const bench = new Bench();
    bench.speak(400, 'w0');
    const atMs = bench.nowMs + bench.closesAfter();
    let text = 'w0';
    for (let nth = 1; bench.turns.length === 0 && nth < 60; nth++) {
      text += ` w${nth}`;
      bench.partial(text);
      bench.run(200);
    }
    expect(bench.nowMs - atMs).toBeGreaterThan(7_500);
    expect(bench.nowMs - atMs).toBeLessThan(9_000);
  });
});

describe('final words that come after their turn', () => {
  const cutOff = (...interim: string[]): Bench => {
    const bench = new Bench();
    bench.speak(400, interim[0]);
    bench.run(3_000);
    expect(bench.turns.map(({ text }) => text)).toEqual([interim[0]]);
    return bench;
  };

  it('are reported if the turn did not have them, with its times', () => {
    const bench = cutOff('a table for');
    bench.final('A table for four, please.');
    expect(bench.late).toMatchObject([{ text: 'four, please.', startMs: 0, confidence: 0.8 }]);
    expect(bench.turns).toHaveLength(1);
  });

  it('replace a last interim word that was not finished', () => {
    const bench = cutOff('a table for fo');
    bench.final('a table for forty people');
    expect(bench.late.map(({ text }) => text)).toEqual(['people']);
  });

  it('are not reported where they differ, or are no more', () => {
    for (const text of ['a label', 'a table for', 'able was I before the others', '']) {
      const bench = cutOff('a table for');
      bench.final(text);
      expect(bench.late).toEqual([]);
    }
  });

  it('are all reported where the turn had finals alone', () => {
    const bench = new Bench();
    bench.turn.speechStarted(0);
    bench.run(200);
    bench.final('a table');
    bench.run(200);
    bench.turn.speechStopped(bench.nowMs);
    bench.run(2_000);
    expect(bench.turns.map(({ text }) => text)).toEqual(['a table']);
    bench.final('for four');
    expect(bench.late.map(({ text }) => text)).toEqual(['for four']);
  });

  it('are taken together where the recogniser owes two answers', () => {
    const bench = new Bench();
    bench.speak(400, 'a table');
    bench.closesAfter();
    bench.turn.speechStarted(bench.nowMs);
    bench.run(200);
    bench.partial('a table for');
    bench.turn.speechStopped(bench.nowMs);
    bench.run(2_000);
    expect(bench.turns.map(({ text }) => text)).toEqual(['a table for']);
    bench.final('a table');
    expect(bench.late).toEqual([]);
    bench.final('for four');
    expect(bench.late.map(({ text }) => text)).toEqual(['four']);
  });

  it('are not reported where one of two answers differs', () => {
    const bench = new Bench();
    bench.speak(400, 'a table');
    bench.closesAfter();
    bench.turn.speechStarted(bench.nowMs);
    bench.run(200);
    bench.partial('a table for');
    bench.turn.speechStopped(bench.nowMs);
    bench.run(2_000);
    bench.final('able');
    bench.final('for four');
    expect(bench.late).toEqual([]);
  });

  it('are not reported where the next turn has begun with them', () => {
    const bench = new Bench();
    bench.speak(400, 'a');
    bench.closesAfter();
    bench.turn.speechStarted(bench.nowMs);
    bench.run(200);
    bench.partial('a table');
    bench.turn.speechStopped(bench.nowMs);
    bench.run(2_000);
    bench.final('a table');
    bench.speak(400, 'for four people');
    bench.run(2_000);
    expect(bench.turns.map(({ text }) => text)).toEqual(['a table', 'for four people']);
    bench.final('for four');
    expect(bench.late).toEqual([]);
    bench.final('people please');
    expect(bench.late.map(({ text }) => text)).toEqual(['please']);
  });

  it('are none of the next turn where the one before it waits too', () => {
    const bench = new Bench();
    bench.turn.speechStarted(0);
    bench.final('a table');
    bench.turn.speechStopped(bench.nowMs);
    bench.run(2_000);
    bench.speak(400, 'for four');
    bench.run(2_000);
    expect(bench.turns.map(({ text }) => text)).toEqual(['a table', 'for four']);
    bench.turn.speechStarted(bench.nowMs);
    expect(bench.turn.partial({ text: 'for four', confidence: null })).toBe(false);
    bench.partial('for four people');
    expect(bench.turn.text).toBe('people');
  });

  it('are each compared with their own turn', () => {
    const bench = cutOff('oh');
    bench.speak(400, 'no');
    bench.run(3_000);
    bench.final('no');
    bench.final('no');
    expect([bench.turns.map(({ text }) => text), bench.late]).toEqual([['oh', 'no'], []]);
  });

  it('leave the same words of the next turn to its own final ones', () => {
    const bench = cutOff('no');
    bench.speak(400, 'no');
    bench.run(1_000);
    bench.final('no');
    bench.final('no');
    expect([bench.turns.map(({ text }) => text), bench.late]).toEqual([['no', 'no'], []]);
  });

  it('are reported with the times of their own turn', () => {
    const bench = cutOff('a table for');
    const secondMs = bench.nowMs;
    bench.speak(400, 'thank');
    bench.run(3_000);
    bench.final('a table for four');
    expect(bench.late).toMatchObject([{ text: 'four', startMs: 0 }]);
    bench.final('thank you');
    expect(bench.late.slice(1)).toMatchObject([{ text: 'you', startMs: secondMs }]);
  });

  it('are none of the next turn while they are interim words', () => {
    const bench = cutOff('a table for');
    bench.turn.speechStarted(bench.nowMs);
    bench.run(200);
    for (const text of ['a', 'a table', 'a table for']) {
      expect(bench.turn.partial({ text, confidence: null })).toBe(false);
    }
    bench.partial('a table for four');
    expect(bench.turn.text).toBe('four');
    bench.final('a table for four');
    expect(bench.turn.text).toBe('');
    bench.partial('please');
    expect(bench.turn.text).toBe('please');
    bench.turn.speechStopped(bench.nowMs);
    bench.run(3_000);
    expect(bench.turns.map(({ text }) => text)).toEqual(['a table for', 'please']);
    expect(bench.late.map(({ text }) => text)).toEqual(['four']);
  });

  it('leave the next turn its interim words where there are none', () => {
    const bench = cutOff('a table');
    bench.turn.speechStarted(bench.nowMs);
    bench.partial('thank you');
    bench.final('');
    expect(bench.turn.text).toBe('thank you');
  });

  it('are none of the next turn where that had them as other interim words', () => {
    const bench = cutOff('a label for');
    bench.turn.speechStarted(bench.nowMs);
    bench.run(200);
    bench.partial('a table for');
    bench.final('a table for four');
    expect(bench.turn.text).toBe('');
  });

  it('have no effect once the recogniser is lost', () => {
    const bench = cutOff('a table for');
    bench.turn.recognizerLost();
    bench.turn.recognizerReplaced({ finalMsP99: 200, interimWords: true, ownTurns: 'none' });
    bench.final('a table for four');
    expect(bench.late).toEqual([]);
  });
});

describe('interim words', () => {
  it('that repeat the last final are not new', () => {
    const bench = new Bench();
    bench.speak(400, 'cancel my order');
    bench.closesAfter();
    bench.final('Cancel my order.');
    bench.turn.speechStarted(bench.nowMs);
    bench.run(200);
    expect(bench.turn.partial({ text: 'cancel my order', confidence: null })).toBe(false);
    expect(bench.turn.text).toBe('');
    expect(bench.turn.partial({ text: 'cancel my order please', confidence: null })).toBe(true);
    bench.run(1_000);
    expect(bench.turn.partial({ text: 'cancel my order', confidence: null })).toBe(true);
  });
});

describe('pauses', () => {
  it('within a turn are reported to the recogniser', () => {
    const bench = new Bench();
    bench.speak(400, 'i would like to');
    bench.run(300);
    bench.speak(400, 'i would like to cancel');
    expect([bench.begins, bench.pauses, bench.resumes]).toEqual([1, 2, 1]);
  });
});

describe('the judge of a turn', () => {
  it('decides when the caller has finished, and may change its mind within a pause', () => {
    const considered: string[] = [];
    const judge = {
      silenceNeededMs: 3_000,
      isIncomplete: false,
      consider: ({ text }: { text: string }) => considered.push(text),
    };
    const bench = new Bench({ judge });
    bench.speak(400, 'i would like to cancel');
    bench.run(1_000);
    expect(bench.finalizes).toBe(0);
    // A model that took its time.
    judge.silenceNeededMs = 1_200;
    expect(bench.closesAfter()).toBe(200);
    // Not with every frame.
    expect(considered).toEqual(['i would like to cancel']);
  });

  it('keeps a recogniser from ending a turn within a value', () => {
    const judge = { silenceNeededMs: 1_000, isIncomplete: true, consider: () => undefined };
    const bench = new Bench({ judge, ownTurns: 'ends' });
    bench.speak(400);
    bench.final('four four');
    bench.turn.ended();
    expect(bench.turns).toEqual([]);
    judge.isIncomplete = false;
    bench.turn.ended();
    expect(bench.turns.map(({ text }) => text)).toEqual(['four four']);
  });
});
