// The parts of every process that uses the store: its name among the nodes, the store, and the language model. No
// speech and no media: a process without calls loads neither.

import type { IpcChannel } from '../cluster/ipc-channel.ts';
import { isCallWorker, nodeOfProcess } from '../cluster/ipc-message.ts';
import type { Config } from '../config.ts';
import { createEgress, type Egress } from '../egress/egress-rule.ts';
import type { GatewayError } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import { startEventLoopWatchdog } from '../runtime/event-loop-watchdog.ts';
import { type Fault, reportSelfTest } from '../runtime/self-test-report.ts';
import type { LanguageModel } from '../speech/llm/llm.ts';
import { openLanguageModel } from '../speech/llm/registry.ts';
import { systemClock as clock } from '../std/clock.ts';
import { systemRandom as random } from '../std/random.ts';
import { nodeName, openStore, type StoreHandle } from '../store/open.ts';

/** Limit for a stop after the calls are drained. */
export const STOP_MS_MAX = 15_000;

/** The name of the gateway in the store, without a process's suffix. */
export function gatewayNode({ node, dataFolder }: Pick<Config, 'node' | 'dataFolder'>): string {
  return node ?? nodeName(dataFolder);
}

/** Where the gateway connects to for its users. */
export function egressOf({ isSignUpOpen, outsideAllowed: allowed }: Config): Egress {
  return createEgress({ isSignUpOpen, allowed });
}

/** A process that the supervisor has forked. */
export interface ForkedProcess {
  link: IpcChannel;
  /** For the supervisor. */
  epoch: string;
}

/** Another process has this one's name, and has closed its runs: this process can only end. */
export function leaveReplaced(log: Log): (error: GatewayError) => void {
  return (error) => {
    log.fatal({ err: error }, 'another process has the name of this node, this one stops');
    process.stderr.write(`${error.code}: ${error.message}\n`);
    process.exit(1);
  };
}

/** In a forked process, the database is the supervisor's. */
export function openNodeStore(
  config: Config,
  log: Log,
  forked: ForkedProcess | undefined,
): Promise<StoreHandle> {
  const gateway = gatewayNode(config);
  const link = forked?.link;
  return openStore({
    dataFolder: config.dataFolder,
    databaseUrl: config.databaseUrl,
    isShared: link !== undefined,
    traffic: link !== undefined && isCallWorker(link.number) ? 'calls' : 'api',
    node: link === undefined ? gateway : nodeOfProcess(gateway, link.number),
    gateway: forked && { node: gateway, epoch: forked.epoch },
    onReplaced: leaveReplaced(log),
    secrets: { keys: config.secretKeys },
    callLimit: config.callLimit,
    clock,
    random,
    log,
  });
}

export function openModel({ model }: Pick<Config, 'model'>, log: Log): LanguageModel | undefined {
  if (model === undefined) return openLanguageModel([], { clock, log });
  const { baseUrl, apiKey, name } = model;
  return openLanguageModel([{ service: 'openai', baseUrl, apiKey, model: name }], { clock, log });
}

/** For a process whose event loop must not block; undefined: the settings have no limit. */
export function startWatchdog({ stallMs: limitMs }: Config, log: Log) {
  if (limitMs === 0) return undefined;
  const onTested = (fault: Fault): void => reportSelfTest(log, 'event-loop-watchdog', fault);
  return startEventLoopWatchdog({ limitMs, clock, onTested });
}
