// The settings of a media stream that Telnyx opens to us: which audio, which way. Each default that is left alone
// would be silence or noise. Source: providers §2.1, §2.3, §10 (traps 6 to 8).

/** Both ways mu-law at 8 kHz: it survives any telephone network, and Telnyx converts A-law to it. */
export function streamSettings(mediaUrl: string): Record<string, unknown> {
  return {
    stream_url: mediaUrl,
    stream_track: 'inbound_track',
    stream_codec: 'PCMU', // Default: that of the leg, which is A-law in many countries.
    stream_bidirectional_mode: 'rtp', // Default: mp3, for which our audio would be taken.
    stream_bidirectional_codec: 'PCMU',
    stream_bidirectional_target_legs: 'self', // Default: the opposite leg, which a call of one leg does not have.
  };
}

/** For a call that has no other audio while we are silent. */
export const SILENCE_WHEN_IDLE = { send_silence_when_idle: true };

/** What Telnyx returns with each event of the call. */
export function clientState(runId: string): string {
  return Buffer.from(runId).toString('base64');
}

/** The id of a run or transfer that a client state of ours has. */
export function idIn(state: string): string {
  return Buffer.from(state, 'base64').toString();
}
