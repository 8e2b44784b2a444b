// Debian's Chromium with the console: its launch, a page whose faults are noted, and the log-in.

import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

/** Says why if it is not here. */
export function hasChromium(): boolean {
  const isHere = existsSync(CHROMIUM);
  if (!isHere) process.stderr.write('No browser: install chromium to test the console.\n');
  return isHere;
}

export interface LaunchOptions {
  /** WAV file, PCM of 16 bits, mono, 48 kHz, that the microphone repeats. Default: tones of Chromium. */
  microphone?: string;
  /** As a person who does not allow the microphone. Default: it is allowed. */
  refusesMicrophone?: boolean;
}

export function launchChromium({
  microphone,
  refusesMicrophone = false,
}: LaunchOptions = {}): Promise<Browser> {
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

/** A new page that adds to `faults` what it reports: faults of scripts, refusals by its policy, failed requests. */
export async function notedPage(context: BrowserContext, faults: string[]): Promise<Page> {
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

/** Logs in as a person does. */
export async function logInWith(
  page: Page,
  { url, apiKey, faults }: { url: string; apiKey: string; faults: string[] },
): Promise<void> {
  await page.goto(`${url}/console/`);
  await page.getByLabel('API key', { exact: true }).fill(apiKey);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor({ state: 'attached' });
  // Chromium reports the answer 401 to the first question who is logged in.
  const expected = faults.findIndex((fault) => fault.includes('401'));
  if (expected >= 0) faults.splice(expected, 1);
}
