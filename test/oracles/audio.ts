// Audio with words that the fakes find: µ-law, in packets as a client sends them.

import { ulaw } from '../../src/audio/companding.ts';
import { framesOf, silentFrames } from '../fakes/call/spoken-words.ts';

const PACKET_FRAMES = 3;

/** The text, then silence; packets of 60 ms. */
export function packetsOf(text: string, silenceMs: number): Buffer[] {
  const frames = [...framesOf(text), ...silentFrames(silenceMs)];
  const packets: Buffer[] = [];
  for (let at = 0; at < frames.length; at += PACKET_FRAMES) {
    const encoded = frames.slice(at, at + PACKET_FRAMES).map(encode);
    packets.push(Buffer.concat(encoded));
  }
  return packets;
}

function encode(frame: Int16Array): Uint8Array {
  return Uint8Array.from(frame, (sample) => ulaw.codes[sample & 0xffff] as number);
}
