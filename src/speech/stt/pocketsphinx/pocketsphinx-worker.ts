// Worker thread of PocketSphinx: stores each utterance's audio, produces interim words, and decodes the whole utterance
// at its end. Ids distinguish the calls; a failed call does not affect the others.

import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { ExpectedInput } from '../../../model/expected-input.ts';
import { trustIn } from '../../../model/word-trust.ts';
import { ownThreadId } from '../../../runtime/thread-work.ts';
import { systemClock } from '../../../std/clock.ts';
import { NO_WORDS } from '../joined-words.ts';
import type { RecognizedWords } from '../stt.ts';
import { createDecodingTime, type DecodingTime, decodeInTime } from './decoding-time.ts';
import { buildGrammar, type Grammar } from './jsgf.ts';
import {
  createPartialDecoders,
  type PartialDecoders,
  type PartialDecoding,
} from './partial-decoders.ts';
import { DICTIONARY_FILE, loadLibrary, missingLibraries } from './pocketsphinx-library.ts';
import {
  GIVEN_UP,
  HANDLED,
  POSTED,
  type SphinxData,
  type SphinxReport,
  type SphinxRequest,
  TAKEN,
  THREAD,
} from './pocketsphinx-messages.ts';
import { type PreparedWords, prepareWords } from './prepared-words.ts';
import { type Dictionary, parseDictionary } from './pronunciation-dictionary.ts';
import { createRecognition, type Recognition } from './recognition.ts';
import { RIVAL_PHRASES, withSounds } from './rival-phrases.ts';

/** Longest stored audio: the last 20 s of an utterance. decoding-time.ts may limit it further. */
const UTTERANCE_SAMPLES_MAX = 160_000;
/** Batches of waiting audio above which interim words are skipped: they would be too late and delay the final ones. */
const PARTIAL_BACKLOG_MAX = 30;
/** Longest utterance that is decoded ahead. Longer ones have many pauses, and other calls wait for each decoding. */
const PREPARED_SAMPLES_MAX = 64_000;

interface Call {
  /** Grammar of the next utterance. Undefined if nothing can be recognised. */
  grammar: Grammar | undefined;
  utterance: Utterance | undefined;
}

interface Utterance {
  grammar: Grammar | undefined;
  parts: Int16Array[];
  samples: number;
  following: PartialDecoding | undefined;
  partial: string;
  prepared: PreparedWords | undefined;
}

interface Engine {
  dictionary: Dictionary;
  recognition: Recognition;
  partials: PartialDecoders;
  time: DecodingTime;
}

const port = parentPort;
const data: SphinxData = workerData;
const counts = new Int32Array(data.counts);
const calls = new Map<number, Call>();

/** Undefined until the first call: the model and the dictionary take about 130 MB and a second, which a gateway without
 *  calls saves. The first call's setup opens it; its audio waits in the queue. */
let opened: Engine | undefined;

const missing = missingLibraries();
if (missing === undefined) serve();
else report({ kind: 'missing', reason: missing });

function report(message: SphinxReport): void {
  port?.postMessage(message);
}

function openEngine(): Engine {
  const library = loadLibrary();
  const dictionary = withSounds(parseDictionary(readFileSync(DICTIONARY_FILE, 'utf8')));
  const recognition = createRecognition(library, dictionary);
  const partials = createPartialDecoders(library, dictionary);
  return { dictionary, recognition, partials, time: createDecodingTime() };
}

function serve(): void {
  const threadId = ownThreadId();
  port?.on('message', (request: SphinxRequest) => {
    Atomics.store(counts, THREAD, threadId);
    if (request.kind === 'audio') Atomics.add(counts, TAKEN, 1);
    opened ??= openEngine(); // An error ends the thread, which fails its calls.
    try {
      handle(opened, request);
    } catch (error) {
      const reason = error instanceof Error ? error.message : 'unknown';
      forget(request.id);
      report({ kind: 'failed', id: request.id, reason });
    }
    Atomics.add(counts, HANDLED, 1);
  });
  report({ kind: 'ready' });
}

function handle(engine: Engine, request: SphinxRequest): void {
  const { id } = request;
  if (request.kind === 'expect') {
    expectWords(engine, id, request.expectation);
    return;
  }
  const call = calls.get(id);
  if (call === undefined) return;
  if (request.kind === 'start') start(engine, call);
  else if (request.kind === 'audio') take(id, call.utterance, request.samples);
  else if (request.kind === 'prepare') prepare(engine, id, call.utterance);
  else if (request.kind === 'finish') finish(engine, call, request);
  else forget(id);
}

function forget(id: number): void {
  const following = calls.get(id)?.utterance?.following;
  calls.delete(id);
  following?.stop();
}

function expectWords({ dictionary }: Engine, id: number, expectation: ExpectedInput): void {
  const { grammar, warnings } = buildGrammar(expectation, {
    dictionary,
    rivals: RIVAL_PHRASES,
  });
  if (warnings.length > 0) report({ kind: 'warned', id, warnings });
  const call = calls.get(id);
  if (call !== undefined) call.grammar = grammar;
  else calls.set(id, { grammar, utterance: undefined });
}

function start({ partials }: Engine, call: Call): void {
  call.utterance?.following?.stop();
  const { grammar } = call;
  const following = grammar && partials.start(grammar);
  const sound = { parts: [], samples: 0 };
  call.utterance = { grammar, ...sound, following, partial: '', prepared: undefined };
}

function take(id: number, utterance: Utterance | undefined, samples: Int16Array): void {
  if (utterance === undefined) return;
  utterance.parts.push(samples);
  utterance.samples += samples.length;
  while (utterance.samples > UTTERANCE_SAMPLES_MAX) {
    utterance.samples -= utterance.parts.shift()?.length ?? 0;
    utterance.prepared = undefined;
  }
  if (isBehind()) {
    utterance.following?.stop();
    utterance.following = undefined;
    return;
  }
  const text = utterance.following?.push(samples) ?? '';
  if (text === utterance.partial) return;
  utterance.partial = text;
  report({ kind: 'partial', id, text });
}

function isBehind(): boolean {
  return Atomics.load(counts, POSTED) - Atomics.load(counts, TAKEN) > PARTIAL_BACKLOG_MAX;
}

/** Decodes the whole utterance. Its words are better than interim ones, and judge its end better. */
function prepare(engine: Engine, id: number, utterance: Utterance | undefined): void {
  if (utterance?.grammar === undefined || isBehind()) return;
  if (utterance.samples > PREPARED_SAMPLES_MAX) return;
  const sound = joined(utterance);
  const words = decode(engine, sound, utterance.grammar);
  utterance.prepared = prepareWords(words, sound);
  const { text, confidence } = words;
  if (trustIn(confidence) === 'accept') report({ kind: 'partial', id, text });
}

function finish(
  engine: Engine,
  call: Call,
  { id, slot, nth, isPrepared }: Extract<SphinxRequest, { kind: 'finish' }>,
): void {
  const { utterance } = call;
  call.utterance = undefined;
  utterance?.following?.stop();
  // If the queue is too long, the call no longer needs the words.
  const isNeeded = nth > Atomics.load(counts, GIVEN_UP + slot);
  const { grammar } = utterance ?? {};
  const isDecoded = isNeeded && utterance !== undefined && grammar !== undefined;
  const words = isDecoded ? finalWords(engine, { utterance, grammar, isPrepared }) : NO_WORDS;
  report({ kind: 'final', id, text: words.text, confidence: words.confidence });
}

function finalWords(
  engine: Engine,
  said: { utterance: Utterance; grammar: Grammar; isPrepared: boolean },
): RecognizedWords {
  const { prepared } = said.utterance;
  const sound = joined(said.utterance);
  if (said.isPrepared && prepared?.isFollowedBySilence(sound) === true) return prepared.words;
  return decode(engine, sound, said.grammar);
}

function decode(
  { recognition, time }: Engine,
  sound: Int16Array,
  grammar: Grammar,
): RecognizedWords {
  const said = { sound, form: grammar.form };
  return decodeInTime({ clock: systemClock, time }, said, (samples) =>
    recognition.recognize(samples, grammar),
  );
}

function joined({ parts, samples }: Utterance): Int16Array {
  const sound = new Int16Array(samples);
  let at = 0;
  for (const part of parts) {
    sound.set(part, at);
    at += part.length;
  }
  return sound;
}
