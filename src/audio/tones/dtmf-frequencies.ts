// The keys of a telephone and the two tones of each. Source: ITU-T Q.23.

/** Tones of the rows from top to bottom, and of the columns from left to right. */
export const DTMF_LOW_HZ = [697, 770, 852, 941] as const;
export const DTMF_HIGH_HZ = [1_209, 1_336, 1_477, 1_633] as const;
/** Keys row by row. */
export const DTMF_DIGITS = '123A456B789C*0#D';
