// Heartbeat of a gateway: it writes the database's time to its row every few seconds. A node without one is dead, and
// other nodes close its runs. A process that was declared dead continues under a new epoch; one whose row another
// process has was replaced, and must end.

import { sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { JobLoop } from '../../std/job-loop.ts';
import {
  type EntryContext,
  type EpochWitness,
  enterAlone,
  enterNamed,
  enterWorker,
  reenter,
} from './node-entry.ts';
import { EMBEDDED_PACE, SERVER_PACE } from './presence-pace.ts';
import type { NodeIdentity, StoreContext } from './store-context.ts';

/** Pause after a heartbeat that failed. */
const RETRY_MS = 500;
/** Heartbeats for which a worker waits until its gateway, which was declared dead as well, has entered again. */
const WAITS_MAX = 30;

/** The other processes among which this one gets its name. */
export type Surroundings =
  /** The database belongs to this process. */
  | { kind: 'alone' }
  /** Several nodes on one server. */
  | { kind: 'server'; witness: EpochWitness }
  /** A worker of `gateway`. */
  | { kind: 'worker'; gateway: NodeIdentity; isEmbedded: boolean };

export type HeartbeatContext = EntryContext & Pick<StoreContext, 'presence' | 'dialsCampaigns'>;

export class NodeHeartbeat {
  readonly #context: HeartbeatContext;
  readonly #surroundings: Surroundings;
  readonly #log: Log;
  readonly #onReplaced: ((error: GatewayError) => void) | undefined;
  readonly #onReentered: (() => void) | undefined;
  readonly #newEpoch: () => string;
  #waits = 0;
  /** Whether the last heartbeat failed. */
  #hasFailed = false;
  readonly #loop: JobLoop;

  /** `onReplaced` is called once, with NODE_REPLACED; `onReentered` when others may have taken runs of this process,
   *  which continues. */
  constructor(
    context: HeartbeatContext,
    surroundings: Surroundings,
    to: {
      log: Log;
      newEpoch: () => string;
      onReplaced?: ((error: GatewayError) => void) | undefined;
      onReentered?: (() => void) | undefined;
    },
  ) {
    this.#context = context;
    this.#surroundings = surroundings;
    this.#log = to.log;
    this.#onReplaced = to.onReplaced;
    this.#onReentered = to.onReentered;
    this.#newEpoch = to.newEpoch;
    this.#loop = new JobLoop({
      clock: context.clock,
      everyMs: this.#beatMs,
      retryMs: RETRY_MS,
      run: async () => {
        await this.#beat();
        this.#hasFailed = false;
      },
      onError: (error) => this.#noteFailure(error),
    });
  }

  /** Enters the node and starts its heartbeat. Throws NODE_NAME_TAKEN, NODE_REPLACED. */
  async start(): Promise<void> {
    const around = this.#surroundings;
    if (around.kind === 'alone') await enterAlone(this.#context);
    else if (around.kind === 'worker') await this.#enterAsWorker(around.gateway);
    else await this.#enterNamed(around.witness);
    this.#loop.startAfter(this.#beatMs);
  }

  async #enterNamed(witness: EpochWitness): Promise<void> {
    const waitedMs = await enterNamed(this.#context, witness);
    if (waitedMs === undefined) return;
    const { node } = this.#context;
    this.#log.info({ node, waitedMs }, 'the name of a dead process is taken over');
  }

  async #enterAsWorker(gateway: NodeIdentity): Promise<void> {
    if (await enterWorker(this.#context, gateway)) return;
    throw new GatewayError('NODE_REPLACED', { node: gateway.node });
  }

  /** Ends the heartbeat, and releases the runs of this process and of its workers. */
  async stop(): Promise<void> {
    this.#loop.cancel();
    const { db, node, epoch } = this.#context;
    await sql`
      with own as (delete from nodes where name = ${node} and epoch = ${epoch} returning name)
      delete from nodes using own where starts_with(nodes.name, own.name || '#')`.execute(db);
  }

  get #beatMs(): number {
    const around = this.#surroundings;
    const isLocked = around.kind === 'alone' || (around.kind === 'worker' && around.isEmbedded);
    return (isLocked ? EMBEDDED_PACE : SERVER_PACE).beatMs;
  }

  /** Writes a heartbeat at once, with what has changed. Never rejects. */
  async beat(): Promise<void> {
    await this.#loop.wake();
  }

  /** Logs the first failure of a series. */
  #noteFailure(error: unknown): void {
    const level = this.#hasFailed ? 'debug' : 'warn';
    this.#hasFailed = true;
    this.#log[level]({ err: error }, 'the node did not report');
  }

  async #beat(): Promise<void> {
    const { db, presence = db, time, node, epoch, dialsCampaigns = false } = this.#context;
    const { numUpdatedRows } = await presence
      .updateTable('nodes')
      .set({ seen_at: time(), dials_campaigns: dialsCampaigns })
      .where('name', '=', node)
      .where('epoch', '=', epoch)
      .executeTakeFirst();
    if (numUpdatedRows > 0n || this.#loop.hasStopped) return;
    const entry = await reenter(this.#context, { gateway: this.#gateway, epoch: this.#newEpoch() });
    if (entry === 'wait' && this.#waits < WAITS_MAX) {
      this.#waits += 1;
      return;
    }
    if (entry === 'entered') {
      this.#waits = 0;
      this.#log.warn({ node }, 'this node was declared dead, and continues under a new epoch');
      this.#onReentered?.();
      return;
    }
    this.#loop.cancel();
    this.#onReplaced?.(new GatewayError('NODE_REPLACED', { node }));
  }

  get #gateway(): NodeIdentity | undefined {
    return this.#surroundings.kind === 'worker' ? this.#surroundings.gateway : undefined;
  }
}
