// Bindings of libpocketsphinx from the system's shared libraries (Debian: libpocketsphinx3, BSD licence). One decoder
// per object; not thread-safe. A fault inside the library would end the process: it receives only words of the
// dictionary, checked grammars and whole buffers of samples.
// Source: pocketsphinx.h of 5prealpha.

import { existsSync } from 'node:fs';
import koffi from 'koffi';

export interface SphinxLibrary {
  /** Opens a decoder. Throws if the library refuses the settings. */
  openDecoder(settings: Record<string, string>): SphinxDecoder;
}

export interface Hypothesis {
  text: string;
  /** Score of the best path: a logarithm in the library's base, of which only differences are meaningful. */
  score: number;
}

/** A word, pause or filler (`<sil>`) of the best path. */
export interface SphinxSegment {
  word: string;
  /** Duration in frames of 10 ms. */
  frames: number;
  /** Acoustic score, 0 or less: the difference from the best-fitting sound of the acoustic model. */
  score: number;
}

export interface SphinxDecoder {
  /** Adds a pronunciation. Variants of a word are named `word(2)`. */
  addWord(word: string, phones: string): void;
  /** Adds a grammar. Returns false if it is invalid or has an unknown word. */
  addGrammar(name: string, jsgf: string): boolean;
  dropGrammar(name: string): void;
  useGrammar(name: string): void;
  start(): void;
  /** Processes audio, 16 kHz, any length. `whole`: this is the complete utterance, and the cepstral mean is computed
   *  from it. */
  process(samples: Int16Array, whole: boolean): void;
  end(): void;
  hypothesis(): Hypothesis;
  /** Segments of the hypothesis. */
  segments(): SphinxSegment[];
  close(): void;
}

export const MODEL_FOLDER = '/usr/share/pocketsphinx/model/en-us';
export const ACOUSTIC_MODEL = `${MODEL_FOLDER}/en-us`;
export const DICTIONARY_FILE = `${MODEL_FOLDER}/cmudict-en-us.dict`;

type Pointer = unknown;

/** Words and pauses of one utterance of 20 s. */
const SEGMENTS_MAX = 500;

/** Reason why the library cannot be loaded. Undefined if it can. */
export function missingLibraries(): string | undefined {
  const missing = [ACOUSTIC_MODEL, DICTIONARY_FILE].find((path) => !existsSync(path));
  if (missing !== undefined) return `no ${missing}`;
  try {
    koffi.load('libpocketsphinx.so.3');
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'libpocketsphinx.so.3 cannot be loaded';
  }
}

export function loadLibrary(): SphinxLibrary {
  const base = koffi.load('libsphinxbase.so.3');
  const main = koffi.load('libpocketsphinx.so.3');
  const args: () => Pointer = main.func('void* ps_args()');
  const parse: (...values: unknown[]) => Pointer = base.func(
    'void* cmd_ln_parse_r(void* in, void* defn, int argc, const char** argv, int strict)',
  );
  const init: (config: Pointer) => Pointer = main.func('void* ps_init(void*)');
  const releaseConfig: (config: Pointer) => number = base.func('int cmd_ln_free_r(void*)');
  const calls = decoderCalls(main);
  return {
    openDecoder(settings) {
      const argv = ['patchbay', ...Object.entries(settings).flat()];
      const config = parse(null, args(), argv.length, argv, 0);
      const decoder = config === null ? null : init(config);
      // The decoder keeps its own reference.
      if (config !== null) releaseConfig(config);
      if (decoder === null) throw new Error('ps_init refused its settings');
      return wrap(calls, decoder);
    },
  };
}

function decoderCalls(main: ReturnType<typeof koffi.load>) {
  const call = {
    free: main.func('int ps_free(void*)'),
    start: main.func('int ps_start_utt(void*)'),
    end: main.func('int ps_end_utt(void*)'),
    process: main.func('int ps_process_raw(void*, const int16_t*, size_t, int, int)'),
    hypothesis: main.func('const char* ps_get_hyp(void*, _Out_ int32_t*)'),
    addGrammar: main.func('int ps_set_jsgf_string(void*, const char*, const char*)'),
    useGrammar: main.func('int ps_set_search(void*, const char*)'),
    dropGrammar: main.func('int ps_unset_search(void*, const char*)'),
    segment: main.func('void* ps_seg_iter(void*)'),
    freeSegments: main.func('void ps_seg_free(void*)'),
    nextSegment: main.func('void* ps_seg_next(void*)'),
    segmentWord: main.func('const char* ps_seg_word(void*)'),
    segmentFrames: main.func('void ps_seg_frames(void*, _Out_ int*, _Out_ int*)'),
    segmentScores: main.func(
      'int32_t ps_seg_prob(void*, _Out_ int32_t*, _Out_ int32_t*, _Out_ int32_t*)',
    ),
    addWord: main.func('int ps_add_word(void*, const char*, const char*, int)'),
  };
  return call;
}

function wrap(calls: ReturnType<typeof decoderCalls>, decoder: Pointer): SphinxDecoder {
  const check = (what: string, result: number) => {
    if (result < 0) throw new Error(`${what} failed`);
  };
  return {
    addWord: (word, phones) => check('ps_add_word', calls.addWord(decoder, word, phones, 0)),
    addGrammar: (name, jsgf) => calls.addGrammar(decoder, name, jsgf) === 0,
    dropGrammar: (name) => check('ps_unset_search', calls.dropGrammar(decoder, name)),
    useGrammar: (name) => check('ps_set_search', calls.useGrammar(decoder, name)),
    start: () => check('ps_start_utt', calls.start(decoder)),
    process(samples, whole) {
      const count = calls.process(decoder, samples, samples.length, 0, whole ? 1 : 0);
      check('ps_process_raw', count);
    },
    end: () => check('ps_end_utt', calls.end(decoder)),
    hypothesis() {
      const score = [0];
      const text: string | null = calls.hypothesis(decoder, score);
      return { text: (text ?? '').replace(/\(\d+\)/g, ''), score: score[0] ?? 0 };
    },
    segments() {
      const found: SphinxSegment[] = [];
      // The library frees the iterator after the last segment.
      let at: Pointer = calls.segment(decoder);
      while (at !== null && found.length < SEGMENTS_MAX) {
        found.push(segmentAt(calls, at));
        at = calls.nextSegment(at);
      }
      if (at !== null) calls.freeSegments(at);
      return found;
    },
    close: () => void calls.free(decoder),
  };
}

function segmentAt(calls: ReturnType<typeof decoderCalls>, at: Pointer): SphinxSegment {
  const [first, last, score] = [[0], [0], [0]];
  calls.segmentFrames(at, first, last);
  calls.segmentScores(at, score, [0], [0]);
  const frames = (last[0] ?? 0) - (first[0] ?? 0) + 1;
  return { word: calls.segmentWord(at) ?? '', frames, score: score[0] ?? 0 };
}
