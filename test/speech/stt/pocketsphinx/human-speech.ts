// Human speech of fixtures/audio/human in whole calls: G.711, voice activity detection, turn-taking and the embedded
// recogniser, then the decision of the agent's step. The clock and the far end are fakes; the recogniser has no thread.

import { readFileSync } from 'node:fs';
import { readWav } from '../../../../src/audio/wav.ts';
import type { ExpectedInput } from '../../../../src/model/expected-input.ts';
import { trustIn } from '../../../../src/model/word-trust.ts';
import type { WorkflowDefinition } from '../../../../src/model/workflow.ts';
import { createGatedAudio } from '../../../../src/speech/stt/gated-audio.ts';
import { NO_WORDS } from '../../../../src/speech/stt/joined-words.ts';
import { buildGrammar } from '../../../../src/speech/stt/pocketsphinx/jsgf.ts';
import {
  DICTIONARY_FILE,
  loadLibrary,
} from '../../../../src/speech/stt/pocketsphinx/pocketsphinx-library.ts';
import {
  type PreparedWords,
  prepareWords,
} from '../../../../src/speech/stt/pocketsphinx/prepared-words.ts';
import { parseDictionary } from '../../../../src/speech/stt/pocketsphinx/pronunciation-dictionary.ts';
import { createRecognition } from '../../../../src/speech/stt/pocketsphinx/recognition.ts';
import {
  RIVAL_PHRASES,
  withSounds,
} from '../../../../src/speech/stt/pocketsphinx/rival-phrases.ts';
import type {
  Recognizer,
  RecognizerListener,
  SpeechToText,
} from '../../../../src/speech/stt/stt.ts';
import { comfortNoise } from '../../../audio/sounds.ts';
import { RealCall } from '../../../pipeline/real-call.ts';
import { Conversation } from '../../../workflow/conversation.ts';

export interface HumanSpeech {
  /** A file of fixtures/audio/human, without its ending. */
  file: string;
  text: string;
  /** A part of the recording, at pauses or word boundaries. Default: all of it. */
  seconds?: readonly [from: number, to: number];
  /** Another recording within this one: these seconds of it, from `atSeconds` on. */
  inserted?: { file: string; seconds: readonly [from: number, to: number]; atSeconds: number };
}

/** Read English, in utterances of 1.4 to 3.6 s. */
export const READ_ALOUD: readonly HumanSpeech[] = [
  { file: 'librivox-0870', seconds: [0.1, 2.23], text: 'and mister john dashwood had then' },
  { file: 'librivox-0870', seconds: [2.23, 3.98], text: 'leisure to consider how' },
  {
    file: 'librivox-0870',
    seconds: [3.98, 6.9],
    text: 'much there might be prudently in his power to do for them',
  },
  { file: 'librivox-0880', text: 'he was not an ill disposed young man' },
  {
    file: 'librivox-0890',
    seconds: [0.1, 3.61],
    text: 'unless to be rather cold hearted and rather selfish',
  },
  { file: 'librivox-0890', seconds: [3.61, 5.25], text: 'is to be ill disposed' },
  { file: 'librivox-0920', seconds: [0.1, 2.5], text: 'had he married a more amiable woman' },
  {
    file: 'librivox-0920',
    seconds: [2.5, 6],
    text: 'he might have been made still more respectable than he was',
  },
  { file: 'librivox-0930', seconds: [0.1, 1.7], text: 'he might even have been made' },
  { file: 'librivox-0930', seconds: [1.7, 3.1], text: 'amiable himself' },
];

/** Commands and playing cards, by other speakers. */
export const COMMANDS: readonly HumanSpeech[] = [
  { file: 'cards-001', text: 'ten of clubs' },
  { file: 'cards-002', text: 'four queen of clubs' },
  { file: 'cards-003', text: 'seven of clubs' },
  { file: 'cards-005', text: 'eight of spades four of clubs seven of hearts' },
  { file: 'go-forward', text: 'go forward ten meters' },
];

/** Whole sentences, and where one of their words ends. */
const SENTENCES: readonly (HumanSpeech & { pauseSeconds: number })[] = [
  {
    file: 'librivox-0870',
    pauseSeconds: 2.23,
    text: 'and mister john dashwood had then leisure to consider how much there might be prudently in his power to do for them',
  },
  {
    file: 'librivox-0890',
    pauseSeconds: 3.61,
    text: 'unless to be rather cold hearted and rather selfish is to be ill disposed',
  },
  {
    file: 'librivox-0920',
    pauseSeconds: 2.5,
    text: 'had he married a more amiable woman he might have been made still more respectable than he was',
  },
  {
    file: 'librivox-0930',
    pauseSeconds: 1.7,
    text: 'he might even have been made amiable himself',
  },
];
export const WHOLE_SENTENCES: readonly HumanSpeech[] = SENTENCES;

/** The same with words of another speaker in the middle: "ten of clubs", "seven of clubs", "go forward", "five". */
export const INTERRUPTED_SENTENCES: readonly HumanSpeech[] = SENTENCES.flatMap(
  ({ pauseSeconds, ...sentence }) =>
    (
      [
        ['cards-001', 0, 2],
        ['cards-003', 0.6, 1.7],
        ['go-forward', 0.4, 1.25],
        ['cards-004', 0, 0.8],
      ] as const
    ).map(([file, from, to]) => ({
      ...sentence,
      inserted: { file, seconds: [from, to] as const, atSeconds: pauseSeconds },
    })),
);

export const DIGITS: readonly HumanSpeech[] = [
  { file: 'cards-004', text: 'five five' },
  { file: 'digits-2934z', text: 'two nine three four zero' },
];

/** `accepted`: the agent acts on the words, were it only to repeat its question because it was told to; `asked`: it asks whether
 *  it understood them; `waits`: it says that it waits for the caller; `rejected`: it asks its question in other words, or
 *  there were no words. */
export type Outcome = 'accepted' | 'asked' | 'waits' | 'rejected';

export interface Understanding {
  outcome: Outcome;
  /** The recognised words of each turn, with their confidence. */
  words: string;
  /** What was accepted or asked about. */
  value: unknown;
  hasEnded: boolean;
}

const BEFORE_MS = 700;
/** The longest pause for thought that turn-taking grants, and the end of the words. */
const AFTER_MS = 3_000;
const PER_MS = 8;
const PER_SECOND = 8_000;
const NOISES_DBFS = [undefined, -62, -50];

/** What an agent whose first step is that of `definition` makes of the speech. `nth` chooses the noise of the line. */
export async function understood(
  stt: SpeechToText,
  { speech, definition, nth }: { speech: HumanSpeech; definition: WorkflowDefinition; nth: number },
): Promise<Understanding> {
  const dialogue = new Conversation(definition, 'scripted').start().heard();
  const call = new RealCall({ voices: new Map(), stt: () => stt });
  const levelDbfs = NOISES_DBFS[nth % NOISES_DBFS.length];
  if (levelDbfs !== undefined) call.line.noise = comfortNoise({ seed: nth + 1, levelDbfs });
  call.audio.expect(dialogue.last('expect').expectation);
  const pcm = samplesOf(speech);
  call.line.play(pcm, BEFORE_MS);
  await call.run(BEFORE_MS + pcm.length / PER_MS + AFTER_MS);
  const turns = call.of('turn').map(({ turn }) => turn);
  let outcome: Outcome = 'rejected';
  for (const { text, confidence } of turns) {
    if (text === '') continue;
    dialogue.caller(text, confidence);
    outcome = outcomeOf(dialogue);
    // What follows would be judged by the next step, or as the answer to a question that the caller has not heard.
    if (outcome !== 'rejected') break;
  }
  return {
    outcome,
    words: turns.map(({ text, confidence }) => `${text} ${confidence?.toFixed(2)}`).join(', '),
    value: understoodValue(dialogue),
    hasEnded: dialogue.all.some(({ type }) => type === 'end'),
  };
}

function understoodValue({ gathered, state }: Conversation): unknown {
  const { confirming } = state.scripted;
  if (confirming?.what === 'slot') return confirming.value;
  return confirming?.what === 'edge' ? confirming.phrase : (gathered['value'] ?? undefined);
}

function outcomeOf({ state }: Conversation): Outcome {
  if (state.scripted.confirming !== null) return 'asked';
  if ((state.patience ?? 0) > 0) return 'waits';
  return state.scripted.misses > 0 ? 'rejected' : 'accepted';
}

export function samplesOf({ file, seconds = [0, 60], inserted }: HumanSpeech): Int16Array {
  const samples = partOf(file, seconds);
  if (inserted === undefined) return samples;
  const other = partOf(inserted.file, inserted.seconds);
  const at = Math.round(inserted.atSeconds * PER_SECOND);
  const sound = new Int16Array(samples.length + other.length);
  sound.set(samples.subarray(0, at));
  sound.set(other, at);
  sound.set(samples.subarray(at), at + other.length);
  return sound;
}

function partOf(file: string, [from, to]: readonly [number, number]): Int16Array {
  const { samples } = readWav(readFileSync(`fixtures/audio/human/${file}.wav`));
  return samples.slice(from * PER_SECOND, to * PER_SECOND);
}

/** The recogniser without its thread, which decodes less of an utterance on a busy machine: the call's clock is fake, and
 *  equal speech has equal words. Partial results are those of pauses alone. `close` frees the model. */
export function openInProcess(): SpeechToText {
  const dictionary = withSounds(parseDictionary(readFileSync(DICTIONARY_FILE, 'utf8')));
  const recognition = createRecognition(loadLibrary(), dictionary);

  function open(first: ExpectedInput, listener: RecognizerListener): Recognizer {
    const grammarOf = (expectation: ExpectedInput) =>
      buildGrammar(expectation, { dictionary, rivals: RIVAL_PHRASES }).grammar;
    let next = grammarOf(first);
    let grammar = next;
    let parts: number[] = [];
    let prepared: PreparedWords | undefined;
    const recognize = (said: Int16Array) =>
      (grammar && recognition.recognize(said, grammar)) ?? NO_WORDS;
    const audio = createGatedAudio((samples) => void parts.push(...samples));
    return {
      push: (frame) => audio.push(frame),
      speechStarted() {
        if (audio.open) return;
        [grammar, parts, prepared] = [next, [], undefined];
        audio.start();
      },
      speechResumed() {
        prepared = undefined;
      },
      prepareFinal() {
        audio.flush();
        const said = Int16Array.from(parts);
        const words = recognize(said);
        prepared = prepareWords(words, said);
        if (trustIn(words.confidence) !== 'accept') return;
        queueMicrotask(() => listener.onPartial({ text: words.text, confidence: null }));
      },
      finalize() {
        audio.stop();
        const said = Int16Array.from(parts);
        const isOver = prepared?.isFollowedBySilence(said) === true;
        const words = isOver && prepared !== undefined ? prepared.words : recognize(said);
        queueMicrotask(() => listener.onFinal(words));
      },
      expect(expectation) {
        next = grammarOf(expectation);
      },
      close: () => undefined,
    };
  }
  return {
    name: 'pocketsphinx',
    model: 'en-us',
    open,
    capabilities: { interimWords: true, finalMsP99: 300, closedOnly: true },
    async close() {
      recognition.close();
    },
  };
}
