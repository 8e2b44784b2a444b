// Words of a call that no final was reported for: finals that are held, and interim words, also those that an earlier session
// of the turn had. Of which words the listener gets, this decides; when, the recogniser does.

import { joinSingleWords } from '../../../std/text/unspaced-text.ts';
import { joinWords, NO_WORDS } from '../joined-words.ts';
import type { RecognizedWords } from '../stt.ts';

/** What had the words: a session. */
interface Source {
  lagSamples: number;
}

export class OpenWords {
  /** Finals that are held until the answer to `finalize`. */
  #held: RecognizedWords[] = [];
  /** Interim words after the last final. */
  #partial: RecognizedWords | undefined;
  /** The last interim words that were reported, with what was held before them. */
  #reported: { words: RecognizedWords; by: Source } | undefined;
  #isOver = false;

  get hasPartial(): boolean {
    return this.#partial !== undefined;
  }

  /** Whether the best known words are those of an earlier session. */
  areOfOther(session: Source): boolean {
    return this.#reported !== undefined && this.#reported.by !== session;
  }

  /** Interim words. Returns what is reported; undefined: replayed audio gives the first words of what is known already. */
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

  /** Final words, with those that were held before them. Nothing is open then, unless they are empty and nobody has
   *  asked for them. */
  final(words: RecognizedWords, isAsked: boolean): RecognizedWords {
    this.#partial = undefined;
    const all = joinWords([...this.#held, words]);
    this.#held = [];
    if (isAsked || all.text !== '') this.#reported = undefined;
    return all;
  }

  /** A new session gets the same audio, but for what is older than `oldestMs`: the interim words of that are the best
   *  there are. Returns where they end; 0 if there are none. */
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

  /** The call is over: the session may not get all of the audio again. */
  finishing(): void {
    this.#isOver = true;
  }

  /** `session` is over with the call: what is still open. Interim words of an earlier session count behind those of the
   *  last one, whose replay may not have come so far. */
  last(session: Source | undefined): RecognizedWords {
    const known = this.#reported;
    const hasFinals = this.#held.length > 0;
    const all = joinWords([...this.#held, ...(this.#partial === undefined ? [] : [this.#partial])]);
    if (known !== undefined && known.by !== session) return continued(all, known.words);
    // Without finals, the interim words that were reported are the last ones.
    return hasFinals ? all : NO_WORDS;
  }
}

/** `words` and what `known` has behind them; the longer ones of the two where there are no times. */
function continued(words: RecognizedWords, known: RecognizedWords): RecognizedWords {
  const endMs = words.words?.at(-1)?.endMs;
  if (endMs === undefined || known.words === undefined) {
    return known.text.length > words.text.length ? known : words;
  }
  // Services place the same word a little apart.
  const rest = known.words.filter((each) => (each.startMs + each.endMs) / 2 > endMs);
  if (rest.length === 0) return words;
  const text = joinSingleWords(rest.map(({ word }) => word));
  return joinWords([words, { text, confidence: known.confidence, words: rest }]);
}
