// Lines of CSV for people who open them in a spreadsheet: fields are quoted where they must be, and
// what a spreadsheet would take for a formula is made text. Source: RFC 4180.

/** What may begin a formula, or hide one from view. */
const FORMULA = /^[=+\-@\t\r]/;
/** Numbers, telephone numbers among them, begin like formulas and are none. */
const NUMBER = /^[+-]?\d{1,30}(\.\d{1,30})?$/;

/** One line with its end. Null is an empty field; objects and arrays are JSON. */
export function csvLine(fields: readonly unknown[]): string {
  return `${fields.map(csvField).join(',')}\r\n`;
}

function csvField(value: unknown): string {
  const text = harmless(textOf(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function harmless(text: string): string {
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
