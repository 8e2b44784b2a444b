// This process's shares of the calls of PBXs whose connections other processes hold: with a share, calls are connected
// here as over a connection of our own. The holder asks for a share each time when it has connected; the configuration
// is read then, as credentials do not pass between processes.

import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import type { TelephonyConfiguration } from '../../../model/telephony.ts';
import type { Store } from '../../../store/store.ts';
import type { PbxListener, PbxShare } from '../../../telephony/provider/pbx.ts';
import type { PbxMembers } from '../../../telephony/provider/pbx-members.ts';
import type { PbxProvider } from '../../../telephony/provider/provider.ts';
import { PbxCalls, type PbxCallsDeps } from './pbx-calls.ts';

/** Configurations of one process at most, as many as one process may have connections (pbx-connections.ts). */
const SHARES_MAX = 1_000;

/** The processes that hold calls of PBXs together; `cluster` implements it. */
export interface PbxProcesses {
  /** The other processes that may hold calls of that PBX; undefined: there never are any. */
  members(configuration: { id: string; organizationId: string }): PbxMembers | undefined;
  /** Settles when no other process holds calls of PBXs, or after `ms`. Never rejects. */
  untilIdle(ms: number): Promise<void>;
  /** Sends a message about a PBX to the process with its connection. */
  toHolder(holder: string, configurationId: string, message: unknown): void;
}

/** Who asks, and about which PBX. */
export interface ShareOf {
  holder: string;
  organizationId: string;
  configurationId: string;
}

interface PbxSharesDeps {
  store: Pick<Store, 'telephony'>;
  providers: { readonly pbx: readonly PbxProvider[] };
  /** Dependencies of each share's calls. */
  calls: PbxCallsDeps;
  /** Why no new call is accepted now; undefined if calls are accepted. */
  refusal: () => GatewayError | undefined;
  processes: PbxProcesses | undefined;
  log: Log;
}

interface Held {
  configuration: TelephonyConfiguration;
  /** The process with the connection. */
  holder: string;
  share: PbxShare;
  calls: PbxCalls;
}

export class PbxShares {
  readonly #deps: PbxSharesDeps;
  /** Shares by configuration. */
  readonly #shares = new Map<string, Held>();

  constructor(deps: PbxSharesDeps) {
    this.#deps = deps;
  }

  /** Number of calls in setup. */
  get busy(): number {
    return [...this.#shares.values()].reduce((all, { calls }) => all + calls.busy, 0);
  }

  /** Number of calls at PBXs. */
  get calls(): number {
    return [...this.#shares.values()].reduce((all, { share }) => all + share.calls, 0);
  }

  /** The configurations over whose PBX this process may dial. */
  get configurations(): string[] {
    const usable = [...this.#shares].filter(([, { share }]) => share.takesDials);
    return usable.map(([id]) => id);
  }

  /** Takes a message of the holder. That of an earlier holder is dropped. */
  take({ holder, configurationId }: Omit<ShareOf, 'organizationId'>, message: unknown): void {
    const held = this.#shares.get(configurationId);
    if (held?.holder === holder) held.share.take(message);
  }

  /** Answers a question of the holder, and begins the share if there is none. Throws CONFIGURATION_NOT_FOUND,
   *  PROVIDER_NOT_BUILT, QUEUE_FULL, and what the store throws. */
  async answer(of: ShareOf, message: unknown): Promise<unknown> {
    const held = this.#current(await this.#configurationOf(of), of.holder);
    return held.share.answer(message);
  }

  /** A process has ended, and its connections are opened by another one; or it cannot be reached. */
  processGone(name: string): void {
    for (const { holder, share } of this.#shares.values()) if (holder === name) share.holderGone();
  }

  /** A process can be reached again. */
  processBack(name: string): void {
    for (const { holder, share } of this.#shares.values()) if (holder === name) share.holderBack();
  }

  async #configurationOf({ organizationId, configurationId }: ShareOf) {
    const before = this.#shares.get(configurationId)?.configuration;
    try {
      const { telephony } = this.#deps.store;
      const found = await telephony.getConfiguration(organizationId, configurationId);
      if (found !== undefined) return found;
    } catch (error) {
      // The calls of a share must be named also while the store is away.
      if (before === undefined) throw error;
      this.#deps.log.warn({ err: error, configurationId }, 'configuration of a PBX not read');
    }
    if (before === undefined) throw new GatewayError('CONFIGURATION_NOT_FOUND');
    return before;
  }

  #current(configuration: TelephonyConfiguration, holder: string): Held {
    const { id, credentials } = configuration;
    const before = this.#shares.get(id);
    const isSame = isDeepStrictEqual(credentials, before?.configuration.credentials);
    const isInUse = before !== undefined && !before.share.isOver;
    if (isInUse && (isSame || before.share.connection.renew(credentials))) {
      Object.assign(before, { configuration, holder });
      return before;
    }
    void before?.share.connection.close();
    this.#shares.delete(id);
    return this.#begin(configuration, holder);
  }

  /** Drops the shares of PBXs that have no connection any more, such as those of deleted configurations. */
  #dropUnused(): void {
    for (const [id, { share, calls }] of this.#shares) {
      if (share.connection.state.kind === 'up' || share.calls + calls.busy > 0) continue;
      this.#shares.delete(id);
      void share.connection.close();
    }
  }

  #begin(configuration: TelephonyConfiguration, holder: string): Held {
    const { providers, calls: deps, refusal, processes } = this.#deps;
    const { id, credentials, provider: name } = configuration;
    const provider = providers.pbx.find((each) => each.name === name);
    if (provider === undefined) throw new GatewayError('PROVIDER_NOT_BUILT', { provider: name });
    if (this.#shares.size >= SHARES_MAX) this.#dropUnused();
    if (this.#shares.size >= SHARES_MAX) {
      throw new GatewayError('QUEUE_FULL', { queue: 'PBXs of a process' });
    }
    const current = (): Held => {
      const held = this.#shares.get(id);
      if (held === undefined) throw new Error('there is no share');
      return held;
    };
    const calls = new PbxCalls(deps, {
      configuration: () => current().configuration,
      provider,
      connection: () => current().share.connection,
      refusal,
    });
    const listener: PbxListener = {
      onState: () => undefined, // Its holder reports it.
      onInbound: (call) => calls.inbound(call),
      onEarlyMedia: (call) => calls.earlyMedia(call),
      onAnswered: (call) => calls.answered(call),
      onStatus: (status) => calls.status(status),
    };
    const send = (message: unknown) => processes?.toHolder(current().holder, id, message);
    const log = deps.log.child({ configurationId: id, provider: provider.name });
    const share = provider.pbx.join({ configurationId: id, credentials }, { listener, log, send });
    const held = { configuration, holder, share, calls };
    this.#shares.set(id, held);
    return held;
  }
}
