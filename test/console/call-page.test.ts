// The page of a call in a browser: a live call over a simulated Twilio is followed, hung up, and looked at afterwards.

import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CANVAS_HEIGHT, ROWS } from '../../src/console/call/waveform-drawing.ts';
import { callHref } from '../../src/console/links.ts';
import type { CallerLine } from '../demo/caller.ts';
import { machine } from '../demo/machine-pace.ts';
import { holdCall } from '../demo/person.ts';
import { inbound, recording } from '../demo/scenario.ts';
import { setUp } from '../demo/two-calls.ts';
import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import { ACCOUNT_SID, AUTH_TOKEN } from '../fakes/twilio/row.ts';
import { expectAccessible, figureMax, hasChromium, withConsole } from './browser.ts';

/** The account has another number for the tests of the board. */
const NUMBER = '+15005550007';
const LIT_MS_MAX = 500;
const OPENED_MS_MAX = 1_000;
const POLL = { timeout: 20_000, interval: 100 };
/** A person who waits for the end of what the agent says waits longer on a busy machine. */
const CALL_POLL = { timeout: 45_000, interval: 100 };

/** The caller speaks and presses a key with each line, so that no recogniser is needed. */
const LINES: readonly CallerLine[] = [
  { when: 'interrupt', audio: 'book-an-appointment', keys: '1', afterMs: 1_500 },
  { when: 'answer', audio: 'on-wednesday', keys: '3', afterMs: 500 },
].map(({ audio, when, ...line }) => ({
  ...line,
  when: when as CallerLine['when'],
  text: audio,
  samples: recording(audio),
}));

interface Watched {
  lit: [name: string, at: number][];
}

describe.runIf(hasChromium())('the page of a call', () => {
  const world = withConsole();
  let twilio: FakeTwilio;
  let agent = '';
  let runId = '';

  beforeAll(async () => {
    machine.watch();
    twilio = await startFakeTwilio({
      publicWebhookBase: world.gateway.url,
      accountSid: ACCOUNT_SID,
      authToken: AUTH_TOKEN,
      numbers: [NUMBER],
    });
    agent = (await setUp(world.api, twilio.baseUrl, 'twilio', NUMBER)).receiving.id;
    const from = inbound.callerNumber;
    const call = await twilio.placeInboundCall({ from, to: NUMBER });
    void holdCall(call, LINES);
    runId = await vi.waitFor(async () => {
      const [first] = await world.api.runIds(agent);
      if (first === undefined) throw new Error('no run yet');
      return first;
    }, POLL);
  }, 60_000);
  afterAll(() => twilio?.close());

  const open = (atMs?: number) =>
    world.page.goto(`${world.gateway.url}/console${callHref(agent, runId, atMs)}`);

  it('lights the nodes of a live call within 500 ms of the event, and hangs up', async () => {
    const { page, api } = world;
    await open();
    await page.locator('.agent-node[data-state=here]').waitFor();
    await watchLight(page);
    await page.getByRole('button', { name: 'Following' }).waitFor();
    await expect
      .poll(() => page.evaluate(() => (window as unknown as Watched).lit.length), CALL_POLL)
      .toBeGreaterThanOrEqual(2);
    const lit = await page.evaluate(() => (window as unknown as Watched).lit);
    const { logs } = await api.run(agent, runId);
    const entered = new Map(
      (logs?.realtime_feedback_events ?? [])
        .filter(({ type }) => type === 'rtf-node-transition')
        .map(({ node_name: name, timestamp }) => [name, Date.parse(timestamp)]),
    );
    const delays = lit.map(([name, at]) => at - (entered.get(name) ?? 0));
    await pressKeys(page);
    await leaveTheEnd(page);
    await page.getByRole('button', { name: 'Hang up' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Hang up' }).click();
    await page
      .getByRole('region', { name: 'Why it ended' })
      .getByText(/hung up in the console/)
      .waitFor();
    process.stderr.write(`console: nodes lit after ${delays.join(', ')} ms\n`);
    expect(Math.max(...delays)).toBeLessThanOrEqual(figureMax(LIT_MS_MAX));
  });

  it('shows what was said, struck through what was not heard, and the path', async () => {
    const { page } = world;
    await open();
    const transcript = page.getByRole('log', { name: 'Transcript' });
    await transcript.getByText('Keys').first().waitFor();
    const interrupted = transcript.locator('.line[data-kind=agent]').first();
    expect(await interrupted.locator('del').innerText()).not.toBe('');
    expect(await interrupted.innerText()).toContain('interrupted');
    await page.locator('.agent-node[data-state=been]').first().waitFor();
    expect(await page.locator('.react-flow__edge.taken').count()).toBeGreaterThanOrEqual(2);
    const answers = page.getByRole('region', { name: 'Waits for answers' }).locator('tbody tr');
    expect(await answers.count()).toBeGreaterThanOrEqual(1);
  });

  it('draws both channels, marks and answers on one canvas, again in the other theme', async () => {
    const { page } = world;
    await expect.poll(() => colours(page, 'caller'), POLL).toBeGreaterThan(2);
    await expect.poll(() => colours(page, 'agent'), POLL).toBeGreaterThan(2);
    expect(await colours(page, 'marks')).toBeGreaterThan(1);
    expect(await colours(page, 'answers')).toBeGreaterThan(1);
    const picture = page.getByRole('img', { name: /^Waveform of .*presses 2 keys/ });
    const light = await picture.screenshot();
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(async () => (await picture.screenshot()).equals(light), POLL).toBe(false);
    await page.emulateMedia({ colorScheme: 'light' });
  });

  it('plays from a line, marks it, moves the light, and pauses', async () => {
    const { page } = world;
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    const line = page.getByRole('log').locator('.line[data-kind=keys]').first();
    const before = await page.locator('.here').innerText();
    await line.click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    expect(page.url()).toMatch(/#t=\d+\.\d$/);
    expect(await page.locator('.here').innerText()).not.toBe(before);
    const at = () => page.evaluate(() => document.querySelector('audio')?.currentTime ?? 0);
    const begin = Number(page.url().split('#t=')[1]);
    await expect.poll(at, POLL).toBeGreaterThan(begin);
    expect(await page.getByRole('log').locator('[aria-current]').count()).toBe(1);
    await page.getByRole('button', { name: 'Pause' }).click();
    const { width } = (await page.locator('.timeline canvas').boundingBox()) ?? { width: 0 };
    await page.locator('.timeline canvas').click({ position: { x: width / 20, y: 40 } });
    await expect.poll(at, POLL).toBeLessThan(begin);
    await page.getByRole('button', { name: 'Pause' }).click();
  });

  it('opens at the moment of its link', async () => {
    await world.page.goto('about:blank');
    await open(1_200);
    const slider = world.page.getByRole('slider', { name: 'Position in the call' });
    await expect.poll(() => slider.inputValue(), POLL).toBe('1200');
  });

  it('filters raw events, and saves events, transcript, recording and trace', async () => {
    const { page } = world;
    await page.getByText('Show the log of this call').click();
    await page.getByLabel('Type of event').selectOption('node.entered');
    const events = page.getByRole('list', { name: 'Events' }).getByRole('listitem');
    expect(await events.count()).toBeGreaterThanOrEqual(3);
    for (const text of await events.allInnerTexts()) expect(text).toContain('node.entered');

    const log = JSON.parse((await exported(page, 'Events (JSON)')).toString());
    expect(log.map(({ type }: { type: string }) => type)).toContain('call.ended');
    expect((await exported(page, 'Transcript')).toString()).toMatch(/^0:\d\d\.\d Agent: /m);
    expect((await exported(page, 'Recording')).subarray(0, 4).toString()).toBe('RIFF');
    const trace = JSON.parse((await exported(page, 'Trace')).toString());
    expect(trace.traceEvents.length).toBeGreaterThan(8);
  });

  it('is accessible in both schemes and at 375 px', async () => {
    await open();
    await world.page.getByRole('log').getByText('Keys').first().waitFor();
    await expectAccessible(world.page);
  });

  it('opens a run with 2,000 events in less than a second', async () => {
    const { page } = world;
    await page.goto('about:blank');
    await page.route('**/events', (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: longStream(2_000) }),
    );
    const begin = Date.now();
    await open();
    await expect
      // Not by its role, whose search through all lines would be the page's own work.
      .poll(() => page.locator('.transcript .line').count(), { ...POLL, interval: 10 })
      .toBe(2_000);
    const tookMs = Date.now() - begin;
    process.stderr.write(`console: 2,000 events shown after ${tookMs} ms\n`);
    expect(tookMs).toBeLessThan(figureMax(OPENED_MS_MAX));
    await page.unroute('**/events');
  });
});

/** Sends keys to the far end by the keypad; they stand in the transcript. */
async function pressKeys(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Keys', exact: true }).click();
  const dialog = page.getByRole('dialog');
  for (const key of ['1', '#'])
    await dialog.getByRole('button', { name: key, exact: true }).click();
  await dialog.getByRole('button', { name: 'Press', exact: true }).click();
  await dialog.getByText('Pressed: 1#').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('log').locator('[data-kind=sent]').getByText('1#').waitFor();
}

/** Looks at an earlier moment of the live call, and follows it again. */
async function leaveTheEnd(page: Page): Promise<void> {
  await page.locator('.timeline canvas').click({ position: { x: 20, y: 40 } });
  const moment = page.getByRole('slider', { name: 'Position in the call' });
  const at = await moment.inputValue();
  await page.getByRole('button', { name: 'Follow', exact: true }).waitFor();
  expect(await moment.inputValue()).toBe(at);
  await page.getByRole('button', { name: 'Follow', exact: true }).click();
  await page.getByRole('button', { name: 'Following' }).waitFor();
  await expect
    .poll(async () => Number(await moment.inputValue()), POLL)
    .toBeGreaterThan(Number(at));
}

/** Notes each node that is lit from here on, and when. */
function watchLight(page: Page): Promise<void> {
  return page.evaluate(() => {
    const noted: [string, number][] = [];
    let last = document.querySelector('.agent-node[data-state=here] strong')?.textContent;
    const look = () => {
      const name = document.querySelector('.agent-node[data-state=here] strong')?.textContent;
      if (!name || name === last) return;
      last = name;
      noted.push([name, Date.now()]);
    };
    (window as unknown as Watched).lit = noted;
    const what = { subtree: true, childList: true, attributes: true, characterData: true };
    new MutationObserver(look).observe(document.body, what);
  });
}

/** Number of different colours in a row of the canvas. */
function colours(page: Page, row: keyof typeof ROWS): Promise<number> {
  return page.evaluate(
    ({ top, height, canvasHeight }) => {
      const canvas = document.querySelector<HTMLCanvasElement>('.timeline canvas');
      const context = canvas?.getContext('2d');
      if (!canvas || !context || canvas.width === 0) return 0;
      const scale = canvas.height / canvasHeight;
      // Right of the lane's name, and without the line of the playhead.
      const [left, wide] = [60, canvas.width - 70];
      const { data } = context.getImageData(left, top * scale, wide, height * scale);
      return new Set(new Uint32Array(data.buffer)).size;
    },
    { ...ROWS[row], canvasHeight: CANVAS_HEIGHT },
  );
}

async function exported(page: Page, name: string): Promise<Buffer> {
  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name }).click(),
  ]);
  return readFile(await download.path());
}

function longStream(count: number): string {
  const lines = Array.from({ length: count }, (_, index) => {
    const data = {
      type: index % 2 === 0 ? 'rtf-bot-text' : 'rtf-user-transcription',
      payload: { text: `Line ${index} of a long call`, end_ms: index * 500 + 400, final: true },
      timestamp: new Date(index * 500).toISOString(),
      at_ms: index * 500,
    };
    return `id: 1:${index + 1}\ndata: ${JSON.stringify(data)}\n\n`;
  });
  const end = { type: 'completed', payload: {}, timestamp: new Date().toISOString() };
  return `${lines.join('')}event: completed\ndata: ${JSON.stringify(end)}\n\n`;
}
