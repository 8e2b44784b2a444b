// Asterisk's names of audio formats, and the codecs that they are here.

import type { Codec } from '../../../../src/codec/codec.ts';
import { codecByName } from '../../../../src/codec/registry.ts';

const codecs: Record<string, string> = {
  ulaw: 'PCMU',
  alaw: 'PCMA',
  slin: 'L16',
  slin16: 'L16/16000',
  g722: 'G722',
};

/** Undefined for a format that Asterisk does not have (`slin8`), or that is not played here (`opus`). Of a
 *  list the last is taken, as Asterisk does with `ulaw,slin16`. */
export function codecOfFormat(format: string): { name: string; codec: Codec } | undefined {
  const name = format.split(',').at(-1) ?? '';
  const codec = codecs[name];
  return codec === undefined ? undefined : { name, codec: codecByName(codec) };
}

/** PCM as a packet of the codec. */
export function encoded(codec: Codec, pcm: Int16Array): Uint8Array {
  const payload = new Uint8Array(pcm.length * 2);
  return payload.subarray(0, codec.encode(pcm, payload));
}

export function decoded(codec: Codec, payload: Uint8Array): Int16Array {
  const pcm = new Int16Array(codec.samplesIn(payload));
  return pcm.subarray(0, codec.decode(payload, pcm));
}
