// First words of a call, rendered into the cache of its voice before anybody waits for them.

import type { Log } from '../../../log.ts';
import type { Run } from '../../../model/run.ts';
import { spokenPieces } from '../../../pipeline/speak/timed-pieces.ts';
import type { TextToSpeech } from '../../../speech/tts/tts.ts';
import type { Clock } from '../../../std/clock.ts';
import type { CallPlan } from './call-plan.ts';

/** Limit for rendering the first words in advance; without them the call only starts later. */
const RENDER_MS_MAX = 10_000;

export type WordsPlan = Pick<CallPlan, 'engine' | 'clips' | 'speech'>;

export interface FirstWords {
  text: string;
  /** Whether they are the same in every call of the agent. */
  isFixed: boolean;
}

/** The first words of a call with this context. Undefined: there are none, or they are recorded. */
export function firstWordsOf(
  { engine, clips }: WordsPlan,
  { callType, initialContext }: Pick<Run, 'callType' | 'initialContext'>,
  clock: Clock,
): FirstWords | undefined {
  const said = (context: Run['initialContext']) => {
    const at = { at: clock.now(), direction: callType, initialContext: context };
    const { actions } = engine.step(engine.initial, { type: 'started', ...at });
    return actions.find((action) => action.type === 'say');
  };
  const first = said(initialContext);
  const isRecorded = first?.clipId !== undefined && clips.samples(first.clipId) !== undefined;
  if (first === undefined || isRecorded) return undefined;
  return { text: first.text, isFixed: first.text === said({})?.text };
}

/** Renders words. A service's voice renders only those that are the same in every call, which it keeps. Resolves when
 *  they are rendered, or cannot be; a failure appears again in the call. */
export async function renderFirstWords(
  { text: words, isFixed }: FirstWords,
  { tts, voice }: WordsPlan['speech'],
  { clock, log }: { clock: Clock; log: Log },
): Promise<void> {
  const stop = new AbortController();
  const timer = clock.after(RENDER_MS_MAX, () => stop.abort());
  const discard = { onAudio: () => undefined, onWords: () => undefined };
  try {
    for (const text of requestedTexts(words, tts, clock)) {
      await tts.synthesize({ text, voice, isFixed, isAhead: true }, discard, stop.signal);
    }
  } catch (error) {
    log.debug({ err: error }, 'first words not prepared');
  } finally {
    timer.cancel();
  }
}

/** The texts that the call requests: all words at once of a voice that keeps whole lines, else each sentence. */
function requestedTexts(text: string, { kept }: TextToSpeech, clock: Clock): readonly string[] {
  return kept === undefined ? spokenPieces(text, clock) : [text];
}
