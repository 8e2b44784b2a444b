// `npx tsx test/bench/recognition/prompts.ts FOLDER`: what the embedded recogniser makes of the recorded prompts of Asterisk
// (Debian's asterisk-core-sounds-*-wav; FOLDER has one folder for each reader): digits, weekdays and numbers where they are
// expected, and other prompts, in all languages, where they are not. The channels are those of the synthesized voices.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readWav } from '../../../src/audio/wav.ts';
import { OPEN_SPEECH, type SlotType } from '../../../src/model/expected-input.ts';
import { trustIn } from '../../../src/model/word-trust.ts';
import { buildGrammar, ONES, TEENS } from '../../../src/speech/stt/pocketsphinx/jsgf.ts';
import {
  DICTIONARY_FILE,
  loadLibrary,
} from '../../../src/speech/stt/pocketsphinx/pocketsphinx-library.ts';
import { parseDictionary } from '../../../src/speech/stt/pocketsphinx/pronunciation-dictionary.ts';
import { createRecognition } from '../../../src/speech/stt/pocketsphinx/recognition.ts';
import { RIVAL_PHRASES, withSounds } from '../../../src/speech/stt/pocketsphinx/rival-phrases.ts';
import { CHANNELS, throughChannel } from './speakers.ts';

const ENGLISH = 'en_US_f_Allison';
const DAYS = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');
const GLOBALS = ['repeat that', 'help', 'goodbye'];
const MENU = ['book an appointment', 'make an appointment', 'cancel an appointment', ...GLOBALS];
/** Selects every eighth of a reader's unexpected prompts, which have 1 to 4.5 s. */
const EVERY = 8;
const SAMPLES_MIN = 8_000;
const SAMPLES_MAX = 36_000;

const [folder = '/usr/share/asterisk/sounds'] = process.argv.slice(2);
const dictionary = withSounds(parseDictionary(readFileSync(DICTIONARY_FILE, 'utf8')));
const recognition = createRecognition(loadLibrary(), dictionary);
const grammars = new Map(
  (['menu', 'yes_no', 'weekday', 'digits', 'digit', 'number'] as const).map((kind) => {
    const slots: SlotType[] = kind === 'menu' ? [] : [kind];
    const phrases = kind === 'menu' ? MENU : GLOBALS;
    const expectation = { ...OPEN_SPEECH, closed: true, phrases, slots };
    return [kind, buildGrammar(expectation, { dictionary, rivals: RIVAL_PHRASES }).grammar];
  }),
);
const UNEXPECTED = ['menu', 'yes_no', 'weekday', 'digits'] as const;
type Kind = Parameters<typeof grammars.get>[0];

/** Shares of one row of the table. `right` counts what was said, `other` something else that was accepted. */
const rows = new Map<string, { count: number; right: number; asked: number; other: number }>();
let uttered = 0;

function measure(row: string, pcm: Int16Array, { kind, said }: { kind: Kind; said?: string }) {
  const grammar = grammars.get(kind);
  const channel = CHANNELS[uttered % CHANNELS.length];
  uttered += 1;
  if (grammar === undefined || channel === undefined) throw new Error(`no grammar: ${kind}`);
  const words = recognition.recognize(throughChannel(pcm, channel, uttered), grammar);
  const isAnswer = words.text !== '' && !grammar.rivals.includes(words.text);
  const trust = isAnswer ? trustIn(words.confidence) : 'reject';
  const sums = rows.get(row) ?? { count: 0, right: 0, asked: 0, other: 0 };
  rows.set(row, sums);
  const isRight = words.text === said;
  sums.count += 1;
  sums.right += Number(isRight && trust === 'accept');
  sums.other += Number(!isRight && trust === 'accept');
  sums.asked += Number(trust === 'confirm' && (isRight || said === undefined));
}

const samplesOf = (...path: string[]) => readWav(readFileSync(join(folder, ...path))).samples;

for (const [nth, said] of ['zero', ...ONES, ...TEENS].entries()) {
  const pcm = samplesOf(ENGLISH, 'digits', `${nth}.wav`);
  const kinds = nth < 10 ? (['digit', 'digits'] as const) : (['number'] as const);
  for (const kind of kinds)
    for (const _channel of CHANNELS) measure(`${kind}, ${ENGLISH}`, pcm, { kind, said });
}
for (const [nth, said] of DAYS.entries()) {
  const pcm = samplesOf(ENGLISH, 'digits', `day-${nth}.wav`);
  for (const _channel of CHANNELS) measure(`weekday, ${ENGLISH}`, pcm, { kind: 'weekday', said });
}
for (const reader of readdirSync(folder).sort()) {
  const files = readdirSync(join(folder, reader)).filter((file) =>
    /^(?!beep|tt-).+\.wav$/.test(file),
  );
  const prompts = files.sort().map((file) => samplesOf(reader, file));
  prompts
    .filter(({ length }) => length >= SAMPLES_MIN && length <= SAMPLES_MAX)
    .filter((_pcm, nth) => nth % EVERY === 0)
    .forEach((pcm, nth) => {
      measure(`unexpected, ${reader}`, pcm, {
        kind: UNEXPECTED[nth % UNEXPECTED.length] ?? 'menu',
      });
    });
}
recognition.close();

for (const [row, { count, right, asked, other }] of rows) {
  const percent = [right, asked, other].map((sum) => `${Math.round((100 * sum) / count)} %`);
  console.log(`| ${row} | ${count} | ${percent.join(' | ')} |`);
}
