// Calls that overlap, printed one after the other: each starts once the one before it is under way, and its lines are
// held back until all before it are over.

export interface CallOutput {
  print(line: string): void;
  /** The call is under way: the next one may start, and takes nothing from the beginning of this one. */
  started(): void;
}

/** Resolves with what the calls come to, in their order, once all are over. A call that fails does not stop others. */
export async function holdOverlapping<T>(
  calls: readonly ((output: CallOutput) => Promise<T>)[],
  print: (line: string) => void,
): Promise<PromiseSettledResult<T>[]> {
  const held: Promise<T>[] = [];
  let turn = Promise.resolve();
  for (const hold of calls) {
    const output = new HeldOutput(print);
    const call = hold(output);
    held.push(call);
    const isOver = call.then(
      () => undefined,
      () => undefined, // It is in the results.
    );
    void turn.then(() => output.release());
    turn = turn.then(() => isOver);
    await Promise.race([output.hasStarted, isOver]);
  }
  return await Promise.allSettled(held);
}

class HeldOutput implements CallOutput {
  readonly hasStarted: Promise<void>;
  started: () => void = () => undefined;
  readonly #print: (line: string) => void;
  /** Lines held back; undefined once they are not. */
  #lines: string[] | undefined = [];

  constructor(print: (line: string) => void) {
    this.#print = print;
    this.hasStarted = new Promise((resolve) => {
      this.started = resolve;
    });
  }

  print(line: string): void {
    if (this.#lines === undefined) this.#print(line);
    else this.#lines.push(line);
  }

  release(): void {
    for (const line of this.#lines ?? []) this.#print(line);
    this.#lines = undefined;
  }
}
