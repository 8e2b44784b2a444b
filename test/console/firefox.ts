// The console in Debian's Firefox ESR, over WebDriver BiDi. Its sound goes to a sound server of the test's own, without which
// Firefox never begins to play.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';

const FIREFOX = '/usr/bin/firefox-esr';
const PULSEAUDIO = '/usr/bin/pulseaudio';
const SERVER_MS_MAX = 10_000;
const POLL_MS = 50;
const TEXT_MS_MAX = 5_000;

/** Says what is not here. */
export function hasFirefox(): boolean {
  const missing = [FIREFOX, PULSEAUDIO].filter((each) => !existsSync(each));
  if (missing.length > 0) {
    process.stderr.write(
      `No ${missing.join(', ')}: install firefox-esr and pulseaudio to test the console in Firefox.\n`,
    );
  }
  return missing.length === 0;
}

export class Firefox {
  /** What its pages reported. */
  readonly faults: string[] = [];
  readonly #sound: ChildProcess;
  readonly #browser: Browser;

  private constructor(sound: ChildProcess, browser: Browser) {
    this.#sound = sound;
    this.#browser = browser;
  }

  /** Its microphone is a tone, and allowed. `folder` is for its profile and the sound server's socket. */
  static async start(folder: string): Promise<Firefox> {
    const socket = join(folder, 'sound');
    const sound = await startSound(folder, socket);
    try {
      const browser = await puppeteer.launch({
        browser: 'firefox',
        executablePath: FIREFOX,
        headless: true,
        userDataDir: join(folder, 'profile'),
        env: { ...process.env, HOME: folder, PULSE_SERVER: `unix:${socket}` },
        extraPrefsFirefox: {
          'media.navigator.streams.fake': true,
          'media.navigator.permission.disabled': true,
        },
      });
      return new Firefox(sound, browser);
    } catch (error) {
      sound.kill('SIGKILL');
      throw error;
    }
  }

  version(): Promise<string> {
    return this.#browser.version();
  }

  /** A further page of the same session, whose faults count. */
  async openPage(): Promise<Page> {
    const page = await this.#browser.newPage();
    await page.setViewport({ width: 1_280, height: 800 });
    page.on('pageerror', (error) => this.faults.push(`error: ${String(error)}`));
    page.on('console', (message) => {
      if (message.type() === 'error') this.faults.push(`console: ${message.text()}`);
    });
    await page.evaluateOnNewDocument(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        // biome-ignore lint/suspicious/noConsole: the way out of the page
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`);
      });
    });
    return page;
  }

  /** What its pages show, for the report of a test that fails. */
  async texts(): Promise<string[]> {
    const pages = await this.#browser.pages();
    return Promise.all(
      pages.map(async (page) => {
        const hung = new Promise<string>((resolve) => setTimeout(resolve, TEXT_MS_MAX, 'hangs'));
        const text = page.evaluate(() => document.body.innerText).catch(String);
        return `${page.url()}\n${await Promise.race([text, hung])}`;
      }),
    );
  }

  async close(): Promise<void> {
    await this.#browser.close();
    this.#sound.kill('SIGKILL');
  }
}

async function startSound(folder: string, socket: string): Promise<ChildProcess> {
  const modules = [
    `module-native-protocol-unix socket=${socket} auth-anonymous=1`,
    'module-null-sink sink_name=loudspeaker',
  ];
  const loads = modules.flatMap((each) => ['-L', each]);
  const sound = spawn(PULSEAUDIO, ['-n', '--daemonize=no', '--exit-idle-time=-1', ...loads], {
    env: { ...process.env, HOME: folder, XDG_RUNTIME_DIR: folder },
    stdio: 'ignore',
  });
  const deadline = performance.now() + SERVER_MS_MAX;
  while (!existsSync(socket)) {
    if (sound.exitCode !== null || performance.now() > deadline) {
      sound.kill('SIGKILL');
      throw new Error('the sound server did not start');
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return sound;
}
