// The sound of a call that the console has held: what the microphone says, the two channels of the recording, and what is
// expected of them.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { readWav, wavHeader } from '../../src/audio/wav.ts';
import { type ApiClient, download } from '../demo/api-client.ts';
import { rms } from '../demo/caller.ts';
import { machine } from '../demo/machine-pace.ts';
import { matchSound, type SoundMatch } from './sound-match.ts';

/** Rate of recordings and of the fixtures, and of Chromium's fake microphone. */
const RECORDED_HZ = 8_000;
const MICROPHONE_HZ = 48_000;
const LOUD = 250;
const RECORDING_MS_MAX = 30_000;
/** Windows at the edges of words that a browser's noise suppression changes. */
const SHARE_MIN = 0.9;
const GAP_MS_MAX = 40;
/** Enough speech to be judged. */
const LOUD_S_MIN = 0.7;

/** What the microphone says, at the rate of recordings: 1.5 s. */
const SPEECH = readWav(readFileSync('fixtures/audio/callers/book-an-appointment.wav')).samples;

/** A file for Chromium's fake microphone, which says the speech after some seconds of silence, again and again. It is there
 *  until the tests of the file are over. */
export function microphoneFile(silenceS: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-microphone-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const times = MICROPHONE_HZ / RECORDED_HZ;
  const silence = silenceS * MICROPHONE_HZ;
  const samples = new Int16Array(silence + SPEECH.length * times);
  for (let at = 0; at < SPEECH.length * times; at += 1) {
    const before = SPEECH[Math.floor(at / times)] ?? 0;
    const after = SPEECH[Math.floor(at / times) + 1] ?? 0;
    samples[silence + at] = Math.round(before + ((after - before) * (at % times)) / times);
  }
  const dataBytes = samples.length * 2;
  const header = wavHeader({ rateHz: MICROPHONE_HZ, channels: 1, dataBytes });
  const file = join(folder, 'microphone.wav');
  writeFileSync(file, Buffer.concat([header, Buffer.from(samples.buffer)]));
  return file;
}

export async function channelsOf(
  { api }: { api: ApiClient },
  workflowId: string,
  runId: string,
): Promise<{ caller: Int16Array; agent: Int16Array }> {
  const urlOf = async () => (await api.run(workflowId, runId)).recording_url;
  await expect.poll(urlOf, { timeout: RECORDING_MS_MAX }).toBeTruthy();
  const { samples, channels, rateHz } = readWav(await download(String(await urlOf())));
  expect([channels, rateHz]).toEqual([2, RECORDED_HZ]);
  return {
    caller: samples.filter((_, at) => at % 2 === 0),
    agent: samples.filter((_, at) => at % 2 === 1),
  };
}

/** The microphone's speech was heard, once as a whole: the end of the call may cut it off when it comes again. `shareMin` is
 *  lower for a caller who speaks while the agent does: the browser's echo canceller takes some of that away. */
export function expectSpeech(heard: Int16Array, what: string, { shareMin = SHARE_MIN } = {}): void {
  const latest = heard.length - SPEECH.length;
  expectMatch(matchSound(SPEECH, heard, RECORDED_HZ, latest), what, shareMin);
}

/** The same words in the same order, without a gap within an utterance. */
export function expectHeard(original: Int16Array, heard: Int16Array, what: string): void {
  expectMatch(matchSound(original, heard, RECORDED_HZ), what, SHARE_MIN);
}

function expectMatch(match: SoundMatch, what: string, shareMin: number): void {
  const { loudS: saidS, share, gapMs } = match;
  const figures = `${what}: ${JSON.stringify(match)}`;
  expect(saidS, `seconds of speech, ${figures}`).toBeGreaterThan(LOUD_S_MIN);
  expect(share, `share that was heard, ${figures}`).toBeGreaterThan(shareMin);
  // Beside other work the page and the gateway are late themselves.
  expect(gapMs, `longest gap, ${figures}`).toBeLessThanOrEqual(machine.scaled(GAP_MS_MAX));
}

/** Seconds that are loud, of a sound at the rate of recordings. */
export function loudS(sound: Int16Array): number {
  const frame = RECORDED_HZ / 50;
  let loud = 0;
  for (let at = 0; at + frame <= sound.length; at += frame) {
    if (rms(sound.subarray(at, at + frame)) > LOUD) loud += 1;
  }
  return loud / 50;
}
