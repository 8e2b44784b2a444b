// The call control application at Telnyx through which calls are placed and received: found by our name, or created. It
// is not changed later: all its numbers share its webhook URL. Source: providers §2.7.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { ApplicationWish } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { checkedCredentials, dataOf, type TelnyxClient } from './client.ts';

/** Seconds for which Telnyx waits for our reply, which comes within two. */
const WEBHOOK_S = 5;
/** Seconds after which Telnyx hangs up a call that received no command. */
const COMMAND_S = 15;
const PAGE_SIZE = 50;

const id = z.coerce.string().min(1);
const application = z.object({
  id,
  application_name: z.string(),
  webhook_event_url: z.string().nullish(),
  webhook_api_version: z.coerce.string().nullish(),
});
const profiles = z.array(z.object({ id, enabled: z.boolean().nullish() }));

export type TelnyxApplication = z.infer<typeof application>;

interface Asking {
  credentials: ProviderCredentials;
  signal: AbortSignal;
}

/** Ensures an application. Returns the `connection_id` to store; undefined if the configuration has one. Throws
 *  PROVIDER_*. */
export async function ensureApplication(
  client: TelnyxClient,
  { wish, ...asking }: Asking & { wish: ApplicationWish },
): Promise<ProviderCredentials | undefined> {
  if (checkedCredentials(asking.credentials).connection_id) return undefined;
  const name = `patchbay-${wish.installationId}`;
  const known = await findByName(client, name, asking);
  if (known === undefined)
    return { connection_id: await create(client, { name, wish, ...asking }) };
  const fault = applicationFault(known, wish.inboundUrl);
  if (fault === undefined) return { connection_id: known.id };
  const facts = { provider: 'telnyx', action: 'find-application', reason: fault };
  throw new GatewayError('PROVIDER_REFUSED', facts);
}

/** Why calls to the application's numbers would not reach us, as text for users; undefined if they do. */
export function applicationFault(
  {
    application_name: name,
    webhook_event_url: url,
    webhook_api_version: version,
  }: TelnyxApplication,
  inboundUrl: string,
): string | undefined {
  if (url !== inboundUrl) {
    return `The call control application ${name} at Telnyx sends its webhooks elsewhere. Set its webhook URL there to ${inboundUrl}`;
  }
  if (version === '2') return undefined;
  return `The call control application ${name} at Telnyx sends webhooks of version 1. Set its API version there to 2`;
}

/** The application; undefined if the account does not have it. */
export async function readApplication(
  client: TelnyxClient,
  connectionId: string,
  { credentials, signal }: Asking,
): Promise<TelnyxApplication | undefined> {
  const path = `call_control_applications/${encodeURIComponent(connectionId)}`;
  const wanted = { action: 'find-application', method: 'GET', path, repeatable: true } as const;
  const answer = await client.send(credentials, wanted, signal);
  return answer.status === 404 ? undefined : dataOf(answer, wanted, application);
}

async function findByName(
  client: TelnyxClient,
  name: string,
  { credentials, signal }: Asking,
): Promise<TelnyxApplication | undefined> {
  const query = new URLSearchParams([
    ['filter[application_name][contains]', name],
    ['page[size]', String(PAGE_SIZE)],
  ]);
  const path = `call_control_applications?${query}`;
  const wanted = { action: 'find-application', method: 'GET', path, repeatable: true } as const;
  const answer = await client.send(credentials, wanted, signal);
  const found = dataOf(answer, wanted, z.array(application));
  return found.find(({ application_name }) => application_name === name);
}

async function create(
  client: TelnyxClient,
  { name, wish, credentials, signal }: Asking & { name: string; wish: ApplicationWish },
): Promise<string> {
  const profile = await outboundProfile(client, { credentials, signal });
  const body = {
    application_name: name,
    webhook_event_url: wish.inboundUrl,
    webhook_api_version: '2', // Default: 1, whose webhooks have another form.
    webhook_timeout_secs: WEBHOOK_S,
    first_command_timeout: true,
    first_command_timeout_secs: COMMAND_S,
    ...(profile !== undefined && { outbound: { outbound_voice_profile_id: profile } }),
  };
  const path = 'call_control_applications';
  const wanted = {
    action: 'create-application',
    method: 'POST',
    path,
    body,
    repeatable: false,
  } as const;
  return dataOf(await client.send(credentials, wanted, signal), wanted, application).id;
}

/** The outbound voice profile. Without one calls can be received but not placed: a dial reports that. */
async function outboundProfile(
  client: TelnyxClient,
  { credentials, signal }: Asking,
): Promise<string | undefined> {
  const path = `outbound_voice_profiles?${new URLSearchParams([['page[size]', String(PAGE_SIZE)]])}`;
  const wanted = { action: 'find-profile', method: 'GET', path, repeatable: true } as const;
  const found = dataOf(await client.send(credentials, wanted, signal), wanted, profiles);
  return found.find(({ enabled }) => enabled !== false)?.id;
}
