// The console in Debian's Chromium, for the tests of a file: an organization of its own at the gateway of all files, and a
// browser. Everything that the page reports is kept: faults of scripts, refusals by its policy, failed requests.

import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Client } from 'pg';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { ApiClient } from '../demo/api-client.ts';
import { machine } from '../demo/machine-pace.ts';
import { databaseOf } from '../store/databases.ts';
import { testSet } from '../test-sets.ts';
import {
  hasChromium,
  type LaunchOptions,
  launchChromium,
  logInWith,
  notedPage,
} from './chromium.ts';
import { newOrganization, oneGateway } from './one-gateway.ts';

export { hasChromium };

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const ACTION_MS_MAX = 15_000;
const SETTLED_MS_MAX = 5_000;
/** Screenshots of pages on which a test failed. */
const SHOTS = 'coverage/console';
/** Beside other tests a page is slower than the machine, as its processes wait for each other. */
const BESIDE_OTHERS = 3;

export interface ConsoleWorld {
  gateway: { url: string };
  /** To the gateway's database. */
  database: Client;
  organizationId: string;
  api: ApiClient;
  apiKey: string;
  browser: Browser;
  context: BrowserContext;
  /** Logged in. */
  page: Page;
  /** What pages reported since the test began; the tests expect nothing. */
  faults: string[];
}

/** A browser for the tests of a file; each test fails if its pages reported a fault. */
export function withConsole(options: LaunchOptions = {}): ConsoleWorld {
  const world = { faults: [] as string[] } as ConsoleWorld; // Filled before the first test.

  beforeAll(async () => {
    const { url, dataFolder } = await oneGateway();
    world.gateway = { url };
    world.database = await databaseOf(dataFolder, undefined).connect();
    const { id, apiKey } = await newOrganization(world.database, 'Pages');
    world.organizationId = id;
    world.apiKey = apiKey;
    world.api = new ApiClient(url, apiKey);
    world.browser = await launchChromium(options);
    world.context = await world.browser.newContext({ viewport: { width: 1_280, height: 800 } });
    world.context.setDefaultTimeout(ACTION_MS_MAX);
    world.page = await openPage(world);
    await logIn(world, world.page);
  }, 200_000);

  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await shoot(world.page, task.name);
    const faults = world.faults.splice(0);
    expect(faults, 'faults that the page reported').toEqual([]);
  });

  afterAll(async () => {
    await world.browser?.close();
    await world.database?.end();
  });
  return world;
}

/** A further page of the same session, whose faults count. */
export function openPage({ context, faults }: ConsoleWorld): Promise<Page> {
  return notedPage(context, faults);
}

/** Logs in with the organization's API key, as a person does. */
export function logIn({ gateway, apiKey, faults }: ConsoleWorld, page: Page): Promise<void> {
  return logInWith(page, { url: gateway.url, apiKey, faults });
}

/** The limit of a measured time: `ms` in the set of pages alone, which is for a quiet machine; elsewhere as much more as only
 *  a fault takes. `machine.watch` has been called. */
export function figureMax(ms: number): number {
  return machine.scaled(ms) * (testSet() === 'console' ? 1 : BESIDE_OTHERS);
}

type Rules = { enabled: readonly string[] } | { disabled: readonly string[] } | undefined;

/** Rules whose verdict depends on the scheme. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** Violations that axe finds on the page as it is, one line each. */
async function axeFaults(page: Page, rules: Rules): Promise<string[]> {
  const isLoaded = await page.evaluate(() => 'axe' in window);
  if (!isLoaded) await page.evaluate(AXE);
  const found = await page.evaluate(async (chosen) => {
    const { axe } = window as unknown as { axe: { run(options: object): Promise<AxeAnswer> } };
    const options =
      chosen === undefined
        ? {}
        : 'enabled' in chosen
          ? { runOnly: { type: 'rule', values: chosen.enabled } }
          : { rules: Object.fromEntries(chosen.disabled.map((id) => [id, { enabled: false }])) };
    return (await axe.run({ resultTypes: ['violations'], ...options })).violations;
  }, rules);
  return found.map(({ id, nodes }) =>
    `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`.slice(
      0,
      900,
    ),
  );
}

interface AxeAnswer {
  violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
}

/** Checks a page in both schemes and at both widths: axe finds nothing, and nothing is wider than the window. Each rule runs
 *  where its verdict may differ: colours in both schemes, the rest at both widths. */
export async function expectAccessible(page: Page): Promise<void> {
  const before = page.viewportSize() ?? { width: 1_280, height: 800 };
  expect(await axeFaults(page, undefined), 'axe, light').toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await axeFaults(page, { enabled: COLOUR_RULES }), 'axe, dark').toEqual([]);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 375, height: 800 });
  // Drawings take their new width in a later frame.
  await expect
    .poll(() => page.evaluate(() => document.documentElement.scrollWidth), {
      message: 'width of the page at 375 px',
      timeout: SETTLED_MS_MAX,
    })
    .toBeLessThanOrEqual(375);
  expect(await axeFaults(page, { disabled: COLOUR_RULES }), 'axe, 375 px').toEqual([]);
  await page.setViewportSize(before);
}

async function shoot(page: Page | undefined, name: string): Promise<void> {
  if (page === undefined || page.isClosed()) return;
  mkdirSync(SHOTS, { recursive: true });
  const file = join(SHOTS, `${name.replaceAll(/[^\w-]+/g, '-').slice(0, 80)}.png`);
  await page.screenshot({ path: file, fullPage: true });
}
