// What a frame costs when its call is one of many: each call's state is touched 50 times a second in turn with
// all others', and a processor's fast memory does not hold all of it. From the bytes of Twilio's messages to the
// recording and back, both sides speaking, in simulated time. The sockets, the detector and the services are fakes,
// and little memory but the calls' own is touched. A program of its own, as what ran before in its process would
// change its figures. Prints one line of JSON.

import { FRAME_MS, RATE_HZ } from '../../../src/audio/pcm.ts';
import { pcmu } from '../../../src/codec/g711.ts';
import { CallAudio } from '../../../src/pipeline/call-audio.ts';
import { MediaClock } from '../../../src/pipeline/media-clock.ts';
import { defaultTuning } from '../../../src/pipeline/turn/turn-tuning.ts';
import type { TextToSpeech } from '../../../src/speech/tts/tts.ts';
import type { MediaSession } from '../../../src/telephony/provider/media-session.ts';
import { SocketMediaSession } from '../../../src/telephony/provider/socket-media-session.ts';
import { createTwilioMedia } from '../../../src/telephony/twilio/provider.ts';
import type { MediaSocket } from '../../../src/transport/media-socket.ts';
import { vadOf } from '../../fakes/call/vad-of.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { HEADER_BYTES } from '../../load/caller/media-client.ts';
import { streamOf } from '../../load/gateway-end.ts';
import { median } from '../median.ts';
import type { ManyCallsCost } from './many-calls.ts';
import { deafStt, ignoreEvents, nowhere } from './silent-services.ts';
import { StepClock } from './step-clock.ts';

const { log } = quietLog('silent');
const SECOND_TICKS = 1_000 / FRAME_MS;
/** A second before it is measured: the caches and the lead are as they stay. */
const WARM_UP_SECONDS = 6;
/** What an agent says at most. */
const SPEECH_SECONDS_MAX = 60;
/** No whole milliseconds: a process' clock has none either. */
const TICK_MS = FRAME_MS + 0.000_7;
/** A caller's voice is heard for so many windows (a second), and then not for three times as many. */
const VOICE_WINDOWS = 32;
const PAUSE_WINDOWS = 3 * VOICE_WINDOWS;

async function measured(): Promise<ManyCallsCost> {
  const [calls = 1, seconds = 1] = process.argv.slice(2).map(Number);
  const rig = new Rig();
  for (let nth = 1; nth <= calls; nth++) {
    rig.begin();
    // They do not all write their recordings in the same moment.
    if (nth % Math.ceil(calls / SECOND_TICKS) === 0) rig.step();
  }
  await settled(); // The agents have something to say.
  await rig.run(WARM_UP_SECONDS);
  const before = { in: rig.framesIn, out: rig.framesOut };
  const { ins, outs } = await rig.run(seconds);
  return {
    framesIn: rig.framesIn - before.in,
    framesOut: rig.framesOut - before.out,
    inMicroseconds: median(ins),
    outMicroseconds: median(outs),
  };
}

class Rig {
  framesIn = 0;
  framesOut = 0;
  readonly #clock = new StepClock();
  readonly #mediaClock = new MediaClock(this.#clock);
  readonly #links: SocketMediaSession[] = [];
  /** Every stream has the same id, so that one message serves all: those of a socket lie in a shared buffer. */
  readonly #stream = streamOf('twilio');
  readonly #sent = Buffer.alloc(64 * 1024);

  begin(): void {
    let audio: CallAudio | undefined;
    const link = new SocketMediaSession({
      socket: this.#socket(),
      protocol: createTwilioMedia(),
      clock: this.#clock,
      log,
    });
    link.attach({
      onAudio: (payload, timestampMs) => {
        this.framesIn++;
        audio?.audioIn(payload, timestampMs);
      },
      onEvent: (event) => {
        if (event.type === 'started') audio = this.#open(link);
        if (event.type === 'closed' && 'error' in event) throw event.error;
      },
    });
    for (const message of streamOf('twilio').opening()) link.onText(message);
    this.#links.push(link);
  }

  /** Microseconds of a frame in each of `seconds`. */
  async run(seconds: number): Promise<{ ins: number[]; outs: number[] }> {
    const ins: number[] = [];
    const outs: number[] = [];
    for (let second = 0; second < seconds; second++) {
      const spent = { in: 0, out: 0 };
      for (let tick = 0; tick < SECOND_TICKS; tick++) {
        const { inMs, outMs } = this.step();
        spent.in += inMs;
        spent.out += outMs;
      }
      const frames = SECOND_TICKS * this.#links.length;
      ins.push((1_000 * spent.in) / frames);
      outs.push((1_000 * spent.out) / frames);
      await settled();
    }
    return { ins, outs };
  }

  /** 20 ms of every call. */
  step(): { inMs: number; outMs: number } {
    this.#clock.nowMs += TICK_MS;
    const message = this.#stream.audio(speech);
    const begin = performance.now();
    for (const link of this.#links) link.takeAscii(message, HEADER_BYTES, message.length);
    const heard = performance.now();
    this.#clock.tick();
    return { inMs: heard - begin, outMs: performance.now() - heard };
  }

  #open(link: MediaSession): CallAudio {
    const audio = new CallAudio({
      clock: this.#clock,
      mediaClock: this.#mediaClock,
      log,
      wire: link,
      codecIn: pcmu,
      codecOut: pcmu,
      lead: link.traits.lead,
      marks: true,
      vad: vadOf(() => {
        let windows = 0;
        const isVoice = () => windows++ % (PAUSE_WINDOWS + VOICE_WINDOWS) >= PAUSE_WINDOWS;
        return { process: () => (isVoice() ? 0.9 : 0.01) };
      }),
      stt: deafStt,
      tts: secondsTts(),
      voice: undefined,
      recording: nowhere,
      tuning: defaultTuning,
      onEvent: ignoreEvents,
    });
    const speech = audio.speak({ utteranceId: 1, interruptible: false });
    speech.text('A minute of it.');
    speech.end();
    return audio;
  }

  /** Takes every message at once, as the kernel does. */
  #socket(): MediaSocket {
    return {
      sendText: () => undefined,
      sendAscii: (message) => {
        this.#sent.set(message);
        this.framesOut += Math.floor((message.length * 3) / 4 / pcmu.frameBytes);
      },
      sendBinary: () => undefined,
      bufferedBytes: 0,
      open: true,
      close: () => undefined,
    };
  }
}

/** Says a minute, the same second of its own again and again. */
function secondsTts(): TextToSpeech {
  const second = voice(RATE_HZ);
  return {
    name: 'seconds',
    model: 'seconds',
    synthesize(_request, listener) {
      for (let nth = 0; nth < SPEECH_SECONDS_MAX; nth++) listener.onAudio(second);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
}

/** As loud as speech, swelling as it does. */
function voice(samples: number): Int16Array {
  return Int16Array.from({ length: samples }, (_, i) =>
    Math.round(6_000 * Math.sin(i / 7) * Math.sin(i / 700)),
  );
}

function encoded(samples: Int16Array): Buffer {
  const payload = new Uint8Array(pcmu.frameBytes);
  pcmu.encode(samples, payload);
  return Buffer.from(Buffer.from(payload).toString('base64'));
}

const speech = encoded(voice(pcmu.frameBytes));

function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

process.stdout.write(`${JSON.stringify(await measured())}\n`);
