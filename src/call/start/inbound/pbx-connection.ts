// One configuration's connection to its PBX, and the state of the connection.

import { isDeepStrictEqual } from 'node:util';
import { codeOf, GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { pbxConnections, pbxOutages, pbxReconnects } from '../../../metrics/metrics.ts';
import { withDeadline } from '../../../std/deadline.ts';
import type { HeldConfiguration } from '../../../store/telephony/configuration-leases.ts';
import type { PbxConnection, PbxListener, PbxState } from '../../../telephony/provider/pbx.ts';
import type { PbxProvider } from '../../../telephony/provider/provider.ts';
import { PbxCalls, type PbxCallsDeps } from './pbx-calls.ts';

/** Time before a PBX is shown as inactive: it may restart, or be unreachable for a moment. */
const GRACE_MS = 15_000;
/** The same for a fault that does not pass by itself, such as a wrong password; short, as a mistake may be corrected
 *  at once. */
const GRACE_PERMANENT_MS = 3_000;
const CLOSE_MS_MAX = 3_000;

type Down = Extract<PbxState, { kind: 'down' }>;

export interface PbxLineOptions {
  configuration: HeldConfiguration;
  provider: PbxProvider;
  /** Why no new call is accepted now; undefined if calls are accepted. */
  refusal: () => GatewayError | undefined;
  onUp: () => void;
}

export class PbxConnectionHolder {
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
      return this.#options.provider.pbx.connect(account, { listener, log: this.#log });
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

  /** Number of calls in setup. */
  get busy(): number {
    return this.#calls.busy;
  }

  /** Whether the connection was made from these credentials. */
  isOf({ credentials, isReadable }: HeldConfiguration): boolean {
    const own = this.#configuration;
    return isReadable === own.isReadable && isDeepStrictEqual(credentials, own.credentials);
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
