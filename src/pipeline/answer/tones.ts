// Tones in a frame of 8 kHz audio: its frequency if it is a single tone, both frequencies if it is a pair, and how periodic
// it is. By linear prediction: no tables and no window, a frame is enough.

import { RATE_HZ } from '../../audio/pcm.ts';

/** Share of a frame's energy that one tone does not explain: G.711 leaves up to 0.003 of a soft tone; two tones and speech
 *  leave more. */
const SINGLE_REST_MAX = 0.004;
/** The same for a pair, whose prediction has two factors that amplify the noise of G.711. */
const PAIR_REST_MAX = 0.03;
/** Lags of the periods that are searched: 80 to 500 Hz. */
const LAG_MIN = 16;
const LAG_MAX = 100;

/** Frequency of the single tone of the frame, in Hz; 0 if there is none. For a tone, two samples predict the next:
 *  x[n] + x[n-2] = 2 cos(w) x[n-1]. */
export function toneOf(frame: Int16Array): number {
  let across = 0;
  let middle = 0;
  let outer = 0;
  for (let n = 2; n < frame.length; n++) {
    const sum = (frame[n] as number) + (frame[n - 2] as number);
    const mid = frame[n - 1] as number;
    across += sum * mid;
    middle += mid * mid;
    outer += sum * sum;
  }
  if (middle === 0) return 0;
  const ratio = across / middle; // 2 cos(w), by least squares.
  const rest = outer - ratio * across;
  if (rest > SINGLE_REST_MAX * middle || Math.abs(ratio) >= 2) return 0;
  return hzOf(ratio / 2);
}

/** Frequencies of the two tones of the frame, the lower one first; undefined if it is no pair. Four samples predict the
 *  next: x[n] + x[n-4] = a (x[n-1] + x[n-3]) + b x[n-2], with a = 2 (cos u + cos v) and b = -2 - 4 cos u cos v. */
export function tonePairOf(frame: Int16Array): { lowHz: number; highHz: number } | undefined {
  let aa = 0;
  let ab = 0;
  let bb = 0;
  let ay = 0;
  let by = 0;
  let yy = 0;
  for (let n = 4; n < frame.length; n++) {
    const y = (frame[n] as number) + (frame[n - 4] as number);
    const a = (frame[n - 1] as number) + (frame[n - 3] as number);
    const b = frame[n - 2] as number;
    aa += a * a;
    ab += a * b;
    bb += b * b;
    ay += a * y;
    by += b * y;
    yy += y * y;
  }
  const determinant = aa * bb - ab * ab;
  if (bb === 0 || determinant <= 1e-6 * aa * bb) return undefined;
  const first = (ay * bb - by * ab) / determinant;
  const second = (by * aa - ay * ab) / determinant;
  if (yy - first * ay - second * by > PAIR_REST_MAX * bb) return undefined;
  return pairOf(first / 2, -(second + 2) / 4);
}

/** How much a frame repeats itself, 0 to 1: voices and instruments do, noise does not. */
export function periodicityOf(frame: Int16Array): number {
  let best = 0;
  for (let lag = LAG_MIN; lag <= LAG_MAX; lag += 1) {
    let product = 0;
    let one = 0;
    let other = 0;
    for (let n = lag; n < frame.length; n += 2) {
      const now = frame[n] as number;
      const before = frame[n - lag] as number;
      product += now * before;
      one += now * now;
      other += before * before;
    }
    const correlation = product / Math.sqrt(one * other + 1);
    if (correlation > best) best = correlation;
  }
  return best;
}

/** Frequencies of which the cosines have this sum and this product. */
function pairOf(sum: number, product: number): { lowHz: number; highHz: number } | undefined {
  const root = sum * sum - 4 * product;
  if (root <= 0) return undefined;
  const high = (sum - Math.sqrt(root)) / 2;
  const low = (sum + Math.sqrt(root)) / 2;
  if (low >= 1 || high <= -1) return undefined;
  return { lowHz: hzOf(low), highHz: hzOf(high) };
}

function hzOf(cosine: number): number {
  return (Math.acos(cosine) * RATE_HZ) / (2 * Math.PI);
}
