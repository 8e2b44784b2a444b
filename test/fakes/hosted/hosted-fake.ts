// A fake provider as tests, demo and load see it, whatever provider it is. Each has one row (`hosted-rows.ts`).

import type { ConfiguredProviderName } from '../../../src/model/provider.ts';
import type { Clock } from '../../../src/std/clock.ts';
import type { HostedProvider } from '../../../src/telephony/provider/provider.ts';
import type { HostedOptions } from '../../../src/telephony/provider/rest-client.ts';
import type { AccountState, Routing } from './account-state.ts';
import type { HostedCall } from './hosted-call.ts';

/** Faults in the delivery of status webhooks. */
export interface Mischief {
  /** Each is delivered this many times. */
  deliveries?: number;
  /** Those of a call arrive in pairs, the later one first. */
  reorder?: boolean;
}

export interface HostedFakeOptions {
  /** The gateway's public address, without a path. */
  gatewayUrl: string;
  /** Numbers of the account, `+` and digits. A number without a URL of its own rings at the gateway's inbound route. */
  numbers: readonly string[];
  /** Port of the REST interface. Default: any port of this machine alone. */
  port?: number;
  host?: string;
  /** Where a public URL is really reached, if not where it says. Signatures are over the public one. */
  reach?: (url: string) => string;
  mischief?: Mischief;
  /** Default: real time. */
  clock?: Clock;
}

export interface HostedFake extends Routing {
  /** For the configuration's `api_base_url`. */
  readonly baseUrl: string;
  readonly state: AccountState;
  /** Every call, oldest first. */
  readonly calls: readonly HostedCall[];
  /** Rings the gateway. Resolves when the call exists; the rest shows in the call. */
  placeInboundCall(call: { from: string; to: string }): Promise<HostedCall>;
  /** Who picks up when the gateway dials: call `answer()` or `refuse()`. Without a handler, nobody. */
  onOutboundCall(handler: (call: HostedCall) => void): void;
  close(): Promise<void>;
}

/** An answer of the provider's REST interface, and what the gateway makes of it. */
export interface Refusal {
  status: number;
  body: unknown;
  code: 'PROVIDER_AUTH' | 'PROVIDER_DESTINATION' | 'PROVIDER_CAPACITY' | 'PROVIDER_REFUSED';
  /** What whoever started the call reads of it. */
  words: string;
}

export interface HostedRow {
  name: ConfiguredProviderName;
  create(options: HostedOptions): HostedProvider;
  startFake(options: HostedFakeOptions): Promise<HostedFake>;
  /** The configuration as a client stores it, whole. */
  configuration(baseUrl: string): Record<string, unknown>;
  /** Fields of it with a secret that is not the account's. */
  wrongSecret: Record<string, unknown>;
  /** Fields of it with which the provider refuses requests. Default: `wrongSecret`. */
  wrongLogin?: Record<string, unknown>;
  /** Bodies of its webhooks, of each kind. */
  webhooks: readonly string[];
  /** Whether the provider reports how the destination of a cold transfer took the call. */
  reportsTransfers: boolean;
  /** A dial's success, as the provider answers it. */
  dialled: { status: number; body: unknown; callId: string };
  /** Refusals of a dial. At least: credentials, destination, capacity. */
  refusals: readonly Refusal[];
}
