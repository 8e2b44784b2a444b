// Child processes of the set-up that run beside each other: what they print is passed on line by line, and none of
// them outlives the set-up. Plain Node.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Whoever is asked to end has this long before being killed. dpkg, which apt-get waits for, unpacks a package. */
const END_MS_MAX = 30_000;
/** A child that has exited may leave its pipes to a process of its own. */
const PIPES_MS_MAX = 1_000;

export class ChildSteps {
  #folder;
  #progress;
  #children = new Set();
  /** No other is started. */
  isStopped = false;

  /** `folder`: the children's working directory. */
  constructor(folder, progress) {
    this.#folder = folder;
    this.#progress = progress;
  }

  /** Runs a command; whether it succeeded, false also once all are stopped.
   *  `isGroup`: its own children are signalled with it. `signal`: by which it is asked to end.
   *  `onLine` gets what it prints; by default that is printed, with its name before each line. */
  async run(name, command, args, options = {}) {
    const { env = process.env, isGroup = true, signal = 'SIGTERM', msMax, onLine } = options;
    if (this.isStopped) return false;
    const child = spawn(command, args, {
      cwd: this.#folder,
      env,
      detached: isGroup && process.platform !== 'win32',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const print = (line) =>
      line !== '' && this.#progress.print(`[${name}] ${line}`, process.stderr);
    const take = onLine ?? print;
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', take);
    child.once('error', ({ message }) => take(message));
    const step = { child, isGroup, signal };
    this.#children.add(step);
    const deadline = msMax === undefined ? undefined : setTimeout(() => end(step), msMax);
    const code = await this.#progress.during(name, codeOf(child));
    clearTimeout(deadline);
    clearTimeout(step.kill);
    this.#children.delete(step);
    return code === 0 && !this.isStopped;
  }

  /** Asks those that run to end, and starts no other. Their runs resolve once they have. Asked once more, it waits
   *  only for those whose children are not signalled with them. */
  stop() {
    const isAgain = this.isStopped;
    this.isStopped = true;
    for (const step of this.#children) {
      if (isAgain && step.isGroup) send(step, 'SIGKILL');
      else end(step);
    }
  }
}

/** Null if it was ended by a signal or could not be started. */
function codeOf(child) {
  return new Promise((resolve) => {
    let patience;
    child.once('error', () => resolve(null));
    child.once('exit', (code) => {
      patience = setTimeout(() => resolve(code), PIPES_MS_MAX);
    });
    child.once('close', (code) => {
      clearTimeout(patience);
      resolve(code);
    });
  });
}

function end(step) {
  send(step, step.signal);
  step.kill ??= setTimeout(() => send(step, 'SIGKILL'), END_MS_MAX);
}

function send({ child, isGroup }, signal) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(isGroup && process.platform !== 'win32' ? -child.pid : child.pid, signal);
  } catch (error) {
    // sudo takes signals of root alone. With ESRCH the child has ended meanwhile.
    if (error.code === 'EPERM')
      spawn('sudo', ['-n', 'kill', `-${signal.slice(3)}`, `${child.pid}`]);
  }
}
