// The board in a browser: a live call appears, moves and ends; what can be done to it; and a thousand calls at a time.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { machine } from '../demo/machine-pace.ts';
import { holdCall } from '../demo/person.ts';
import { callerLines, inbound, OWN_NUMBER } from '../demo/scenario.ts';
import { setUp } from '../demo/two-calls.ts';
import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import { ACCOUNT_SID, AUTH_TOKEN } from '../fakes/twilio/row.ts';
import { expectAccessible, figureMax, hasChromium, openPage, withConsole } from './browser.ts';

/** Calls, and changes of them in a second. */
const CALLS = 1_000;
const CHANGES_PER_S = 500;
const LOAD_MS = 4_000;
const BATCH_MS = 250;
/** Longest time between two frames: one task and the frame it is in. */
const FRAME_MS_MAX = 50;

describe.runIf(hasChromium())('the board', () => {
  const world = withConsole();
  let twilio: FakeTwilio;

  beforeAll(async () => {
    const { gateway, api } = world;
    twilio = await startFakeTwilio({
      publicWebhookBase: gateway.url,
      accountSid: ACCOUNT_SID,
      authToken: AUTH_TOKEN,
      numbers: [OWN_NUMBER],
    });
    await setUp(api, twilio.baseUrl);
    await world.page.goto(`${gateway.url}/console/`);
  }, 60_000);

  afterAll(() => twilio?.close());

  it('says what to do when no call goes on', async () => {
    await world.page.getByText('No active calls').waitFor();
    await expectAccessible(world.page);
  });

  it('shows a call, its node and last words as they change, and hangs it up', async () => {
    const { page } = world;
    const call = await twilio.placeInboundCall({ from: inbound.callerNumber, to: OWN_NUMBER });
    const row = page.getByRole('row').filter({ hasText: inbound.callerNumber });
    await row.waitFor();
    await row.getByText('Agent:').waitFor({ timeout: 30_000 }); // Once the greeting is over.
    expect(await row.getByRole('link', { name: inbound.agentName }).getAttribute('href')).toMatch(
      /^\/console\/runs\/\d+\/\d+$/,
    );
    const words = row.locator('.board-words');
    const before = await words.innerText();
    void holdCall(call, callerLines(inbound, false).slice(0, 1));
    await expect.poll(() => words.innerText(), { timeout: 20_000 }).not.toBe(before);
    await expect
      .poll(async () => (await words.innerText()).split('\n')[0], { timeout: 20_000 })
      .not.toBe(before.split('\n')[0]);
    await expectAccessible(page);

    await row.getByRole('button', { name: 'Send keys' }).click();
    await page.getByLabel('Keys', { exact: true }).fill('1');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await page.getByLabel('Filter').fill('nobody');
    await page.getByText('No call matches the filter').waitFor();
    await page.getByLabel('Filter').fill(inbound.callerNumber);
    await row.getByRole('button', { name: 'Hang up' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Hang up' }).click();
    await expect.poll(() => call.isOver, { timeout: 10_000 }).toBe(true);
    await row.waitFor({ state: 'detached' });
    await page.getByLabel('Filter').fill('');
  }, 90_000);

  it('opens its socket again after it broke', async () => {
    const page = await openPage(world);
    let opened = 0;
    await page.routeWebSocket('**/console/live', (socket) => {
      opened += 1;
      if (opened === 1) void socket.close({ code: 1001, reason: 'closing' });
      else socket.connectToServer();
    });
    await page.goto(`${world.gateway.url}/console/`);
    await page.getByText('The connection to the gateway is broken').waitFor();
    await page.getByText('No active calls').waitFor();
    expect(opened).toBe(2);
    await page.close();
  });

  it(`draws ${CALLS} calls with ${CHANGES_PER_S} changes a second within ${FRAME_MS_MAX} ms a frame`, async () => {
    const page = await openPage(world);
    const stop = await feed(page);
    await page.goto(`${world.gateway.url}/console/`);
    await page.getByText('1,000 calls').waitFor();
    expect(await page.getByRole('row').count()).toBe(51);
    const first = await page.locator('.board-words').nth(1).innerText();
    machine.watch();
    const cpu = await cpuMeter(page);
    const figures = { ...(await framesOf(page)), cpuMsOfBatch: await cpu(LOAD_MS / BATCH_MS) };
    stop();
    process.stderr.write(`board: ${JSON.stringify(figures)}\n`);
    expect(await page.locator('.board-words').nth(1).innerText()).not.toBe(first);
    expect(figures.frames).toBeGreaterThan(LOAD_MS / 40);
    // Processor time is the page's own, whatever else the machine does; the longest frame is printed alone.
    expect(figures.cpuMsOfBatch).toBeLessThan(FRAME_MS_MAX);
    expect(figures.p99Ms).toBeLessThanOrEqual(figureMax(FRAME_MS_MAX));
    await page.getByLabel('Filter').fill('agent 7');
    await page.getByText('of 1,000 calls').waitFor();
    await page.getByLabel('Filter').fill('');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Page 2 of 20').waitFor();
    await expectAccessible(page);
    await page.close();
  }, 60_000);
});

/** Stands in for the gateway's socket; the returned function ends the changes. */
async function feed(page: Page): Promise<() => void> {
  let timer: NodeJS.Timeout | undefined;
  await page.routeWebSocket('**/console/live', (socket) => {
    const now = Date.now();
    const calls = Array.from({ length: CALLS }, (_, at) => callAt(at, now));
    socket.send(JSON.stringify({ type: 'snapshot', now, calls, total: CALLS }));
    let count = 0;
    timer = setInterval(() => {
      const changed = Array.from({ length: (CHANGES_PER_S * BATCH_MS) / 1_000 }, () => {
        count += 1;
        // The first page's fifty calls are among them each time.
        const at = count % 3 === 0 ? CALLS - 1 - (count % 50) : (count * 7) % CALLS;
        return {
          run_id: String(at + 1),
          node: `Node ${count % 9}`,
          last_speaker: count % 2 === 0 ? 'agent' : 'caller',
          last_words: `Words number ${count}, which are about as long as those of a real call`,
        };
      });
      socket.send(JSON.stringify({ type: 'changes', calls: changed, ended: [], total: CALLS }));
    }, BATCH_MS);
  });
  return () => clearInterval(timer);
}

function callAt(at: number, now: number) {
  return {
    run_id: String(at + 1),
    workflow_id: '1',
    agent: `Agent ${at % 12}`,
    direction: at % 2 === 0 ? 'inbound' : 'outbound',
    provider: 'twilio',
    caller_number: `+1500555${String(at).padStart(4, '0')}`,
    called_number: OWN_NUMBER,
    state: 'answered',
    since: now - at * 1_000,
    gateway: 'gw1',
    node: 'Welcome',
    last_speaker: 'agent',
    last_words: 'How can I help you today?',
  };
}

/** Processor time of the page's thread since now, in milliseconds for each of `count` batches. */
async function cpuMeter(page: Page): Promise<(count: number) => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const read = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN);
  };
  const before = await read();
  return async (count) => Math.round(((await read()) - before) / count);
}

/** Times between frames, and tasks of more than 50 ms, while the feed goes on. */
function framesOf(page: Page) {
  return page.evaluate(async (ms) => {
    let longestTaskMs = 0;
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries())
        longestTaskMs = Math.max(longestTaskMs, duration);
    });
    observer.observe({ entryTypes: ['longtask'] });
    const times: number[] = [];
    const beganAt = performance.now();
    let last = beganAt;
    while (last - beganAt < ms) {
      const at = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
      times.push(at - last);
      last = at;
    }
    observer.disconnect();
    times.sort((one, other) => one - other);
    const at = (share: number): number => times[Math.floor(times.length * share)] ?? 0;
    return {
      frames: times.length,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
      longestMs: at(1 - 1e-9),
      longestTaskMs,
    };
  }, LOAD_MS);
}
