// The first steps in a browser: from the log-in to a talk with an agent in at most five clicks, and a second talk on the
// same page. Judged by the sound of both directions.

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { machine } from '../demo/machine-pace.ts';
import { expectAccessible, hasChromium, withConsole } from './browser.ts';
import { playedOn, tapPlayed } from './played-tap.ts';
import { channelsOf, expectHeard, expectSpeech, microphoneFile } from './talk-sound.ts';

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
    await talkAgain(page);
    await page.getByRole('button', { name: 'Mute' }).click();
    await page.getByRole('button', { name: 'Muted' }).click();
    await page.getByRole('button', { name: 'Keys' }).click();
    await expectAccessible(page);
    await talkOver(page);
    expect((await world.api.allRunIds(workflowId)).length).toBeGreaterThan(1);
  }, 90_000);

  it('were heard in both directions: the microphone at the gateway, the agent on the page', async ({
    task,
  }) => {
    // The same two sounds would be judged the same: a second try has two further talks.
    for (let talks = task.result?.retryCount ? 2 : 0; talks > 0; talks -= 1) {
      await talkAgain(world.page);
      await talkOver(world.page);
    }
    const played = await playedOn(world.page);
    const runIds = (await world.api.allRunIds(workflowId)).toSorted(
      (one, other) => Number(one) - Number(other),
    );
    expect(played).toHaveLength(runIds.length);
    for (const [at, runId] of [...runIds.entries()].slice(-2)) {
      const { caller, agent } = await channelsOf(world, workflowId, runId);
      expectSpeech(caller, 'the microphone at the gateway');
      expectHeard(agent, played[at] as Int16Array, 'the agent on the page');
    }
  }, 150_000);
});

async function talkAgain(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Talk again' }).click();
  await page.getByText('Connected', { exact: true }).waitFor();
}

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
