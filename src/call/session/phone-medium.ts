// The engine's actions in a phone call: it speaks, listens, transfers and ends the call.

import type { Log } from '../../log.ts';
import type { EndReason } from '../../model/end-reason.ts';
import type { CallAudio } from '../../pipeline/call-audio.ts';
import type { Clock } from '../../std/clock.ts';
import { isFinal } from '../../workflow/engine/ending.ts';
import { hidesDigits } from '../../workflow/engine/hidden-digits.ts';
import type { DialogueState } from '../../workflow/engine.ts';
import type { CallPlan } from '../start/setup/call-plan.ts';
import { CallTransfer } from '../transfer/call-transfer.ts';
import { AgentSpeech } from './agent-speech.ts';
import type { DialogueMedium } from './dialogue/dialogue-runner.ts';
import type { MuteState } from './live-reports.ts';
import type { SessionDeps } from './session-deps.ts';
import type { SessionEvents } from './session-events.ts';
import type { CurrentServices } from './session-services.ts';
import type { WaitLines } from './wait-lines.ts';

export interface PhoneMediumOptions {
  deps: SessionDeps;
  plan: CallPlan;
  clock: Clock;
  log: Log;
  record: SessionEvents;
  services: CurrentServices;
  wait: WaitLines;
  mute: MuteState;
  /** Undefined before the media start. */
  audio: () => CallAudio | undefined;
  state: () => DialogueState;
  /** The provider's id of the call, if known. */
  callId: () => string | null;
  /** Aborted when the caller leaves. */
  callerGone: AbortSignal;
  /** Ends the call. */
  end: (reason: EndReason) => void;
  /** Called with a fault of our own code. */
  onBroken: (error: unknown) => void;
}

export function phoneMedium(options: PhoneMediumOptions): DialogueMedium {
  const { deps, plan, clock, log, record, services, wait, mute, audio, state } = options;
  const speech = new AgentSpeech({
    record,
    clips: plan.clips,
    lines: wait,
    kept: (text) => services.kept(text),
    onUnsaid: (utteranceId) => wait.unsaid(utteranceId),
    audio,
  });
  const transfer = new CallTransfer({
    ...deps,
    plan,
    audio,
    clock,
    log,
    callId: options.callId,
    callerGone: options.callerGone,
    note: (body) => record.note(body),
    consultation: services.consultation(deps.services),
  });
  return {
    waitsAtOpening: true,
    say: (action) => speech.say(action),
    openAnswer: (action) => speech.openAnswer(action),
    hush: () => audio()?.stop(),
    press: (digits) => void audio()?.press(digits),
    expect: (expectation) => audio()?.expect(expectation),
    moved: (to) => services.moveTo(to),
    transfer: (action, signal) => transfer.transfer(action, signal),
    end: options.end,
    isCallerSpeaking: () => {
      // Words change nothing after the agent's last ones: a sound without words is not waited for.
      const isLast = isFinal(state());
      return (isLast ? audio()?.isCallerTalking : audio()?.isCallerBusy) === true;
    },
    onStepped: (stepped) => {
      mute.follow(stepped);
      audio()?.hideCaller(hidesDigits(stepped));
      if (isFinal(stepped)) speech.keepAnswer();
      wait.note();
    },
    onBroken: options.onBroken,
  };
}
