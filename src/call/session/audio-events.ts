// Handles the events of a call's audio: turns and keys go to the conversation; utterances and latencies go to the run's
// log; any activity resets the idle timer.

import type { Log } from '../../log.ts';
import { turns } from '../../metrics/metrics.ts';
import type { CallEventBody } from '../../model/call-event.ts';
import { trustIn } from '../../model/word-trust.ts';
import type { AnswerVerdict } from '../../pipeline/answer/answer-verdict.ts';
import type { CallAudioEvent, UtteranceReport } from '../../pipeline/call-audio-event.ts';
import type { CallerTurn } from '../../pipeline/turn/turn-event.ts';
import {
  HIDDEN,
  hiddenKeys,
  hiddenWords,
  hidesDigits,
} from '../../workflow/engine/hidden-digits.ts';
import type { IdleTimer } from './dialogue/call-timers.ts';
import type { DialogueRunner } from './dialogue/dialogue-runner.ts';
import type { InterimWords, MuteState } from './live-reports.ts';
import type { SessionEvents } from './session-events.ts';

export interface AudioEventTargets {
  record: SessionEvents;
  dialogue: DialogueRunner;
  idle: IdleTimer;
  mute: MuteState;
  interim: InterimWords;
  /** Whether digits of the caller must not be written down. */
  isHidden: () => boolean;
  onAnswered: (verdict: AnswerVerdict) => void;
  /** Called at a fault of ours: the call cannot go on. */
  onBroken: (error: unknown) => void;
  log: Log;
}

const UNRECOGNIZED = { type: 'caller-turn', text: '', confidence: 0, source: 'speech' } as const;

export function handleAudioEvent(targets: AudioEventTargets, event: CallAudioEvent): void {
  const { record, idle, mute } = targets;
  switch (event.type) {
    case 'caller-speech':
      idle.reset();
      break;
    case 'partial':
      if (!targets.isHidden()) targets.interim.partial(event.text);
      break;
    case 'early-end':
      targets.dialogue.speculate(event);
      break;
    case 'turn-resumed':
      targets.dialogue.withdraw();
      break;
    case 'interruption':
      record.interruption(event.facts);
      break;
    case 'turn':
      callerTurn(targets, event.turn);
      break;
    case 'late-turn':
      countTurn(targets, event.turn);
      record.note(record.turnEntry(shownTurn(targets, event.turn)));
      break;
    case 'last-turn':
      countTurn(targets, event.turn);
      // The turn counts for the call's values, while they are extracted.
      dispatchTurn(targets, event.turn);
      break;
    case 'words-complete':
      targets.dialogue.dispatch({ type: 'last-words-complete' });
      break;
    case 'recognizer-lost':
      targets.dialogue.dispatch({ type: 'keys-only' });
      break;
    case 'recognizer-restored':
      targets.dialogue.dispatch({ type: 'recognition-restored' });
      break;
    case 'unrecognized':
      idle.reset();
      targets.interim.drop();
      targets.dialogue.dispatch(UNRECOGNIZED);
      break;
    case 'backchannel':
      targets.interim.drop();
      record.note(backchannelOf({ ...event, text: shownText(targets, event.text) }, record));
      break;
    case 'digit':
      idle.reset();
      record.note({ type: 'dtmf', digit: targets.isHidden() ? HIDDEN : event.digit });
      break;
    case 'utterance-started':
      record.answered(event.facts);
      mute.started(event.facts);
      break;
    case 'utterance-finished':
      utteranceFinished(targets, event.report);
      break;
    case 'answered':
      targets.onAnswered(event.verdict);
      break;
    case 'usage':
      record.usage(event.usage);
      break;
    case 'fault':
      record.fault(event.error, false);
      break;
    case 'broken':
      targets.onBroken(event.error);
  }
}

/** The log entry of a backchannel. Uncertain words get no line in the transcript: they may be the agent's own echo. */
function backchannelOf(
  event: Extract<CallAudioEvent, { type: 'backchannel' }>,
  record: Pick<SessionEvents, 'span'>,
): CallEventBody {
  const { text, confidence, isMuted } = event;
  const isSaid = isMuted && trustIn(confidence) === 'accept';
  return { type: 'user.backchannel', text, ...(isSaid && { muted: record.span(event) }) };
}

function countTurn({ interim }: AudioEventTargets, turn: CallerTurn): void {
  interim.drop();
  turns.inc({ source: turn.source });
}

/** The turn as it may be written down. */
function shownTurn(targets: AudioEventTargets, turn: CallerTurn): CallerTurn {
  const { source, text } = turn;
  if (source === 'speech') return { ...turn, text: shownText(targets, text) };
  return targets.isHidden() ? { ...turn, text: hiddenKeys(text) } : turn;
}

function shownText({ isHidden }: AudioEventTargets, text: string): string {
  return isHidden() ? hiddenWords(text) : text;
}

function dispatchTurn(targets: AudioEventTargets, turn: CallerTurn): void {
  const { dialogue, record } = targets;
  const shown = shownTurn(targets, turn);
  const { confidence, source } = turn;
  // The engine gets the keys that it hides, and otherwise what the log has: a replay comes to the same state.
  const isCollected = source === 'dtmf' && hidesDigits(dialogue.state);
  const { text } = isCollected ? turn : shown;
  dialogue.dispatchNoted(
    { type: 'caller-turn', text, confidence, source },
    record.turnEntry(shown),
  );
}

function callerTurn(targets: AudioEventTargets, turn: CallerTurn): void {
  const { idle, record, dialogue, log } = targets;
  idle.reset();
  countTurn(targets, turn);
  record.callerTurn(turn);
  log.debug({ 'pii.text': shownTurn(targets, turn).text, source: turn.source }, 'caller turn');
  dispatchTurn(targets, turn);
  // The speculative answer for this turn is in use, or has no use.
  dialogue.withdraw();
}

function utteranceFinished(
  { idle, record, dialogue, mute }: AudioEventTargets,
  report: UtteranceReport,
): void {
  idle.reset();
  turns.inc({ source: 'agent' });
  const said = record.agentSaid(report);
  const { utteranceId, heardText, interrupted } = report;
  mute.finished(utteranceId);
  const event = { type: 'utterance-finished', utteranceId, heardText, interrupted } as const;
  if (said === undefined) dialogue.dispatch(event);
  else dialogue.dispatchNoted(event, said);
}
