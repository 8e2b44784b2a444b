// The PBX connections of this node: one for each configuration whose lease it has, in any state of the PBX. Follows
// created, changed and deleted configurations, and shows those whose PBX cannot be reached as inactive until it is
// back.

import type { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import type { Clock } from '../../../std/clock.ts';
import { JobLoop } from '../../../std/job-loop.ts';
import type { Store } from '../../../store/store.ts';
import type { HeldConfiguration } from '../../../store/telephony/configuration-leases.ts';
import type { PbxProvider } from '../../../telephony/provider/provider.ts';
import type { PbxCallsDeps } from './pbx-calls.ts';
import { PbxConnectionHolder } from './pbx-connection.ts';

/** Interval of the checks for changes that another node has stored. */
const LOOK_MS = 2_000;
/** Lease of a PBX: the time until another node takes over the PBXs of a killed node. A database that is slow for a
 *  moment costs none. */
const LEASE_MS = 8_000;
/** Time in which nodes may renew leases that expired while the store was unavailable: a request that was lost with
 *  the store fails after ten seconds, and the next one is sent. A node that takes the PBX of a living one ends that
 *  node's calls. */
const RENEWAL_MS = 15_000;
/** Connections of one node at most. */
const LINES_MAX = 1_000;
/** Characters of a shown reason at most. */
const REASON_MAX = 500;

export interface PbxConnectionsDeps {
  store: Pick<Store, 'leases' | 'telephony'>;
  providers: { readonly pbx: readonly PbxProvider[] };
  /** Dependencies of each connection's calls. */
  calls: PbxCallsDeps;
  /** Why no new call is accepted now; undefined if calls are accepted. */
  refusal: () => GatewayError | undefined;
  clock: Clock;
  log: Log;
}

export class PbxConnections {
  readonly #deps: PbxConnectionsDeps;
  /** Connections by configuration. */
  readonly #lines = new Map<string, PbxConnectionHolder>();
  readonly #loop: JobLoop;
  #hasStarted = false;
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
      everyMs: LOOK_MS,
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
    const { store, providers, clock } = this.#deps;
    const nowMs = clock.monotonicMs();
    const silentMs = nowMs - (this.#answeredAtMs ?? nowMs);
    if (silentMs > LEASE_MS - LOOK_MS) this.#renewalUntilMs = nowMs + RENEWAL_MS;
    const held = await store.leases.claim({
      providers: providers.pbx.map(({ name }) => name),
      leaseMs: LEASE_MS,
      takesExpired: nowMs >= this.#renewalUntilMs,
      max: LINES_MAX,
    });
    this.#answeredAtMs = clock.monotonicMs();
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
    if (line.isOf(configuration) && !isTakenBack) {
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
