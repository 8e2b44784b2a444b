// Audio messages of one call in JSON, each a whole websocket frame: laid out beforehand, so that only numbers and
// payload are written for each.

import { FRAME_MS } from '../caller/ear.ts';
import { HEADER_BYTES, writeTextHeader } from '../caller/media-client.ts';
import { FRAME_BYTES } from '../caller/watermark.ts';

const PAYLOAD_CHARACTERS = Math.ceil(FRAME_BYTES / 3) * 4;
const PLACES = /<(sequence|chunk|timestamp|payload)>/;
type Place = 'sequence' | 'chunk' | 'timestamp' | 'payload';

export interface AudioLayout {
  /** The message with `<sequence>`, `<chunk>`, `<timestamp>` and `<payload>` where those stand; plain ASCII. */
  text: string;
  /** The sequence number of the call's first message. */
  sequence: number;
  /** The timestamp of the first audio. */
  firstMs: number;
}

export class AudioMessages {
  readonly #parts: readonly string[];
  readonly #firstMs: number;
  #frame = 0;
  #sequence: number;
  #template = Buffer.alloc(0);
  /** Where each number ends, and the payload begins. */
  readonly #at: Record<Place, number> = { sequence: 0, chunk: 0, timestamp: 0, payload: 0 };
  /** A number needs another digit from here on. */
  #longer = { sequence: 0, frame: 0 };

  constructor({ text, sequence, firstMs }: AudioLayout) {
    this.#parts = text.split(PLACES);
    this.#sequence = sequence;
    this.#firstMs = firstMs;
  }

  /** The sequence number of a message that is none of these. */
  takeSequence(): number {
    const taken = this.#sequence;
    this.#sequence += 1;
    return taken;
  }

  /** The next message, with `payload`: the base64 of 20 ms. The bytes are the caller's. */
  next(payload: Uint8Array): Buffer {
    if (this.#sequence >= this.#longer.sequence || this.#frame >= this.#longer.frame)
      this.#layOut();
    const message = Buffer.allocUnsafe(this.#template.length);
    message.set(this.#template);
    const at = this.#at;
    writeDigits(message, at.sequence, this.#sequence);
    writeDigits(message, at.chunk, this.#frame + 1);
    writeDigits(message, at.timestamp, this.#firstMs + this.#frame * FRAME_MS);
    message.set(payload, at.payload);
    this.#frame += 1;
    this.#sequence += 1;
    return message;
  }

  #layOut(): void {
    const timestampMs = this.#firstMs + this.#frame * FRAME_MS;
    const values: Record<Place, string> = {
      sequence: String(this.#sequence),
      chunk: String(this.#frame + 1),
      timestamp: String(timestampMs),
      payload: 'A'.repeat(PAYLOAD_CHARACTERS),
    };
    let text = '';
    for (const part of this.#parts) {
      const value = isPlace(part) ? values[part] : part;
      if (part === 'payload') this.#at.payload = HEADER_BYTES + text.length;
      text += value;
      if (isPlace(part) && part !== 'payload') this.#at[part] = HEADER_BYTES + text.length;
    }
    this.#template = Buffer.alloc(HEADER_BYTES + text.length);
    writeTextHeader(this.#template, text.length);
    this.#template.write(text, HEADER_BYTES, 'latin1');
    this.#longer = {
      sequence: 10 ** values.sequence.length,
      frame: Math.min(
        10 ** values.chunk.length - 1,
        Math.ceil((10 ** values.timestamp.length - this.#firstMs) / FRAME_MS),
      ),
    };
  }
}

function isPlace(part: string): part is Place {
  return part === 'sequence' || part === 'chunk' || part === 'timestamp' || part === 'payload';
}

/** Writes `value` so that its last digit stands before `end`. */
function writeDigits(bytes: Uint8Array, end: number, value: number): void {
  let rest = value;
  for (let at = end - 1; rest > 0; at--) {
    const digit = rest % 10;
    bytes[at] = 48 + digit;
    rest = (rest - digit) / 10;
  }
}
