// A phone number at its provider: whether the account owns it, and where its inbound calls go. Failures are reported,
// never hidden. Source: contract §4.3.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { ProviderName } from '../../model/provider.ts';
import type { PhoneNumber, TelephonyConfiguration } from '../../model/telephony.ts';
import type { Clock } from '../../std/clock.ts';
import type { TelephonyProvider } from '../../telephony/provider/provider.ts';
import type { ProviderCredentials } from '../../telephony/provider/terms.ts';
import type { ApiDeps } from '../http/api-deps.ts';
import type { ProviderSync } from './telephony-schema.ts';

/** Deadline of a provider's answer; a client waits for it. */
const PROVIDER_MS = 10_000;

export const INBOUND_PATH = '/api/v1/telephony/inbound/run';

/** Checks that the account owns the number. Every number is accepted for a provider without ownership checks, or one
 *  that is not built. Throws PHONE_NUMBER_NOT_OWNED, and PROVIDER_* if the provider cannot be asked. */
export async function checkOwnership(
  deps: ApiDeps,
  { provider: name, credentials }: TelephonyConfiguration,
  number: { address: string; addressNormalized: string },
): Promise<void> {
  const provider = deps.providerByName(name);
  if (provider === undefined) return;
  const address = provider.formatAddress(number.addressNormalized);
  const owns = await inTime(deps.clock, name, (signal) =>
    provider.control.ownsNumber(credentials, address, signal),
  );
  if (owns === false) throw new GatewayError('PHONE_NUMBER_NOT_OWNED', { address: number.address });
}

/** The credentials with the provider's application that calls need; found or created there if they name none. Throws
 *  PROVIDER_*. */
export async function withApplication(
  deps: ApiDeps,
  name: ProviderName,
  credentials: ProviderCredentials,
): Promise<ProviderCredentials> {
  const provider = deps.providerByName(name);
  if (provider?.control.ensureApplication === undefined) return credentials;
  const installationId = await deps.store.telephony.installationId();
  const wanted = { installationId, inboundUrl: deps.publicUrl + INBOUND_PATH };
  const made = await inTime(deps.clock, name, async (signal) =>
    provider.control.ensureApplication?.(credentials, wanted, signal),
  );
  return { ...credentials, ...made };
}

/** Points the number's inbound calls at the gateway, or away (`attached` false). Never throws. */
export async function syncInbound(
  deps: ApiDeps,
  configuration: TelephonyConfiguration,
  number: PhoneNumber,
  attached: boolean,
): Promise<ProviderSync> {
  const provider = deps.providerByName(configuration.provider);
  if (provider === undefined) {
    const { message } = new GatewayError('PROVIDER_NOT_BUILT', {
      provider: configuration.provider,
    });
    return { ok: false, message };
  }
  return configure(deps, provider, {
    credentials: configuration.credentials,
    address: provider.formatAddress(number.addressNormalized),
    url: deps.publicUrl + INBOUND_PATH,
    attached,
  });
}

async function configure(
  deps: ApiDeps,
  { name, control }: TelephonyProvider,
  wish: { credentials: ProviderCredentials; address: string; url: string; attached: boolean },
): Promise<ProviderSync> {
  try {
    const { credentials, address, url, attached } = wish;
    const { ok, message } = await inTime(deps.clock, name, (signal) =>
      attached
        ? control.configureInbound(credentials, address, url, signal)
        : control.detachInbound(credentials, address, url, signal),
    );
    return { ok, message };
  } catch (error) {
    return { ok: false, message: reasonOf(error, deps.log) };
  }
}

/** The result of `ask`, or PROVIDER_TIMEOUT even if `ask` ignores its signal. */
async function inTime<T>(
  clock: Clock,
  provider: string,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const late = new GatewayError('PROVIDER_TIMEOUT', { provider });
  const isUp = new Promise<never>((_resolve, reject) => {
    controller.signal.addEventListener('abort', () => reject(late), { once: true });
  });
  const timer = clock.after(PROVIDER_MS, () => controller.abort(late));
  try {
    return await Promise.race([ask(controller.signal), isUp]);
  } finally {
    timer.cancel();
  }
}

function reasonOf(error: unknown, log: Log): string {
  if (error instanceof GatewayError) return error.message;
  log.error({ err: error }, 'inbound calls not configured');
  return 'The provider could not be asked';
}
