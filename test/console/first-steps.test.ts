// The first steps in a browser: from the log-in to a talk with an agent in at most five clicks, and a second talk on the
// same page. Judged by the sound of both directions.

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { machine } from '../demo/machine-pace.ts';
import { expectAccessible, hasChromium, withConsole } from './browser.ts';
import { playedOn, tapPlayed } from './played-tap.ts';
import { channelsOf, expectHeard, microphoneFile, SPEECH } from './talk-sound.ts';

const CLICKS_MAX = 5;
/** The microphone speaks after this, when the greeting is over. */
const SILENCE_S = 6;

describe.runIf(hasChromium())('the first steps', () => {
  const world = withConsole({ microphone: microphoneFile(SILENCE_S) });
  let workflowId = '';

  it(`lead from the log-in to a talk in at most ${CLICKS_MAX} clicks`, async () => {
    const { page } = world;
    machine.watch();
    const clicks = 1; // Of the log-in.
    await tapPlayed(page);
    await page.reload();
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

  it('were heard in both directions: the microphone at the gateway, the agent on the page', async () => {
    const played = await playedOn(world.page);
    const runIds = await world.api.allRunIds(workflowId);
    expect(played).toHaveLength(runIds.length);
    for (const [at, runId] of runIds
      .toSorted((one, other) => Number(one) - Number(other))
      .entries()) {
      const { caller, agent } = await channelsOf(world, workflowId, runId);
      expectHeard(SPEECH, caller, 'the microphone at the gateway');
      expectHeard(agent, played[at] as Int16Array, 'the agent on the page');
    }
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
