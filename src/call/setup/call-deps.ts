// What the call room is built from: handed in once by main.

import type { Log } from '../../log.ts';
import type { CallAudioOptions } from '../../pipeline/call-audio-options.ts';
import type { MediaClock } from '../../pipeline/media-clock.ts';
import type { LoadLimits, LoadMeter } from '../../runtime/process-load.ts';
import type { LanguageModel } from '../../speech/llm/llm.ts';
import type { SpeechToText } from '../../speech/stt/stt.ts';
import type { TextToSpeech } from '../../speech/tts/tts.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import type { FileStore } from '../../store/files/file-store.ts';
import type { Store } from '../../store/store.ts';
import type { Providers } from '../../telephony/registry/registry.ts';
import type { MediaTokenStore } from '../../transport/media-token.ts';
import type { ProviderHangUp } from '../closing/provider-hang-up.ts';
import type { RunClosing } from '../closing/run-closing.ts';
import type { CredentialHeaders, GuardedHttp } from '../http/guarded-http.ts';
import type { EventLog } from '../log/event-log.ts';
import type { ClipLibrary } from './sound-library.ts';

export interface CallDeps {
  store: Store;
  files: FileStore;
  providers: Providers;
  events: EventLog;
  closing: RunClosing;
  hangUps: ProviderHangUp;
  clock: Clock;
  mediaClock: MediaClock;
  random: Random;
  log: Log;
  vad: CallAudioOptions['vad'];
  /** Undefined: callers use the keypad. */
  stt: SpeechToText | undefined;
  tts: TextToSpeech;
  /** Undefined: the scripted policy leads the conversation. */
  llm: LanguageModel | undefined;
  sounds: ClipLibrary;
  tokens: MediaTokenStore;
  voice: string | undefined;
  /** For what organizations want to be called: webhooks, variables before a call. */
  outside: GuardedHttp;
  credentialHeaders: CredentialHeaders;
  /** Where providers reach us, without a trailing slash: `https://gw.example.com`. */
  publicUrl: string;
  /** Undefined: calls are taken whatever the load is. */
  load?: { meter: LoadMeter; limits: LoadLimits } | undefined;
}
