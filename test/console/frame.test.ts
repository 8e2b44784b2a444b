// The console's frame in a browser: log-in and log-out, the session's cookie, themes, the keyboard, and what is sent.

import { describe, expect, it } from 'vitest';
import { inbound } from '../demo/scenario.ts';
import { expectAccessible, hasChromium, logIn, openPage, withConsole } from './browser.ts';
import { newOrganization } from './one-gateway.ts';

/** Bytes of the first page as sent, with headers, until the network is idle: 90 kB as measured. */
const FIRST_LOAD_MAX = 100_000;

describe.runIf(hasChromium())('the frame of the console', () => {
  const world = withConsole();

  it('sends at most 100 kB until the network is idle', async () => {
    const { context, gateway } = world;
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.setCacheDisabled', { cacheDisabled: true });
    let bytes = 0;
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength;
    });
    await page.goto(`${gateway.url}/console/`, { waitUntil: 'networkidle' });
    process.stderr.write(`console: ${bytes} bytes for the first page\n`);
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThanOrEqual(FIRST_LOAD_MAX);
    await page.close();
  });

  it('holds the session in a cookie that scripts cannot read, and no key anywhere', async () => {
    const { page, context, apiKey } = world;
    expect(await page.evaluate(() => document.cookie)).toBe('');
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/' });
    const stored = await page.evaluate(() =>
      JSON.stringify({ ...localStorage, ...sessionStorage }),
    );
    expect(stored).not.toContain(apiKey);
    expect(page.url()).not.toContain(apiKey);
    expect(cookie?.value).not.toContain(apiKey);
  });

  it('changes its theme by the menu, which the keyboard opens and closes', async () => {
    const { page } = world;
    await page.getByRole('button', { name: 'Account' }).focus();
    await page.keyboard.press('Enter');
    const focused = page.locator('[role^=menuitem]:focus');
    await focused.waitFor(); // The browser reports that it has opened in a task of its own.
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => page.evaluate(() => document.documentElement.dataset['theme']))
      .toBe('dark');
    expect(await page.getByRole('menu').isVisible()).toBe(false);
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
  });

  it('is accessible in both schemes and at 375 px', async () => {
    await expectAccessible(world.page);
  });

  it('shows a refused key, and asks again after the log-out', async () => {
    const page = await openPage(world);
    await page.goto(`${world.gateway.url}/console/`);
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    await page.getByLabel('API key').fill('pbk_wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').filter({ hasText: 'Invalid or expired API key' }).waitFor();
    await expectAccessible(page);
    world.faults.length = 0; // Chromium reports the answer 401.
    await logIn(world, page);
    await page.close();
  });

  it('shows nothing of the organization that was logged in before', async () => {
    const { gateway, api, database } = world;
    await api.createWorkflow('Agent of the first', inbound.definition);
    const page = await openPage(world);
    await page.goto(`${gateway.url}/console/agents`);
    await page.getByText('Agent of the first').waitFor();
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Log out' }).click();
    const { apiKey } = await newOrganization(database, 'Strangers');
    // What the page shows until the gateway answers is what it kept.
    await page.route('**/api/v1/workflow/fetch*', (route) => route.abort());
    await page.getByLabel('API key').fill(apiKey);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'Agents' }).waitFor();
    expect(await page.getByText('Agent of the first').count()).toBe(0);
    await page.close();
    world.faults.length = 0; // Chromium reports the aborted requests.
  });
});
