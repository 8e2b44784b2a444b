// Calls by chance with a recogniser that keeps its contract and is late: its answers come in order up to seven seconds after
// they were asked for, its interim words are all words since the last answer. Each word that was said is reported once.

import { expect, it } from 'vitest';
import { OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import type { SpokenTurn } from '../../../src/pipeline/turn/spoken-turn.ts';
import { TurnDetector } from '../../../src/pipeline/turn/turn-detector.ts';

const CALLS = 200;
const TURNS = 4;
const SLOW = 0.4;

interface Word {
  text: string;
  atMs: number;
}

interface Speech {
  fromMs: number;
  toMs: number;
}

interface Said {
  speech: Speech[];
  words: Word[];
}

/** A caller who pauses shortly or longer, and sometimes makes a noise. */
function caller(next: () => number): Said {
  const said: Said = { speech: [], words: [] };
  let fromMs = 200;
  for (let nth = 0; nth < TURNS; nth++) {
    const ms = 300 + next() * 1_500;
    const count = next() < 0.2 ? 0 : 1 + Math.floor(next() * 4);
    for (let at = 1; at <= count; at++) {
      const atMs = fromMs + (ms * at) / (count + 1);
      said.words.push({ text: `w${said.words.length + 1}`, atMs });
    }
    said.speech.push({ fromMs, toMs: fromMs + ms });
    fromMs += ms + (next() < 0.5 ? 400 + next() * 1_000 : 2_000 + next() * 3_000);
  }
  return said;
}

class LateRecognizer {
  readonly lagMs: number;
  readonly #next: () => number;
  readonly #words: readonly Word[];
  readonly #due: { atMs: number; askedMs: number }[] = [];
  #taken = 0;
  #shown = '';

  constructor(next: () => number, words: readonly Word[]) {
    this.#next = next;
    this.#words = words;
    this.lagMs = next() < 0.5 ? 200 : next() * 1_500;
  }

  finalize(nowMs: number): void {
    const lateMs = this.#next() < SLOW ? 500 + this.#next() * 7_000 : this.#next() * 200;
    const lastMs = this.#due.at(-1)?.atMs ?? 0;
    this.#due.push({ atMs: Math.max(lastMs, nowMs + lateMs), askedMs: nowMs });
  }

  advance(nowMs: number, detector: TurnDetector): void {
    for (let [due] = this.#due; due !== undefined && due.atMs <= nowMs; [due] = this.#due) {
      this.#due.shift();
      const text = this.#upTo(due.askedMs);
      this.#taken += text === '' ? 0 : text.split(' ').length;
      this.#shown = '';
      detector.final({ text, confidence: 0.9 });
    }
    const text = this.#upTo(nowMs - this.lagMs);
    if (text === this.#shown) return;
    this.#shown = text;
    detector.partial({ text, confidence: null });
  }

  #upTo(ms: number): string {
    const since = this.#words.slice(this.#taken).filter(({ atMs }) => atMs <= ms);
    return since.map(({ text }) => text).join(' ');
  }
}

function reported(seed: number): { said: string[]; words: string[] } {
  const next = chance(seed);
  const { speech, words } = caller(next);
  const recognizer = new LateRecognizer(next, words);
  const turns: SpokenTurn[] = [];
  let nowMs = 0;
  const detector = new TurnDetector({
    recognizer: { finalMsP99: 200 + next() * 400, interimWords: true },
    turnMaxMs: 5_000,
    listener: {
      onBegin: () => undefined,
      onPause: () => undefined,
      onResume: () => undefined,
      onProbableEnd: () => undefined,
      onFinalize: () => recognizer.finalize(nowMs),
      onTurn: (turn) => turns.push(turn),
      onLate: (turn) => turns.push(turn),
      onNothing: () => undefined,
    },
  });
  detector.expect(OPEN_SPEECH);
  const endMs = (speech.at(-1)?.toMs ?? 0) + 40_000;
  for (let isVoice = false; nowMs < endMs; nowMs += 20) {
    const isSpeech = speech.some(({ fromMs, toMs }) => nowMs >= fromMs && nowMs < toMs);
    if (isSpeech && !isVoice) detector.speechStarted(nowMs);
    else if (isVoice && !isSpeech) detector.speechStopped(nowMs);
    isVoice = isSpeech;
    recognizer.advance(nowMs, detector);
    detector.advance(nowMs, nowMs);
  }
  return {
    said: words.map(({ text }) => text),
    words: turns.flatMap(({ text }) => text.split(' ')),
  };
}

/** 0 to 1, the same for each seed. Source: mulberry32. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

it('words are reported once and in order, however late they are', () => {
  for (let seed = 1; seed <= CALLS; seed++) {
    const { said, words } = reported(seed);
    expect({ seed, words }).toEqual({ seed, words: said });
  }
});
