// A Vosk server whose words are those of the audio (fakes/call/spoken-words.ts), with the faults of stt-server.ts: one
// reply to each message once the config has come. Written from the text of asr_server.py; scripted words: fake-vosk.ts.

import type { HeardWord } from '../call/spoken-words.ts';
import { codesOf } from '../described/recognizing.ts';
import {
  type SessionHandler,
  type SttServer,
  type SttServerOptions,
  type SttSession,
  startSttServer,
} from './stt-server.ts';

export function startVoskServer(options: Omit<SttServerOptions, 'key'>): Promise<SttServer> {
  return startSttServer(
    { ...options, key: '' },
    { check: () => undefined, open: (session) => new Vosk(session) },
  );
}

class Vosk implements SessionHandler {
  readonly #session: SttSession;
  #words: HeardWord[] = [];
  #isConfigured = false;

  constructor(session: SttSession) {
    this.#session = session;
  }

  /** s16 at 8 kHz. */
  ulaw(data: Buffer): Uint8Array {
    if (!this.#isConfigured) this.#session.violates('audio before the config', 1011);
    if (data.length % 2 !== 0) this.#session.violates('half a sample', 1011);
    return codesOf(data);
  }

  audio(words: readonly HeardWord[]): void {
    this.#words.push(...words);
    const partial = this.#session.interim(this.#words).map(({ word }) => word);
    this.#session.send({ partial: partial.join(' ') });
  }

  message(message: Record<string, unknown>): void {
    if (Object.hasOwn(message, 'config')) this.#configure(message['config']);
    else this.#session.violates(`taken for audio: ${JSON.stringify(message)}`, 1011);
  }

  /** The server compares the text of commands. */
  text(text: string): boolean {
    if (text === '{"eof" : 1}') {
      this.#final();
      this.#session.close(1000);
    } else if (text === '{"reset" : 1}') this.#reset();
    else return false;
    return true;
  }

  expired(): void {
    this.#session.close(1001);
  }

  get #text(): string {
    return this.#words.map(({ word }) => word).join(' ');
  }

  #configure(config: unknown): void {
    const { sample_rate: rateHz } = Object(config);
    if (rateHz === 8_000) this.#isConfigured = true;
    else this.#session.violates('another rate', 1011);
  }

  #reset(): void {
    const { closeOnFinalize } = this.#session.faults;
    if (closeOnFinalize !== undefined) {
      this.#session.close(closeOnFinalize);
      return;
    }
    this.#final();
  }

  #final(): void {
    const result = this.#words.map(({ word, startMs, endMs }) => {
      return { word, start: startMs / 1_000, end: endMs / 1_000, conf: 0.9 };
    });
    const text = this.#text;
    this.#words = [];
    this.#session.sendFinal({ ...(result.length > 0 && { result }), text }, { text: '' });
  }
}
