// The keys of a telephone and the two tones of each. Source: ITU-T Q.23.

/** Of the rows, from above, and of the columns, from the left. */
export const DTMF_LOW_HZ = [697, 770, 852, 941] as const;
export const DTMF_HIGH_HZ = [1_209, 1_336, 1_477, 1_633] as const;
/** Row by row. */
export const DTMF_DIGITS = '123A456B789C*0#D';
