// Words of a call that were not reported as final: held finals and interim words, including those of an earlier session
// of the turn. Decides which words the listener receives; the recogniser decides when.

import { joinSingleWords } from '../../../std/text/unspaced-text.ts';
import { joinWords, NO_WORDS } from '../joined-words.ts';
import type { RecognizedWords } from '../stt.ts';

/** Session that reported the words. */
interface Source {
  lagSamples: number;
}

export class OpenWords {
  /** Finals that are held until the answer to `finalize`. */
  #held: RecognizedWords[] = [];
  /** Interim words after the last final. */
  #partial: RecognizedWords | undefined;
  /** The last interim words that were reported, including the held finals before them. */
  #reported: { words: RecognizedWords; by: Source } | undefined;
  #isOver = false;

  get hasPartial(): boolean {
    return this.#partial !== undefined;
  }

  /** Whether the best known words come from an earlier session. */
  areOfOther(session: Source): boolean {
    return this.#reported !== undefined && this.#reported.by !== session;
  }

  /** Takes interim words. Returns the words to report. Undefined if replayed audio repeats only the beginning of known
   *  words. */
  partial(words: RecognizedWords, by: Source): RecognizedWords | undefined {
    this.#partial = words.text === '' ? undefined : words;
    const all = joinWords([...this.#held, words]);
    const known = this.#reported?.words.text.length ?? 0;
    const isReplay = by.lagSamples > 0 || (this.#isOver && this.areOfOther(by));
    if (isReplay && all.text.length < known) return undefined;
    this.#reported = { words: all, by };
    return all;
  }

  hold(words: RecognizedWords): void {
    this.#partial = undefined;
    if (words.text !== '') this.#held.push(words);
  }

  /** Takes final words. Returns them after the held ones. Nothing is open afterwards, unless they are empty and no
   *  `finalize` asked for them. */
  final(words: RecognizedWords, isAsked: boolean): RecognizedWords {
    this.#partial = undefined;
    const all = joinWords([...this.#held, words]);
    this.#held = [];
    if (isAsked || all.text !== '') this.#reported = undefined;
    return all;
  }

  /** Prepares for a new session with the same audio from `oldestMs` on. The interim words of older audio are kept.
   *  Returns their end, 0 if there are none. */
  renew(oldestMs: number): number {
    const { words = [], confidence = null } = this.#partial ?? {};
    const lost = words.filter(({ startMs }) => startMs < oldestMs);
    this.#partial = undefined;
    if (lost.length > 0) {
      this.#held.push({
        text: joinSingleWords(lost.map(({ word }) => word)),
        confidence,
        words: lost,
      });
    }
    return lost.at(-1)?.endMs ?? 0;
  }

  /** The call ends: the session may not receive all of the audio again. */
  finishing(): void {
    this.#isOver = true;
  }

  /** Returns the open words at the end of the call. Interim words of an earlier session follow those of the last one,
   *  whose replay may be incomplete. */
  last(session: Source | undefined): RecognizedWords {
    const known = this.#reported;
    const hasFinals = this.#held.length > 0;
    const all = joinWords([...this.#held, ...(this.#partial === undefined ? [] : [this.#partial])]);
    if (known !== undefined && known.by !== session) return continued(all, known.words);
    // Without finals, the last reported interim words stand.
    return hasFinals ? all : NO_WORDS;
  }
}

/** Joins `words` with the part of `known` after them. Without times, returns the longer of the two. */
function continued(words: RecognizedWords, known: RecognizedWords): RecognizedWords {
  const endMs = words.words?.at(-1)?.endMs;
  if (endMs === undefined || known.words === undefined) {
    return known.text.length > words.text.length ? known : words;
  }
  // Services report slightly different times for the same word.
  const rest = known.words.filter((each) => (each.startMs + each.endMs) / 2 > endMs);
  if (rest.length === 0) return words;
  const text = joinSingleWords(rest.map(({ word }) => word));
  return joinWords([words, { text, confidence: known.confidence, words: rest }]);
}
