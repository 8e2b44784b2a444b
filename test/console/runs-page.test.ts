// The list of runs in a browser, with 10,000 of them: filters, pages, saved filters, and the CSV.

import { beforeAll, describe, expect, it } from 'vitest';
import { machine } from '../demo/machine-pace.ts';
import { definition, end, start } from '../workflow/definitions.ts';
import { expectAccessible, figureMax, hasChromium, withConsole } from './browser.ts';
import { insertRuns } from './many-runs.ts';

const RUNS = 10_000;
const PAGE_RUNS = 50;
/** Time of the API for one page, as the browser sees it while the machine has other work, too: of the quickest quarter. */
const API_MS_MAX = 100;

describe.runIf(hasChromium())('the list of runs', () => {
  const world = withConsole();
  const rows = () => world.page.getByRole('table').locator('tbody tr');
  const shown = async () => (await rows().allInnerTexts()).map((text) => text.split('\t')[0]);

  beforeAll(async () => {
    machine.watch();
    const agent = definition([start('1'), end('2')]);
    await insertRuns(world, { agent, count: RUNS });
  }, 60_000);

  it('shows 50 of 10,000 runs, and goes to older and newer ones in less than 100 ms each', async () => {
    const { page, gateway } = world;
    await page.goto(`${gateway.url}/console/runs`);
    await rows().first().waitFor();
    expect(await rows().count()).toBe(PAGE_RUNS);
    const first = await shown();
    for (let at = 0; at < 5; at++) {
      const before = await shown();
      await page.getByRole('button', { name: 'Older' }).click();
      await expect.poll(async () => (await shown())[0]).not.toBe(before[0]);
    }
    for (let at = 0; at < 5; at++) {
      const before = await shown();
      await page.getByRole('button', { name: 'Newer' }).click();
      await expect.poll(async () => (await shown())[0]).not.toBe(before[0]);
    }
    expect(await shown()).toEqual(first);
    expect(await page.getByRole('button', { name: 'Newer' }).isDisabled()).toBe(true);
    const times = await page.evaluate(() =>
      performance
        .getEntriesByType('resource')
        .filter(({ name }) => new URL(name).pathname === '/api/v1/runs')
        .map(({ duration }) => Math.round(duration)),
    );
    process.stderr.write(`console: pages of runs in ${times.join(', ')} ms\n`);
    expect(times.length).toBeGreaterThan(5);
    expect(times.sort((one, other) => one - other)[times.length >> 2]).toBeLessThan(
      figureMax(API_MS_MAX),
    );
  });

  it('filters by the form, and the address has the filters', async () => {
    const { page } = world;
    await page.getByLabel('Number').fill('0009973');
    await page.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(() => rows().count()).toBe(1);
    expect(await rows().first().innerText()).toContain('+14150009973');
    expect(new URL(page.url()).search).toBe('?number=0009973');
    await page.getByRole('button', { name: 'Clear' }).click();
    await expect.poll(() => rows().count()).toBe(PAGE_RUNS);

    await page.getByLabel('Needs attention').check();
    await page.getByText('More filters').click();
    await page.getByLabel('Direction').selectOption('outbound');
    await page.getByLabel('Shortest').fill('60');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('More filters (2 set)').waitFor();
    await expect.poll(() => rows().first().innerText()).toMatch(/technical end|slow answers/);
    expect(new URL(page.url()).search).toBe('?attention=1&direction=outbound&min=60');
    await expectAccessible(page);
  });

  it('says when no run meets the filters', async () => {
    const { page, gateway } = world;
    await page.goto(`${gateway.url}/console/runs?text=nothing`);
    await page.getByText('No run matches these filters').waitFor();
    await expectAccessible(page);
  });

  it('keeps a filter under a name on the device, without numbers', async () => {
    const { page, gateway } = world;
    await page.goto(`${gateway.url}/console/runs?attention=1&number=0100`);
    await page.getByRole('button', { name: 'Saved filters' }).click();
    await page.getByRole('menuitem', { name: 'Save or remove' }).click();
    await page.getByLabel('Name').fill('To look at');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.goto(`${gateway.url}/console/runs`);
    await page.getByRole('button', { name: 'Saved filters' }).click();
    await expectAccessible(page);
    await page.getByRole('menuitem', { name: 'To look at' }).click();
    await expect.poll(() => new URL(page.url()).search).toBe('?attention=1');
  });

  it('downloads the calls of the filters as CSV, and says what the report ignores', async () => {
    const { page, gateway } = world;
    await page.goto(`${gateway.url}/console/runs?direction=outbound&min=300&attention=1`);
    await page.getByRole('button', { name: 'CSV' }).click();
    await page.getByText('cannot filter by needs attention').waitFor();
    await expectAccessible(page);
    const downloading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download' }).click();
    const chunks: Buffer[] = [];
    for await (const chunk of await (await downloading).createReadStream())
      chunks.push(chunk as Buffer);
    const lines = Buffer.concat(chunks).toString('utf8').trimEnd().split('\r\n');
    expect(lines[0]).toContain('Run ID');
    // Of 300 numbers one after the other, 6 are outbound and have such a length; 33 times 300 were made, and some.
    expect(lines.length).toBe(1 + 33 * 6);
  });
});
