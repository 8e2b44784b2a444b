// Database options of a gateway's process: its name among the nodes, and what it shares with the other processes.

import type { IpcChannel } from '../cluster/ipc-channel.ts';
import { isCallWorker, nodeOfProcess } from '../cluster/ipc-message.ts';
import type { Config } from '../config.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import { systemClock as clock } from '../std/clock.ts';
import { systemRandom as random } from '../std/random.ts';
import { nodeName, type OpenNodeOptions } from '../store/open-node.ts';
import { ownVersion } from './own-version.ts';

/** The name of the gateway in the store, without a process's suffix. */
export function gatewayNode({ node, dataFolder }: Pick<Config, 'node' | 'dataFolder'>): string {
  return node ?? nodeName(dataFolder);
}

/** A process that the supervisor has forked. */
export interface ForkedProcess {
  link: IpcChannel;
  /** Epoch of the gateway, known when the supervisor has opened the database. */
  epoch: Promise<string>;
}

/** Ends this process: another one has its name and has closed its runs. */
function leaveReplaced(log: Log): (error: GatewayError) => void {
  return (error) => {
    log.fatal({ err: error }, 'another process has the name of this node: this one stops');
    process.stderr.write(`${error.code}: ${error.message}\n`);
    process.exit(1);
  };
}

/** The options. `forked`: undefined for the process that owns the database. */
export async function nodeOptions(
  config: Config,
  log: Log,
  forked: ForkedProcess | undefined,
): Promise<OpenNodeOptions> {
  const gateway = gatewayNode(config);
  const link = forked?.link;
  const isFirst = forked === undefined;
  const isShared = config.databaseUrl !== undefined;
  return {
    dataFolder: config.dataFolder,
    databaseUrl: config.databaseUrl,
    s3: config.s3,
    isShared: link !== undefined,
    traffic: link !== undefined && isCallWorker(link.address) ? 'calls' : 'api',
    node: link === undefined ? gateway : nodeOfProcess(gateway, link.address),
    gateway: forked && { node: gateway, epoch: await forked.epoch },
    address: isFirst && isShared ? { url: config.nodeUrl, version: ownVersion() } : undefined,
    onReplaced: leaveReplaced(log),
    secrets: { keys: config.secretKeys },
    callLimit: config.callLimit,
    publicLinkDays: config.publicLinkDays,
    clock,
    random,
    log,
  };
}
