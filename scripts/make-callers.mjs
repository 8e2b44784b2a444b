// Generates the demo callers' lines in fixtures/audio/callers: synthesised by CMU Flite (Debian packages flite and
// ffmpeg), then reduced to telephone quality: 8 kHz, 300 to 3400 Hz, G.711 mu-law. The voices use random numbers: files
// differ slightly from run to run; the committed ones were measured.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const target = fileURLToPath(new URL('../fixtures/audio/callers/', import.meta.url));

/** Voice and words by file name. */
const lines = {
  'book-an-appointment': ['awb', 'Book an appointment.'],
  'on-wednesday': ['awb', 'On Wednesday.'],
  'in-the-morning': ['awb', 'In the morning.'],
  'that-is-right': ['awb', "That's right."],
  'yes-please': ['awb', 'Yes, please.'],
  'no-thank-you': ['awb', 'No, thank you.'],
  'another-day': ['awb', 'Another day.'],
};

/** Filters with the steep edges of the telephone band. */
const BAND = [
  ...Array(2).fill('highpass=f=300:poles=2'),
  ...Array(4).fill('lowpass=f=3400:poles=2'),
  'aresample=8000:resampler=soxr',
].join(',');
/** Peak of the 16-bit samples: loud, but far from clipping. */
const PEAK = 16_000;

const folder = mkdtempSync(join(tmpdir(), 'callers-'));
for (const [name, [voice, words]] of Object.entries(lines)) {
  const wide = join(folder, `${name}.wav`);
  execFileSync('flite', ['-voice', voice, '-t', words, '-o', wide]);
  const narrow = ffmpeg(['-i', wide, '-af', BAND, '-f', 's16le', '-']);
  const gain = PEAK / peakOf(narrow);
  const exact = ['-bitexact', '-fflags', '+bitexact', '-map_metadata', '-1'];
  const out = ['-ac', '1', '-c:a', 'pcm_mulaw', ...exact, join(target, `${name}.wav`)];
  ffmpeg(['-i', wide, '-af', `${BAND},volume=${gain.toFixed(4)}`, ...out]);
  console.log(`${name}.wav: ${voice} says "${words}"`);
}
rmSync(folder, { recursive: true });

function ffmpeg(options) {
  return execFileSync('ffmpeg', ['-y', '-v', 'error', ...options]);
}

function peakOf(bytes) {
  let peak = 1;
  for (let at = 0; at + 1 < bytes.length; at += 2) {
    peak = Math.max(peak, Math.abs(bytes.readInt16LE(at)));
  }
  return peak;
}
