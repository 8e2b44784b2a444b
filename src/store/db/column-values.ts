// Values for the database: row ids from outside, JSON, text. PostgreSQL accepts neither NUL in text nor an unpaired
// surrogate in jsonb; clients send both.

/** Whether `id` can be the id of a row: a bigint above zero. Anything else matches no row. */
export function isRowId(id: string): boolean {
  return /^[1-9]\d{0,17}$/.test(id);
}

/** JSON text that PostgreSQL accepts: NUL is removed, an unpaired surrogate becomes U+FFFD. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  return /\\u(0000|d[89a-f])/i.test(text) ? JSON.stringify(value, clean) : text;
}

/** As `jsonText`; null for a missing value. */
export function jsonOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : jsonText(value);
}

/** Text that PostgreSQL accepts. */
export function plainText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '') : text;
}

function clean(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [wellFormed(key), each]));
}

function wellFormed(text: string): string {
  return plainText(text).replace(/\p{Surrogate}/gu, '\uFFFD');
}
