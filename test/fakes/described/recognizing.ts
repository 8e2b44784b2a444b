// What the fakes of described recognisers share: the words since the last final, and when a protocol sends them.

import { type HeardWord, ulawOf } from '../call/spoken-words.ts';
import type { SessionHandler, SttSession } from '../services/stt-server.ts';

export type Message = Record<string, unknown>;
const END_MS = 300;

/** Words since the last final, and what each protocol makes of them. */
export abstract class Recognizing implements SessionHandler {
  protected readonly session: SttSession;
  protected words: HeardWord[] = [];

  constructor(session: SttSession) {
    this.session = session;
    const { ready } = session.faults;
    if (ready === 'never') return;
    if (ready === 'late') session.clock.after(1_000, () => this.begin());
    else queueMicrotask(() => this.begin());
  }

  audio(words: readonly HeardWord[]): void {
    this.words.push(...words);
    if (words.length > 0) this.partial();
    else if (this.words.length > 0 && this.session.finder.silenceMs >= END_MS) this.silence();
  }

  expired(): void {
    this.session.close(1011, 'expired');
  }

  protected begin(): void {
    // Most have no ready message.
  }

  protected silence(): void {
    // Most end no utterance by themselves.
  }

  /** The answer to finalize, as the faults want it. */
  protected answer(send: (words: readonly HeardWord[]) => void): void {
    const { closeOnFinalize, finals } = this.session.faults;
    const words = this.words.splice(0);
    if (closeOnFinalize !== undefined) this.session.close(closeOnFinalize);
    else if (finals === 'late') this.session.clock.after(3_000, () => send(words));
    else if (finals !== 'never') {
      this.session.inTurn(() => send(finals === 'empty' ? [] : words));
      if (finals === 'twice') send(words);
    }
  }

  protected unknown(message: Message): void {
    this.session.violates(`unknown message ${JSON.stringify(message)}`, 1008);
  }

  protected abstract partial(): void;
  abstract message(message: Message): void;
}

export const textOf = (words: readonly HeardWord[]): string =>
  words.map(({ word }) => word).join(' ');
export const seconds = (words: readonly HeardWord[]) =>
  words.map(({ word, startMs, endMs }) => ({ word, start: startMs / 1_000, end: endMs / 1_000 }));
export const codesOf = (data: Buffer): Uint8Array =>
  ulawOf(new Int16Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.length)));
