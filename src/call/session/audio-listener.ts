// What a call's audio tells: turns and keys for the conversation, what was said and how fast for the run's
// log, and signs of life for whoever waits for one.

import type { Log } from '../../log.ts';
import { turns } from '../../metrics/metrics.ts';
import type {
  CallAudioListener,
  CallerTurn,
  UtteranceReport,
} from '../../pipeline/call-audio-listener.ts';
import type { DialogueQueue } from '../dialogue/dialogue-queue.ts';
import type { IdleWatch } from './idle-timer.ts';
import type { CallerMute } from './mute-state.ts';
import type { SessionRecord } from './session-events.ts';

interface Hearers {
  record: SessionRecord;
  dialogue: DialogueQueue;
  idle: IdleWatch;
  mute: CallerMute;
  /** Our own fault: the call cannot go on. */
  onBroken: (error: unknown) => void;
  log: Log;
}

export function hearAudio(hearers: Hearers): CallAudioListener {
  const { record, idle, mute, onBroken } = hearers;
  return {
    onCallerSpeech: () => idle.touch(),
    onPartial() {
      // Interim words matter to the turn detector alone.
    },
    onInterruption: (facts) => record.interruption(facts),
    onTurn: (turn) => callerTurn(hearers, turn),
    onBackchannel: (text) => record.note({ type: 'user.backchannel', text }),
    onDigit: (digit) => {
      idle.touch();
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

function callerTurn({ idle, record, dialogue, log }: Hearers, turn: CallerTurn): void {
  idle.touch();
  turns.inc({ source: turn.source });
  record.callerTurn(turn);
  log.debug({ 'pii.text': turn.text, source: turn.source }, 'caller turn');
  const { text, confidence, source } = turn;
  dialogue.tell({ type: 'caller-turn', text, confidence, source });
}

function utteranceFinished(
  { idle, record, dialogue, mute }: Hearers,
  report: UtteranceReport,
): void {
  idle.touch();
  turns.inc({ source: 'agent' });
  record.agentSaid(report);
  const { utteranceId, heardText, interrupted } = report;
  mute.finished(utteranceId);
  dialogue.tell({ type: 'utterance-finished', utteranceId, heardText, interrupted });
}
