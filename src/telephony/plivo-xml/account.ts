// An account at Plivo or Vobiz: our application, which is found or created and never changed, and the phone numbers whose
// calls it receives. What differs between the two is in `NumberRequests`. Source: plivo.com/docs/voice/api/application,
// plivo.com/docs/numbers/api/account-phone-number, docs.vobiz.ai (applications, phone numbers)

import { createHash } from 'node:crypto';
import { z } from 'zod';
import {
  type InboundNumbers,
  inboundNumbers,
  type NumberLook,
} from '../provider/inbound-numbers.ts';
import type { ApplicationInspection } from '../provider/inspection.ts';
import type { ApplicationWish } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import type { AccountClient, AccountRequest } from './account-client.ts';
import { lookUp } from './calls.ts';

/** A number that the account owns. */
interface OwnedNumber {
  /** Id of its application; empty for none. */
  applicationId: string;
  /** A service that takes the number's calls before an application can: `a SIP trunk`. */
  obstacle: string | undefined;
}

export interface NumberRequests {
  /** Name of the provider in messages. */
  label: string;
  /** The number, digits without `+`; undefined if the account does not own it. */
  find(client: AccountClient, look: NumberLook): Promise<OwnedNumber | undefined>;
  /** The request that assigns the number to an application, or with null to none. */
  assignment(
    address: string,
    applicationId: string | null,
  ): Pick<AccountRequest, 'method' | 'path' | 'body'>;
}

export function accountNumbers(client: AccountClient, requests: NumberRequests): InboundNumbers {
  const { label } = requests;
  const oursOf = ({ credentials }: NumberLook): string =>
    client.account(credentials).application_id ?? '';
  const assign = async (look: NumberLook, applicationId: string | null): Promise<undefined> => {
    const assignment = requests.assignment(look.address, applicationId);
    const wanted = { ...assignment, action: 'configure-inbound', repeatable: true };
    const response = await client.send(look.credentials, wanted, look.signal);
    client.contentOf(response, wanted, z.unknown());
  };
  return inboundNumbers<OwnedNumber>({
    label,
    form: /^\d{5,15}$/,
    find: (look) => requests.find(client, look),

    targetOf({ applicationId: id, obstacle }) {
      if (obstacle !== undefined) return { kind: 'blocked', by: obstacle };
      return id === '' ? { kind: 'none' } : { kind: 'application', id };
    },

    /** Reports, and never changes, an application with another answer URL: it may belong to another system. */
    async point({ obstacle }, look) {
      const ours = oursOf(look);
      if (ours === '') return `The configuration has no ${label} application; save it again.`;
      if (obstacle !== undefined) return `The number belongs to ${obstacle} at ${label}.`;
      const answerUrl = await answerUrlOf(client, look, ours);
      if (answerUrl === undefined) return `The ${label} application does not exist.`;
      if (answerUrl === look.url) return assign(look, ours);
      return `The ${label} application answers at another address; its answer URL must be ${look.url}`;
    },

    async isPointed({ applicationId }, look) {
      const ours = oursOf(look);
      if (ours === '' || applicationId !== ours) return false;
      return (await answerUrlOf(client, look, ours)) === look.url;
    },

    /** The application stays as it is for its other numbers. */
    detach: (_number, look) => assign(look, null),
  });
}

const PAGE_SIZE = 20;
/** Pages of the list that are searched for our application: 1,000 applications. */
const PAGES_MAX = 50;

const id = z.union([z.string().min(1), z.int()]).transform(String);
const application = z.object({
  app_id: id,
  app_name: z.string().nullish(),
  answer_url: z.string().nullish(),
});
const page = z.object({ objects: z.array(application) });
const made = z.object({ app_id: id });

/** The credentials to store: see `ProviderControl.ensureApplication`. */
export async function ensureApplication(
  client: AccountClient,
  {
    credentials,
    wanted,
    signal,
  }: { credentials: ProviderCredentials; wanted: ApplicationWish; signal: AbortSignal },
): Promise<ProviderCredentials | undefined> {
  if ((client.account(credentials).application_id ?? '') !== '') return undefined;
  const name = nameOf(wanted);
  const found = await findOurs(client, { credentials, name, url: wanted.inboundUrl, signal });
  if (found !== undefined) return { application_id: found };
  const request: AccountRequest = {
    action: 'make-application',
    method: 'POST',
    path: 'Application/',
    body: { app_name: name, ...addresses(client, wanted.inboundUrl) },
    repeatable: false,
  };
  const response = await client.send(credentials, request, signal);
  return { application_id: client.contentOf(response, request, made).app_id };
}

const described = z.object({ app_name: z.string().nullish(), answer_url: z.string().nullish() });

/** How the doctor reads the configuration's application, and how it is pointed elsewhere. */
export function applicationInspection(client: AccountClient): ApplicationInspection {
  return {
    async read(credentials, signal) {
      const id = client.account(credentials).application_id ?? '';
      if (id === '') return undefined;
      const path = applicationPath(id);
      const look = { credentials, action: 'get-application', path, schema: described, signal };
      const found = await lookUp(client, look);
      return found && { id, name: found.app_name || id, inboundUrl: found.answer_url || null };
    },

    async point(credentials, inboundUrl, signal) {
      const id = client.account(credentials).application_id ?? '';
      const wanted: AccountRequest = {
        action: 'point-application',
        method: 'POST',
        path: applicationPath(id),
        body: addresses(client, inboundUrl),
        repeatable: true,
      };
      client.contentOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
    },
  };
}

function applicationPath(id: string): string {
  return `Application/${encodeURIComponent(id)}/`;
}

function addresses({ provider }: AccountClient, inboundUrl: string): Record<string, string> {
  return {
    answer_url: inboundUrl,
    answer_method: 'POST',
    // Otherwise the answer URL receives every hang-up.
    hangup_url: hangupUrl(inboundUrl, provider),
    hangup_method: 'POST',
  };
}

/** The URL to which an application sends inbound calls; undefined if there is no such application. */
async function answerUrlOf(
  client: AccountClient,
  { credentials, signal }: NumberLook,
  applicationId: string,
): Promise<string | undefined> {
  const path = applicationPath(applicationId);
  const schema = z.object({ answer_url: z.string().nullish() });
  const look = { credentials, action: 'get-application', path, schema, signal };
  const found = await lookUp(client, look);
  return found && (found.answer_url ?? '');
}

/** Name of the application of this installation at this URL: a gateway that moves creates another one, and leaves this
 *  one to its numbers. */
function nameOf({ installationId, inboundUrl }: ApplicationWish): string {
  const address = createHash('sha256').update(inboundUrl).digest('hex').slice(0, 8);
  return `patchbay-${installationId}-${address}`;
}

/** `…/telephony/<provider>/hangup-callback` beside `…/telephony/inbound/run`. */
function hangupUrl(inboundUrl: string, provider: string): string {
  return new URL(`../${provider}/hangup-callback`, inboundUrl).href;
}

async function findOurs(
  client: AccountClient,
  {
    credentials,
    name,
    url,
    signal,
  }: { credentials: ProviderCredentials; name: string; url: string; signal: AbortSignal },
): Promise<string | undefined> {
  for (let index = 0; index < PAGES_MAX; index += 1) {
    const query = new URLSearchParams({
      limit: String(PAGE_SIZE),
      offset: String(index * PAGE_SIZE),
    });
    const look = { credentials, action: 'find-application', signal, schema: page };
    const objects =
      (await lookUp(client, { ...look, path: `Application/?${query}` }))?.objects ?? [];
    const ours = objects.find((each) => each.app_name === name && each.answer_url === url);
    if (ours !== undefined) return ours.app_id;
    if (objects.length < PAGE_SIZE) return undefined;
  }
  return undefined;
}
