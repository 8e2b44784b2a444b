// What a gateway prints once it serves. The log has none of it: the first API key must not be stored there.

import type { Config } from '../config.ts';

export interface Announced {
  config: Pick<
    Config,
    'hasConsole' | 'publicUrl' | 'databaseUrl' | 'dataFolder' | 'bootstrapApiKey'
  >;
  /** The first API key; undefined at any later start. */
  first: { apiKey: string } | undefined;
  /** A person reads it: the next command, and the key last and alone. */
  isTerminal: boolean;
}

/** The lines: address, data folder and, once, the first API key. */
export function announcement({ config, first, isTerminal }: Announced): string[] {
  const { publicUrl, databaseUrl, dataFolder, bootstrapApiKey, hasConsole } = config;
  const lines = [`Patchbay listens on ${publicUrl} (docs at ${publicUrl}/docs)`];
  if (hasConsole) lines.push(`Console: ${publicUrl}/console/`);
  if (databaseUrl === undefined) lines.push(`Data folder: ${dataFolder}`);
  if (isTerminal) lines.push('Ctrl-C stops it.');
  if (first === undefined) return lines;
  if (bootstrapApiKey !== undefined)
    return [...lines, 'First API key: that of PATCHBAY_BOOTSTRAP_API_KEY'];
  const { apiKey } = first;
  if (!isTerminal) return [...lines, `First API key (shown once): ${apiKey}`];
  const next = `export GW=${publicUrl}/api/v1 KEY=${apiKey}`;
  const nextLines = ['', 'Next, in another terminal:', '', `  ${next}`];
  return [...lines, ...nextLines, '', 'First API key (shown once):', '', `  ${apiKey}`, ''];
}
