// The audio test over the loop of media-loop.ts: each end sends a tone of its own and must receive the other's. Source:
// asterisk §2.6, §2.7.

import { codecByName } from '../../../codec/registry.ts';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Clock } from '../../../std/clock.ts';
import { fillTone, measureTone, type ToneLevel } from '../../line/tone.ts';
import { type CheckOutcome, fail, pass, warn } from '../../provider/check.ts';
import type { MediaEvent, MediaListener, MediaSession } from '../../provider/media-session.ts';
import type { Finding } from '../../provider/pbx.ts';
import type { MediaChoice, MediaWay } from '../media/transport-selection.ts';
import { type CheckContext, check } from './check.ts';
import { type LoopMeans, type MediaParts, overLoop } from './media-loop.ts';
import type { TestApplication } from './test-application.ts';

const MEDIA = { key: 'media', title: 'Audio', msMax: 15_000 };
const FRAME_MS = 20;
/** Length of the tone, each way. Its start may be cut. */
const SOUND_MS = 1_200;
/** Received length of the tone that passes. */
const HEARD_MS_MIN = 500;
const HEARD_MS_MAX = 10_000;
/** Frequencies of both ends; neither is a multiple of the other. */
const LEG_HZ = 440;
const PHONE_HZ = 1_000;
const SHARE_MIN = 0.6;
const LEVEL_DB_MIN = -40;

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
  means: LoopMeans,
  signal: AbortSignal,
): Promise<Tried> {
  const { clock } = testApp.peer;
  return await overLoop(testApp, means, signal, {
    phone: (media) => new Sounder(media, PHONE_HZ, clock),
    async talk(phone, { media, openMs }, both) {
      const agent = new Sounder(media, LEG_HZ, clock);
      await Promise.all([agent.sound(both), phone.sound(both)]);
      return { openMs, toCaller: phone.heard(LEG_HZ), fromCaller: agent.heard(PHONE_HZ) };
    },
  });
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
