// Restores the stored version (fixtures/stored-version): rows into an empty database, files into a data folder. All
// instants move, so that its gateway was killed a minute ago; addresses of other servers become those of the test.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { systemClock } from '../../src/std/clock.ts';
import { EmbeddedDatabase } from '../../src/store/embedded/process-supervisor.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { TEST_CACHE, type TestDatabase } from '../store/databases.ts';

const FOLDER = 'fixtures/stored-version';
const SINCE_THE_KILL_MS = 60_000;
/** As in a dump, in JSON, and as the milliseconds of a run's events. */
const INSTANT =
  /\b(?<day>\d{4}-\d\d-\d\d)(?<gap>[ T])(?<time>\d\d:\d\d:\d\d)(?=\.\d+(Z|\+00)|Z|\+00)|\b(?<ms>179\d{10})\b/g;

const factsSchema = z.object({
  gatewayUrl: z.string(),
  webhookUrl: z.string(),
  providerUrl: z.string(),
  apiKey: z.string(),
  password: z.string(),
  signingSecret: z.string(),
  ids: z.object({ workflow: z.string(), campaign: z.string(), twilio: z.string() }),
  run: z.string(),
  chat: z.string(),
  openCall: z.string(),
  ringingCall: z.string(),
  /** What the version before answered to a GET of each path. */
  answers: z.record(z.string(), z.unknown()),
  killedAt: z.iso.datetime(),
});
export type StoredVersion = z.infer<typeof factsSchema>;

/** Whom the restored gateway reaches. */
export interface Surroundings {
  providerUrl: string;
  webhookUrl: string;
}

/** What is known of the stored version, with its instants moved. */
export function storedVersion(): StoredVersion {
  const text = readFileSync(join(FOLDER, 'facts.json'), 'utf8');
  const { killedAt } = factsSchema.parse(JSON.parse(text));
  const byMs = Math.round((Date.now() - SINCE_THE_KILL_MS - Date.parse(killedAt)) / 1_000) * 1_000;
  return factsSchema.parse(JSON.parse(moved(text, byMs)));
}

/** Fills an empty database and its data folder. The embedded engine is started for it, and stopped. */
export async function restore(
  database: TestDatabase,
  stored: StoredVersion,
  around: Surroundings,
): Promise<void> {
  mkdirSync(database.dataFolder, { recursive: true });
  const archive = join(FOLDER, 'data.tar.gz');
  const unpacked = spawnSync('tar', ['xzf', archive, '-C', database.dataFolder]);
  if (unpacked.status !== 0) throw new Error(`tar: ${unpacked.stderr}`);
  const { killedAt } = factsSchema.parse(
    JSON.parse(readFileSync(join(FOLDER, 'facts.json'), 'utf8')),
  );
  const byMs = Date.parse(stored.killedAt) - Date.parse(killedAt);
  const dump = moved(readFileSync(join(FOLDER, 'database.sql'), 'utf8'), byMs)
    .replaceAll(stored.providerUrl, around.providerUrl)
    .replaceAll(stored.webhookUrl, around.webhookUrl);
  const embedded = database.target.kind === 'embedded' ? engine(database) : undefined;
  await embedded?.start();
  const client = await database.connect();
  await client.query(dump);
  await client.end();
  await embedded?.close();
}

function engine({ dataFolder }: TestDatabase): EmbeddedDatabase {
  const { log } = quietLog();
  return new EmbeddedDatabase({ dataFolder, cacheFolder: TEST_CACHE, clock: systemClock, log });
}

function moved(text: string, byMs: number): string {
  return text.replace(INSTANT, (...match: unknown[]) => {
    const { day, gap, time, ms } = match.at(-1) as Record<string, string>;
    if (ms !== undefined) return String(Number(ms) + byMs);
    const instant = new Date(Date.parse(`${day}T${time}Z`) + byMs).toISOString();
    return `${instant.slice(0, 10)}${gap}${instant.slice(11, 19)}`;
  });
}
