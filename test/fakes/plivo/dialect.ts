// What differs between the fakes of Plivo and Vobiz.

import type { ProviderName } from '../../../src/model/provider.ts';
import type { AccountState } from '../hosted/account-state.ts';
import type { HostedCall } from '../hosted/hosted-call.ts';
import type { WireOptions } from './stream-wire.ts';

/** A call as the REST interface has it. */
export interface XmlCall extends HostedCall {
  readonly direction: 'inbound' | 'outbound';
  /** `CallStatus` in the provider's words. */
  readonly word: string;
  /** Code and name of the cause of its end. */
  readonly cause: [string, string];
  readonly wasAnswered: boolean;
  readonly startedAt: Date;
  /** Milliseconds since the call exists. */
  readonly ageMs: number;
  /** Fetches a document and carries it out. `event`: why. */
  follow(url: string, event: string): Promise<void>;
}

export interface RestRequest {
  method: string;
  /** Below the account, without a query: `Call/`. */
  path: string;
  query: URLSearchParams;
  body: Record<string, unknown>;
}

export interface RestAnswer {
  status: number;
  body: unknown;
}

export interface FakeApplication {
  app_id: string;
  app_name: string;
  answer_url: string;
  hangup_url: string;
}

/** What the REST interface works on. */
export interface FakeAccount {
  state: AccountState;
  applications: Map<string, FakeApplication>;
  /** The application of each number, by its digits; null: none. */
  numbers: Map<string, string | null>;
  calls: Map<string, XmlCall>;
  dial(body: Record<string, unknown>): XmlCall;
}

export interface Dialect {
  name: ProviderName;
  /** `v1`, before `/Account/…`. */
  version: string;
  authId: string;
  authToken: string;
  isAuthorized(headers: Record<string, string | string[] | undefined>): boolean;
  /** Headers of a webhook. */
  signed(url: string, form: Record<string, string>): Record<string, string>;
  /** Calls and numbers, where the two differ. Undefined: not of this dialect. */
  answer(account: FakeAccount, request: RestRequest): RestAnswer | undefined;
  wire: Pick<WireOptions, 'firstMs' | 'earlyAudio' | 'namesStream' | 'bufferMsMax'>;
  /** Whether `ring_url` is called. */
  ringEvents: boolean;
}

export function refusal(status: number, error: string): RestAnswer {
  return { status, body: { api_id: 'fake', error } };
}
