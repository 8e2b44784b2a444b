// Peak limiter without memory: samples up to a knee pass unchanged, larger ones are bent towards the ceiling. Peaks are
// rare in speech at telephone level; a limiter with memory would pump.

const KNEE = 20_000;
const CEILING = 31_000;

/** Limits a sample to the ceiling of 31,000. */
export function softLimited(sample: number): number {
  const size = Math.abs(sample);
  if (size <= KNEE) return Math.round(sample);
  const bent = KNEE + (CEILING - KNEE) * Math.tanh((size - KNEE) / (CEILING - KNEE));
  return Math.round(Math.sign(sample) * bent);
}
