// The audio test: a channel that plays the telephone and a media leg like that of a call, in one bridge. Each end
// sends a tone of its own and must receive the other's. Source: asterisk §0.15, §2.6, §2.7, §3.

import { codecByName } from '../../../codec/registry.ts';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Clock } from '../../../std/clock.ts';
import { pause } from '../../../std/pause.ts';
import { type CheckOutcome, fail, pass, warn } from '../../provider/check.ts';
import type { MediaEvent, MediaListener, MediaSession } from '../../provider/media-session.ts';
import type { Finding } from '../../provider/pbx.ts';
import { AriMediaSession } from '../media/ari-media-session.ts';
import type { MediaChoice, MediaWay } from '../media/transport-selection.ts';
import type { MediaTransportOptions, MediaTransports } from '../media/websocket-transports.ts';
import type { AriContext, OpenLeg } from '../rest/peer.ts';
import { type CheckContext, check } from './check.ts';
import type { TestApplication } from './test-application.ts';

const MEDIA = { key: 'media', title: 'Audio', msMax: 15_000 };
const FRAME_MS = 20;
/** Length of the tone, each way. Its start may be cut. */
const SOUND_MS = 1_200;
/** Received length of the tone that passes. */
const HEARD_MS_MIN = 500;
const HEARD_MS_MAX = 10_000;
/** Longest wait for Asterisk's first packets, which it sends every 20 ms. */
const FIRST_PACKETS_MS_MAX = 1_000;
/** Frequencies of both ends; neither is a multiple of the other. */
const LEG_HZ = 440;
const PHONE_HZ = 1_000;
const SHARE_MIN = 0.6;
const LEVEL_DB_MIN = -40;
/** Event handlers of the telephone's end, which is closed with its channel. */
const UNWATCHED = {
  onClosed: () => undefined,
  onLost: () => undefined,
  onQueue: () => undefined,
};
const AMPLITUDE = 8_000;
const FULL_SCALE = 32_768;

export interface MediaParts {
  transports: MediaTransports;
  openLeg: OpenLeg;
}

export function mediaFinding(
  context: CheckContext,
  { testApp, parts, choice }: { testApp: TestApplication; parts: MediaParts; choice: MediaChoice },
): Promise<Finding> {
  return check(context, MEDIA, async (signal) => {
    if (choice.way === 'audiosocket' && parts.transports.audiosocket === undefined) return noPort();
    try {
      return outcomeOf(await tryAudio(testApp, { parts, choice }, signal), choice);
    } catch (error) {
      if (signal.aborted || !(error instanceof GatewayError)) throw error;
      return fail(error.message, adviceFor(choice.way));
    }
  });
}

function noPort(): CheckOutcome {
  return fail(
    'The configuration has media = audiosocket, and AudioSocket is off at this gateway: calls have no audio.',
    'PATCHBAY_AUDIOSOCKET_PORT=0 (the default) turns it off: start the gateway with another port that the PBX reaches, or give the configuration media = rtp or auto.',
  );
}

interface Tried {
  openMs: number;
  /** Audio that the telephone received from the agent's side; `fromCaller` is the reverse. */
  toCaller: Heard;
  fromCaller: Heard;
}

interface Heard extends ToneLevel {
  heardMs: number;
}

async function tryAudio(
  testApp: TestApplication,
  { parts, choice }: { parts: MediaParts; choice: MediaChoice },
  signal: AbortSignal,
): Promise<Tried> {
  const { peer } = testApp;
  const transport = parts.transports[choice.way];
  if (transport === undefined) {
    throw new GatewayError('PBX_MEDIA', { reason: `${choice.way} is not set up at this gateway` });
  }
  const channelId = testApp.channelId();
  const { clock, log } = peer;
  const telephone = new AriMediaSession({
    callId: channelId,
    ...transport.framing(),
    listener: UNWATCHED,
    clock,
    log,
  });
  const phone = new Sounder(telephone, PHONE_HZ, clock);
  const startedMs = clock.monotonicMs();
  const gone = new AbortController();
  const both = AbortSignal.any([signal, gone.signal]);
  let hasStarted = (): void => undefined;
  const inStasis = new Promise<void>((resolve, reject) => {
    hasStarted = resolve;
    both.addEventListener('abort', () => reject(both.reason as Error), { once: true });
  });
  inStasis.catch(() => undefined); // Opening may fail first.
  const unwatch = peer.watch(channelId, (event) => {
    if (event.type === 'StasisStart') hasStarted();
    if (event.type === 'ChannelDestroyed') gone.abort(endedEarly(event.cause));
  });
  try {
    const { format } = choice;
    const accept: MediaTransportOptions['accept'] = (transport, start) =>
      telephone.attachTransport(transport, start);
    await transport
      .open({ peer, channelId, format, accept, gone: gone.signal }, both)
      .catch((error: unknown) => {
        throw gone.signal.aborted ? gone.signal.reason : error;
      });
    await inStasis;
    if (choice.way === 'rtp') await awaitFirstPackets(peer, { channelId, phone }, both);
    const onClosed = () => undefined;
    const leg = await parts.openLeg({ peer, callId: channelId, channelId, onClosed }, both);
    const openMs = clock.monotonicMs() - startedMs;
    try {
      const agent = new Sounder(leg.media, LEG_HZ, clock);
      await Promise.all([agent.sound(both), phone.sound(both)]);
      return { openMs, toCaller: phone.heard(LEG_HZ), fromCaller: agent.heard(PHONE_HZ) };
    } finally {
      await leg.close();
    }
  } finally {
    telephone.close('over');
    unwatch();
  }
}

/** Behind NAT Asterisk's RTP has another address than it announces, which is learned from its first packets. In a call
 *  they carry the telephone's audio; here both ends are ours, and Asterisk is asked to send silence to one. Its tone then
 *  opens the way to the other. */
async function awaitFirstPackets(
  { client, clock }: Pick<AriContext, 'client' | 'clock'>,
  { channelId, phone }: { channelId: string; phone: Sounder },
  signal: AbortSignal,
): Promise<void> {
  const path = `channels/${channelId}/silence`;
  await client.send({ action: 'silence', method: 'POST', path }, signal);
  for (let ms = 0; !phone.hasHeard && ms < FIRST_PACKETS_MS_MAX; ms += FRAME_MS) {
    await pause(clock, FRAME_MS, signal);
  }
  await client.send({ action: 'silence', method: 'DELETE', path }, signal);
  phone.forget();
}

/** The telephone's channel ended before the test. Source: asterisk §2.6. */
function endedEarly(cause: number): GatewayError {
  const reasons: Readonly<Record<number, string>> = {
    3: 'Asterisk could not open its socket to the gateway',
    19: 'the socket was not opened in time',
  };
  const reason = reasons[cause] ?? `the channel ended before it was heard (cause ${cause})`;
  return new GatewayError('PBX_MEDIA', { reason });
}

function adviceFor(way: MediaWay): string {
  const advice: Readonly<Record<MediaWay, string>> = {
    websocket_server:
      'The gateway opens the audio at /media/... of the same port as ARI: http show status must list it (module load chan_websocket.so), and a proxy before Asterisk must pass it on, with websockets. If the gateway cannot reach the PBX at all: media = websocket_client.',
    websocket_client:
      'Asterisk says why in its log: "Unauthorized" (401, 403) and "URL not found" (404): uri, username or password in websocket_client.conf; "Client start error": the certificate is not trusted (ca_list_file) or nobody listens; "Unable to retrieve HTTP status line": wss:// without tls_enabled = yes. From the PBX, curl -i to the uri with http:// must reach the gateway.',
    audiosocket:
      'Asterisk dials the gateway by TCP: PATCHBAY_MEDIA_HOST and PATCHBAY_AUDIOSOCKET_PORT must be reachable from the PBX. A refused connection is HTTP 500 here.',
    rtp: 'Asterisk sends UDP to the gateway: PATCHBAY_MEDIA_HOST and PATCHBAY_RTP_PORTS must be reachable from the PBX, and the ports of rtp.conf from the gateway.',
  };
  return advice[way];
}

function outcomeOf(
  { openMs, toCaller, fromCaller }: Tried,
  { way, format }: MediaChoice,
): CheckOutcome {
  const lines = `to the caller ${wordsOf(toCaller)}, from the caller ${wordsOf(fromCaller)}`;
  const facts = `${way}, ${format}, open after ${Math.round(openMs)} ms: ${lines}`;
  const [isHeardThere, isHeardHere] = [isHeard(toCaller), isHeard(fromCaller)];
  if (isHeardThere && isHeardHere) return pass(`Tones are heard both ways (${facts}).`);
  if (!isHeardThere && !isHeardHere) {
    const advice =
      way === 'rtp'
        ? "Firewalls drop UDP: open rtp.conf's ports from the gateway, and PATCHBAY_RTP_PORTS from the PBX."
        : 'Does a proxy hold messages back? Is bridge_simple loaded? Restart Asterisk if channels cannot be ended any more.';
    return fail(`Nothing is heard either way (${facts}).`, advice);
  }
  const only = isHeardHere
    ? 'The caller would not hear the agent'
    : 'The agent would not hear the caller';
  const advice =
    way === 'rtp'
      ? 'RTP goes both ways with ulaw, alaw and g722 only (media_format); a firewall may drop one way.'
      : 'Set media_format to ulaw; see the log of Asterisk for translations that it cannot make.';
  if (isFaint(isHeardHere ? toCaller : fromCaller))
    return warn(`Audio is bad one way (${facts}).`, advice);
  return fail(`${only} (${facts}).`, advice);
}

function isHeard({ heardMs, levelDb, share }: Heard): boolean {
  return heardMs >= HEARD_MS_MIN && levelDb >= LEVEL_DB_MIN && share >= SHARE_MIN;
}

function isFaint({ heardMs, levelDb }: Heard): boolean {
  return heardMs >= HEARD_MS_MIN && levelDb >= LEVEL_DB_MIN;
}

function wordsOf({ heardMs, levelDb, share }: Heard): string {
  if (levelDb === Number.NEGATIVE_INFINITY) return 'silence';
  return `${Math.round(levelDb)} dBFS for ${Math.round(heardMs)} ms, ${Math.round(share * 100)} % tone`;
}

/** One end of the audio: sends a tone and stores what it receives. */
class Sounder implements MediaListener {
  readonly #media: MediaSession;
  readonly #hz: number;
  readonly #clock: Clock;
  #codec = codecByName('PCMU');
  #pieces: Int16Array[] = [];
  #samples = 0;

  constructor(media: MediaSession, hz: number, clock: Clock) {
    this.#media = media;
    this.#hz = hz;
    this.#clock = clock;
    media.attach(this);
  }

  onEvent(event: MediaEvent): void {
    if (event.type === 'started') this.#codec = codecByName(event.start.codecIn);
  }

  onAudio(payload: Uint8Array): void {
    if ((this.#samples * 1_000) / this.#codec.rateHz > HEARD_MS_MAX) return;
    const pcm = new Int16Array(this.#codec.samplesIn(payload));
    const count = this.#codec.decode(payload, pcm);
    this.#pieces.push(pcm.subarray(0, count));
    this.#samples += count;
  }

  get hasHeard(): boolean {
    return this.#samples > 0;
  }

  /** Drops what was received so far. */
  forget(): void {
    this.#pieces = [];
    this.#samples = 0;
  }

  /** Sends the tone for a while, in real time; stops early with the signal. */
  async sound(signal: AbortSignal): Promise<void> {
    const codec = this.#codec;
    const { rateHz } = codec;
    const pcm = new Int16Array((rateHz * FRAME_MS) / 1_000);
    for (let nth = 0; nth < SOUND_MS / FRAME_MS && !signal.aborted; nth++) {
      fillTone(pcm, { hz: this.#hz, rateHz, nth });
      const payload = new Uint8Array(codec.frameBytes);
      codec.encode(pcm, payload);
      this.#media.audio(payload);
      await new Promise<void>((resolve) => void this.#clock.after(FRAME_MS, resolve));
    }
    signal.throwIfAborted();
  }

  /** The last part of the received audio. */
  heard(hz: number): Heard {
    const { rateHz } = this.#codec;
    const all = new Int16Array(this.#samples);
    let at = 0;
    for (const piece of this.#pieces) {
      all.set(piece, at);
      at += piece.length;
    }
    const heardMs = (all.length * 1_000) / rateHz;
    const last = all.subarray(Math.max(0, all.length - (rateHz * HEARD_MS_MIN) / 1_000));
    return { heardMs, ...measureTone(last, { hz, rateHz }) };
  }
}

/** Fills `pcm` with the `nth` frame, of this length, of a continuous tone. */
export function fillTone(pcm: Int16Array, tone: { hz: number; rateHz: number; nth: number }): void {
  const step = (2 * Math.PI * tone.hz) / tone.rateHz;
  const from = tone.nth * pcm.length;
  for (let i = 0; i < pcm.length; i++) pcm[i] = Math.round(AMPLITUDE * Math.sin(step * (from + i)));
}

interface ToneLevel {
  /** RMS level of the audio in dB below full scale; -Infinity for silence. */
  levelDb: number;
  /** Share of the audio's energy that is the tone, 0 to 1. */
  share: number;
}

/** Level of the audio and share of the tone. Source: Goertzel, "An algorithm for the evaluation of finite trigonometric
 *  series" (1958). */
export function measureTone(
  pcm: Int16Array,
  { hz, rateHz }: { hz: number; rateHz: number },
): ToneLevel {
  const turn = 2 * Math.cos((2 * Math.PI * hz) / rateHz);
  let energy = 0;
  let [last, before] = [0, 0];
  for (const sample of pcm) {
    energy += sample * sample;
    [last, before] = [sample + turn * last - before, last];
  }
  if (energy === 0) return { levelDb: Number.NEGATIVE_INFINITY, share: 0 };
  const power = last * last + before * before - turn * last * before;
  const share = Math.min(1, (2 * power) / (pcm.length * energy));
  return { levelDb: 20 * Math.log10(Math.sqrt(energy / pcm.length) / FULL_SCALE), share };
}
