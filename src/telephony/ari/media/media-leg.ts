// A call's audio: our media channel, its socket, and the bridge that joins it with the caller's channel. A lost
// media channel is replaced while the caller is connected. Source: asterisk §0.15 to §0.17.

import { GatewayError } from '../../../errors/gateway-error.ts';
import { pbxLegs } from '../../../metrics/metrics.ts';
import type { Timer } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import { bestEffort, hangUpChannel } from '../rest/best-effort.ts';
import type { AriRequest } from '../rest/client.ts';
import type { AriEvent } from '../rest/messages.ts';
import type { AriContext, LegOptions, MediaLeg, OpenLeg } from '../rest/peer.ts';
import { AriMediaSession } from './ari-media-session.ts';
import { endOutage } from './media-outage.ts';
import { type MediaChoice, type MediaWay, selectMediaTransport } from './transport-selection.ts';
import type {
  MediaTransport,
  MediaTransportOptions,
  MediaTransports,
} from './websocket-transports.ts';

/** Outages before the call ends; a transport that lasted for GOOD_MS resets the count. */
const OUTAGES_MAX = 10;
const GOOD_MS = 60_000;
/** Longest wait for the answer about music before other media are joined, so that the music ends. */
const MUSIC_REQUEST_MS_MAX = 1_000;
/** Longest time to end the music of a failed transfer and to join the call again. Usually it takes 5 ms. */
const RESUME_MS_MAX = 5_000;
/** Pause between two looks at Asterisk's queue, which never catches up once it is late: later audio stays late. */
const LOOK_MS = 5_000;
const QUEUE_FRAMES_MAX = 25;
/** Time without audio after which queued frames are stale and are cleared. An utterance that is only late plays to its
 *  end, so that its last words are not cut off. */
const IDLE_MS = 2_000;
const RING_TONE = { media: 'tone:ring' };

export function legOpener(transports: MediaTransports): OpenLeg {
  return async (options, signal) => {
    const { account, version } = options.peer;
    const hasAudioSocket = transports.audiosocket !== undefined;
    const { way, format } = selectMediaTransport(account, version, hasAudioSocket);
    const transport = transports[way];
    if (transport === undefined) {
      const reason = `${way} is not set up at this gateway (PATCHBAY_AUDIOSOCKET_PORT=0 turns AudioSocket off)`;
      throw new GatewayError('PBX_MEDIA', { reason });
    }
    const leg = new AriLeg(options, transport, { way, format });
    try {
      await leg.open(signal);
    } catch (error) {
      pbxLegs.inc({ kind: way, result: 'failed' });
      await leg.close();
      throw error;
    }
    pbxLegs.inc({ kind: way, result: 'opened' });
    return leg;
  };
}

class AriLeg implements MediaLeg {
  readonly media: AriMediaSession;
  readonly bridgeId: string;
  readonly #peer: AriContext;
  readonly #options: LegOptions;
  readonly #transport: MediaTransport;
  readonly #way: MediaWay;
  readonly #format: string;
  #channelId = '';
  #unwatch: () => void = () => undefined;
  #look: Timer | undefined;
  #outages = 0;
  /** Whether other media are being opened. */
  #isInterrupted = false;
  /** The request for music during this outage; `#isExplained` once it plays. */
  #music: Promise<void> | undefined;
  #isExplained = false;
  #joinedAtMs = 0;
  /** Aborted when the socket of a channel that is not joined yet is lost. */
  #opening: AbortController | undefined;
  readonly #over = new AbortController();
  readonly #release: () => void;
  #isPaused = false;
  #callerHears: 'music' | 'ringback' = 'music';
  #isClosed = false;

  constructor(options: LegOptions, transport: MediaTransport, { way, format }: MediaChoice) {
    this.#way = way;
    this.#options = options;
    this.#peer = options.peer;
    this.#transport = transport;
    this.#format = format;
    this.bridgeId = options.peer.ids.make('b');
    // The bridge has an owner from now on.
    this.#release = options.peer.watch(this.bridgeId, () => undefined);
    const { clock, log } = this.#peer;
    this.media = new AriMediaSession({
      callId: options.callId,
      ...transport.framing(),
      listener: {
        onClosed: (isTaken) => options.onClosed(isTaken),
        onLost: () => this.#lost(),
        onQueue: (frames) => this.#queue(frames),
      },
      clock,
      log,
    });
  }

  async open(signal: AbortSignal): Promise<void> {
    await this.#guarded(signal, async (both) => {
      const path = `bridges/${this.bridgeId}`;
      const query = { type: 'mixing', name: 'patchbay' };
      const [opened, bridged] = await Promise.allSettled([
        this.#openChannel(both),
        this.#run({ action: 'bridge', method: 'POST', path, query }, both),
      ]);
      if (opened.status === 'rejected') throw opened.reason;
      if (bridged.status === 'rejected') throw bridged.reason;
      await this.#join(`${this.#options.channelId},${this.#channelId}`, both);
    });
    this.#watchQueue();
  }

  owns(id: string): boolean {
    // The next reconciliation ends what is left of a closed leg.
    return !this.#isClosed && (id === this.#channelId || id === this.bridgeId);
  }

  digit(digit: string): void {
    this.media.digit(digit);
  }

  hold(on: boolean): void {
    this.media.held(on);
  }

  async pause(callerHears: 'music' | 'ringback', signal: AbortSignal): Promise<void> {
    const path = `bridges/${this.bridgeId}/removeChannel`;
    const query = { channel: this.#channelId };
    // Set before the request, whose answer may be lost.
    this.#isPaused = true;
    this.#callerHears = callerHears;
    await this.#run({ action: 'hold', method: 'POST', path, query }, signal);
    await this.#hold('POST', signal);
  }

  async resume(): Promise<void> {
    if (!this.#isPaused || this.#isClosed) return;
    const { clock, log } = this.#peer;
    const deadline = deadlineSignal(clock, RESUME_MS_MAX, 'resume', this.#over.signal);
    this.#isPaused = false;
    try {
      await this.stopPlayback(deadline.signal);
      await this.#join(this.#channelId, deadline.signal);
    } catch (error) {
      if (this.#isClosed) return;
      log.warn({ err: error }, 'call not taken back after a transfer that failed');
      // The current or next attempt ends the music and joins its channel.
      this.#music ??= Promise.resolve();
      if (this.#isInterrupted) return;
      this.media.detachTransport();
      void this.#replace();
    } finally {
      deadline.done();
    }
  }

  async stopPlayback(signal: AbortSignal): Promise<void> {
    await this.#hold('DELETE', signal);
  }

  async leaveBridge(): Promise<void> {
    await this.#end(false);
  }

  async close(): Promise<void> {
    await this.#end(true);
  }

  /** Starts or ends music on hold. Whether the PBX did it: a failure of music or tone does not fail the transfer. */
  async #hold(method: 'POST' | 'DELETE', signal: AbortSignal): Promise<boolean> {
    const request = this.#callerHears === 'music' ? this.#onHold(method) : this.#tone(method);
    const { status } = await this.#peer.client.send({ action: 'hold', ...request }, signal);
    return status <= 299;
  }

  #onHold(method: 'POST' | 'DELETE') {
    return { method, path: `bridges/${this.bridgeId}/moh` };
  }

  /** Ring-back tone of the PBX's country. The playback's id is of its own kind, so the bridge's id can be used. */
  #tone(method: 'POST' | 'DELETE') {
    return method === 'POST'
      ? { method, path: `bridges/${this.bridgeId}/play/${this.bridgeId}`, query: RING_TONE }
      : { method, path: `playbacks/${this.bridgeId}` };
  }

  /** Opens a channel with its socket, in our application: only then can it be joined. */
  async #openChannel(signal: AbortSignal): Promise<void> {
    const { peer } = this.#options;
    const channelId = peer.ids.make('m');
    this.#channelId = channelId;
    const waiting = new AbortController();
    const both = AbortSignal.any([signal, waiting.signal]);
    let started = (): void => undefined;
    const inStasis = new Promise<void>((resolve, reject) => {
      started = resolve;
      both.addEventListener('abort', () => reject(both.reason as Error), { once: true });
    });
    inStasis.catch(() => undefined); // Opening may fail first.
    this.#unwatch();
    this.#unwatch = peer.watch(channelId, (event) => {
      if (event.type === 'StasisStart') started();
      if (event.type === 'ChannelDestroyed') waiting.abort(neverUp(event));
    });
    const accept: MediaTransportOptions['accept'] = (transport, start) =>
      this.media.attachTransport(transport, start);
    await this.#transport
      .open({ peer, channelId, format: this.#format, accept, gone: waiting.signal }, both)
      .catch((error: unknown) => {
        throw waiting.signal.aborted ? waiting.signal.reason : error;
      });
    await inStasis;
  }

  /** Runs `work`, aborted if the socket is lost: a channel is either opened and joined, or lost, never both. */
  async #guarded(signal: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const opening = new AbortController();
    this.#opening = opening;
    try {
      await work(AbortSignal.any([signal, opening.signal, this.#over.signal]));
      this.#joinedAtMs = this.#peer.clock.monotonicMs();
    } catch (error) {
      throw opening.signal.aborted ? opening.signal.reason : error;
    } finally {
      this.#opening = undefined;
    }
  }

  #lost(): void {
    const reason = 'its media socket was lost before it was joined';
    if (this.#opening === undefined) void this.#replace();
    else this.#opening.abort(new GatewayError('PBX_MEDIA', { reason }));
  }

  async #join(channels: string, signal: AbortSignal): Promise<void> {
    const path = `bridges/${this.bridgeId}/addChannel`;
    const query = { channel: channels };
    await this.#run({ action: 'bridge', method: 'POST', path, query }, signal);
  }

  /** Replaces lost media. The caller waits meanwhile, in silence and then with music. */
  async #replace(): Promise<void> {
    const { log, clock } = this.#peer;
    if (clock.monotonicMs() - this.#joinedAtMs >= GOOD_MS) this.#outages = 0;
    const before = this.#outages;
    this.#outages += 1;
    this.#isInterrupted = true;
    this.media.interrupted();
    try {
      if (before >= OUTAGES_MAX) throw lostTooOften();
      const { attempts, outageMs } = await endOutage({
        clock,
        signal: this.#over.signal,
        before,
        attempt: (signal) => this.#openOther(signal),
        onLong: () => {
          // A transfer has music or ringing of its own.
          if (!this.#isPaused) this.#music ??= this.#playMusic();
        },
      });
      if (this.#isClosed) return;
      pbxLegs.inc({ kind: this.#way, result: 'replaced' });
      const facts = { attempts, outageMs: Math.round(outageMs) };
      log.warn({ callId: this.#options.callId, ...facts }, 'lost media of a call were replaced');
      this.media.restored({ outageMs, explained: this.#isExplained });
    } catch (error) {
      if (this.#isClosed) return;
      const reason = 'they were lost in the call, and other media could not be opened';
      const isTaken = await this.#isBridgeGone();
      if (this.#isClosed) return;
      this.media.end(new GatewayError('PBX_MEDIA', { reason }, error));
      this.#options.onClosed(isTaken);
      await this.close();
    } finally {
      this.#isInterrupted = false;
      this.#music = undefined;
      this.#isExplained = false;
    }
  }

  /** Whether the bridge was ended without the call: a process that takes this one for dead does so, and has the call. */
  async #isBridgeGone(): Promise<boolean> {
    const path = `bridges/${this.bridgeId}`;
    const status = await bestEffort(this.#peer, { action: 'look', method: 'GET', path });
    return status === 404;
  }

  async #openOther(signal: AbortSignal): Promise<void> {
    const lost = this.#channelId;
    try {
      await this.#guarded(signal, async (both) => {
        await this.#openChannel(both);
        const music = this.#music;
        if (music !== undefined) await this.#endMusic(music, both);
        if (!this.#isPaused) await this.#join(this.#channelId, both);
        // Music that was requested while the channel was being joined.
        const late = this.#music;
        if (late !== undefined && late !== music) await this.#endMusic(late, both);
      });
    } catch (error) {
      // Its socket may close at any time, which must not count as a loss of the next attempt's.
      this.media.detachTransport();
      throw error;
    } finally {
      void hangUpChannel(this.#peer, lost);
    }
  }

  /** Ends the music, except that of a transfer that has begun meanwhile. */
  async #endMusic(music: Promise<void>, signal: AbortSignal): Promise<void> {
    await music;
    if (!this.#isPaused) await this.stopPlayback(signal);
  }

  /** Plays music to the caller. Never rejects. */
  async #playMusic(): Promise<void> {
    if (this.#isClosed) return;
    const { clock, log } = this.#peer;
    const deadline = deadlineSignal(clock, MUSIC_REQUEST_MS_MAX, 'play music', this.#over.signal);
    this.#callerHears = 'music';
    try {
      this.#isExplained = await this.#hold('POST', deadline.signal);
    } catch (error) {
      log.debug({ err: error }, 'no music in an outage');
    } finally {
      deadline.done();
    }
  }

  #watchQueue(): void {
    if (!this.media.traits.marks || this.#isClosed) return;
    this.#look = this.#peer.clock.after(LOOK_MS, () => {
      this.media.requestQueue();
      this.#watchQueue();
    });
  }

  #queue(frames: number): void {
    const idleMs = this.#peer.clock.monotonicMs() - this.media.sentAtMs;
    if (frames <= QUEUE_FRAMES_MAX || idleMs < IDLE_MS) return;
    this.#peer.log.warn({ frames }, "the PBX's queue had grown and was emptied");
    this.media.clear();
  }

  async #end(withBridge: boolean): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#over.abort(new GatewayError('PBX_CALL_GONE'));
    this.#look?.cancel();
    this.#unwatch();
    this.#release();
    this.media.end();
    const path = `bridges/${this.bridgeId}`;
    await Promise.all([
      this.#channelId !== '' && hangUpChannel(this.#peer, this.#channelId),
      withBridge && bestEffort(this.#peer, { action: 'hang-up', method: 'DELETE', path }),
    ]);
  }

  #run(request: AriRequest, signal: AbortSignal): Promise<void> {
    return this.#peer.client.run(request, signal);
  }
}

function lostTooOften(): GatewayError {
  return new GatewayError('PBX_MEDIA', { reason: 'it was lost too often' });
}

/** The media channel ended before it was up. Source: asterisk §2.6. */
function neverUp(event: Extract<AriEvent, { type: 'ChannelDestroyed' }>): GatewayError {
  const reasons: Readonly<Record<number, string>> = {
    3: 'Asterisk could not open its socket to the gateway: look at uri, tls_enabled, ca_list_file, username and password of the connection in websocket_client.conf',
    19: 'the socket was not opened in time',
  };
  const reason = reasons[event.cause] ?? `the media channel ended (cause ${event.cause})`;
  return new GatewayError('PBX_MEDIA', { reason });
}
