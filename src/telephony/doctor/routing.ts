// Points the inbound calls of a hosted configuration at this installation: the plan, and the change. Done only on
// request: an installation with a copied database must not take the numbers of another.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { ApplicationReport } from '../provider/inspection.ts';
import type { HostedProvider } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { isRoutedHere, targetWords } from './account-checks.ts';
import type { ExaminedNumber } from './hosted-doctor.ts';

export interface RoutingChange {
  kind: 'application' | 'number';
  /** The application's name, or the number. */
  subject: string;
  /** Destination of its calls today, and the intended one; as text. */
  from: string;
  to: string;
  /** `blocked`: the change can only be made in the provider's console. */
  state: 'planned' | 'done' | 'blocked';
  /** Why it is blocked. */
  message: string | null;
}

export interface RoutingWish {
  provider: HostedProvider;
  credentials: ProviderCredentials;
  /** Numbers whose calls an agent answers. */
  numbers: readonly ExaminedNumber[];
  inboundUrl: string;
  signal: AbortSignal;
}

/** The changes in the order in which they are made; empty if all calls come here. Throws PROVIDER_*. */
export async function planRouting(wish: RoutingWish): Promise<RoutingChange[]> {
  const { provider, credentials, signal } = wish;
  const asked = provider.inspection.application;
  if (asked === null) return planNumbers(wish, undefined);
  const application = await asked.read(credentials, signal);
  if (application === undefined) {
    const { numbers, inboundUrl: to } = wish;
    const ofNumbers = numbers.map(({ address: subject }): RoutingChange => {
      return { kind: 'number', subject, from: 'not examined', to, ...NO_APPLICATION };
    });
    return [...planApplication(wish, application), ...ofNumbers];
  }
  const numbers = await planNumbers(wish, application);
  return [...planApplication(wish, application), ...numbers];
}

function planApplication(
  { inboundUrl: to }: RoutingWish,
  application: ApplicationReport | undefined,
): RoutingChange[] {
  const { name: subject = 'none', inboundUrl: url = null } = application ?? {};
  if (url === to) return [];
  const change = { kind: 'application', subject, from: url ?? 'nowhere', to } as const;
  return [{ ...change, ...(application === undefined ? NO_APPLICATION : PLANNED) }];
}

async function planNumbers(
  { provider, credentials, numbers, inboundUrl, signal }: RoutingWish,
  application: ApplicationReport | undefined,
): Promise<RoutingChange[]> {
  if (numbers.length === 0) return [];
  const { inspection } = provider;
  const addresses = numbers.map(({ providerAddress }) => providerAddress);
  const targets = await inspection.targets(credentials, addresses, signal);
  const to = inspection.application === null ? inboundUrl : `application ${application?.name}`;
  return numbers.flatMap(({ address, isTelephone }, i): RoutingChange[] => {
    const target = targets[i];
    if (isRoutedHere({ target, application, inboundUrl })) return [];
    if (target === undefined && !isTelephone) return [];
    const change = { kind: 'number', subject: address, from: targetWords(target), to } as const;
    const isOthers = target?.kind === 'application' && !inspection.movesNumbers;
    const isBlocked = target === undefined || target.kind === 'blocked' || isOthers;
    return [{ ...change, ...(isBlocked ? BLOCKED : PLANNED) }];
  });
}

const PLANNED = { state: 'planned', message: null } as const;
const BLOCKED = {
  state: 'blocked',
  message: "Remove it from there in the provider's console, then run this again.",
} as const;
const NO_APPLICATION = {
  state: 'blocked',
  message: 'Clear the application in the configuration and save it: one is made.',
} as const;

/** Carries out the planned changes, the application's first. A refusal blocks only its change; the rest is done. */
export async function applyRouting(
  wish: RoutingWish,
  changes: readonly RoutingChange[],
): Promise<RoutingChange[]> {
  const made: RoutingChange[] = [];
  for (const change of changes) {
    if (change.state !== 'planned') {
      made.push(change);
      continue;
    }
    const refusal = await refusalOf(() => apply(wish, change));
    made.push({ ...change, state: refusal === null ? 'done' : 'blocked', message: refusal });
  }
  return made;
}

/** Carries out one change. Null if it is done, else the reason why not. */
async function apply(wish: RoutingWish, { kind, subject }: RoutingChange): Promise<string | null> {
  const { provider, credentials, numbers, inboundUrl, signal } = wish;
  if (kind === 'application') {
    await provider.inspection.application?.point(credentials, inboundUrl, signal);
    return null;
  }
  const address = numbers.find((each) => each.address === subject)?.providerAddress ?? '';
  const { ok, message } = await provider.control.configureInbound(
    credentials,
    address,
    inboundUrl,
    signal,
  );
  return ok ? null : (message ?? 'The provider refused it.');
}

async function refusalOf(work: () => Promise<string | null>): Promise<string | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GatewayError) return error.message;
    throw error;
  }
}
