// Command `patchbay keys`: lists, creates and archives API keys on the machine itself, for the case that the first one
// was lost. Needs the data folder or the database instead of a key; a gateway may run meanwhile.

import type { parseArgs } from 'node:util';
import { GatewayError } from '../errors/gateway-error.ts';
import { createLog } from '../log.ts';
import { systemClock } from '../std/clock.ts';
import { systemRandom } from '../std/random.ts';
import type { MachineKey } from '../store/accounts/machine-keys.ts';
import { type OpenedKeys, openKeys } from '../store/open-keys.ts';
import type { CliIo } from './gateway-client.ts';

/** Longest name of a key, as in the API. */
const NAME_CHARACTERS_MAX = 255;
const ID = /^\d{1,18}$/;

export const keysOptions = {
  data: { type: 'string' },
  name: { type: 'string' },
  organization: { type: 'string' },
  id: { type: 'string' },
} as const;

type KeysOptions = ReturnType<typeof parseArgs<{ options: typeof keysOptions }>>['values'];

/** Runs the command. Throws COMMAND_INVALID, NO_DATA, STORE_LOCKED, STORE_UNAVAILABLE. */
export async function keys(
  command: string | undefined,
  options: KeysOptions,
  io: CliIo,
): Promise<number> {
  const work = workOf(command, options);
  const opened = await openKeys({
    dataFolder: options.data ?? (io.env['PATCHBAY_DATA'] || './data'),
    databaseUrl: options.data === undefined ? io.env['DATABASE_URL'] || undefined : undefined,
    clock: systemClock,
    random: systemRandom,
    log: createLog({ level: 'silent', pii: false }),
  });
  try {
    return await work(opened, io);
  } finally {
    await opened.close();
  }
}

type Work = (opened: OpenedKeys, io: CliIo) => Promise<number>;

/** Checks the command before anything is opened. */
function workOf(command: string | undefined, { name, organization, id }: KeysOptions): Work {
  if (command === 'list') return list;
  if (command === 'create') {
    if (organization !== undefined && !ID.test(organization)) {
      throw invalid('--organization is the number of an organization');
    }
    if (name === undefined || name.trim() === '' || name.length > NAME_CHARACTERS_MAX) {
      throw invalid('say what the key is for: --name NAME');
    }
    return (opened, io) => create(opened, io, { name, organization });
  }
  if (command !== 'archive') throw invalid('say what: keys list, keys create or keys archive');
  if (id === undefined || !ID.test(id)) throw invalid('say which key: --id ID (a number)');
  return (opened, io) => archive(opened, io, id);
}

async function list(opened: OpenedKeys, { out }: CliIo): Promise<number> {
  const rows = (await opened.list()).map(lineOf);
  out([['ID', 'KEY', 'ORGANIZATION', 'LAST USED', 'NAME'], ...rows].map(columns).join(''));
  return 0;
}

function lineOf(key: MachineKey): string[] {
  const used = key.lastUsedAt?.toISOString() ?? 'never';
  return [
    key.id,
    `${key.prefix}...`,
    `${key.organizationId} ${key.organizationName}`,
    key.isArchived ? 'archived' : used,
    key.name,
  ];
}

const WIDTHS = [6, 14, 28, 26, 0];

function columns(cells: readonly string[]): string {
  const padded = cells.map((cell, nth) => cell.padEnd(WIDTHS[nth] ?? 0));
  return `${padded.join(' ').trimEnd()}\n`;
}

async function create(
  opened: OpenedKeys,
  { out, error }: CliIo,
  { name, organization }: { name: string; organization: string | undefined },
): Promise<number> {
  const key = await opened.create(name, organization);
  if (key === undefined) throw invalid('there is no such organization');
  error('New API key (shown once):\n');
  out(`${key}\n`);
  return 0;
}

async function archive(opened: OpenedKeys, { out }: CliIo, id: string): Promise<number> {
  if (!(await opened.archive(id))) throw invalid(`there is no key ${id}: keys list shows them`);
  out(`Key ${id} is archived: the gateway refuses it from now on.\n`);
  return 0;
}

function invalid(problem: string): GatewayError {
  return new GatewayError('COMMAND_INVALID', { problem });
}
