// One gateway for all files that test pages, in an organization of its own each. The process that holds the test run starts it
// when the first file asks, and ends it after the last: workers, which ask, are ended without a word.

import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import { Gateway } from '../demo/gateway.ts';
import { machine } from '../demo/machine-pace.ts';
import { freePort } from '../fakes/free-port.ts';

/** Where the workers find the folder. No PATCHBAY_ setting: a gateway refuses those that it does not know. */
const FOLDER = 'TEST_CONSOLE_GATEWAY';
const WANTED = 'wanted';
const STARTED = 'started.json';
const FAULT = 'fault';
/** Longer than a gateway takes to start, which has a deadline of its own. */
const START_MS_MAX = 180_000;
const POLL_MS = 50;

export interface OneGateway {
  url: string;
  /** With the socket of its database. */
  dataFolder: string;
}

export interface Organization {
  id: string;
  apiKey: string;
}

/** Before the run, in the process that holds it. */
export function setup(): () => Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-console-'));
  process.env[FOLDER] = folder;
  let starting: Promise<Gateway | undefined> | undefined;
  const watcher = watch(folder, () => {
    if (existsSync(join(folder, WANTED))) starting ??= start(folder);
  });
  return async () => {
    watcher.close();
    await (await starting)?.kill();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
}

async function start(folder: string): Promise<Gateway | undefined> {
  const say = (name: string, text: string): void => {
    writeFileSync(join(folder, `${name}.new`), text);
    renameSync(join(folder, `${name}.new`), join(folder, name));
  };
  try {
    const dataFolder = join(folder, 'data');
    const gateway = await Gateway.start({
      dataFolder,
      logFile: join(folder, 'gateway.log'),
      port: await freePort(),
      // Callers press keys: no recogniser is needed.
      env: { OPENAI_BASE_URL: '', OPENAI_API_KEY: '', PATCHBAY_STT: 'none' },
    });
    await gateway.firstKey();
    say(STARTED, JSON.stringify({ url: gateway.url, dataFolder }));
    return gateway;
  } catch (error) {
    say(FAULT, String(error));
    return undefined;
  }
}

/** The run's gateway, for a worker. */
export async function oneGateway(): Promise<OneGateway> {
  const folder = process.env[FOLDER];
  if (folder === undefined) throw new Error('one-gateway.ts is no global set-up of this project');
  writeFileSync(join(folder, WANTED), '');
  for (const wait = machine.wait(START_MS_MAX); !wait.isOver; ) {
    if (existsSync(join(folder, STARTED)))
      return JSON.parse(readFileSync(join(folder, STARTED), 'utf8')) as OneGateway;
    if (existsSync(join(folder, FAULT))) throw new Error(readFileSync(join(folder, FAULT), 'utf8'));
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error('The gateway of the pages did not start in time');
}

/** A new organization without anything but a key. */
export async function newOrganization(client: Client, name: string): Promise<Organization> {
  const apiKey = `pbk_${randomBytes(32).toString('base64url')}`;
  const { rows } = await client.query<{ id: string }>(
    `with organization as (
      insert into organizations (name, created_at) values ($1, now()) returning id
    ), owner as (
      insert into users (organization_id, name, created_at) select id, 'Tester', now() from organization
      returning id, organization_id
    )
    insert into api_keys (organization_id, user_id, name, prefix, key_hash, created_at)
    select organization_id, id, 'Tests', $2, $3, now() from owner returning organization_id as id`,
    [name, apiKey.slice(0, 8), createHash('sha256').update(apiKey).digest()],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('no organization was made');
  return { id: String(row.id), apiKey };
}
