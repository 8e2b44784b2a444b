// The audio thread of a call: one node with the microphone as its input and the loudspeaker as its output. Frames of 20 ms
// leave in buffers that come back; nothing else is allocated for a quantum. It is a module of its own in the browser.

import type { FromLine, ToLine } from './line-messages.ts';
import { PlayoutRing } from './playout-ring.ts';

declare const sampleRate: number;
declare const registerProcessor: (name: string, of: typeof LineProcessor) => void;
declare abstract class AudioWorkletProcessor {
  readonly port: {
    onmessage: ((event: { data: ToLine }) => void) | null;
    postMessage(message: FromLine, given: ArrayBuffer[]): void;
  };
}

const FRAMES_A_SECOND = 50;
const REPORTS_A_SECOND = 10;
/** Buffers of the pool. A frame beyond them is allocated: the page is late. */
const POOL_MAX = 8;
/** Time after the agent's last sound in which a closed microphone stays closed: the room's echo. */
const GATE_S = 0.25;
/** Time in which the agent is not heard, for a caller who interrupts it with a closed microphone. */
const INTERRUPTION_S = 1.5;
/** Root mean square above which the agent is heard. */
const LOUD = 0.004;

export class LineProcessor extends AudioWorkletProcessor {
  readonly #ring = new PlayoutRing(sampleRate);
  readonly #frameSamples = sampleRate / FRAMES_A_SECOND;
  readonly #pool: ArrayBuffer[] = [];
  #frame: Int16Array<ArrayBuffer>;
  #filled = 0;
  #isMuted = false;
  #isGated = false;
  /** Samples for which the microphone stays closed. */
  #closedFor = 0;
  /** Samples for which the agent is not heard. */
  #silentFor = 0;
  #isOver = false;
  #reportIn = sampleRate / REPORTS_A_SECOND;
  /** Sums of squares since the last report, and their samples. */
  #microphone = 0;
  #agent = 0;

  constructor() {
    super();
    for (let i = 0; i < POOL_MAX; i++) this.#pool.push(new ArrayBuffer(this.#frameSamples * 2));
    this.#frame = this.#nextFrame();
    this.port.onmessage = ({ data }) => this.#take(data);
  }

  process([input]: Float32Array[][], [output]: Float32Array[][]): boolean {
    const played = output?.[0];
    if (played !== undefined) this.#play(played);
    const captured = input?.[0];
    // Without a microphone, while another is opened, silence is sent: the call goes on.
    if (captured !== undefined) this.#capture(captured);
    else if (played !== undefined) this.#captureSilence(played.length);
    if (played !== undefined) this.#report(played.length);
    return !this.#isOver;
  }

  #play(output: Float32Array): void {
    this.#ring.play(output);
    if (this.#silentFor > 0) output.fill(0);
    this.#silentFor = Math.max(0, this.#silentFor - output.length);
    let sum = 0;
    for (let i = 0; i < output.length; i++) sum += (output[i] as number) ** 2;
    this.#agent += sum;
    if (this.#isGated && Math.sqrt(sum / output.length) > LOUD) {
      this.#closedFor = sampleRate * GATE_S;
    } else this.#closedFor = Math.max(0, this.#closedFor - output.length);
    for (const { name, atFrame } of this.#ring.reached())
      this.#send({ type: 'mark', name, atFrame });
  }

  #capture(input: Float32Array): void {
    const isClosed = this.#isMuted || this.#closedFor > 0;
    for (let i = 0; i < input.length; i++) {
      const sample = input[i] as number;
      this.#microphone += sample ** 2;
      this.#push(isClosed ? 0 : sample);
    }
  }

  #captureSilence(count: number): void {
    for (let i = 0; i < count; i++) this.#push(0);
  }

  #push(sample: number): void {
    this.#frame[this.#filled] = Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768)));
    this.#filled += 1;
    if (this.#filled < this.#frameSamples) return;
    const pcm = this.#frame.buffer;
    this.#send({ type: 'frame', pcm }, pcm);
    this.#frame = this.#nextFrame();
    this.#filled = 0;
  }

  #nextFrame(): Int16Array<ArrayBuffer> {
    return new Int16Array(this.#pool.pop() ?? new ArrayBuffer(this.#frameSamples * 2));
  }

  #report(count: number): void {
    this.#reportIn -= count;
    if (this.#reportIn > 0) return;
    const samples = sampleRate / REPORTS_A_SECOND;
    this.#reportIn += samples;
    const ringMs = (this.#ring.length / sampleRate) * 1_000;
    const { underruns } = this.#ring;
    const microphone = Math.sqrt(this.#microphone / samples);
    const agent = Math.sqrt(this.#agent / samples);
    this.#send({ type: 'level', microphone, agent, ringMs, underruns });
    this.#microphone = 0;
    this.#agent = 0;
  }

  #take(message: ToLine): void {
    switch (message.type) {
      case 'audio':
        this.#ring.write(new Int16Array(message.pcm));
        break;
      case 'mark':
        this.#ring.mark(message.name);
        break;
      case 'clear':
        this.#ring.clear();
        break;
      case 'mute':
        this.#isMuted = message.on;
        break;
      case 'gate':
        this.#isGated = message.on;
        break;
      case 'interrupt':
        // The microphone opens when the room's echo of what was heard is over.
        this.#silentFor = sampleRate * INTERRUPTION_S;
        break;
      case 'frame':
        if (this.#pool.length < POOL_MAX) this.#pool.push(message.pcm);
        break;
      case 'end':
        this.#isOver = true;
    }
  }

  #send(message: FromLine, ...given: ArrayBuffer[]): void {
    this.port.postMessage(message, given);
  }
}

registerProcessor('line', LineProcessor);
