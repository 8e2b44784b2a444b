// CSV lines for spreadsheets: fields are quoted where necessary, and values that a spreadsheet would run as a formula
// become text. Source: RFC 4180.

/** Characters that may begin a formula, or hide one. */
const FORMULA = /^[=+\-@\t\r]/;
/** Numbers, including telephone numbers, that begin like formulas. */
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
