// The PBX connections of this node: one for each configuration whose lease it has, in any state of the PBX. Follows
// created, changed and deleted configurations, and shows those whose PBX cannot be reached as inactive until it is
// back.

import { isDeepStrictEqual } from 'node:util';
import { codeOf, GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import {
  pbxConnections,
  pbxLeaseTakeovers,
  pbxOutages,
  pbxReconnects,
} from '../../../metrics/metrics.ts';
import type { Clock } from '../../../std/clock.ts';
import { withDeadline } from '../../../std/deadline.ts';
import { JobLoop } from '../../../std/job-loop.ts';
import type { Store } from '../../../store/store.ts';
import type { HeldConfiguration } from '../../../store/telephony/configuration-leases.ts';
import type {
  CallsElsewhere,
  PbxConnection,
  PbxListener,
  PbxState,
} from '../../../telephony/provider/pbx.ts';
import type { PbxProvider } from '../../../telephony/provider/provider.ts';
import { PbxCalls, type PbxCallsDeps } from './pbx-calls.ts';
import type { PbxProcesses } from './pbx-shares.ts';

/** Interval of the checks for changes that another node has stored. */
const LOOK_MS = 2_000;
/** Lease of a PBX: the time until another node takes over the PBXs of a killed node, less the interval of the checks. A
 *  renewal may fail once, for as long as a claim has (store/db/connections.ts). */
const LEASE_MS = 5_500;
/** Pause after a claim that failed, and the shortest otherwise. */
const RETRY_MS = 500;
/** Time in which nodes may renew leases that expired while the store was unavailable: a request that was lost with
 *  the store fails after ten seconds, and the next one is sent. A node that takes the PBX of a living one ends that
 *  node's calls. */
const RENEWAL_MS = 15_000;
/** Connections of one node at most. */
const LINES_MAX = 1_000;
/** Characters of a shown reason at most. */
const REASON_MAX = 500;
/** Time before a PBX is shown as inactive: it may restart, or be unreachable for a moment. */
const GRACE_MS = 15_000;
/** The same for a fault that does not pass by itself, such as a wrong password; short, as a mistake may be corrected
 *  at once. */
const GRACE_PERMANENT_MS = 3_000;
const CLOSE_MS_MAX = 3_000;

interface PbxConnectionsDeps {
  store: Pick<Store, 'leases' | 'telephony'>;
  providers: { readonly pbx: readonly PbxProvider[] };
  /** Dependencies of each connection's calls. */
  calls: PbxCallsDeps;
  /** Why no new call is accepted now; undefined if calls are accepted. */
  refusal: () => GatewayError | undefined;
  /** The processes that share the calls of the connections. Undefined: this one has them all. */
  processes: PbxProcesses | undefined;
  clock: Clock;
  log: Log;
}

export class PbxConnections {
  readonly #deps: PbxConnectionsDeps;
  /** Connections by configuration. */
  readonly #lines = new Map<string, PbxConnectionHolder>();
  readonly #loop: JobLoop;
  #hasStarted = false;
  /** When the last claim was sent, monotonic milliseconds. */
  #askedAtMs = 0;
  /** When the store last answered, monotonic milliseconds. Undefined: not yet. */
  #answeredAtMs: number | undefined;
  /** Time until which other nodes may renew expired leases, monotonic milliseconds. */
  #renewalUntilMs = Number.NEGATIVE_INFINITY;
  /** Whether an outage of the store has been logged. */
  #wasAway = false;

  constructor(deps: PbxConnectionsDeps) {
    this.#deps = deps;
    this.#loop = new JobLoop({
      clock: deps.clock,
      // Closing connections must not delay a renewal.
      everyMs: () => {
        const sinceMs = deps.clock.monotonicMs() - this.#askedAtMs;
        return Math.max(RETRY_MS, LOOK_MS - sinceMs);
      },
      retryMs: RETRY_MS,
      run: async () => {
        await this.#look();
        this.#wasAway = false;
      },
      onError: (error) => this.#noteAway(error),
    });
  }

  /** Number of calls in setup. */
  get busy(): number {
    return [...this.#lines.values()].reduce((all, line) => all + line.busy, 0);
  }

  /** The configurations of the connections. */
  get configurations(): string[] {
    return [...this.#lines.keys()];
  }

  /** Settles when no other process holds calls of the connections, or after `ms`: closed connections bring no events.
   *  Never rejects. */
  async untilMembersIdle(ms: number): Promise<void> {
    if (this.#lines.size > 0) await this.#deps.processes?.untilIdle(ms);
  }

  /** Starts the connections; settles when they are started. */
  async start(): Promise<void> {
    if (this.#deps.providers.pbx.length === 0) return;
    this.#hasStarted = true;
    await this.#loop.start();
  }

  /** Checks at once, because a configuration was created, changed or deleted here. Never rejects. */
  async wake(): Promise<void> {
    await this.#loop.wake();
  }

  /** Releases all PBXs; current calls go on. Never rejects. */
  async stop(): Promise<void> {
    const wasRunning = this.#hasStarted && !this.#loop.hasStopped;
    await this.#loop.stop();
    await Promise.all([...this.#lines.values()].map((line) => line.close()));
    this.#lines.clear();
    if (!wasRunning) return;
    await this.#deps.store.leases.release().catch((error: unknown) => {
      this.#deps.log.warn({ err: error }, 'PBX leases not released');
    });
  }

  /** Notes an outage of the store. Every connection stays: no other node can take one either. */
  #noteAway(error: unknown): void {
    if (!this.#wasAway) this.#deps.log.error({ err: error }, 'PBX configurations not read');
    this.#wasAway = true;
  }

  async #look(): Promise<void> {
    const { log } = this.#deps;
    const held = await this.#claim();
    const ids = new Set(held.map(({ id }) => id));
    // In parallel: one after the other would take longer than the lease.
    const leaving: Promise<void>[] = [];
    for (const [id, line] of this.#lines) {
      if (ids.has(id)) continue;
      log.info({ configurationId: id }, 'lease of the PBX lost');
      leaving.push(this.#close(id, line));
    }
    try {
      for (const each of held) await this.#follow(each, leaving);
    } finally {
      await Promise.all(leaving);
    }
  }

  async #claim(): Promise<HeldConfiguration[]> {
    const { store, providers, clock, log } = this.#deps;
    const nowMs = clock.monotonicMs();
    this.#askedAtMs = nowMs;
    const silentMs = nowMs - (this.#answeredAtMs ?? nowMs);
    if (silentMs > LEASE_MS - LOOK_MS) this.#renewalUntilMs = nowMs + RENEWAL_MS;
    const held = await store.leases.claim({
      providers: providers.pbx.map(({ name }) => name),
      leaseMs: LEASE_MS,
      takesExpired: nowMs >= this.#renewalUntilMs,
      max: LINES_MAX,
    });
    this.#answeredAtMs = clock.monotonicMs();
    for (const { id, isTakenOver } of held) {
      if (!isTakenOver) continue;
      log.warn(
        { configurationId: id },
        'PBX taken over from a node that has not renewed its lease',
      );
      pbxLeaseTakeovers.inc();
    }
    return held;
  }

  async #follow(configuration: HeldConfiguration, leaving: Promise<void>[]): Promise<void> {
    const { id, inactiveSince } = configuration;
    const line = this.#lines.get(id);
    if (line === undefined) {
      this.#connect(configuration);
      return;
    }
    // A client wants an immediate retry.
    const isTakenBack = line.isReportedDown && inactiveSince === null;
    // Another node had the connection: events were lost, and Asterisk may send them there.
    const wasAway = line.leaseEpoch !== configuration.leaseEpoch;
    if (line.isOf(configuration) && !isTakenBack && !wasAway) {
      line.follow(configuration);
      await this.#show(line, configuration);
      return;
    }
    if (line.renew(configuration)) return;
    leaving.push(this.#close(id, line).then(() => this.#connect(configuration)));
  }

  #connect(configuration: HeldConfiguration): void {
    const provider = this.#deps.providers.pbx.find(({ name }) => name === configuration.provider);
    if (provider === undefined || this.#loop.hasStopped) return;
    const line = new PbxConnectionHolder(this.#deps.calls, {
      configuration,
      provider,
      refusal: this.#deps.refusal,
      processes: this.#deps.processes,
      elsewhere: (of) => this.#deps.store.leases.callsElsewhere(of),
      onUp: () => void this.wake(),
    });
    this.#lines.set(configuration.id, line);
  }

  async #close(id: string, line: PbxConnectionHolder): Promise<void> {
    this.#lines.delete(id);
    await line.close();
  }

  /** Shows clients the state of the PBX. */
  async #show(line: PbxConnectionHolder, configuration: HeldConfiguration): Promise<void> {
    const { telephony } = this.#deps.store;
    const { id, organizationId, inactiveSince, inactiveReason } = configuration;
    line.isReportedDown = inactiveSince !== null;
    if (line.isUp && line.isReportedDown) {
      await telephony.reactivate(organizationId, id);
      line.isReportedDown = false;
    }
    const reason = line.fault?.slice(0, REASON_MAX);
    if (reason === undefined || reason === inactiveReason) return;
    await telephony.deactivate(organizationId, id, reason);
    line.isReportedDown = true;
  }
}

type Down = Extract<PbxState, { kind: 'down' }>;

interface PbxLineOptions {
  configuration: HeldConfiguration;
  provider: PbxProvider;
  /** Why no new call is accepted now; undefined if calls are accepted. */
  refusal: () => GatewayError | undefined;
  processes: PbxProcesses | undefined;
  /** Calls of the configuration in other gateways. */
  elsewhere: (configurationId: string) => Promise<CallsElsewhere>;
  onUp: () => void;
}

/** One configuration's connection to its PBX, and the state of the connection. */
class PbxConnectionHolder {
  /** Whether clients see the configuration as inactive. */
  isReportedDown: boolean;
  readonly #deps: PbxCallsDeps;
  readonly #options: PbxLineOptions;
  #configuration: HeldConfiguration;
  readonly #log: Log;
  readonly #calls: PbxCalls;
  /** The connection; undefined if the credentials give none. */
  readonly #connection: PbxConnection | undefined;
  #state: PbxState['kind'] = 'connecting';
  #down: Down | undefined;
  #downSinceMs = 0;
  #wasUp = false;
  #isClosed = false;

  constructor(deps: PbxCallsDeps, options: PbxLineOptions) {
    const { configuration, provider, refusal } = options;
    this.isReportedDown = configuration.inactiveSince !== null;
    this.#deps = deps;
    this.#options = options;
    this.#configuration = configuration;
    this.#log = deps.log.child({ configurationId: configuration.id, provider: provider.name });
    const connection = (): PbxConnection => {
      if (this.#connection === undefined) throw new Error('there is no connection');
      return this.#connection;
    };
    this.#calls = new PbxCalls(deps, {
      configuration: () => this.#configuration,
      provider,
      connection,
      refusal,
    });
    pbxConnections.inc({ provider: provider.name, state: this.#state });
    this.#connection = this.#connect();
  }

  #connect(): PbxConnection | undefined {
    const { id, credentials, isReadable } = this.#configuration;
    try {
      if (!isReadable) throw new GatewayError('SECRET_UNREADABLE', { field: 'credentials' });
      const listener: PbxListener = {
        onState: (state) => this.#take(state),
        onInbound: (call) => this.#calls.inbound(call),
        onEarlyMedia: (call) => this.#calls.earlyMedia(call),
        onAnswered: (call) => this.#calls.answered(call),
        onStatus: (status) => this.#calls.status(status),
      };
      const account = { configurationId: id, credentials };
      const members = this.#options.processes?.members(this.#configuration);
      const elsewhere = () => this.#options.elsewhere(id);
      const options = { listener, log: this.#log, members, elsewhere };
      return this.#options.provider.pbx.connect(account, options);
    } catch (error) {
      this.#log.error({ err: error }, 'the PBX cannot be connected');
      const code = codeOf(error) ?? 'PROVIDER_FAILED';
      const message = error instanceof GatewayError ? error.message : 'unexpected error';
      this.#take({ kind: 'down', code, message, isPermanent: true });
      return undefined;
    }
  }

  get isUp(): boolean {
    return this.#state === 'up';
  }

  get leaseEpoch(): string {
    return this.#configuration.leaseEpoch;
  }

  /** Number of calls in setup. */
  get busy(): number {
    return this.#calls.busy;
  }

  /** Whether the connection was made from these credentials. */
  isOf({ credentials, isReadable }: HeldConfiguration): boolean {
    const own = this.#configuration;
    return isReadable === own.isReadable && isDeepStrictEqual(credentials, own.credentials);
  }

  /** Takes changes that need no other connection. */
  follow(configuration: HeldConfiguration): void {
    this.#configuration = configuration;
  }

  /** Reconnects with the current configuration and keeps the calls. Returns false if it cannot. */
  renew(configuration: HeldConfiguration): boolean {
    try {
      if (!configuration.isReadable) return false;
      if (this.#connection?.renew(configuration.credentials) !== true) return false;
    } catch (error) {
      this.#log.warn({ err: error }, 'the connection to the PBX cannot be renewed');
      return false;
    }
    this.#configuration = configuration;
    this.isReportedDown = configuration.inactiveSince !== null;
    this.#down = undefined;
    return true;
  }

  /** Why the connection is inactive, as a text for people; undefined while it works or may soon work. */
  get fault(): string | undefined {
    if (this.#down === undefined) return undefined;
    const { code, message, isPermanent } = this.#down;
    const downMs = this.#deps.clock.monotonicMs() - this.#downSinceMs;
    return downMs < (isPermanent ? GRACE_PERMANENT_MS : GRACE_MS)
      ? undefined
      : `${code}: ${message}`;
  }

  /** Closes the connection. Current calls go on. Never rejects. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    pbxConnections.dec({ provider: this.#options.provider.name, state: this.#state });
    if (this.#connection === undefined) return;
    try {
      await withDeadline(
        this.#deps.clock,
        CLOSE_MS_MAX,
        'close the connection to the PBX',
        this.#connection.close(),
      );
    } catch (error) {
      this.#log.warn({ err: error }, 'connection to the PBX not closed');
    }
  }

  #take(state: PbxState): void {
    if (this.#isClosed) return;
    const provider = this.#options.provider.name;
    pbxConnections.dec({ provider, state: this.#state });
    pbxConnections.inc({ provider, state: state.kind });
    this.#state = state.kind;
    if (state.kind === 'up') this.#takeUp(state.version);
    if (state.kind === 'down') this.#takeDown(state);
  }

  #takeUp(version: string | null): void {
    if (this.#wasUp || this.#down !== undefined) {
      pbxReconnects.inc({ provider: this.#options.provider.name });
    }
    this.#wasUp = true;
    this.#down = undefined;
    this.#log.info({ version }, 'the PBX is connected');
    this.#options.onUp();
  }

  #takeDown(down: Down): void {
    const { code, message } = down;
    const before = this.#down;
    if (before === undefined) this.#downSinceMs = this.#deps.clock.monotonicMs();
    this.#down = down;
    if (before?.code === code) return;
    pbxOutages.inc({ provider: this.#options.provider.name, code });
    this.#log.warn({ code, message }, 'the PBX is not connected');
  }
}
