// The first steps in Firefox: from the log-in to a live talk with sound both ways, whose nodes light up on the call's page,
// and a second talk on the same page.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'puppeteer-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ApiClient } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { freePort } from '../fakes/free-port.ts';
import { Firefox, hasFirefox } from './firefox.ts';
import { channelsOf, loudS } from './talk-sound.ts';

const TALK_MS = 5_000;
/** Of a Firefox that has just started, beside what the machine does else. */
const WAIT = { timeout: 60_000 };

interface World {
  gateway: Gateway;
  firefox: Firefox;
  api: ApiClient;
}

describe.runIf(hasFirefox())('the first steps in Firefox', () => {
  // One test with a gateway and a browser of its own: a second try begins where the first did.
  it('lead from the log-in to two talks with sound both ways, and no fault', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'patchbay-firefox-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const world = await start(folder);
    try {
      const page = await world.firefox.openPage();
      page.setDefaultTimeout(WAIT.timeout);
      page.setDefaultNavigationTimeout(WAIT.timeout);
      const agentId = await firstTalk(world, page);
      await press(page, 'Talk again');
      await sees(page, 'Connected');
      await talkOver(page);
      const runIds = await world.api.allRunIds(agentId);
      expect(runIds).toHaveLength(2);
      for (const runId of runIds) {
        const { caller, agent } = await channelsOf(world, agentId, runId);
        expect(loudS(caller), 'the microphone at the gateway').toBeGreaterThan(2);
        expect(loudS(agent), 'the agent').toBeGreaterThan(1);
      }
      // Firefox reports the answer 401 to the first question who is logged in.
      expect(world.firefox.faults.filter((fault) => !fault.includes('401'))).toEqual([]);
    } catch (error) {
      // A browser that is gone shows nothing: the fault itself counts.
      const pages = await world.firefox.texts().catch(() => []);
      throw new Error(`${pages.join('\n\n')}\n${world.firefox.faults.join('\n')}`, {
        cause: error,
      });
    } finally {
      await world.firefox.close();
      await world.gateway.kill();
    }
  }, 300_000);
});

async function start(folder: string): Promise<World> {
  const gateway = await Gateway.start({
    dataFolder: join(folder, 'data'),
    logFile: join(folder, 'gateway.log'),
    port: await freePort(),
    env: { OPENAI_BASE_URL: '', OPENAI_API_KEY: '' },
  });
  try {
    const api = new ApiClient(gateway.url, await gateway.firstKey());
    return { gateway, api, firefox: await Firefox.start(folder) };
  } catch (error) {
    await gateway.kill();
    throw error;
  }
}

/** From the log-in to the end of a talk, whose nodes light up on the call's page. Returns the agent's id. */
async function firstTalk({ gateway, firefox, api }: World, page: Page): Promise<string> {
  await page.goto(`${gateway.url}/console/`);
  await page.locator('input[name=api_key]').fill(await gateway.firstKey());
  await press(page, 'Log in');
  await page.waitForSelector('button[aria-label="Use this agent: Reception"]', WAIT);
  await page.locator('button[aria-label="Use this agent: Reception"]').click();
  await press(page, 'Talk');
  await sees(page, 'Connected');
  const [agent] = await agentsOf(gateway);
  const agentId = agent?.id ?? '';
  const [runId] = await api.allRunIds(agentId);
  const callPage = await firefox.openPage();
  await callPage.goto(`${gateway.url}/console/runs/${agentId}/${runId}`);
  await callPage.waitForSelector('.agent-node[data-state="here"]', WAIT);
  await callPage.close();
  await talkOver(page);
  return agentId;
}

/** Both meters move: what the page captures, and what its audio thread plays. Then the person hangs up. */
async function talkOver(page: Page): Promise<void> {
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

async function agentsOf(gateway: Gateway): Promise<{ id: string }[]> {
  const headers = { 'X-API-Key': await gateway.firstKey() };
  const reply = await fetch(`${gateway.url}/api/v1/workflow/summary`, { headers });
  return (await reply.json()) as { id: string }[];
}

function press(page: Page, name: string): Promise<void> {
  return page.locator(`::-p-xpath(//button[normalize-space()="${name}"])`).click();
}

async function sees(page: Page, text: string): Promise<void> {
  await page.waitForSelector(`::-p-xpath(//*[contains(text(),"${text}")])`, WAIT);
}
