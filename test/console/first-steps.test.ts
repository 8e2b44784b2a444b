// The first steps in a browser: from the log-in to a talk with an agent in at most five clicks, and a second talk on the
// same page. Judged by the sound of both directions.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { readWav, wavHeader } from '../../src/audio/wav.ts';
import { download } from '../demo/api-client.ts';
import { rms } from '../demo/caller.ts';
import { expectAccessible, hasChromium, openPage, withConsole } from './browser.ts';

const CLICKS_MAX = 5;
/** Rate of the browser's fake microphone, and of the fixtures. */
const MICROPHONE_HZ = 48_000;
const FIXTURE_HZ = 8_000;
const LOUD_RMS = 250;
/** The microphone speaks after this, into the greeting. */
const SILENCE_S = 3;

describe.runIf(hasChromium())('the first steps', () => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-microphone-'));
  const microphone = join(folder, 'microphone.wav');
  writeFileSync(microphone, microphoneWav('book-an-appointment'));
  const world = withConsole({ microphone });
  let workflowId = '';

  afterAll(() => rmSync(folder, { recursive: true }));

  it(`lead from the log-in to a talk in at most ${CLICKS_MAX} clicks`, async () => {
    const { page } = world;
    const clicks = 1; // Of the log-in.
    await countClicks(page);
    await page.getByRole('heading', { name: 'First steps' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Use this agent: Reception' }).click();
    await page.getByRole('button', { name: 'Talk', exact: true }).click();
    await page.getByText('Connected', { exact: true }).waitFor();
    expect(clicks + (await clicksOf(page))).toBeLessThanOrEqual(CLICKS_MAX);
    const [agent] = (await list(world)) as { id: string }[];
    workflowId = agent?.id ?? '';
    await talkOver(page);
  }, 90_000);

  it('have a second talk on the same page', async () => {
    const { page } = world;
    await page.getByRole('button', { name: 'Talk again' }).click();
    await page.getByText('Connected', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Mute' }).click();
    await page.getByRole('button', { name: 'Muted' }).click();
    await page.getByRole('button', { name: 'Keys' }).click();
    await expectAccessible(page);
    await talkOver(page);
    const runIds = await world.api.allRunIds(workflowId);
    expect(runIds).toHaveLength(2);
  }, 90_000);

  it('were heard in both directions', async () => {
    for (const runId of await world.api.allRunIds(workflowId)) {
      await expect
        .poll(async () => (await world.api.run(workflowId, runId)).recording_url, {
          timeout: 30_000,
        })
        .toBeTruthy();
      const { recording_url: url } = await world.api.run(workflowId, runId);
      const { samples, channels, rateHz } = readWav(await download(String(url)));
      expect(channels).toBe(2);
      const [caller, agent] = [0, 1].map((channel) =>
        loudSeconds(
          samples.filter((_, at) => at % 2 === channel),
          rateHz,
        ),
      );
      expect(agent, 'seconds of the agent').toBeGreaterThan(1);
      expect(caller, 'seconds of the caller').toBeGreaterThan(0.5);
    }
  }, 60_000);

  it('say what to do when the microphone is refused', async () => {
    const page = await openPage(world);
    await page.addInitScript(() => {
      navigator.mediaDevices.getUserMedia = () =>
        Promise.reject(new DOMException('refused', 'NotAllowedError'));
    });
    await page.route('**/api/v1/workflow/count', (route) =>
      route.fulfill({ json: { total: 0, active: 0, archived: 0 } }),
    );
    await page.goto(`${world.gateway.url}/console/`);
    await page.getByRole('button', { name: 'Use this agent: Reception' }).click();
    await page.getByRole('button', { name: 'Talk', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'The microphone is refused' }).waitFor();
    await expectAccessible(page);
    await page.close();
  }, 60_000);
});

/** The agent greets, the microphone speaks, somebody answers; then the person hangs up. */
async function talkOver(page: Page): Promise<void> {
  const transcript = page.getByRole('region', { name: 'Transcript' });
  await transcript.getByText('Agent').first().waitFor();
  await page.waitForTimeout((SILENCE_S + 3) * 1_000);
  await page.getByRole('button', { name: 'Hang up' }).click();
  await page.getByText('You hung up').waitFor();
}

async function countClicks(page: Page): Promise<void> {
  await page.evaluate(() => {
    addEventListener('click', () => {
      const { dataset } = document.documentElement;
      dataset['clicks'] = String(Number(dataset['clicks'] ?? 0) + 1);
    });
  });
}

function clicksOf(page: Page): Promise<number> {
  return page.evaluate(() => Number(document.documentElement.dataset['clicks'] ?? 0));
}

async function list({ gateway, apiKey }: { gateway: { url: string }; apiKey: string }) {
  const headers = { 'X-API-Key': apiKey };
  return (await fetch(`${gateway.url}/api/v1/workflow/summary`, { headers })).json();
}

/** Silence, then a caller of the fixtures, at the rate that Chromium's fake microphone takes. */
function microphoneWav(name: string): Buffer {
  const { samples: speech } = readWav(readFileSync(`fixtures/audio/callers/${name}.wav`));
  const times = MICROPHONE_HZ / FIXTURE_HZ;
  const samples = new Int16Array(SILENCE_S * MICROPHONE_HZ + speech.length * times);
  for (let at = 0; at < speech.length * times; at += 1) {
    const before = speech[Math.floor(at / times)] ?? 0;
    const after = speech[Math.floor(at / times) + 1] ?? 0;
    const share = (at % times) / times;
    samples[SILENCE_S * MICROPHONE_HZ + at] = Math.round(before + (after - before) * share);
  }
  return wavOf(samples, MICROPHONE_HZ);
}

function wavOf(samples: Int16Array, rateHz: number): Buffer {
  const dataBytes = samples.length * 2;
  const header = wavHeader({ rateHz, channels: 1, dataBytes });
  return Buffer.concat([header, Buffer.from(samples.buffer)]);
}

function loudSeconds(samples: Int16Array, rateHz: number): number {
  const frame = rateHz / 50;
  let loud = 0;
  for (let at = 0; at + frame <= samples.length; at += frame) {
    if (rms(samples.subarray(at, at + frame)) > LOUD_RMS) loud += 1;
  }
  return loud / 50;
}
