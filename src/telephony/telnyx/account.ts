// A Telnyx account: its balance, its phone numbers, and the call control application through which calls are placed and
// received. It is found by our name or created, and not changed later except by `point`: all its numbers share its
// webhook URL. Source: team-telnyx/openapi (balance, call_control_applications); providers §2.7.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import {
  type InboundNumbers,
  inboundNumbers,
  type NumberLook,
} from '../provider/inbound-numbers.ts';
import { balanceOf, money, type ProviderInspection } from '../provider/inspection.ts';
import type { ApplicationWish } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { checkedCredentials, dataOf, type TelnyxClient, type TelnyxRequest } from './client.ts';

interface Asking {
  credentials: ProviderCredentials;
  signal: AbortSignal;
}

const balance = z.looseObject({ available_credit: money, balance: money, currency: z.string() });

export function createTelnyxInspection(client: TelnyxClient): ProviderInspection {
  return {
    async account(credentials, signal) {
      const wanted = {
        action: 'get-account',
        method: 'GET',
        path: 'balance',
        repeatable: true,
      } as const;
      const answer = await client.send(credentials, wanted, signal);
      const found = dataOf(answer, wanted, balance);
      return {
        standing: 'unknown',
        balance: balanceOf(found.available_credit ?? found.balance, found.currency),
        dateMs: answer.dateMs ?? null,
      };
    },

    application: {
      async read(credentials, signal) {
        const id = checkedCredentials(credentials).connection_id;
        if (!id) return undefined;
        const found = await readApplication(client, id, { credentials, signal });
        if (found === undefined) return undefined;
        const { application_name: name, webhook_event_url: url } = found;
        // Webhooks of version 1 have another form.
        return { id, name, inboundUrl: found.webhook_api_version === '2' ? (url ?? null) : null };
      },

      async point(credentials, inboundUrl, signal) {
        const id = checkedCredentials(credentials).connection_id ?? '';
        const found = await readApplication(client, id, { credentials, signal });
        if (found === undefined) {
          const reason = 'the account has no such call control application';
          throw new GatewayError('PROVIDER_REFUSED', { provider: 'telnyx', reason });
        }
        const wanted: TelnyxRequest = {
          action: 'point-application',
          method: 'PATCH',
          repeatable: true,
          path: `call_control_applications/${encodeURIComponent(id)}`,
          body: {
            application_name: found.application_name,
            webhook_event_url: inboundUrl,
            webhook_api_version: '2',
          },
        };
        dataOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
      },
    },

    movesNumbers: false,

    targets: createTelnyxNumbers(client).targets,
  };
}

/** The filter has one number, so more than a few cannot match. */
const NUMBERS_MAX = 20;

const numbers = z.array(
  z.object({
    id: z.coerce.string().min(1),
    phone_number: z.string(),
    connection_id: z.coerce.string().nullish(),
    connection_name: z.string().nullish(),
  }),
);
type OwnedNumber = z.infer<typeof numbers>[number];

export function createTelnyxNumbers(client: TelnyxClient): InboundNumbers {
  const oursOf = ({ credentials }: NumberLook): string =>
    checkedCredentials(credentials).connection_id ?? '';
  return inboundNumbers<OwnedNumber>({
    label: 'Telnyx',
    form: /^\+/,

    unready: (credentials) =>
      checkedCredentials(credentials).connection_id
        ? undefined
        : 'The configuration names no call control application.',

    async find({ credentials, address, signal }) {
      const query = new URLSearchParams([
        ['filter[phone_number]', address],
        ['page[size]', String(NUMBERS_MAX)],
      ]);
      const path = `phone_numbers?${query}`;
      const wanted = { action: 'find-number', method: 'GET', path, repeatable: true } as const;
      const answer = dataOf(await client.send(credentials, wanted, signal), wanted, numbers);
      // The filter matches parts of numbers too.
      return answer.find(({ phone_number }) => phone_number === address);
    },

    targetOf: ({ connection_id: id }) => (id ? { kind: 'application', id } : { kind: 'none' }),

    async point(number, look) {
      const ours = oursOf(look);
      const current = number.connection_id || null;
      if (current !== null && current !== ours) {
        const name = number.connection_name ?? current;
        return `The number belongs to ${name} at Telnyx, which gets its calls. Remove it there.`;
      }
      const application = await readApplication(client, ours, look);
      if (application === undefined) {
        return `The Telnyx account has no call control application ${ours}.`;
      }
      const fault = applicationFault(application, look.url);
      if (fault === undefined && current !== ours) await assign(client, look, { number, ours });
      return fault;
    },

    async isPointed({ connection_id }, look) {
      const ours = oursOf(look);
      if (connection_id !== ours) return false;
      const application = await readApplication(client, ours, look);
      return application?.webhook_event_url === look.url;
    },

    /** The application's URL stays for its other numbers. */
    async detach(number, look) {
      await assign(client, look, { number, ours: '' });
      return undefined;
    },
  });
}

/** Assigns the number to the application `ours`; an empty one takes it from its application. */
async function assign(
  client: TelnyxClient,
  { credentials, signal }: Asking,
  { number, ours }: { number: OwnedNumber; ours: string },
): Promise<void> {
  const path = `phone_numbers/${encodeURIComponent(number.id)}`;
  const wanted = {
    action: 'configure-inbound',
    method: 'PATCH',
    path,
    body: { connection_id: ours },
    repeatable: true,
  } as const;
  dataOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
}

/** Seconds for which Telnyx waits for our reply, which comes within two. */
const WEBHOOK_S = 5;
/** Seconds after which Telnyx hangs up a call that received no command. */
const COMMAND_S = 15;
/** Applications, or outbound profiles, in one answer. */
const PAGE_SIZE = 50;

const id = z.coerce.string().min(1);
const application = z.object({
  id,
  application_name: z.string(),
  webhook_event_url: z.string().nullish(),
  webhook_api_version: z.coerce.string().nullish(),
});
const profiles = z.array(z.object({ id, enabled: z.boolean().nullish() }));

type TelnyxApplication = z.infer<typeof application>;

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
function applicationFault(
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
async function readApplication(
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
