// Lines of a command that takes its time, and which of its steps run, for how long: on a terminal one line that is
// rewritten each second, elsewhere a plain line after five seconds without another one. Plain Node.

const TICK_MS = 1_000;
const SILENCE_MS_MAX = 5_000;
/** To the begin of the line, and what it holds is erased (ECMA-48: CR, EL). */
const ERASE = '\r\u001b[K';

export class Progress {
  #prefix;
  #output;
  #isTerminal;
  /** Name of a step -> when it began. */
  #running = new Map();
  #timer;
  #isShown = false;
  #printedMs = performance.now();

  /** `prefix` opens each line of its own; empty for none. */
  constructor(prefix, output = process.stdout) {
    this.#prefix = prefix === '' ? '' : `[${prefix}] `;
    this.#output = output;
    this.#isTerminal = output.isTTY === true && process.env.TERM !== 'dumb';
  }

  /** A line of the command's own. */
  say(line) {
    this.print(`${this.#prefix}${line}`);
  }

  /** A line as it is, to `output`. */
  print(line, output = this.#output) {
    this.#erase();
    output.write(`${line}\n`);
    this.#printedMs = performance.now();
    if (this.#isTerminal) this.#show();
  }

  /** Shows `name` among the steps that run until `work` is settled, and comes to what it comes to. */
  async during(name, work) {
    this.#running.set(name, performance.now());
    this.#timer ??= setInterval(() => this.#tick(), TICK_MS).unref();
    try {
      return await work;
    } finally {
      this.#running.delete(name);
      this.#erase();
      if (this.#running.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
    }
  }

  #tick() {
    if (this.#isTerminal) this.#show();
    else if (performance.now() - this.#printedMs >= SILENCE_MS_MAX) this.print(this.#steps());
  }

  #steps() {
    const now = performance.now();
    const steps = [...this.#running].map(([name, beganMs]) => {
      return `${name} ${Math.round((now - beganMs) / 1_000)} s`;
    });
    return `${this.#prefix}... ${steps.join(', ')}`;
  }

  #show() {
    if (this.#running.size === 0) return;
    // A line that wraps cannot be erased.
    this.#output.write(ERASE + this.#steps().slice(0, (this.#output.columns ?? 80) - 1));
    this.#isShown = true;
  }

  #erase() {
    if (!this.#isShown) return;
    this.#output.write(ERASE);
    this.#isShown = false;
  }
}
