// PgBouncer with transaction pooling in front of the database, which it reaches by its socket. Clients reach it by TCP.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../fakes/free-port.ts';
import { Program } from './program.ts';

/** Connections to the server: fewer than three gateways would open. */
const POOL_SIZE = 20;

export interface Pooler {
  url: string;
  end(): Promise<void>;
}

export async function startPooler(
  databaseUrl: string,
  { folder, address = '127.0.0.1' }: { folder: string; address?: string },
): Promise<Pooler> {
  const port = await freePort();
  const socketFolder = new URL(databaseUrl).searchParams.get('host') ?? '';
  const file = join(folder, `pooler-${port}.ini`);
  const settings = [
    '[databases]',
    `postgres = host=${socketFolder} dbname=postgres user=postgres`,
    '[pgbouncer]',
    `listen_addr = ${address}`,
    `listen_port = ${port}`,
    'auth_type = any',
    'pool_mode = transaction',
    'max_client_conn = 1000',
    `default_pool_size = ${POOL_SIZE}`,
    'ignore_startup_parameters = extra_float_digits',
    'unix_socket_dir =',
  ];
  writeFileSync(file, settings.join('\n'));
  const program = new Program({
    command: ['pgbouncer', file],
    logFile: join(folder, `pooler-${port}.log`),
    isUnprivileged: true,
  });
  await program.listening(port, address);
  return {
    url: `postgresql://postgres@${address}:${port}/postgres?pgbouncer=1`,
    end: () => program.end(),
  };
}
