// Which Asterisk is played, and what that one can do. Source: asterisk §6 (first releases with a feature).

export interface Version {
  text: string;
  restOverWebsocket: boolean;
  outboundWebsocket: boolean;
  chanWebsocket: boolean;
  /** Channel id in MEDIA_START, STATUS and DTMF_END. */
  mediaChannelId: boolean;
  /** JSON control, marks, `transport_data`, `channel_variables`. */
  mediaJson: boolean;
  mediaDirection: boolean;
  /** Silence is sent into the bridge while the queue is empty. */
  silenceFill: boolean;
  techCause: boolean;
  manyVariables: boolean;
  /** An unanswered upgrade is given up (2 x connection_timeout). */
  handshakeDeadline: boolean;
  /** A duplicate channel id, or an unknown `f()`, ends the whole PBX. */
  crashesOnBadMedia: boolean;
  /** AudioSocket carries more than 8 kHz. */
  audioSocketRates: boolean;
  audioSocket: boolean;
}

type Since = Partial<Record<20 | 21 | 22, number>>;

/** `text` as `/asterisk/info` gives it, e.g. `22.10.1`, `16.28.0`, `20.7-cert4`. */
export function versionOf(text: string): Version {
  const [major = 0, minor = 0, patch = 0] = text.split(/[.-]/).map(Number);
  const since = (minors: Since, of23 = 0): boolean => {
    if (major >= 23) return major > 23 || minor >= of23;
    const first = minors[major as keyof Since]; // Any number may be asked for; most are not there.
    return first !== undefined && minor >= first;
  };
  const mediaFixes = since({ 20: 21, 22: 11 }, 5);
  return {
    text,
    restOverWebsocket: since({ 20: 14, 21: 9, 22: 4 }),
    outboundWebsocket: since({ 20: 15, 21: 10, 22: 5 }),
    chanWebsocket: since({ 20: 16, 21: 11, 22: 6 }),
    mediaChannelId: since({ 20: 17, 22: 7 }, 1),
    mediaJson: since({ 20: 18, 22: 8 }, 2),
    mediaDirection: since({ 20: 19, 22: 9 }, 3),
    silenceFill: !since({ 20: 19, 22: 9 }, 3),
    techCause: since({ 20: 17, 22: 7 }, 1),
    manyVariables: since({ 20: 20, 22: 10 }, 4),
    handshakeDeadline: mediaFixes,
    crashesOnBadMedia: !mediaFixes,
    audioSocketRates: since({ 20: 17, 21: 12, 22: 7 }, 1),
    audioSocket: major > 18 || (major === 18 && (minor > 0 || patch >= 0)),
  };
}
