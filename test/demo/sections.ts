// Output of calls that run at the same time, one call after the other: the first one's lines as they come, those of
// a later one once all before it are over.

export interface Section {
  print(line: string): void;
  /** Prints nothing more. The next section's turn comes. */
  close(): void;
}

interface Held {
  lines: string[];
  isClosed: boolean;
}

export class Sections {
  readonly #print: (line: string) => void;
  /** In the order in which they were opened; the first one prints, the others keep their lines. */
  readonly #open: Held[] = [];

  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  open(): Section {
    const section: Held = { lines: [], isClosed: false };
    this.#open.push(section);
    return {
      print: (line) => {
        section.lines.push(line);
        this.#flush();
      },
      close: () => {
        section.isClosed = true;
        this.#flush();
      },
    };
  }

  #flush(): void {
    for (let first = this.#open[0]; first !== undefined; first = this.#open[0]) {
      for (const line of first.lines.splice(0)) this.#print(line);
      if (!first.isClosed) return;
      this.#open.shift();
    }
  }
}
