// `npm run bench -- unexpected-speech`: what the embedded recogniser makes of speech that no step expects, by its source, and
// of expected and unexpected speech of people on bad lines. Shares of accepted without asking, asked about, and asked again
// (docs/recognition.md).

import { type ExpectedInput, OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import {
  BAD_LINES,
  type BadLine,
  CLEAR_LINE,
  hasGsm,
  throughLines,
} from '../../audio/bad-lines.ts';
import { hums } from '../../audio/hums.ts';
import {
  COMMANDS,
  INTERRUPTED_SENTENCES,
  READ_ALOUD,
  samplesOf,
  WHOLE_SENTENCES,
} from '../../speech/stt/pocketsphinx/human-speech.ts';
import { grammarsWith } from '../../speech/stt/pocketsphinx/synthetic-speech.ts';
import { type Judge, openJudge, promptsOf } from './judged-words.ts';
import { measureRecognition } from './recognition.ts';

export interface Row {
  count: number;
  accepted: number;
  asked: number;
  /** Number of expected answers that were accepted as something else. */
  wrong: number;
}

const GLOBALS = ['repeat that', 'help', 'goodbye'];
const closed = (rest: Partial<ExpectedInput>): ExpectedInput => ({
  ...OPEN_SPEECH,
  closed: true,
  phrases: GLOBALS,
  ...rest,
});
const { digits, ...OTHERS } = grammarsWith(GLOBALS);
/** Yes or no, a menu, weekdays; digits too where no digit is said. */
const WORDS = Object.values(OTHERS);
const ALL = digits === undefined ? WORDS : [...WORDS, digits];

export interface Said {
  pcm: Int16Array;
  expectation: ExpectedInput;
  /** Undefined: nothing that the step expects. */
  text?: string;
}

/** Each sound with each expectation. */
function each(
  sounds: readonly { pcm: Int16Array; text?: string }[],
  expectations: readonly ExpectedInput[],
): Said[] {
  return expectations.flatMap((expectation) => sounds.map(({ pcm }) => ({ pcm, expectation })));
}

const said = (speech: (typeof READ_ALOUD)[number]) => ({
  text: speech.text,
  pcm: samplesOf(speech),
});

/** Speech of people that no step expects. */
export function unexpectedOfPeople(): Record<string, readonly Said[]> {
  const sentences = closed({ phrases: WHOLE_SENTENCES.map(({ text }) => text) });
  return {
    'people, English': [...each(READ_ALOUD.map(said), ALL), ...each(COMMANDS.map(said), WORDS)],
    'people, with words inserted': each(INTERRUPTED_SENTENCES.map(said), [sentences]),
    'prompts, Italian and Russian': each([...promptsOf('italian'), ...promptsOf('russian')], ALL),
    'prompts, digits and days elsewhere': [
      ...each(promptsOf('digits'), WORDS),
      ...each(
        promptsOf('weekdays'),
        ALL.filter(({ slots }) => !slots.includes('weekday')),
      ),
    ],
    hums: each(hums(), ALL),
  };
}

/** Answers of people to questions that expect them. */
export function answersOfPeople(): readonly Said[] {
  const sentences = closed({
    phrases: [...WHOLE_SENTENCES, ...READ_ALOUD, ...COMMANDS].map(({ text }) => text),
  });
  const values = [
    ['digits', closed({ slots: ['digit'] })],
    ['teens', closed({ slots: ['number'] })],
    ['weekdays', closed({ slots: ['weekday'] })],
  ] as const;
  return [
    ...[...WHOLE_SENTENCES, ...READ_ALOUD, ...COMMANDS].map((speech) => ({
      ...said(speech),
      expectation: sentences,
    })),
    ...values.flatMap(([file, expectation]) =>
      promptsOf(file).map((prompt) => ({ ...prompt, expectation })),
    ),
  ];
}

/** What the recogniser makes of everything on one line. */
export function measured(judge: Judge, all: readonly Said[], line: BadLine): Row {
  const row: Row = { count: 0, accepted: 0, asked: 0, wrong: 0 };
  const arrived = throughLines(
    all.map(({ pcm }) => pcm),
    line,
    1,
  );
  for (const [nth, { pcm, expectation, text }] of all.entries()) {
    const words = judge.judge(arrived[nth] ?? pcm, expectation);
    const isRight = text === undefined || words.text.replace(/^oh$/, 'zero') === text;
    row.count += 1;
    row.accepted += Number(words.trust === 'accept' && isRight);
    row.asked += Number(words.trust === 'confirm');
    row.wrong += Number(words.trust === 'accept' && !isRight);
  }
  return row;
}

/** Lines that can be made here: GSM needs ffmpeg. */
export function linesHere(): readonly BadLine[] {
  const canGsm = hasGsm();
  return [CLEAR_LINE, ...BAD_LINES.filter(({ gsm }) => gsm !== true || canGsm)];
}

/** Every so many of the synthesized utterances. */
const STRIDE = 10;

export async function benchUnexpectedBySource(): Promise<Record<string, number>> {
  const judge = openJudge();
  const figures: Record<string, number> = {};
  for (const [source, all] of Object.entries(unexpectedOfPeople())) {
    Object.assign(figures, figuresOf(source, measured(judge, all, CLEAR_LINE)));
  }
  judge.close();
  const outcomes = await measureRecognition({
    stride: STRIDE,
    speakers: () => true,
    said: ['elsewhere', 'other node', 'backchannel', 'foreign'],
  });
  for (const engine of ['flite', 'espeak'] as const) {
    const by = outcomes.filter(({ speaker }) => speaker.engine === engine);
    const count = (trust: string) => by.filter((one) => one.trust === trust).length;
    const row = { count: by.length, accepted: count('accept'), asked: count('confirm'), wrong: 0 };
    Object.assign(figures, figuresOf(`synthesized by ${engine}`, row));
  }
  return figures;
}

export function benchBadLines(): Record<string, number> {
  const judge = openJudge();
  const answers = answersOfPeople();
  const unexpected = Object.values(unexpectedOfPeople()).flat();
  const figures: Record<string, number> = {};
  for (const line of linesHere()) {
    const row = measured(judge, answers, line);
    Object.assign(figures, figuresOf(`${line.name}: answers`, row));
    figures[`${line.name}: answers, accepted as others (%)`] = (100 * row.wrong) / row.count;
    const others = unexpected.filter((_said, nth) => nth % 3 === 0);
    Object.assign(figures, figuresOf(`${line.name}: unexpected`, measured(judge, others, line)));
  }
  judge.close();
  return figures;
}

function figuresOf(name: string, { count, accepted, asked, wrong }: Row): Record<string, number> {
  const percent = (part: number) => (100 * part) / Math.max(1, count);
  return {
    [`${name}: utterances`]: count,
    [`${name}: accepted (%)`]: percent(accepted),
    [`${name}: asked about (%)`]: percent(asked),
    [`${name}: asked again (%)`]: percent(count - accepted - asked - wrong),
  };
}
