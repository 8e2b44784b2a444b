// Pictures of every page of the console, light and dark, at 1280 and 375 px, into coverage/console-screens:
// npm run console:screens -- [--docs] [NAME ...]
// --docs writes those that the documentation shows into docs/console, as WebP of at most 100 kB each.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { callHref } from '../../../src/console/links.ts';
import { Gateway } from '../../demo/gateway.ts';
import { freePort } from '../../fakes/free-port.ts';
import { databaseOf } from '../../store/databases.ts';
import { hasChromium, launchChromium, logInWith, notedPage } from '../chromium.ts';
import { newOrganization } from '../one-gateway.ts';
import { type Example, makeExample } from './example-data.ts';

const FOLDER = 'coverage/console-screens';
const DOCS_FOLDER = 'docs/console';
const DOCS_BYTES_MAX = 100_000;
const QUALITIES = [90, 80, 70, 60, 50];
const WIDTHS = [1_280, 375];
const SCHEMES = ['light', 'dark'] as const;
const HEIGHT = 800;
/** Answers that come one after the other, and drawings. */
const SETTLED_MS = 700;
/** Until a live call has been greeted, and a campaign has called some. */
const TALK_MS = 14_000;

interface Shot {
  name: string;
  /** Below /console. */
  path: string;
  /** After the page was opened. */
  prepare?: (page: Page) => Promise<unknown>;
  /** The scheme in which the documentation shows it, at 1280 px. */
  docs?: 'light' | 'dark';
  /** Default: HEIGHT. */
  docsHeight?: number;
}

function pastShots(at: Example): Shot[] {
  const agent = `/agents/${at.practice}`;
  const telephony = `/telephony/${at.configuration}`;
  const press = (name: string) => (page: Page) =>
    page.getByRole('button', { name }).first().click();
  return [
    { name: 'call', path: callHref(at.practice, at.pastRun), docs: 'light', docsHeight: 1_420 },
    { name: 'call-at-a-moment', path: callHref(at.practice, at.pastRun, 12_000) },
    {
      name: 'call-zoomed',
      path: callHref(at.practice, at.pastRun),
      prepare: (page) => page.locator('.timeline').getByRole('button', { name: 'Zoom in' }).click(),
    },
    { name: 'text-chat', path: callHref(at.practice, at.chatRun) },
    { name: 'runs', path: '/runs', docs: 'light' },
    { name: 'runs-empty', path: '/runs?text=nothing' },
    { name: 'agents', path: '/agents' },
    { name: 'agent-new', path: '/agents', prepare: press('New agent') },
    {
      name: 'agent',
      path: agent,
      prepare: (page) => page.locator('.react-flow__node').nth(2).click(),
      docs: 'dark',
    },
    { name: 'agent-test', path: `${agent}/test`, prepare: press('Start the chat') },
    { name: 'versions', path: `${agent}/versions` },
    {
      name: 'difference',
      path: `${agent}/versions`,
      prepare: (page) =>
        page
          .getByRole('link', { name: /^Compare/ })
          .first()
          .click(),
    },
    { name: 'agent-export', path: `${agent}/export` },
    { name: 'telephony', path: '/telephony' },
    { name: 'telephony-new', path: '/telephony', prepare: press('New configuration') },
    { name: 'numbers', path: telephony },
    { name: 'routing', path: `${telephony}/routing` },
    { name: 'trunks', path: `/telephony/${at.cloud}/trunks` },
    { name: 'doctor', path: `/telephony/${at.pbx}/doctor`, prepare: examine, docs: 'light' },
    { name: 'pbx-files', path: `/telephony/${at.pbx}/files` },
    { name: 'campaigns', path: '/campaigns' },
    { name: 'campaign', path: `/campaigns/${at.campaign}`, docs: 'dark' },
    { name: 'campaign-new', path: '/campaigns/new' },
    { name: 'system', path: '/system' },
    { name: 'keys', path: '/system/keys' },
  ];
}

function liveShots(at: Example, runId: string): Shot[] {
  const call = callHref(at.practice, runId);
  return [
    { name: 'board', path: '/', docs: 'dark' },
    { name: 'call-live', path: call, docs: 'dark', docsHeight: 1_320 },
    {
      name: 'call-keys',
      path: call,
      prepare: (page) => page.getByRole('button', { name: 'Keys', exact: true }).click(),
    },
  ];
}

async function examine(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Examine' }).click();
  await page.getByRole('list', { name: 'Findings' }).waitFor({ timeout: 60_000 });
}

const wanted = process.argv.slice(2).filter((each) => !each.startsWith('--'));
const isForDocs = process.argv.includes('--docs');
if (!hasChromium()) process.exit(1);
await main();

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-screens-'));
  const dataFolder = join(folder, 'data');
  const gateway = await Gateway.start({
    dataFolder,
    logFile: join(folder, 'gateway.log'),
    port: await freePort(),
    env: { OPENAI_BASE_URL: '', OPENAI_API_KEY: '' },
  });
  const database = await databaseOf(dataFolder, undefined).connect();
  const browser = await launchChromium();
  try {
    await gateway.firstKey();
    const faults: string[] = [];
    const pageOf = async (apiKey: string): Promise<Page> => {
      const context = await browser.newContext({ viewport: { width: 1_280, height: HEIGHT } });
      const page = await notedPage(context, faults);
      await logInWith(page, { url: gateway.url, apiKey, faults });
      return page;
    };
    rmSync(FOLDER, { recursive: true, force: true });
    const empty = await newOrganization(database, 'Nobody yet');
    const { apiKey } = await newOrganization(database, 'Riverside');
    const beginner = await pageOf(empty.apiKey);
    await take(beginner, gateway.url, [{ name: 'first-steps', path: '/', docs: 'light' }]);
    await take(beginner, gateway.url, [{ name: 'runs-none', path: '/runs' }]);
    await beginner.context().clearCookies();
    await take(beginner, gateway.url, [{ name: 'log-in', path: '/' }]);
    const example = await makeExample(gateway, { apiKey, database });
    const page = await pageOf(apiKey);
    await take(page, gateway.url, pastShots(example));
    if (liveShots(example, '').some(isWanted)) {
      const runId = await example.ring();
      await page.waitForTimeout(TALK_MS);
      await take(page, gateway.url, liveShots(example, runId));
    }
    await example.close();
    for (const fault of new Set(faults)) process.stderr.write(`${fault}\n`);
  } finally {
    await browser.close();
    await database.end();
    await gateway.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

function isWanted({ name }: Shot): boolean {
  return wanted.length === 0 || wanted.includes(name);
}

async function take(page: Page, url: string, shots: readonly Shot[]): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  for (const shot of shots) {
    if (!isWanted(shot)) continue;
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1_280, height: HEIGHT });
    await page.goto('about:blank'); // Another moment of the same page is an address of its own.
    await page.goto(`${url}/console${shot.path}`);
    await page.waitForTimeout(SETTLED_MS);
    await loaded(page);
    await shot.prepare?.(page);
    await page.mouse.move(0, 0);
    for (const width of WIDTHS) {
      for (const scheme of SCHEMES) await shoot(page, shot, { width, scheme });
    }
    process.stderr.write(`${shot.name}\n`);
  }
}

/** Until nothing of the page says that it is loaded yet. */
async function loaded(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  await page.waitForFunction(() => document.querySelector('.busy') === null);
}

async function shoot(
  page: Page,
  { name, docs, docsHeight = HEIGHT }: Shot,
  { width, scheme }: { width: number; scheme: 'light' | 'dark' },
): Promise<void> {
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize({ width, height: HEIGHT });
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForTimeout(SETTLED_MS);
  if (isForDocs && docs === scheme && width === 1_280) {
    await page.setViewportSize({ width, height: docsHeight });
    await page.waitForTimeout(SETTLED_MS);
    await writeForDocs(page, name);
  }
  // As high as the page: what is out of the window is not drawn everywhere.
  const { height, isWide } = await page.evaluate(() => {
    const { scrollHeight, scrollWidth } = document.documentElement;
    return { height: scrollHeight, isWide: scrollWidth > innerWidth };
  });
  if (isWide) process.stderr.write(`${name}: wider than ${width} px\n`);
  await page.setViewportSize({ width, height: Math.max(HEIGHT, height) });
  await page.waitForTimeout(SETTLED_MS / 2);
  await page.screenshot({ path: join(FOLDER, `${name}-${width}-${scheme}.png`) });
}

/** The window as WebP, with the best quality that fits. Throws if none does. */
async function writeForDocs(page: Page, name: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  for (const quality of QUALITIES) {
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality });
    const image = Buffer.from(data, 'base64');
    if (image.length > DOCS_BYTES_MAX) continue;
    mkdirSync(DOCS_FOLDER, { recursive: true });
    writeFileSync(join(DOCS_FOLDER, `${name}.webp`), image);
    await session.detach();
    return;
  }
  throw new Error(`${name} is larger than ${DOCS_BYTES_MAX} bytes in any quality`);
}
