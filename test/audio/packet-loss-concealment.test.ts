// What is put into gaps of speech, compared with what was there, with the last frame fading, and with silence.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CONCEALED_SAMPLES_MAX,
  CONCEALMENT_SAMPLES,
  PacketLossConcealer,
} from '../../src/audio/packet-loss-concealment.ts';
import { amplitudeAt, meanSquare, noise, powerDb, sine } from './sine.ts';
import { spoken } from './vad/vad-fixture.ts';

const FRAME = 160;
const frames = Math.floor(spoken.pcm.length / FRAME);

/** Makes the samples of one frame: `heard` if it came, else what is put there. */
type Filling = () => (frame: Int16Array, isLost: boolean) => void;

/** A concealer, and what was heard last. */
class Line {
  readonly #concealer = new PacketLossConcealer();
  readonly #ring = new Int16Array(CONCEALMENT_SAMPLES + 7);
  #at = 0;
  #isGap = false;

  hear(pcm: Int16Array, from: number, to: number): void {
    this.#concealer.end(pcm, from, to);
    this.#isGap = false;
    this.#remember(pcm.subarray(from, to));
  }

  conceal(pcm: Int16Array, count: number): void {
    if (!this.#isGap) this.#concealer.begin(this.#ring, this.#at);
    this.#isGap = true;
    this.#concealer.conceal(pcm, count);
    this.#remember(pcm.subarray(0, count));
  }

  silence(pcm: Int16Array, count: number): void {
    this.#concealer.begin(this.#ring, this.#at);
    this.#concealer.silence(pcm, count);
  }

  #remember(pcm: Int16Array): void {
    for (const sample of pcm) {
      this.#ring[this.#at] = sample;
      this.#at = (this.#at + 1) % this.#ring.length;
    }
  }
}

const periods: Filling = () => {
  const concealer = new Line();
  return (frame, isLost) => {
    if (isLost) concealer.conceal(frame, FRAME);
    else concealer.hear(frame, 0, FRAME);
  };
};
const lastFrame: Filling = () => {
  let last = new Int16Array(FRAME);
  const gains = [0.7, 0.4, 0.15, 0];
  let nth = 0;
  return (frame, isLost) => {
    if (!isLost) {
      last = Int16Array.from(frame);
      nth = 0;
      return;
    }
    const [from = 0, to = 0] = gains.slice(nth++);
    frame.set(last.map((sample, i) => Math.round(sample * (from + ((to - from) * i) / FRAME))));
  };
};
const silence: Filling = () => (frame, isLost) => {
  if (isLost) frame.fill(0);
};

/** Which frames are lost: a share of them, `burst` in a row. */
function losses(share: number, burst: number, seed: number): boolean[] {
  const random = noise(seed);
  let left = 0;
  return Array.from({ length: frames }, (_, i) => {
    left = left > 0 ? left - 1 : i > 5 && Math.abs(random()) < share / burst ? burst : 0;
    return left > 0;
  });
}

const bandsHz = [250, 500, 750, 1_000, 1_300, 1_700, 2_200, 2_800];

/** Over the lost frames in which somebody speaks: SNR, and how far the spectrum is off. */
function score(filling: Filling, share: number, burst: number) {
  let snrDb = 0;
  let spectrumDb = 0;
  let count = 0;
  for (let seed = 1; seed <= 5; seed++) {
    const fill = filling();
    losses(share, burst, seed).forEach((isLost, i) => {
      const said = spoken.pcm.subarray(i * FRAME, (i + 1) * FRAME);
      const frame = Int16Array.from(said);
      fill(frame, isLost);
      if (!isLost || meanSquare(said) < 100 ** 2) return;
      const error = meanSquare(said.map((sample, k) => sample - (frame[k] ?? 0)));
      snrDb += Math.max(-10, Math.min(20, powerDb(meanSquare(said) / (error + 1))));
      const off = bandsHz.map(
        (hz) =>
          2 * powerDb((amplitudeAt(said, hz, 8_000) + 3) / (amplitudeAt(frame, hz, 8_000) + 3)),
      );
      spectrumDb += Math.sqrt(off.reduce((sum, db) => sum + db * db, 0) / off.length);
      count++;
    });
  }
  return { snrDb: snrDb / count, spectrumDb: spectrumDb / count };
}

describe('a gap in speech', () => {
  it.each([
    { share: 0.01, burst: 1, moreDb: 1 },
    { share: 0.05, burst: 1, moreDb: 1.5 },
    { share: 0.1, burst: 1, moreDb: 1.5 },
    { share: 0.05, burst: 2, moreDb: 0.2 },
    { share: 0.1, burst: 3, moreDb: 0.1 },
  ])(
    'of $burst frames, $share lost, is nearer to what was said than the last frame again, or silence',
    (of) => {
      const { share, burst, moreDb } = of;
      const own = score(periods, share, burst);
      const again = score(lastFrame, share, burst);
      expect(own.snrDb - again.snrDb).toBeGreaterThan(moreDb);
      expect(own.spectrumDb).toBeLessThan(again.spectrumDb - 0.5);
      expect(own.spectrumDb).toBeLessThan(score(silence, share, burst).spectrumDb / 1.5);
    },
  );

  it('goes on with the pitch that was there, as loud as before for 10 ms', () => {
    const concealer = new Line();
    const tone = sine({ hz: 160, rateHz: 8_000, count: 960, amplitude: 8_000 });
    concealer.hear(tone, 0, 800);
    const filled = new Int16Array(80);
    concealer.conceal(filled, 80);
    const error = meanSquare(filled.map((sample, i) => sample - (tone[800 + i] ?? 0)));
    expect(powerDb(meanSquare(filled) / error)).toBeGreaterThan(25);
  });

  it('fades by a fifth each 10 ms from then on, and is silent after 60', () => {
    const concealer = new Line();
    concealer.hear(sine({ hz: 200, rateHz: 8_000, count: 800, amplitude: 10_000 }), 0, 800);
    const filled = new Int16Array(640);
    concealer.conceal(filled, 640);
    const peaks = Array.from({ length: 8 }, (_, i) =>
      Math.max(...filled.subarray(i * 80, (i + 1) * 80).map(Math.abs)),
    );
    const expected = [10_000, 10_000, 8_000, 6_000, 4_000, 2_000, 0, 0];
    for (const [i, peak] of peaks.entries()) {
      expect(Math.abs(peak - (expected[i] ?? 0))).toBeLessThan(700);
    }
    expect(filled.subarray(CONCEALED_SAMPLES_MAX).every((sample) => sample === 0)).toBe(true);
  });

  it('begins and ends without a click', () => {
    const concealer = new Line();
    const voice = spoken.pcm.subarray(8_000, 8_000 + 4_000);
    const whole = Int16Array.from(voice);
    const steepest = Math.max(
      ...voice.subarray(1).map((sample, i) => Math.abs(sample - (voice[i] ?? 0))),
    );
    for (let at = 0; at < whole.length; at += FRAME) {
      const frame = whole.subarray(at, at + FRAME);
      if ((at / FRAME) % 4 === 3) concealer.conceal(frame, frame.length);
      else concealer.hear(whole, at, at + frame.length);
    }
    const steps = whole.subarray(1).map((sample, i) => Math.abs(sample - (whole[i] ?? 0)));
    expect(Math.max(...steps)).toBeLessThanOrEqual(steepest);
  });

  it('that is known to be silent ends what was said within 5 ms', () => {
    const concealer = new Line();
    concealer.hear(sine({ hz: 200, rateHz: 8_000, count: 800, amplitude: 10_000 }), 0, 800);
    const filled = new Int16Array(160).fill(99);
    concealer.silence(filled, 160);
    expect(filled.subarray(0, 20).some((sample) => Math.abs(sample) > 2_000)).toBe(true);
    expect(filled.subarray(40).every((sample) => sample === 0)).toBe(true);
  });

  it('in silence is silence', () => {
    const concealer = new Line();
    const filled = new Int16Array(400).fill(99);
    concealer.conceal(filled, 400);
    expect(filled.every((sample) => sample === 0)).toBe(true);
  });

  it('leaves audio that comes as it is, but for the first 10 ms behind it', () => {
    const concealer = new Line();
    const voice = Int16Array.from(spoken.pcm.subarray(8_000, 12_000));
    concealer.hear(voice, 0, 4_000);
    expect(voice).toEqual(spoken.pcm.subarray(8_000, 12_000));
    concealer.conceal(new Int16Array(320), 320);
    concealer.hear(voice, 0, 4_000);
    expect(voice.subarray(80)).toEqual(spoken.pcm.subarray(8_080, 12_000));
  });

  it('of any length, anywhere, in any sound, is filled by what was heard, for 60 ms', () => {
    const step = fc.tuple(
      fc.boolean(),
      fc.integer({ min: 0, max: 700 }),
      fc.integer({ min: 0, max: 32_767 }),
    );
    fc.assert(
      fc.property(fc.array(step), fc.integer(), (steps, seed) => {
        const concealer = new Line();
        const random = noise(seed);
        let heardMost = 0;
        let lost = 0;
        for (const [isLost, count, peak] of steps) {
          const pcm = Int16Array.from({ length: count }, () => peak * random());
          if (isLost) concealer.conceal(pcm, count);
          else concealer.hear(pcm, 0, count);
          const most = pcm.reduce((so, sample) => Math.max(so, Math.abs(sample)), 0);
          if (isLost) {
            // The step between two samples, which is up to twice as high as they are, is bent away.
            expect(most).toBeLessThanOrEqual(3 * heardMost);
            const left = Math.max(0, CONCEALED_SAMPLES_MAX - lost);
            expect(pcm.subarray(left).every((sample) => sample === 0)).toBe(true);
          }
          heardMost = Math.max(heardMost, most);
          lost = isLost ? lost + count : 0;
        }
      }),
    );
  });
});
