// The services of one call, fixed when it is planned: what its agent understands, thinks and speaks with. Each may be
// several services behind one interface, in order of preference.

import type { GatewayError } from '../errors/gateway-error.ts';
import type { LanguageModel } from './llm/llm.ts';
import type { ServiceFault } from './service/service-fault.ts';
import type { SpeechToText } from './stt/stt.ts';
import type { TextToSpeech } from './tts/tts.ts';

export interface SpeechPlan {
  /** Undefined: no recognition, the caller has the keypad only. */
  stt: SpeechToText | undefined;
  tts: TextToSpeech;
  /** Undefined: the voice that the service has by default. */
  voice: string | undefined;
  /** Undefined: the scripted policy leads the conversation. */
  llm: LanguageModel | undefined;
  /** Faults that a fallback hid from the caller, and that go on until somebody changes a key, an account or a setting.
   *  The session sets it, and writes them into the call's log; undefined: they are logged nowhere. */
  onPermanentFault?: ((fault: ServiceFault) => void) | undefined;
}

export interface PlannedSpeech {
  plan: SpeechPlan;
  /** What of the settings cannot be used, for the call's log. */
  faults: readonly GatewayError[];
}

/** Opens connections ahead, while the phone rings. Returns at once and never throws. */
export function prepareSpeech({ stt, tts, llm }: SpeechPlan): void {
  stt?.prepare?.();
  tts.prepare?.();
  llm?.prepare();
}
