// Records of a CSV text on the user's device: commas, semicolons or tabs, quoted cells, any line ends, and a first line
// such as `sep=;`. An unclosed quote goes to the end of the text. Source: RFC 4180.

const DELIMITERS = [',', ';', '\t'];

/** The records. The delimiter is the one by which the first line has the column. */
export function* recordsIn(text: string, column: string): Generator<string[], undefined> {
  const separator = /^\ufeff?"?sep=([^"\r\n])"?\r?\n/i.exec(text);
  const from = separator?.[0].length ?? (text.startsWith('\ufeff') ? 1 : 0);
  const delimiter = separator?.[1] ?? delimiterOf(text.slice(from), column);
  let at = from;
  while (at < text.length) {
    const { cells, end } = recordAt(text, at, delimiter);
    yield cells;
    at = end;
  }
  return undefined;
}

/** The record that begins at `from`; `end` is where the next one begins. */
function recordAt(text: string, from: number, delimiter: string): { cells: string[]; end: number } {
  const cells: string[] = [];
  let at = from;
  for (;;) {
    const { value, end } =
      text[at] === '"' ? quotedCell(text, at, delimiter) : plainCell(text, at, delimiter);
    cells.push(value);
    at = end;
    if (text[at] !== delimiter) return { cells, end: at + (text.startsWith('\r\n', at) ? 2 : 1) };
    at += 1;
  }
}

function delimiterOf(text: string, column: string): string {
  const line = /^[^\r\n]*/.exec(text)?.[0].toLowerCase().replaceAll('"', '') ?? '';
  const namesBy = (delimiter: string) => line.split(delimiter).map((name) => name.trim());
  return DELIMITERS.find((each) => namesBy(each).includes(column)) ?? ',';
}

interface Cell {
  value: string;
  /** Index of the delimiter or the line break after it. */
  end: number;
}

function plainCell(text: string, from: number, delimiter: string): Cell {
  let end = from;
  while (end < text.length && text[end] !== delimiter && !isLineEnd(text[end])) end += 1;
  return { value: text.slice(from, end), end };
}

function quotedCell(text: string, from: number, delimiter: string): Cell {
  let value = '';
  let at = from + 1;
  while (at < text.length) {
    const quote = text.indexOf('"', at);
    if (quote === -1) return { value: value + text.slice(at), end: text.length };
    value += text.slice(at, quote);
    at = quote + 1;
    if (text[at] !== '"') break;
    value += '"';
    at += 1;
  }
  // What stands between the quote and the delimiter belongs to no cell.
  while (at < text.length && text[at] !== delimiter && !isLineEnd(text[at])) at += 1;
  return { value, end: at };
}

function isLineEnd(character: string | undefined): boolean {
  return character === '\n' || character === '\r';
}
