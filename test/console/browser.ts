// The console in Debian's Chromium, at a gateway of its own that runs from its build. Everything that the page reports is
// kept: faults of scripts, refusals by its policy, failed requests.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { ApiClient } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { freePort } from '../fakes/free-port.ts';

const CHROMIUM = '/usr/bin/chromium';
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const ACTION_MS_MAX = 15_000;
/** Screenshots of pages on which a test failed. */
const SHOTS = 'coverage/console';

/** Says why if it is not here. */
export function hasChromium(): boolean {
  const isHere = existsSync(CHROMIUM);
  if (!isHere) process.stderr.write('No browser: install chromium to test the console.\n');
  return isHere;
}

export interface ConsoleWorld {
  gateway: Gateway;
  /** The gateway's, with the socket of its database. */
  dataFolder: string;
  api: ApiClient;
  apiKey: string;
  browser: Browser;
  context: BrowserContext;
  /** Logged in. */
  page: Page;
  /** What pages reported since the test began; the tests expect nothing. */
  faults: string[];
}

export interface ConsoleOptions {
  /** Settings of the gateway. */
  env?: Record<string, string>;
  /** WAV file, PCM of 16 bits, mono, 48 kHz, that the microphone repeats. Default: tones of Chromium. */
  microphone?: string;
  viewport?: { width: number; height: number };
}

/** A gateway and a browser for the tests of a file; each test fails if its pages reported a fault. */
export function withConsole(options: ConsoleOptions = {}): ConsoleWorld {
  const world = { faults: [] as string[] } as ConsoleWorld; // Filled before the first test.
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-console-'));

  beforeAll(async () => {
    world.dataFolder = join(folder, 'data');
    world.gateway = await startGateway(folder, options.env);
    world.apiKey = await world.gateway.firstKey();
    world.api = new ApiClient(world.gateway.url, world.apiKey);
    world.browser = await launch(options);
    world.context = await world.browser.newContext({
      viewport: options.viewport ?? { width: 1_280, height: 800 },
    });
    world.context.setDefaultTimeout(ACTION_MS_MAX);
    world.page = await openPage(world);
    await logIn(world, world.page);
  }, 120_000);

  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await shoot(world.page, task.name);
    const faults = world.faults.splice(0);
    expect(faults, 'faults that the page reported').toEqual([]);
  });

  afterAll(async () => {
    await world.browser?.close();
    await world.gateway?.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  return world;
}

/** A gateway whose database and log are in the folder. */
export async function startGateway(
  folder: string,
  env: Record<string, string> = {},
): Promise<Gateway> {
  return Gateway.start({
    dataFolder: join(folder, 'data'),
    logFile: join(folder, 'gateway.log'),
    port: await freePort(),
    env: { OPENAI_BASE_URL: '', OPENAI_API_KEY: '', ...env },
  });
}

/** A further page of the same session, whose faults count. */
export async function openPage({ context, faults }: ConsoleWorld): Promise<Page> {
  const page = await context.newPage();
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(`console: ${message.text()}`);
  });
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      // biome-ignore lint/suspicious/noConsole: the way out of the page
      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  return page;
}

/** Logs in with the first API key, as a person does. */
export async function logIn({ gateway, apiKey, faults }: ConsoleWorld, page: Page): Promise<void> {
  await page.goto(`${gateway.url}/console/`);
  await page.getByLabel('API key', { exact: true }).fill(apiKey);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'attached' });
  // Chromium reports the answer 401 to the first question who is logged in.
  const expected = faults.findIndex((fault) => fault.includes('401'));
  if (expected >= 0) faults.splice(expected, 1);
}

/** Violations that axe finds on the page as it is, one line each. */
export async function axeFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
    return (await axe.run()).violations;
  });
  return found.map(({ id, nodes }) =>
    `${id}: ${nodes.map(({ html }) => html).join(' | ')}`.slice(0, 600),
  );
}

interface Violation {
  id: string;
  nodes: { html: string }[];
}

/** Checks a page in both schemes and at both widths: axe finds nothing, and nothing is wider than the window. */
export async function expectAccessible(page: Page): Promise<void> {
  const before = page.viewportSize() ?? { width: 1_280, height: 800 };
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await axeFaults(page), `axe, ${colorScheme}`).toEqual([]);
  }
  await page.setViewportSize({ width: 375, height: 800 });
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width, 'width of the page at 375 px').toBeLessThanOrEqual(375);
  expect(await axeFaults(page), 'axe, 375 px').toEqual([]);
  await page.setViewportSize(before);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** `refusesMicrophone`: as a person who does not allow it. Default: it is allowed. */
export function launch({
  microphone,
  refusesMicrophone = false,
}: {
  microphone?: string;
  refusesMicrophone?: boolean;
}): Promise<Browser> {
  const capture =
    microphone === undefined ? [] : [`--use-file-for-fake-audio-capture=${microphone}`];
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      `--use-fake-ui-for-media-stream${refusesMicrophone ? '=deny' : ''}`,
      '--use-fake-device-for-media-stream',
      '--autoplay-policy=user-gesture-required',
      ...capture,
    ],
  });
}

async function shoot(page: Page | undefined, name: string): Promise<void> {
  if (page === undefined || page.isClosed()) return;
  mkdirSync(SHOTS, { recursive: true });
  const file = join(SHOTS, `${name.replaceAll(/[^\w-]+/g, '-').slice(0, 80)}.png`);
  await page.screenshot({ path: file, fullPage: true });
}
