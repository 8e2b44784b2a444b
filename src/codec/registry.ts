// Every codec the gateway speaks. To add one: write `<name>.ts` beside this file, add a row here,
// and run `codecContract` against it in test/codec/<name>.test.ts.

import { GatewayError } from '../errors.ts';
import type { Codec } from './codec.ts';
import { pcma, pcmu } from './g711.ts';
import { createG722 } from './g722.ts';
import { l16, l16Wide } from './l16.ts';

/** By SDP encoding name (RFC 3551, table 4), with the clock rate behind a slash if it is not 8 kHz. */
const codecs: ReadonlyMap<string, Codec> = new Map(
  [pcmu, pcma, l16, l16Wide].map((codec) => [codec.name, codec]),
);

/** `PCMU`, `PCMA`, `L16` (8 kHz), `L16/16000` or `G722` (a new one each time: it keeps the state of one
 *  call); the clock rate may be written out (`PCMU/8000`). Letter case does not matter. Throws
 *  CODEC_UNKNOWN. */
export function codecByName(name: string): Codec {
  const wanted = name.toUpperCase().replace(/\/8000$/, '');
  const codec = wanted === 'G722' ? createG722() : codecs.get(wanted);
  if (codec === undefined) throw new GatewayError('CODEC_UNKNOWN', { name });
  return codec;
}
