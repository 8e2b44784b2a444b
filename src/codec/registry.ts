// Every codec of the gateway. To add one: write `<name>.ts` beside this file, add a row here, and run
// `codecContract` against it in test/codec/<name>.test.ts.

import { GatewayError } from '../errors/gateway-error.ts';
import type { Codec } from './codec.ts';
import { pcma, pcmu } from './g711.ts';
import { createG722 } from './g722.ts';
import { l16, l16Wide } from './l16.ts';
import { createOpus } from './opus.ts';

/** Codecs by SDP encoding name (RFC 3551, table 4), with the clock rate after a slash if it is not 8 kHz. */
const codecs: ReadonlyMap<string, Codec> = new Map(
  [pcmu, pcma, l16, l16Wide].map((codec) => [codec.name, codec]),
);

/** Codecs that keep the state of one call: a new instance each time. */
const makers: ReadonlyMap<string, () => Codec> = new Map([
  ['G722', createG722],
  ['OPUS', () => createOpus(8_000)],
  ['OPUS/16000', () => createOpus(16_000)],
  ['OPUS/24000', () => createOpus(24_000)],
  ['OPUS/48000', () => createOpus(48_000)],
]);

/** Codec for a name: `PCMU`, `PCMA`, `L16` (8 kHz), `L16/16000`, `G722`, or `OPUS` at 8 kHz, `/16000`, `/24000`,
 *  `/48000`. The clock rate of 8 kHz may be written out (`PCMU/8000`). Letter case does not matter. Throws
 *  CODEC_UNKNOWN, and CODEC_MISSING for a codec whose package is not installed. */
export function codecByName(name: string): Codec {
  const wanted = name.toUpperCase().replace(/\/8000$/, '');
  const codec = codecs.get(wanted) ?? makers.get(wanted)?.();
  if (codec === undefined) throw new GatewayError('CODEC_UNKNOWN', { name });
  return codec;
}
