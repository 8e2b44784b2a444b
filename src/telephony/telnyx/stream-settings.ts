// Settings of a media stream that Telnyx opens to us: codec, rate, direction, legs. Telnyx' default for any of them
// would give silence or noise. Source: providers §2.1, §2.3, §10 (traps 6 to 8).

/** Settings with mu-law at 8 kHz both ways: it survives any telephone network, and Telnyx converts A-law to it. */
export function streamSettings(mediaUrl: string): Record<string, unknown> {
  return {
    stream_url: mediaUrl,
    stream_track: 'inbound_track',
    stream_codec: 'PCMU', // Default: the leg's codec, which is A-law in many countries.
    stream_bidirectional_mode: 'rtp', // Default: mp3, for which Telnyx would take our audio.
    stream_bidirectional_codec: 'PCMU',
    stream_bidirectional_target_legs: 'self', // Default: the opposite leg, which a call of one leg does not have.
  };
}

/** Setting with which Telnyx sends silence while we send nothing, for a call without other audio. */
export const SILENCE_WHEN_IDLE = { send_silence_when_idle: true };

/** State that Telnyx returns with each event of the call. `digits`: keys to press once it has answered. */
export function clientState(id: string, digits?: string): string {
  return Buffer.from(digits === undefined ? id : `${id} ${digits}`).toString('base64');
}

/** Id of the run or transfer in a client state of ours. */
export function idIn(state: string): string {
  return partsOf(state)[0] ?? '';
}

/** Keys in a client state of ours; undefined if it has none. */
export function digitsIn(state: string): string | undefined {
  const [, digits] = partsOf(state);
  return digits !== undefined && /^[\d*#A-Dw]{1,100}$/.test(digits) ? digits : undefined;
}

function partsOf(state: string): string[] {
  return Buffer.from(state, 'base64').toString().split(' ', 2);
}
