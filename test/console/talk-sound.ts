// The sound of a call that the console has held: the two channels of its recording, and what is expected of them.

import { expect } from 'vitest';
import { readWav } from '../../src/audio/wav.ts';
import { type ApiClient, download } from '../demo/api-client.ts';
import { matchSound } from './sound-match.ts';

const RECORDED_HZ = 8_000;
const RECORDING_MS_MAX = 30_000;
/** Windows at the edges of words that a browser's noise suppression changes. */
const SHARE_MIN = 0.9;
const GAP_MS_MAX = 40;
/** Enough speech to be judged. */
const LOUD_S_MIN = 0.7;

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

/** The same words in the same order, without a gap within an utterance. */
export function expectHeard(original: Int16Array, heard: Int16Array, what: string): void {
  const match = matchSound(original, heard, RECORDED_HZ);
  const { loudS, share, gapMs } = match;
  expect(loudS, `${what}: seconds of speech`).toBeGreaterThan(LOUD_S_MIN);
  expect(share, `${what}: share that was heard, ${JSON.stringify(match)}`).toBeGreaterThan(
    SHARE_MIN,
  );
  expect(gapMs, `${what}: longest gap`).toBeLessThanOrEqual(GAP_MS_MAX);
}
