// Version of this program, from its package.json.

import { readFileSync } from 'node:fs';

export function ownVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return version;
}
