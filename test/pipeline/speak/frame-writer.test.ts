// The way out at another rate: what the resampler remembers must not outlive a clear, and must outlive
// everything else.

import { describe, expect, it } from 'vitest';
import { l16Wide } from '../../../src/codec/l16.ts';
import { FrameWriter } from '../../../src/pipeline/speak/frame-writer.ts';
import { sine } from '../../audio/sine.ts';

function start() {
  const sent: number[][] = [];
  const wire = { audio: (payload: Uint8Array) => void sent.push([...payload]) };
  const writer = new FrameWriter({ codec: l16Wide, wire });
  const write = (samples: Int16Array) => {
    writer.shape(samples, 1, 0);
    writer.send(samples);
  };
  return { writer, write, sent };
}

const tone = sine({ hz: 440, rateHz: 8_000, count: 3 * 160, amplitude: 8_000 });
const frame = (nth: number) => tone.slice(nth * 160, (nth + 1) * 160);

describe('frames on their way to a provider of another rate', () => {
  it('hold nothing of what a clear has dropped', () => {
    const used = start();
    used.write(new Int16Array(160).fill(-30_000));
    used.writer.restart(1);
    used.write(frame(0));
    const fresh = start();
    fresh.write(frame(0));
    expect(used.sent[1]).toEqual(fresh.sent[0]);
  });

  it('go on without a step where no clear was: each depends on the one before', () => {
    const whole = start();
    for (const nth of [0, 1, 2]) whole.write(frame(nth));
    const alone = start();
    alone.write(frame(2));
    expect(whole.sent[2]).not.toEqual(alone.sent[0]);
    const samples = new Int16Array(3 * 320);
    whole.sent.forEach((payload, nth) => {
      l16Wide.decode(Uint8Array.from(payload), samples.subarray(nth * 320, (nth + 1) * 320));
    });
    // A tone of 440 Hz at 16 kHz moves by no more than this from one sample to the next.
    const steps = [...samples.subarray(1)].map((sample, i) => Math.abs(sample - (samples[i] ?? 0)));
    expect(Math.max(...steps.slice(60))).toBeLessThan(1_500);
  });
});
