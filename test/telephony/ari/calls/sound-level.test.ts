// A Local channel for which no formats are named halves the volume: every dial names them. Source: asterisk §4.4.

import { describe, expect, it } from 'vitest';
import { codecByName } from '../../../../src/codec/registry.ts';
import { levelDbfs, sine } from '../../../audio/sounds.ts';
import { Audio, dial, patient, table, until } from '../ari-harness.ts';

const FRAME_SAMPLES = 160;
const FRAMES = 50;
/** A signal that was resampled twice, or coded in µ-law twice, differs by less. */
const DIFFERENCE_DB_MAX = 0.5;

/** The levels in dBFS that arrive at the telephone and at the agent of a call that is dialled to `to`. */
async function levels(to: string, early: boolean): Promise<{ there: number; here: number }> {
  const at = await table({ credentials: { early_media: early } });
  await dial(at, to);
  await until(() => at.harness.answered.length > 0, 'the answer');
  const [answered] = at.harness.answered;
  const audio = new Audio(await at.connection.openMedia(answered?.callId ?? '', patient));
  const phone = at.asterisk.phone('instant');
  const codec = codecByName('PCMU');
  const tone = sine({ hz: 440, levelDbfs: -20 });
  for (let nth = 0; nth < FRAMES; nth++) {
    const pcm = new Int16Array(FRAME_SAMPLES);
    tone.fill(pcm);
    const payload = new Uint8Array(FRAME_SAMPLES);
    codec.encode(pcm, payload);
    audio.media.audio(payload);
  }
  const said = new Int16Array(FRAME_SAMPLES * FRAMES);
  tone.fill(said);
  void phone.say(said);
  await until(
    () => phone.arrivals.length >= FRAMES && audio.frames.length >= FRAMES,
    'a second of sound each way',
  );
  const here = audio.frames.map((frame) => {
    const pcm = new Int16Array(FRAME_SAMPLES);
    codec.decode(frame, pcm);
    return pcm;
  });
  return { there: loudest(phone.heard.map(({ pcm }) => pcm)), here: loudest(here) };
}

/** Frames at the ends of the sound are not full. */
function loudest(frames: Int16Array[]): number {
  return Math.max(...frames.map(levelDbfs));
}

describe('the level of a call through Local channels', () => {
  it.each([
    ['dialled at once', false],
    ['with early media', true],
  ])('is within half a decibel of a call over SIP, both ways: %s', async (_, early) => {
    const sip = await levels('PJSIP/instant@loop', early);
    const local = await levels('Local/instant@out-dest/n', early);
    expect(Math.abs(local.there - sip.there)).toBeLessThanOrEqual(DIFFERENCE_DB_MAX);
    expect(Math.abs(local.here - sip.here)).toBeLessThanOrEqual(DIFFERENCE_DB_MAX);
  });
});
