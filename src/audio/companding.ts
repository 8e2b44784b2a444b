// The µ-law and A-law companding tables of G.711, between 8-bit codes and 16-bit samples. The codec is codec/g711;
// the tables are here because WAV files use them too.
// Source: ITU-T G.711 (11/88), tables 1a-2b; 16-bit samples are the tables' values left-aligned.

export interface Law {
  /** The sample of each of the 256 codes. */
  readonly samples: Int16Array;
  /** The code of each sample, indexed by the sample's 16 bits read as unsigned. */
  readonly codes: Uint8Array;
}

/** µ-law adds this to every magnitude so that the segments start at powers of two. */
const ULAW_BIAS = 0x84;
/** The largest magnitude that still fits after the bias. */
const ULAW_MAGNITUDE_MAX = 32_635;
/** A-law inverts the even bits, so that silence is not a constant bit pattern on the wire. */
const ALAW_TOGGLE = 0x55;
const ALAW_MAGNITUDE_MAX = 32_767;
const SIGN = 0x80;

/** µ-law, used in North America and Japan and the default of every provider. Silence is 0xff. */
export const ulaw: Law = {
  samples: Int16Array.from({ length: 256 }, (_, code) => ulawToSample(code)),
  codes: Uint8Array.from({ length: 65_536 }, (_, bits) => sampleToUlaw((bits << 16) >> 16)),
};

/** A-law, used in the rest of the world's networks. Silence is 0xd5. */
export const alaw: Law = {
  samples: Int16Array.from({ length: 256 }, (_, code) => alawToSample(code)),
  codes: Uint8Array.from({ length: 65_536 }, (_, bits) => sampleToAlaw((bits << 16) >> 16)),
};

function ulawToSample(code: number): number {
  const bits = ~code & 0xff;
  const magnitude = (((bits & 0x0f) << 3) + ULAW_BIAS) << ((bits & 0x70) >> 4);
  return bits & SIGN ? ULAW_BIAS - magnitude : magnitude - ULAW_BIAS;
}

function sampleToUlaw(sample: number): number {
  const sign = sample < 0 ? SIGN : 0;
  const magnitude = Math.min(Math.abs(sample), ULAW_MAGNITUDE_MAX) + ULAW_BIAS;
  const segment = 24 - Math.clz32(magnitude);
  return ~(sign | (segment << 4) | ((magnitude >> (segment + 3)) & 0x0f)) & 0xff;
}

function alawToSample(code: number): number {
  const bits = code ^ ALAW_TOGGLE;
  const segment = (bits & 0x70) >> 4;
  const step = ((bits & 0x0f) << 4) + 8;
  const magnitude = segment === 0 ? step : (step + 0x100) << (segment - 1);
  return bits & SIGN ? magnitude : -magnitude;
}

function sampleToAlaw(sample: number): number {
  const sign = sample < 0 ? 0 : SIGN;
  const magnitude = Math.min(Math.abs(sample), ALAW_MAGNITUDE_MAX);
  const segment = Math.max(0, 24 - Math.clz32(magnitude));
  const interval = (magnitude >> Math.max(4, segment + 3)) & 0x0f;
  return (sign | (segment << 4) | interval) ^ ALAW_TOGGLE;
}
