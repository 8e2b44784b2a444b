// What a call's audio tells: turns and keys for the conversation, what was said and how fast for the run's
// log, and signs of life for whoever waits for one.

import type { Log } from '../../log.ts';
import { turns } from '../../metrics/metrics.ts';
import type {
  CallAudioListener,
  CallerTurnFacts,
  UtteranceReport,
} from '../../pipeline/call-audio-listener.ts';
import type { DialogueQueue } from '../dialogue/dialogue-queue.ts';
import type { IdleTimer } from './idle-timer.ts';
import type { MuteState } from './mute-state.ts';
import type { SessionEvents } from './session-events.ts';

interface Hearers {
  record: SessionEvents;
  dialogue: DialogueQueue;
  idle: IdleTimer;
  mute: MuteState;
  /** Our own fault: the call cannot go on. */
  onBroken: (error: unknown) => void;
  log: Log;
}

export function createAudioListener(hearers: Hearers): CallAudioListener {
  const { record, idle, mute, onBroken } = hearers;
  return {
    onCallerSpeech: () => idle.reset(),
    onPartial() {
      // Interim words matter to the turn detector alone.
    },
    onInterruption: (facts) => record.interruption(facts),
    onTurn: (turn) => callerTurn(hearers, turn),
    onBackchannel: (text) => record.note({ type: 'user.backchannel', text }),
    onDigit: (digit) => {
      idle.reset();
      record.note({ type: 'dtmf', digit });
    },
    onUtteranceStarted: (facts) => {
      record.answered(facts);
      mute.started(facts);
    },
    onUtteranceFinished: (report) => utteranceFinished(hearers, report),
    onFault: (error) => record.fault(error, false),
    onBroken,
  };
}

function callerTurn({ idle, record, dialogue, log }: Hearers, turn: CallerTurnFacts): void {
  idle.reset();
  turns.inc({ source: turn.source });
  record.callerTurn(turn);
  log.debug({ 'pii.text': turn.text, source: turn.source }, 'caller turn');
  const { text, confidence, source } = turn;
  dialogue.dispatch({ type: 'caller-turn', text, confidence, source });
}

function utteranceFinished(
  { idle, record, dialogue, mute }: Hearers,
  report: UtteranceReport,
): void {
  idle.reset();
  turns.inc({ source: 'agent' });
  record.agentSaid(report);
  const { utteranceId, heardText, interrupted } = report;
  mute.finished(utteranceId);
  dialogue.dispatch({ type: 'utterance-finished', utteranceId, heardText, interrupted });
}
