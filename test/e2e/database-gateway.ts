// A gateway on a PostgreSQL server that others may use as well, whose calls nothing but its test ends.

import { join } from 'node:path';
import { freePort } from '../fakes/free-port.ts';

export interface DatabaseGatewayOptions {
  databaseUrl: string;
  /** Folder of all gateways of the test. */
  folder: string;
  /** Of its data folder and its log there. */
  name: string;
  /** Default: a free one. */
  port?: number;
  /** More settings. */
  env: Record<string, string>;
}

/** Options of `Gateway.start`. */
export async function onDatabase({ databaseUrl, folder, name, port, env }: DatabaseGatewayOptions) {
  return {
    dataFolder: join(folder, name),
    logFile: join(folder, `${name}.log`),
    port: port ?? (await freePort()),
    env: {
      DATABASE_URL: databaseUrl,
      PATCHBAY_SECRET_KEYS: '11'.repeat(32),
      PATCHBAY_CALL_LIMIT: '100',
      PATCHBAY_LOAD_LIMIT: '0',
      PATCHBAY_DELAY_LIMIT_MS: '0',
      PATCHBAY_STALL_SECONDS: '0',
      PATCHBAY_STT: 'none',
      OPENAI_BASE_URL: '',
      OPENAI_API_KEY: '',
      ...env,
    },
  };
}
