// The supervisor's part of the store: the database and its own place among the nodes, without repositories and files.

import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { AccountRepository } from '../store/accounts/accounts.ts';
import { openNode } from '../store/open-node.ts';
import { nodeOptions } from './node-options.ts';

/** The first API key, for callers that print the gateway's address. */
export interface FirstApiKey {
  ensureFirst(given?: string): Promise<{ apiKey: string } | undefined>;
}

export interface SupervisorStore {
  accounts: FirstApiKey;
  epoch: string;
  close(): Promise<void>;
}

/** Opens the database. Throws what `openStore` throws. */
export async function openSupervisorStore(config: Config, log: Log): Promise<SupervisorStore> {
  const { context, identity, close } = await openNode(await nodeOptions(config, log, undefined));
  return { accounts: new AccountRepository(context), epoch: identity.epoch, close };
}
