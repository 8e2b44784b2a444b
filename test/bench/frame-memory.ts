// What the frames of steady calls leave to the garbage collector: bytes of heap a frame, from the bytes of the
// media websocket to the pipeline and back. The sockets, the speech services and the detector are fakes. A program
// of its own, as it measures all of its process; needs --expose-gc. Its argument is a provider in whose messages the
// frames come (default: twilio). Prints one line of JSON.

import { Duplex } from 'node:stream';
import { getHeapStatistics } from 'node:v8';
import { pcmu } from '../../src/codec/g711.ts';
import { registry } from '../../src/metrics/metrics.ts';
import { CallAudio } from '../../src/pipeline/call-audio.ts';
import { MediaClock } from '../../src/pipeline/media-clock.ts';
import { defaultTuning } from '../../src/pipeline/turn/turn-tuning.ts';
import type { MediaListener, MediaSession } from '../../src/telephony/provider/media-session.ts';
import { SocketMediaSession } from '../../src/telephony/provider/socket-media-session.ts';
import {
  DEFAULT_MEDIA_LIMITS,
  MediaConnection,
} from '../../src/transport/websocket/media-connection.ts';
import { vadOf } from '../fakes/call/vad-of.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { protocolOf, streamOf } from '../load/gateway-end.ts';
import { type CallStream, HOSTED } from '../load/wires/wire.ts';
import { wires } from '../load/wires/wires.ts';
import { ignoreEvents, minuteTts, nowhere } from './calls/silent-services.ts';
import { StepClock } from './calls/step-clock.ts';

/** With 20 calls, Node 22 and 24 optimised the last functions after the last round on a busy machine. */
const CALLS = 60;
const TICKS_A_ROUND = 100;
/** Two seconds each, with everything that occurs periodically. The least of them counts: code that is not optimised
 *  yet boxes every number. All within the minute that is said. */
const ROUNDS = 28;
/** No whole milliseconds: a process' clock has none either. */
const TICK_MS = 20.000_7;

export interface FrameMemory {
  /** Heap bytes for a frame of the caller's. */
  inBytes: number;
  /** Heap bytes for a frame of the agent's; three go out in one message. */
  outBytes: number;
  /** Frames that the calls sent and heard in all rounds. */
  framesIn: number;
  framesOut: number;
}

/** The kernel takes everything at once. */
class OpenSocket extends Duplex {
  bytes = 0;

  constructor() {
    super({ decodeStrings: false });
  }

  override _read(): void {
    // What comes is emitted.
  }

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    this.bytes += chunk.length;
    done();
  }
}

interface SteadyCall {
  socket: OpenSocket;
  stream: CallStream;
  message: Buffer;
}

const provider = HOSTED.find((each) => each === process.argv[2]) ?? 'twilio';
const payload = wires[provider].payloadOf(Buffer.alloc(160, 0xd5));
const clock = new StepClock();
const mediaClock = new MediaClock(clock);
const { log } = quietLog('silent');
let framesIn = 0;

process.stdout.write(`${JSON.stringify(await measured())}\n`);

async function measured(): Promise<FrameMemory> {
  const calls = Array.from({ length: CALLS }, (_each, nth) => begin(nth));
  await new Promise((resolve) => setImmediate(resolve));
  const inBytes: number[] = [];
  const outBytes: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    globalThis.gc?.();
    const bytes = runRound(calls);
    inBytes.push(bytes.in);
    outBytes.push(bytes.out);
    await new Promise((resolve) => setImmediate(resolve)); // Deferred events are emitted.
  }
  const told = await registry.getSingleMetric('patchbay_frames_out_total')?.get();
  const framesOut = told?.values.reduce((sum, { value }) => sum + value, 0) ?? 0;
  const sentBytes = calls.reduce((sum, { socket }) => sum + socket.bytes, 0);
  // Base64, and something around it.
  if (sentBytes < (framesOut * pcmu.frameBytes * 4) / 3) throw new Error('frames were not sent');
  return { inBytes: least(inBytes), outBytes: least(outBytes), framesIn, framesOut };
}

/** The least bytes of the rounds in which V8 freed nothing: a collection inside a round makes its bytes negative. */
function least(bytesOfRounds: readonly number[]): number {
  return Math.min(...bytesOfRounds.filter((bytes) => bytes >= 0));
}

function runRound(calls: SteadyCall[]): { in: number; out: number } {
  const bytes = { in: 0, out: 0, looking: 0 };
  for (let tick = 0; tick < TICKS_A_ROUND; tick++) {
    clock.nowMs += TICK_MS;
    for (const call of calls) call.message = call.stream.audio(payload);
    bytes.in += cost(() => {
      for (const { socket, message } of calls) socket.emit('data', message);
    });
    bytes.out += cost(() => clock.tick());
    bytes.looking += cost(() => undefined);
  }
  const frames = TICKS_A_ROUND * calls.length;
  return {
    in: (bytes.in - bytes.looking) / frames,
    out: (bytes.out - bytes.looking) / frames,
  };
}

/** Heap bytes that `work` takes and that looking takes. */
function cost(work: () => void): number {
  const before = getHeapStatistics().used_heap_size;
  work();
  return getHeapStatistics().used_heap_size - before;
}

/** A call whose agent says something long while its caller speaks and pauses by turns. */
function begin(nth: number): SteadyCall {
  const socket = new OpenSocket();
  const connection = new MediaConnection({
    socket,
    head: Buffer.alloc(0),
    side: 'server',
    log,
    clock,
    limits: DEFAULT_MEDIA_LIMITS,
    onClosed: () => undefined,
  });
  connection.admit((media) => hear(media));
  const stream = streamOf(provider, nth);
  for (const message of stream.opening()) connection.onText(message);
  return { socket, stream, message: Buffer.alloc(0) };
}

function hear(media: MediaConnection | Parameters<Parameters<MediaConnection['admit']>[0]>[0]) {
  let audio: CallAudio | undefined;
  const listener: MediaListener = {
    onAudio: (frame, timestampMs) => {
      framesIn += 1;
      audio?.audioIn(frame, timestampMs);
    },
    onEvent: (event) => {
      if (event.type === 'started') audio = open(link);
      if (event.type === 'closed' && 'error' in event) throw event.error;
    },
  };
  const link = new SocketMediaSession({
    socket: media,
    protocol: protocolOf(provider),
    clock,
    log,
  });
  link.attach(listener);
  return link;
}

function open(link: MediaSession): CallAudio {
  let windows = 0;
  const audio = new CallAudio({
    clock,
    mediaClock,
    log,
    wire: link,
    onEvent: ignoreEvents,
    codecIn: pcmu,
    codecOut: pcmu,
    lead: link.traits.lead,
    marks: true,
    vad: vadOf(() => ({ process: () => ((++windows >> 5) & 1 ? 0.9 : 0.01) })),
    stt: undefined,
    tts: minuteTts,
    voice: undefined,
    recording: nowhere,
    tuning: defaultTuning,
  });
  const speech = audio.speak({ utteranceId: 1, interruptible: false });
  speech.text('A minute of it.');
  speech.end();
  return audio;
}
