// Talks in a browser that do not go well: the microphone is refused, lost or comes back, the socket breaks, the microphone
// picks up the agent. What docs/web-calls.md promises, at the page and by the sound of the call.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { machine } from '../demo/machine-pace.ts';
import { type BreakablePort, openBreakablePort } from '../fakes/breakable-port.ts';
import { expectAccessible, hasChromium, logIn, openPage, withConsole } from './browser.ts';
import { launchChromium } from './chromium.ts';
import { playedOn, tapPlayed } from './played-tap.ts';
import { useEcho, useHooks } from './talk-hooks.ts';
import { channelsOf, expectHeard, expectSpeech, loudS, microphoneFile } from './talk-sound.ts';

/** The microphone speaks after this. */
const SILENCE_S = 4;
/** The gateway ends calls after ten seconds without a message. */
const SILENT_MS = 11_000;
const BACK_MS_MAX = 5_000;
const RATE_HZ = 8_000;
/** The microphone speaks while the agent does. */
const MEANWHILE = { shareMin: 0.7 };
const position = { x: 0, y: 0 };
/** Half a minute of speech, which nothing interrupts and in which nothing is said twice. */
const GREETING = [
  'Thank you for calling the clinic at the old harbour.',
  'We are open from eight in the morning until six in the evening, and closed on Sundays.',
  'Bus number twelve stops right in front of our house, next to the library.',
  'Please bring your insurance card, and a list of the medicine that you take.',
  'Children under ten years do not pay anything for their visit.',
  'If you cannot come, tell us one day before, so that somebody else gets your time.',
  'Parking is possible behind the building, where the blue signs show the way.',
  'For prescriptions, leave your name and your birthday after the tone.',
].join(' ');
const AGENT = {
  nodes: [
    {
      id: '1',
      type: 'startCall',
      position,
      data: {
        name: 'A',
        prompt: 'Talk.',
        greeting_type: 'text',
        greeting: GREETING,
        allow_interrupt: false,
      },
    },
    { id: '2', type: 'endCall', position, data: { name: 'B', prompt: 'Bye.', say: 'Bye.' } },
  ],
  edges: [{ id: '1-2', source: '1', target: '2', data: { label: 'end', condition: 'never' } }],
};

describe.runIf(hasChromium())('a talk', () => {
  const world = withConsole({ microphone: microphoneFile(SILENCE_S) });
  let agentId = '';
  let line: BreakablePort;

  beforeAll(async () => {
    machine.watch();
    agentId = (await world.api.createWorkflow('announcement', AGENT)).id;
    line = await openBreakablePort(Number(new URL(world.gateway.url).port));
  });

  afterAll(() => line?.close());

  /** The page of the agent's test, over a line that can be broken. */
  async function testPage(hooks: (page: Page) => Promise<void> = useHooks): Promise<Page> {
    const page = await openPage(world);
    await tapPlayed(page);
    await hooks(page);
    await page.goto(`http://127.0.0.1:${line.port}/console/agents/${agentId}/test`);
    return page;
  }

  async function talk(page: Page): Promise<void> {
    await page.getByRole('button', { name: 'Talk', exact: true }).click();
    await page.getByText('Connected', { exact: true }).waitFor();
    await heardFor(page, 0.5);
  }

  /** Hangs up, and returns the sound of the call: its recording, and what the page has played. */
  async function soundAfter(page: Page) {
    await page.getByRole('button', { name: 'Hang up' }).click();
    await page.getByText('You hung up').waitFor();
    const [played = new Int16Array()] = await playedOn(page);
    return { ...(await channelsOf(world, agentId, await lastRun())), played };
  }

  async function lastRun(): Promise<string> {
    const runIds = await world.api.allRunIds(agentId);
    return String(Math.max(...runIds.map(Number)));
  }

  it('does not begin when the microphone is refused, and says what to do', async () => {
    const browser = await launchChromium({ refusesMicrophone: true });
    const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
    const refusing = { ...world, browser, context };
    const page = await openPage(refusing);
    await logIn(refusing, page);
    await page.goto(`${world.gateway.url}/console/agents/${agentId}/test`);
    await page.getByRole('button', { name: 'Talk', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'The microphone is refused' }).waitFor();
    await page.getByRole('button', { name: 'Talk again' }).waitFor();
    await expectAccessible(page);
    expect(await world.api.allRunIds(agentId)).toEqual([]);
    await browser.close();
  }, 60_000);

  it('goes on with another microphone when its own is lost', async () => {
    const page = await testPage();
    await talk(page);
    await page.evaluate(() => window.hooks.loseMicrophone());
    await page.getByText('The call continues with the new one').waitFor();
    expect(await page.evaluate(() => window.hooks.opened)).toBe(2);
    // Another device among many is no reason to open anything.
    await page.evaluate(() => navigator.mediaDevices.dispatchEvent(new Event('devicechange')));
    await page.waitForTimeout((SILENCE_S + 2) * 1_000);
    expect(await page.evaluate(() => window.hooks.opened)).toBe(2);
    const { caller, agent, played } = await soundAfter(page);
    expectSpeech(caller, 'the other microphone', MEANWHILE);
    expectHeard(agent, played, 'the agent');
    await page.close();
  }, 60_000);

  it('continues in silence without a microphone, until one is plugged in', async () => {
    const page = await testPage();
    await talk(page);
    await page.evaluate(() => {
      window.hooks.refusal = 'NotFoundError';
      window.hooks.loseMicrophone();
    });
    await page.getByText('There is no microphone: the call continues in silence').waitFor();
    await page.waitForTimeout(SILENT_MS);
    expect(await page.getByText('Connected', { exact: true }).count()).toBe(1);
    await page.evaluate(() => {
      window.hooks.refusal = undefined;
      navigator.mediaDevices.dispatchEvent(new Event('devicechange'));
    });
    await page.getByText('The call continues with the new one').waitFor();
    await page.waitForTimeout((SILENCE_S + 2) * 1_000);
    const { caller, agent, played } = await soundAfter(page);
    expect(caller.length / RATE_HZ).toBeGreaterThan(SILENT_MS / 1_000);
    expectSpeech(caller, 'the microphone that was plugged in', MEANWHILE);
    expectHeard(agent, played, 'the agent');
    await page.close();
  }, 90_000);

  it('continues in silence when the microphone is refused meanwhile, until it is allowed', async () => {
    const page = await testPage();
    await talk(page);
    await page.evaluate(() => {
      window.hooks.refusal = 'NotAllowedError';
      window.hooks.loseMicrophone();
    });
    await page.getByText('The microphone is refused: the call continues in silence').waitFor();
    // Not where the sound is judged: axe keeps the page from playing for longer than it has audio in reserve.
    await expectAccessible(page);
    await page.evaluate(() => {
      window.hooks.refusal = undefined;
      window.hooks.changePermission();
    });
    await page.getByText('The call continues with the new one').waitFor();
    await soundAfter(page);
    await page.close();
  }, 60_000);

  it('goes on over another socket when its own breaks', async () => {
    const page = await testPage();
    await talk(page);
    const runId = await lastRun();
    await line.break('gone');
    await page.getByText('Connection lost, connecting again').waitFor();
    await page.waitForTimeout(2_000);
    await line.mend();
    const mendedAt = performance.now();
    await page.getByText('Connected', { exact: true }).waitFor();
    expect(performance.now() - mendedAt).toBeLessThan(BACK_MS_MAX);
    const before = await playedS(page);
    await page.waitForTimeout((SILENCE_S + 2) * 1_000);
    expect((await playedS(page)) - before).toBeGreaterThan(2);
    expect(await lastRun()).toBe(runId);
    expect((await world.api.run(agentId, runId)).is_completed).toBe(false);
    const { caller } = await soundAfter(page);
    forgetBrokenLine();
    expectSpeech(caller, 'the microphone over the other socket', MEANWHILE);
    await page.close();
  }, 60_000);

  it('is over when its socket stays broken', async () => {
    const page = await testPage();
    await talk(page);
    await line.break('gone');
    await page.getByText('the connection was lost for too long').waitFor();
    await line.mend();
    const ended = async () => (await world.api.run(agentId, await lastRun())).disposition;
    await expect.poll(ended).toBe('user_hangup');
    forgetBrokenLine();
    await page.close();
  }, 60_000);

  it('closes the microphone while the agent speaks if that is picked up whatever is done', async () => {
    const page = await testPage((each) => useEcho(each, { isCancelledByLoopback: false }));
    await talk(page);
    await page.getByText('Use headphones').waitFor();
    await expectAccessible(page);
    const closedFrom = await playedS(page);
    await page.waitForTimeout(2_000);
    const silentFrom = await playedS(page);
    await page.getByRole('button', { name: 'Interrupt' }).click();
    await page.waitForTimeout(1_000);
    expect((await playedS(page)) - silentFrom).toBeLessThan(0.5);
    const { caller } = await soundAfter(page);
    expect(loudS(caller.subarray(0, RATE_HZ * 3)), 'before the check').toBeGreaterThan(0.5);
    const whole = caller.length / RATE_HZ;
    const rest = loudS(caller.subarray(RATE_HZ * Math.ceil(whole - 2)));
    expect(rest, `in the last two seconds of ${whole}, closed from ${closedFrom} on`).toBe(0);
    await page.close();
  }, 60_000);

  it('plays the agent by a loopback if that keeps it out of the microphone', async () => {
    const page = await testPage((each) => useEcho(each, { isCancelledByLoopback: true }));
    await talk(page);
    await expect
      .poll(() => page.evaluate(() => window.hooks.loudestElement()))
      .toBeGreaterThan(0.05);
    await page.waitForTimeout(3_000);
    expect(await page.getByText('Use headphones').count()).toBe(0);
    const { caller } = await soundAfter(page);
    expect(loudS(caller.subarray(-RATE_HZ * 2)), 'in the last two seconds').toBe(0);
    await page.close();
  }, 60_000);

  /** What the browser reports of a socket that breaks is meant to be. */
  function forgetBrokenLine(): void {
    const { faults } = world;
    faults.splice(0, faults.length, ...faults.filter((each) => !/WebSocket|net::ERR_/.test(each)));
  }
});

async function heardFor(page: Page, seconds: number): Promise<void> {
  await expect.poll(() => playedS(page), { timeout: 15_000 }).toBeGreaterThan(seconds);
}

/** Seconds that were loud in what the page has played. */
async function playedS(page: Page): Promise<number> {
  return loudS((await playedOn(page)).at(-1) ?? new Int16Array());
}
