// The page's audio thread in a fake AudioWorkletGlobalScope: frames of the microphone, marks, mute and half duplex.

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FromLine, ToLine } from '../../../src/console/audio/line-messages.ts';

const RATE = 16_000;
const QUANTUM = 128;

class FakePort {
  readonly sent: FromLine[] = [];
  onmessage: (event: { data: ToLine }) => void = () => undefined;

  postMessage(message: FromLine): void {
    this.sent.push(message.type === 'frame' ? { ...message, pcm: message.pcm.slice(0) } : message);
  }
}

interface Processor {
  readonly port: FakePort;
  process(inputs: Float32Array[][], outputs: Float32Array[][]): boolean;
}

let Line: new () => Processor;
let line: Processor;

beforeAll(async () => {
  Object.assign(globalThis, {
    sampleRate: RATE,
    ['AudioWorkletProcessor']: class {
      readonly port = new FakePort();
    },
    registerProcessor: (name: string, of: new () => Processor) => {
      expect(name).toBe('line');
      Line = of;
    },
  });
  await import('../../../src/console/audio/line.worklet.ts');
});

beforeEach(() => {
  line = new Line();
});

const tell = (data: ToLine) => line.port.onmessage({ data });
const of = <Type extends FromLine['type']>(type: Type) =>
  line.port.sent.filter((each): each is Extract<FromLine, { type: Type }> => each.type === type);

/** Plays quanta; the loudest sample that was heard. */
function run(quanta: number, microphone: number | undefined = 0): number {
  let loudest = 0;
  for (let i = 0; i < quanta; i++) {
    const output = new Float32Array(QUANTUM);
    const input = microphone === undefined ? [] : [new Float32Array(QUANTUM).fill(microphone)];
    line.process([input], [[output]]);
    loudest = Math.max(loudest, ...output);
  }
  return loudest;
}

const audio = (ms: number) => new Int16Array((RATE * ms) / 1_000).fill(16_384).buffer;
const loudestOf = (frames: readonly { pcm: ArrayBuffer }[]) =>
  Math.max(...frames.flatMap(({ pcm }) => [...new Int16Array(pcm)]));

describe('the audio thread', () => {
  it('sends the microphone in frames of 20 ms, fifty a second', () => {
    run(125, 0.5);
    const frames = of('frame');
    expect(frames).toHaveLength(50);
    expect(frames.map(({ pcm }) => pcm.byteLength)).toEqual(frames.map(() => 640));
    expect(loudestOf(frames)).toBe(16_384);
  });

  it('does not wrap what is louder than the loudest', () => {
    run(5, 3);
    expect(loudestOf(of('frame'))).toBe(32_767);
  });

  it('sends silence while there is no microphone', () => {
    run(125, undefined);
    expect(of('frame')).toHaveLength(50);
  });

  it('sends silence of a muted caller', () => {
    tell({ type: 'mute', on: true });
    run(25, 0.5);
    expect(loudestOf(of('frame'))).toBe(0);
    tell({ type: 'mute', on: false });
    run(25, 0.5);
    expect(loudestOf(of('frame'))).toBe(16_384);
  });

  it('plays, reports marks with their sample, and clears within a quantum', () => {
    tell({ type: 'audio', pcm: audio(100) });
    tell({ type: 'mark', name: 'first' });
    tell({ type: 'audio', pcm: audio(500) });
    tell({ type: 'mark', name: 'second' });
    expect(run(13)).toBe(0.5);
    expect(of('mark')).toEqual([{ type: 'mark', name: 'first', atFrame: 1_600 }]);
    tell({ type: 'clear' });
    expect(run(100)).toBe(0);
    expect(of('mark')).toHaveLength(1);
  });

  it('closes the microphone while the agent is heard, if that is wanted, unless it is interrupted', () => {
    tell({ type: 'gate', on: true });
    tell({ type: 'audio', pcm: audio(2_000) });
    run(50, 0.5);
    expect(loudestOf(of('frame').slice(1))).toBe(0);
    tell({ type: 'interrupt' });
    const before = of('frame').length;
    expect(run(25, 0.5)).toBe(0); // 0.2 s, in which the room's echo ends.
    expect(loudestOf(of('frame').slice(before))).toBe(0);
    expect(run(25, 0.5)).toBe(0);
    expect(loudestOf(of('frame'))).toBe(16_384);
  });

  it('reports levels ten times a second', () => {
    tell({ type: 'audio', pcm: audio(1_000) });
    run(125, 0.25);
    const levels = of('level');
    expect(levels).toHaveLength(10);
    expect(levels[5]?.microphone).toBeCloseTo(0.25, 1);
    expect(levels[5]?.agent).toBeCloseTo(0.5, 1);
  });

  it('uses buffers of frames again that came back', () => {
    for (let i = 0; i < 30; i++) {
      run(5, 0.1);
      for (const frame of of('frame').splice(0)) tell({ type: 'frame', pcm: frame.pcm });
    }
    expect(of('frame').every(({ pcm }) => pcm.byteLength === 640)).toBe(true);
  });

  it('ends when the call has ended', () => {
    const output = [[new Float32Array(QUANTUM)]];
    expect(line.process([[]], output)).toBe(true);
    tell({ type: 'end' });
    expect(line.process([[]], output)).toBe(false);
  });
});
