// Whether the transcripts of conversations have what was said: each word of a caller once and in order, and the agent's
// whole answer to it.

import { isObject } from '../../../src/std/json.ts';
import type { ApiClient, RunItem } from '../../demo/api-client.ts';
import { wordsIn } from './call-words.ts';
import { answerText } from './scripted-model.ts';

const FAULTS_KEPT = 10;
/** A caller takes a longer silence for a dead line. */
const SOUND_MS_MAX = 2_500;
/** Requests for runs at a time. */
const READERS = 8;
/** A run is complete this long after its call at the latest. */
const COMPLETE_MS_MAX = 30_000;

export interface TranscriptFigures {
  transcripts: number;
  wordsSaid: number;
  wordsLost: number;
  wordsDoubled: number;
  /** Answers whose text is not whole, or not there. */
  answersDamaged: number;
  /** The first faults of transcripts. */
  transcriptFaults: string[];
  /** Answers that took longer than a caller should wait, by the part that took longest. */
  slowParts: Record<string, number>;
}

/** `said`: words by call. Calls of which no run has a word count with all their words. */
export async function readTranscripts(
  api: ApiClient,
  workflowId: string,
  said: ReadonlyMap<number, number>,
): Promise<TranscriptFigures> {
  const figures = nothing();
  const ids = await api.allRunIds(workflowId);
  const found = new Set<number>();
  const readNext = async (): Promise<void> => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) {
      const items = await itemsOf(api, workflowId, id);
      const call = judgeTranscript(items, said, figures);
      if (call !== undefined) found.add(call);
    }
  };
  await Promise.all(Array.from({ length: READERS }, readNext));
  for (const [call, words] of said) {
    figures.wordsSaid += words;
    if (found.has(call) || words === 0) continue;
    figures.wordsLost += words;
    note(figures, `call ${call}: no word of ${words}`);
  }
  return figures;
}

/** Adds what is wrong with one transcript; the call, or undefined if it has no word. */
export function judgeTranscript(
  items: readonly RunItem[],
  said: ReadonlyMap<number, number>,
  figures: TranscriptFigures,
): number | undefined {
  figures.transcripts += 1;
  const texts = items.flatMap(({ type, payload }) => {
    if (type !== 'rtf-user-transcription' && type !== 'rtf-bot-text') return [];
    return [{ isCaller: type === 'rtf-user-transcription', text: String(payload['text'] ?? '') }];
  });
  const words = texts.flatMap(({ isCaller, text }) => (isCaller ? wordsIn(text) : []));
  const [first] = words;
  if (first === undefined) return undefined;
  const { call } = first;
  const counts = new Map<number, number>();
  for (const { nth } of words) counts.set(nth, (counts.get(nth) ?? 0) + 1);
  const total = said.get(call) ?? 0;
  const lost = Array.from({ length: total }, (_each, nth) => nth).filter((nth) => !counts.has(nth));
  const doubled = words.length - counts.size;
  figures.wordsLost += lost.length;
  figures.wordsDoubled += doubled;
  if (lost.length > 0) note(figures, `call ${call}: lost words ${lost.join(' ')} of ${total}`);
  if (doubled > 0) note(figures, `call ${call}: ${doubled} words twice`);
  judgeAnswers(call, texts, figures);
  for (const { type, payload } of items) {
    if (type === 'rtf-latency-measured') judgeLatency(payload, figures);
  }
  return call;
}

/** After each turn of the caller comes its answer; fillers may come as well. */
function judgeAnswers(
  call: number,
  texts: readonly { isCaller: boolean; text: string }[],
  figures: TranscriptFigures,
): void {
  let unanswered: string | undefined;
  for (const [at, { isCaller, text }] of texts.entries()) {
    if (!isCaller) continue;
    const before = unanswered;
    unanswered = undefined;
    const next = texts.findIndex((each, index) => index > at && each.isCaller);
    const answer = texts
      .slice(at + 1, next < 0 ? undefined : next)
      .map((each) => each.text)
      .join(' ');
    // The turn may have been taken up with the one behind it, and both answered together.
    if (answer === '' && next >= 0) {
      unanswered = text;
      continue;
    }
    if (isAnswered(text, answer)) continue;
    // Or these words came when the turn before, which they belong to, was answered.
    if (before !== undefined && isAnswered(before, answer)) continue;
    figures.answersDamaged += 1;
    note(figures, `call ${call}: "${text}" was answered by "${answer}"`);
  }
}

function isAnswered(text: string, answer: string): boolean {
  return answer.split(answerText(wordsIn(text))).length === 2;
}

function judgeLatency(payload: Record<string, unknown>, { slowParts }: TranscriptFigures): void {
  const parts = isObject(payload['parts_ms']) ? payload['parts_ms'] : {};
  if (Number(payload['latency_seconds']) * 1_000 <= SOUND_MS_MAX) return;
  const [longest] = Object.entries(parts).sort(([, one], [, other]) => Number(other) - Number(one));
  const name = longest?.[0] ?? 'unknown';
  slowParts[name] = (slowParts[name] ?? 0) + 1;
}

async function itemsOf(api: ApiClient, workflowId: string, id: string): Promise<RunItem[]> {
  const deadline = Date.now() + COMPLETE_MS_MAX;
  for (;;) {
    const { is_completed: isCompleted, logs } = await api.run(workflowId, id);
    if (isCompleted || Date.now() > deadline) return logs?.realtime_feedback_events ?? [];
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

export function nothing(): TranscriptFigures {
  return {
    transcripts: 0,
    wordsSaid: 0,
    wordsLost: 0,
    wordsDoubled: 0,

    answersDamaged: 0,
    transcriptFaults: [],
    slowParts: {},
  };
}

function note({ transcriptFaults }: TranscriptFigures, fault: string): void {
  if (transcriptFaults.length < FAULTS_KEPT) transcriptFaults.push(fault);
}
