// Reads a hosted provider's account, for the doctor and for pointing inbound calls at this installation. Read-only,
// except `ApplicationInspection.point`.

import { z } from 'zod';
import type { ProviderCredentials } from './terms.ts';

export interface AccountReport {
  /** State of the account, if the provider reports it. A trial calls verified numbers only, or not for long. */
  standing: 'active' | 'trial' | 'suspended' | 'unknown';
  /** Balance; null where the provider does not report it. */
  balance: { amount: number; currency: string | null } | null;
  /** The provider's clock, milliseconds since 1970. Null if its answer had no date. */
  dateMs: number | null;
}

export interface ApplicationReport {
  /** The id by which NumberTarget names it. */
  id: string;
  /** A second id by which NumberTarget may name it. */
  otherId?: string | undefined;
  /** Its name in the provider's console. */
  name: string;
  /** Where the application sends inbound calls; null for nowhere. */
  inboundUrl: string | null;
}

export interface ApplicationInspection {
  /** The configuration's application. Undefined if the configuration names none, or the provider has none of that name.
   *  Throws PROVIDER_*. */
  read(
    credentials: ProviderCredentials,
    signal: AbortSignal,
  ): Promise<ApplicationReport | undefined>;
  /** Points the application, with all numbers on it, at `inboundUrl`, wherever it pointed before. Throws PROVIDER_*. */
  point(credentials: ProviderCredentials, inboundUrl: string, signal: AbortSignal): Promise<void>;
}

/** Where a number's inbound calls go. */
export type NumberTarget =
  | { kind: 'application'; id: string }
  | { kind: 'url'; url: string }
  | { kind: 'none' }
  /** A service of the provider takes its calls, such as a SIP trunk. */
  | { kind: 'blocked'; by: string };

export interface ProviderInspection {
  /** Reads the account. Throws PROVIDER_*; PROVIDER_AUTH if the credentials are refused. */
  account(credentials: ProviderCredentials, signal: AbortSignal): Promise<AccountReport>;
  /** Null where each number has a URL of its own. */
  application: ApplicationInspection | null;
  /** Whether `ProviderControl.configureInbound` takes a number over from another application. */
  movesNumbers: boolean;
  /** Destinations in the order of `addresses` (in the provider's format); undefined for a number that the account does
   *  not own. Throws PROVIDER_*. */
  targets(
    credentials: ProviderCredentials,
    addresses: readonly string[],
    signal: AbortSignal,
  ): Promise<(NumberTarget | undefined)[]>;
}

/** An amount of money as providers write it: a number, or digits in text. */
export const money = z.union([z.number(), z.string().trim().min(1).transform(Number)]).nullish();

/** The balance of an amount; null without one. */
export function balanceOf(
  amount: number | null | undefined,
  currency: string | null | undefined,
): AccountReport['balance'] {
  return typeof amount === 'number' && Number.isFinite(amount)
    ? { amount, currency: currency || null }
    : null;
}
