// Messages between the page and its worklet (line.worklet.ts).

/** To the worklet. `pcm`: linear PCM of 16 bits at the context's rate; the buffer is given away. */
export type ToLine =
  | { type: 'audio'; pcm: ArrayBuffer }
  | { type: 'mark'; name: string }
  | { type: 'clear' }
  | { type: 'mute'; on: boolean }
  /** Whether the microphone is closed while the agent is heard (half duplex). */
  | { type: 'gate'; on: boolean }
  /** The agent is not heard for a moment, and the microphone is open. */
  | { type: 'interrupt' }
  /** A buffer of a frame comes back to its pool. */
  | { type: 'frame'; pcm: ArrayBuffer }
  /** The worklet ends. */
  | { type: 'end' };

/** From the worklet. */
export type FromLine =
  /** 20 ms of the microphone; the buffer is to be sent back. */
  | { type: 'frame'; pcm: ArrayBuffer }
  /** The mark was reached: `atFrame` samples have been played. */
  | { type: 'mark'; name: string; atFrame: number }
  /** Ten times a second: loudness of both sides (root mean square, 0..1), and the state of the ring. */
  | { type: 'level'; microphone: number; agent: number; ringMs: number; underruns: number };
