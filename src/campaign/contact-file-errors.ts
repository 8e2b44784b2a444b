// Faults of a contact file, collected over all of its rows and reported together. Rows count from 2, as a
// spreadsheet shows them. Source: contract §9.3.

/** Rows named in one message. */
const ROWS_SHOWN_MAX = 5;
/** Variables named in one reply; if an agent lacks more, the list itself is missing. */
const VARIABLES_SHOWN_MAX = 20;
/** Characters of a name in a message. */
const NAME_CHARACTERS_MAX = 100;

class RowNumbers {
  count = 0;
  readonly #shown: number[] = [];

  add(row: number): void {
    this.count += 1;
    if (this.#shown.length < ROWS_SHOWN_MAX) this.#shown.push(row);
  }

  toString(): string {
    const more = this.count - this.#shown.length;
    return `${this.#shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  }
}

export class ContactFileErrors {
  /** Faults of the header; rows are not checked if there are any. */
  readonly #header: string[] = [];
  readonly #badNumbers = new RowNumbers();
  readonly #duplicates = new RowNumbers();
  readonly #tooLong = new RowNumbers();
  readonly #empty = new Map<string, RowNumbers>();

  header(text: string): void {
    this.#header.push(text);
  }

  missingVariables(names: readonly string[]): void {
    this.header(
      `Workflow uses template variables that are missing from the source data: ${nameList(names)}. ` +
        'Add a column for each (case, spaces and underscores of its name do not count) or give it a default in the workflow',
    );
  }

  badNumber(row: number): void {
    this.#badNumbers.add(row);
  }

  duplicate(row: number): void {
    this.#duplicates.add(row);
  }

  tooManyCells(row: number): void {
    this.#tooLong.add(row);
  }

  emptyVariable(name: string, row: number): void {
    const rows = this.#empty.get(name) ?? new RowNumbers();
    this.#empty.set(name, rows);
    rows.add(row);
  }

  /** All faults as one text; undefined without faults. */
  get text(): string | undefined {
    const texts = [...this.#header];
    if (this.#badNumbers.count > 0) {
      texts.push(
        `Invalid phone numbers in rows: ${this.#badNumbers}. ` +
          "All phone numbers must include country code (start with '+')",
      );
    }
    if (this.#duplicates.count > 0) {
      texts.push(`Duplicate phone numbers found in rows: ${this.#duplicates}`);
    }
    if (this.#tooLong.count > 0) {
      texts.push(`More values than columns in rows: ${this.#tooLong}`);
    }
    for (const [name, rows] of [...this.#empty].slice(0, VARIABLES_SHOWN_MAX)) {
      texts.push(`Template variable ${quoted(name)} is empty in rows: ${rows}`);
    }
    return texts.length === 0 ? undefined : texts.join('; ');
  }
}

export function nameList(names: readonly string[]): string {
  const more = names.length - VARIABLES_SHOWN_MAX;
  const shown = names.slice(0, VARIABLES_SHOWN_MAX).map(quoted).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}

function quoted(name: string): string {
  return `'${name.slice(0, NAME_CHARACTERS_MAX)}'`;
}
