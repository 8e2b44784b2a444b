// The first steps in Firefox: from the log-in to a live talk with sound both ways, whose nodes light up on the call's page,
// and a second talk on the same page.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { freePort } from '../fakes/free-port.ts';
import { Firefox, hasFirefox } from './firefox.ts';
import { channelsOf, loudS } from './talk-sound.ts';

const TALK_MS = 5_000;
const WAIT = { timeout: 20_000 };

describe.runIf(hasFirefox())('the first steps in Firefox', () => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-firefox-'));
  let gateway: Gateway;
  let firefox: Firefox;
  let page: Page;
  let api: ApiClient;
  let agentId = '';

  beforeAll(async () => {
    gateway = await Gateway.start({
      dataFolder: join(folder, 'data'),
      logFile: join(folder, 'gateway.log'),
      port: await freePort(),
      env: { OPENAI_BASE_URL: '', OPENAI_API_KEY: '' },
    });
    api = new ApiClient(gateway.url, await gateway.firstKey());
    firefox = await Firefox.start(folder);
    page = await firefox.openPage();
  }, 120_000);

  afterAll(async () => {
    await firefox?.close();
    await gateway?.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  it('lead from the log-in to a live talk whose nodes light up', async () => {
    await page.goto(`${gateway.url}/console/`);
    await page.locator('input[name=api_key]').fill(await gateway.firstKey());
    await press(page, 'Log in');
    await page.waitForSelector('button[aria-label="Use this agent: Reception"]', WAIT);
    await page.locator('button[aria-label="Use this agent: Reception"]').click();
    await press(page, 'Talk');
    await sees(page, 'Connected');
    const [agent] = await agents();
    agentId = agent?.id ?? '';
    const [runId] = await api.allRunIds(agentId);
    const callPage = await firefox.openPage();
    await callPage.goto(`${gateway.url}/console/runs/${agentId}/${runId}`);
    await callPage.waitForSelector('.agent-node[data-state="here"]', WAIT);
    await callPage.close();
    await talkOver();
  }, 90_000);

  it('have a second talk on the same page', async () => {
    await press(page, 'Talk again');
    await sees(page, 'Connected');
    await talkOver();
    expect(await api.allRunIds(agentId)).toHaveLength(2);
  }, 60_000);

  it('had sound both ways, and no fault', async () => {
    for (const runId of await api.allRunIds(agentId)) {
      const { caller, agent } = await channelsOf({ api }, agentId, runId);
      expect(loudS(caller), 'the microphone at the gateway').toBeGreaterThan(2);
      expect(loudS(agent), 'the agent').toBeGreaterThan(1);
    }
    // Firefox reports the answer 401 to the first question who is logged in.
    expect(firefox.faults.filter((fault) => !fault.includes('401'))).toEqual([]);
  }, 60_000);

  /** Both meters move: what the page captures, and what its audio thread plays. Then the person hangs up. */
  async function talkOver(): Promise<void> {
    await page.bringToFront();
    for (const name of ['You', 'Agent']) {
      await page.waitForFunction(
        (label) =>
          [...document.querySelectorAll('label')].some(
            (each) => each.textContent === label && (each.querySelector('meter')?.value ?? 0) > 0.3,
          ),
        WAIT,
        name,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, TALK_MS));
    await press(page, 'Hang up');
    await sees(page, 'You hung up');
  }

  async function agents(): Promise<{ id: string }[]> {
    const headers = { 'X-API-Key': await gateway.firstKey() };
    const reply = await fetch(`${gateway.url}/api/v1/workflow/summary`, { headers });
    return (await reply.json()) as { id: string }[];
  }
});

function press(page: Page, name: string): Promise<void> {
  return page.locator(`::-p-xpath(//button[normalize-space()="${name}"])`).click();
}

async function sees(page: Page, text: string): Promise<void> {
  await page.waitForSelector(`::-p-xpath(//*[contains(text(),"${text}")])`, WAIT);
}
