// Decodes a Twilio audio message in its usual fixed form directly from the socket's bytes, without a string or an
// object. Any other message is parsed as JSON (media.ts), with the same result. Source:
// twilio.com/docs/voice/media-streams/websocket-messages

import type { AudioListener } from '../provider/media-session.ts';
import { afterDigits, audioOfBase64, digitsValue } from '../provider/message-bytes.ts';

const HEAD = Buffer.from('{"event":"media","sequenceNumber":"');
const SID_FIRST = Buffer.from('","streamSid":"');
const SID_LAST = Buffer.from('"},"streamSid":"');
const NEXT = Buffer.from('",');
const BODY = Buffer.from('"media":{"track":"inbound","chunk":"');
const TIMESTAMP = Buffer.from('","timestamp":"');
const PAYLOAD = Buffer.from('","payload":"');
const TAIL = Buffer.from('"}}');
const TAIL_AFTER_SID = Buffer.from('"}');
export class MediaMessageReader {
  /** Bytes of the stream's id, few enough to be stored inside their object. */
  readonly #sid: Uint8Array;

  constructor(streamSid: string) {
    this.#sid = Uint8Array.from(Buffer.from(streamSid, 'latin1'));
  }

  /** Decodes the message in `bytes` from `from` to `end`, borrowed. False if it is not the caller's audio in the fixed
   *  form; then nothing was reported. */
  read(bytes: Uint8Array, from: number, end: number, listener: AudioListener): boolean {
    if (!isAt(bytes, from, HEAD)) return false;
    let at = afterDigits(bytes, from + HEAD.length, end);
    let payloadEnd = end - TAIL.length;
    if (isAt(bytes, at, SID_FIRST)) {
      at = this.#afterSid(bytes, at + SID_FIRST.length);
      if (at < 0 || !isAt(bytes, payloadEnd, TAIL)) return false;
    } else {
      payloadEnd = this.#beforeSid(bytes, end);
      if (payloadEnd < 0) return false;
    }
    if (!isAt(bytes, at, NEXT) || !isAt(bytes, at + NEXT.length, BODY)) return false;
    at = afterDigits(bytes, at + NEXT.length + BODY.length, end);
    if (!isAt(bytes, at, TIMESTAMP)) return false;
    const timestampAt = at + TIMESTAMP.length;
    at = afterDigits(bytes, timestampAt, end);
    if (at === timestampAt || !isAt(bytes, at, PAYLOAD)) return false;
    const audio = audioOfBase64(bytes, at + PAYLOAD.length, payloadEnd);
    if (audio === undefined) return false;
    listener.onAudio(audio, digitsValue(bytes, timestampAt, at));
    return true;
  }

  /** Index after the stream's id, or -1 if it is not at `at`. */
  #afterSid(bytes: Uint8Array, at: number): number {
    return isAt(bytes, at, this.#sid) ? at + this.#sid.length : -1;
  }

  /** End index of the payload in a message that ends with the stream's id, or -1 if it does not. */
  #beforeSid(bytes: Uint8Array, end: number): number {
    const sidAt = end - TAIL_AFTER_SID.length - this.#sid.length;
    const tailAt = sidAt - SID_LAST.length;
    const isTail =
      isAt(bytes, sidAt, this.#sid) &&
      isAt(bytes, end - TAIL_AFTER_SID.length, TAIL_AFTER_SID) &&
      isAt(bytes, tailAt, SID_LAST);
    return isTail ? tailAt : -1;
  }
}

function isAt(bytes: Uint8Array, at: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return false;
  return true;
}
