// The embedded recogniser's Debian packages: whether they are there, and their installation by apt-get, as root or
// through sudo without a password. Without them callers use the keypad, so that nothing here is an error. Plain Node.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Installing over a slow line; a hanging mirror must not hang the set-up. */
const APT_MS_MAX = 300_000;
/** Another apt-get at work, as a fresh machine's own updates. */
const LOCK_MS_MAX = 120_000;
const LOCK_POLL_MS = 2_000;
/** Of what apt-get prints, the end is kept for the case that it fails. */
const LINES_MAX = 40;
const PACKAGES = ['libpocketsphinx3', 'pocketsphinx-en-us'];
const MODEL = '/usr/share/pocketsphinx/model/en-us/en-us/mdef';
const LIBRARY_FOLDERS = [
  '/usr/lib/x86_64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu',
  '/usr/lib/arm-linux-gnueabihf',
  '/usr/lib',
  '/usr/local/lib',
];
/** In English, whose words are looked for. */
const VARIABLES = { DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' };
const LOCKED = /^E: Could not get lock /;
const MANUAL = `sudo apt-get install ${PACKAGES.join(' ')}`;

/** Installs them unless they are there or not wanted; `steps` runs apt-get, `progress` has the lines. */
export async function installSpeechPackages(steps, progress) {
  if (process.env.PATCHBAY_STT === 'none' || hasSpeech()) return;
  const command = privilegedApt();
  if (command === undefined) {
    progress.say(
      'No speech recogniser here, and no right to install one: callers use the keypad only.',
    );
    progress.say(`For spoken calls: ${MANUAL}`);
    return;
  }
  progress.say(`Installing the speech recogniser: ${PACKAGES.join(', ')} (apt-get) ...`);
  const apt = new Apt(command, steps, progress);
  const isDone = await apt.install();
  if (steps.isStopped) return;
  if (isDone && hasSpeech()) {
    progress.say('The speech recogniser is installed.');
    return;
  }
  for (const line of apt.lines) progress.print(`[apt-get] ${line}`);
  progress.say(`That did not work: callers use the keypad only. To try by hand: ${MANUAL}`);
}

function hasSpeech() {
  const hasLibrary = LIBRARY_FOLDERS.some((folder) =>
    existsSync(join(folder, 'libpocketsphinx.so.3')),
  );
  return hasLibrary && existsSync(MODEL);
}

/** apt-get as root or through sudo without a password; undefined if neither may be had. */
function privilegedApt() {
  const isQuiet = (command, args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;
  if (!isQuiet('apt-get', ['--version'])) return undefined;
  if (process.getuid?.() === 0) return ['apt-get'];
  if (!isQuiet('sudo', ['-n', 'true'])) return undefined;
  const variables = Object.entries(VARIABLES).map(([name, value]) => `${name}=${value}`);
  return ['sudo', '-n', ...variables, 'apt-get'];
}

class Apt {
  /** What it printed, its end. */
  lines = [];
  #command;
  #steps;
  #progress;
  #deadlineMs = performance.now() + APT_MS_MAX;
  #lockDeadlineMs = performance.now() + LOCK_MS_MAX;
  #isToldOfLock = false;

  constructor(command, steps, progress) {
    this.#command = command;
    this.#steps = steps;
    this.#progress = progress;
  }

  /** A fresh machine has no lists of packages, or old ones. */
  async install() {
    const install = ['install', '-y', '-q', '--no-install-recommends', ...PACKAGES];
    if (await this.#run(install)) return true;
    return (await this.#run(['update', '-q'])) && (await this.#run(install));
  }

  /** Tries again while another process has one of apt's locks: apt-get waits for none of them by itself, or for that
   *  of dpkg alone. */
  async #run(args) {
    for (;;) {
      let isLocked = false;
      const onLine = (line) => {
        isLocked ||= LOCKED.test(line);
        this.lines.push(line);
        if (this.lines.length > LINES_MAX) this.lines.shift();
      };
      const [command, ...first] = this.#command;
      const isDone = await this.#steps.run('apt-get', command, [...first, ...args], {
        env: { ...process.env, ...VARIABLES },
        // By SIGINT it leaves no package half unpacked; dpkg, its child, must not get one.
        isGroup: false,
        signal: 'SIGINT',
        msMax: Math.max(0, this.#deadlineMs - performance.now()),
        onLine,
      });
      if (isDone || !isLocked || this.#steps.isStopped) return isDone;
      if (performance.now() > this.#lockDeadlineMs) return false;
      if (!this.#isToldOfLock) this.#progress.say('Another program installs packages: waiting ...');
      this.#isToldOfLock = true;
      await this.#progress.during('apt-get', pause(LOCK_POLL_MS));
    }
  }
}

async function pause(ms) {
  await new Promise((done) => setTimeout(done, ms));
}
