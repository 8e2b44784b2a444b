// Measures what the embedded recogniser makes of answers and of unexpected speech, for each kind of grammar: the shares
// accepted, asked about and rejected. `npx tsx test/bench/recognition/run.ts` prints the table of docs/recognition.md.

import { readFileSync } from 'node:fs';
import { trustIn, type WordTrust } from '../../../src/model/word-trust.ts';
import { buildGrammar, type Grammar } from '../../../src/speech/stt/pocketsphinx/jsgf.ts';
import {
  DICTIONARY_FILE,
  loadLibrary,
} from '../../../src/speech/stt/pocketsphinx/pocketsphinx-library.ts';
import { parseDictionary } from '../../../src/speech/stt/pocketsphinx/pronunciation-dictionary.ts';
import { createRecognition } from '../../../src/speech/stt/pocketsphinx/recognition.ts';
import { RIVAL_PHRASES, withSounds } from '../../../src/speech/stt/pocketsphinx/rival-phrases.ts';
import { parseSlot } from '../../../src/workflow/slots/slot.ts';
import { BACKCHANNELS, CASES, type Case, ELSEWHERE, FOREIGN, READ_AS_ENGLISH } from './cases.ts';
import { CHANNELS, openSpeakers, type Speaker, type Speakers, throughChannel } from './speakers.ts';

export type Said = 'answer' | 'elsewhere' | 'other node' | 'backchannel' | 'foreign';

export interface Outcome {
  kind: string;
  said: Said;
  speaker: Pick<Speaker, 'name' | 'engine' | 'isHeldOut'>;
  text: string;
  recognized: string;
  confidence: number;
  /** `rejected` also where a rival was recognised: the dialogue gets no expected words. */
  trust: WordTrust;
  /** Whether the meaning of an answer was recognised. */
  isRight: boolean;
}

export interface MeasureOptions {
  speakers(speaker: Speaker): boolean;
  /** Every so many of the answers and of the unexpected utterances. */
  stride: number;
  said: readonly Said[];
}

/** Unexpected utterances of each sort for one speaker and one kind of grammar. */
const UNEXPECTED = { elsewhere: 6, 'other node': 5, backchannel: 3, foreign: 3 } as const;
/** For dates: any time will do. */
const NOW = Date.UTC(2026, 8, 3);

export async function measureRecognition(options: MeasureOptions): Promise<Outcome[]> {
  const dictionary = withSounds(parseDictionary(readFileSync(DICTIONARY_FILE, 'utf8')));
  const recognition = createRecognition(loadLibrary(), dictionary);
  const grammars = new Map(
    CASES.map(({ kind, expectation }) => {
      const { grammar } = buildGrammar(expectation, { dictionary, rivals: RIVAL_PHRASES });
      if (grammar === undefined) throw new Error(`no grammar: ${kind}`);
      return [kind, grammar];
    }),
  );
  const speakers = await openSpeakers();
  const outcomes: Outcome[] = [];
  try {
    for (const [nth, utterance] of utterancesOf(speakers, options).entries()) {
      const { item, speaker, text, say, said } = utterance;
      const channel = CHANNELS[nth % CHANNELS.length] ?? CHANNELS[0];
      const grammar = grammars.get(item.kind);
      if (channel === undefined || grammar === undefined) continue;
      const words = recognition.recognize(throughChannel(await say(), channel, nth + 1), grammar);
      outcomes.push({
        kind: item.kind,
        said,
        speaker,
        text,
        recognized: words.text,
        confidence: words.confidence ?? 0,
        trust: isExpected(words.text, grammar) ? trustIn(words.confidence) : 'reject',
        isRight: said === 'answer' && isSame(item, text, words.text),
      });
    }
  } finally {
    await speakers.close();
    recognition.close();
  }
  return outcomes;
}

interface Utterance {
  item: Case;
  said: Said;
  speaker: Pick<Speaker, 'name' | 'engine' | 'isHeldOut'>;
  text: string;
  say(): Promise<Int16Array>;
}

function utterancesOf(speakers: Speakers, { speakers: wanted, stride, said }: MeasureOptions) {
  const all = [
    ...speakers.list
      .filter(wanted)
      .flatMap((speaker, nth) =>
        CASES.flatMap((item, at) => utterancesBy(speaker, item, nth * CASES.length + at)),
      ),
    ...foreigners(speakers, wanted),
  ].filter((each) => said.includes(each.said));
  return all.filter((_each, nth) => nth % stride === 0);
}

function utterancesBy(speaker: Speaker, item: Case, nth: number): Utterance[] {
  const others = CASES.filter(({ kind, expectation: { slots } }) => {
    const isValue = slots.length > 0 && slots[0] !== 'yes_no';
    const isOurs = item.expectation.slots.length > 0 && item.kind !== 'yes_no';
    return kind !== item.kind && !(isValue && isOurs);
  }).flatMap(({ answers }) => answers);
  const texts: Record<Said, readonly string[]> = {
    answer: item.answers,
    elsewhere: taken(ELSEWHERE, UNEXPECTED.elsewhere, nth),
    'other node': taken(others, UNEXPECTED['other node'], nth),
    // "Okay" answers yes or no.
    backchannel: item.kind === 'yes_no' ? [] : taken(BACKCHANNELS, UNEXPECTED.backchannel, nth),
    foreign: speaker.engine === 'flite' ? taken(READ_AS_ENGLISH, UNEXPECTED.foreign, nth) : [],
  };
  return entriesOf(texts).flatMap(([said, list]) =>
    list.map((text) => ({ item, said, speaker, text, say: () => speaker.say(text) })),
  );
}

function foreigners({ foreign }: Speakers, wanted: (speaker: Speaker) => boolean): Utterance[] {
  if (foreign === undefined) return [];
  return Object.entries(FOREIGN).flatMap(([language, texts], at) =>
    ['', '+f3', '+m3'].flatMap((variant) => {
      const voice = `${language}${variant}`;
      const speaker = {
        name: `espeak ${voice}`,
        engine: 'espeak',
        isHeldOut: at % 2 === 1,
      } as const;
      if (!wanted({ ...speaker, say: () => Promise.reject(new Error('foreign')) })) return [];
      return CASES.map((item, nth): Utterance => {
        const text = texts[(nth + at) % texts.length] ?? '';
        return { item, said: 'foreign', speaker, text, say: () => foreign(voice, text) };
      });
    }),
  );
}

function entriesOf(texts: Record<Said, readonly string[]>): [Said, readonly string[]][] {
  return Object.entries(texts) as [Said, readonly string[]][];
}

/** Other ones for each `nth`. */
function taken(texts: readonly string[], count: number, nth: number): string[] {
  return Array.from(
    { length: count },
    (_, at) => texts[(nth * 7 + at * 5 + 3) % texts.length] ?? '',
  );
}

function isExpected(text: string, { rivals }: Grammar): boolean {
  return text !== '' && !rivals.includes(text);
}

/** Whether the recognised words have the meaning of what was said. */
function isSame({ expectation }: Case, said: string, recognized: string): boolean {
  const [type] = expectation.slots;
  if (type === undefined || said === recognized) return said === recognized;
  const slot = { name: 'value', type };
  const value = parseSlot(slot, said, NOW)?.value;
  return value !== undefined && parseSlot(slot, recognized, NOW)?.value === value;
}

export interface Shares {
  count: number;
  accepted: number;
  asked: number;
  /** Accepted with another meaning than was said. */
  wrong: number;
}

/** `accepted` and `asked` of answers count those recognised with their meaning only. */
export function sharesOf(outcomes: readonly Outcome[]): Shares {
  const of = (test: (outcome: Outcome) => boolean) =>
    outcomes.filter(test).length / Math.max(1, outcomes.length);
  const counts = ({ said, isRight }: Outcome) => said !== 'answer' || isRight;
  return {
    count: outcomes.length,
    accepted: of((each) => each.trust === 'accept' && counts(each)),
    asked: of((each) => each.trust === 'confirm' && counts(each)),
    wrong: of((each) => each.trust === 'accept' && each.said === 'answer' && !each.isRight),
  };
}
