// The domain's numbers (DNIDs): whether it has one, and which voice application receives its calls. A DNID is free text:
// a call is matched by what its SIP trunk delivers, with or without `+`, so that both forms are kept.
// Source: providers §5.7; the fields of a DNID from the repository cloudonix/cloudonix-php.

import { z } from 'zod';
import type { NumberTarget } from '../provider/inspection.ts';
import type { ProviderControl } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import { applicationPath, findApplication, type VoiceApplication } from './applications.ts';
import {
  answerOf,
  type CloudonixClient,
  type CloudonixRequest,
  checkedCredentials,
} from './client.ts';

const NOT_FOUND = 404;
const NO_APPLICATION = 'Save the configuration again: its voice application is missing.';

const dnid = z.object({
  id: z.union([z.number(), z.string()]).transform(String),
  source: z.string(),
  applicationId: z.union([z.number(), z.string()]).transform(String).nullish(),
});
type Dnid = z.infer<typeof dnid>;

interface Asking {
  credentials: ProviderCredentials;
  signal: AbortSignal;
}

export function createCloudonixNumbers(
  client: CloudonixClient,
): Pick<ProviderControl, 'ownsNumber' | 'configureInbound' | 'detachInbound'> {
  return {
    /** Undefined, never false, for a number that is not listed: it may still come by a trunk. */
    async ownsNumber(credentials, address, signal) {
      const wanted = formsOf(address);
      const all = await listDnids(client, { credentials, signal });
      return all.some(({ source }) => wanted.includes(source)) ? true : undefined;
    },

    async configureInbound(credentials, address, url, signal) {
      const { application_name: name, application_key: key } = checkedCredentials(credentials);
      if (!name) return refusal(NO_APPLICATION);
      const asking = { credentials, signal };
      const application = await findApplication(client, { ...asking, name });
      const fault = unfit(application, { name, url, key });
      if (application === undefined || fault !== null) return refusal(fault ?? '');
      return attach(client, { ...asking, address, application });
    },

    async detachInbound(credentials, address, url, signal) {
      const { application_name: name } = checkedCredentials(credentials);
      if (!name) return refusal(NO_APPLICATION);
      const application = await findApplication(client, { credentials, name, signal });
      // An application of another system keeps its numbers.
      if (application === undefined || application.url !== url) return { ok: true, message: null };
      return detach(client, { credentials, signal, address, application, name });
    },
  };
}

/** Destinations of the numbers' calls, in the order of `addresses`. A number that no application has may come by a
 *  trunk. */
export async function targetsOf(
  client: CloudonixClient,
  { addresses, ...asking }: Asking & { addresses: readonly string[] },
): Promise<(NumberTarget | undefined)[]> {
  const all = await listDnids(client, asking);
  return addresses.map((address) => {
    const forms = formsOf(address);
    const known = all.filter(({ source }) => forms.includes(source));
    const [id, ...others] = new Set(known.map(({ applicationId }) => applicationId ?? ''));
    if (others.length > 0) return { kind: 'blocked', by: 'two applications, with + and without' };
    return id ? { kind: 'application', id } : { kind: 'none' };
  });
}

function refusal(message: string): { ok: false; message: string } {
  return { ok: false, message };
}

/** Why the application cannot receive our calls; undefined if it can. */
function unfit(
  application: VoiceApplication | undefined,
  { name, url, key }: { name: string; url: string; key: string | null },
): string | null {
  if (application === undefined) {
    return `Cloudonix has no voice application with the name ${name}. Clear the name in the configuration and save it: an application is made.`;
  }
  if (application.url !== url) {
    return `The voice application ${name} at Cloudonix calls another address, which is not changed here. Set its URL to ${url} there, or name another application in the configuration.`;
  }
  if (!key) {
    return `The key of the voice application ${name} is not known, so that its calls would be refused. Enter it in the configuration.`;
  }
  return null;
}

async function attach(
  client: CloudonixClient,
  options: Asking & { address: string; application: VoiceApplication },
): Promise<{ ok: boolean; message: string | null }> {
  const { credentials, address, application, signal } = options;
  const all = await listDnids(client, options);
  const forms = formsOf(address);
  const known = all.filter(({ source }) => forms.includes(source));
  const elsewhere = known.find((each) => !belongsTo(each, application));
  if (elsewhere !== undefined) {
    return refusal(
      'Another voice application at Cloudonix receives the calls of this number. Remove the number there first.',
    );
  }
  for (const source of forms) {
    if (known.some((each) => each.source === source)) continue;
    const part = encodeURIComponent(application.uuid || application.id);
    const wanted: CloudonixRequest = {
      action: 'attach-number',
      method: 'POST',
      repeatable: true,
      path: `/domains/{domain}/applications/${part}/dnids`,
      json: { source, prefix: false, expression: false, asteriskCompatible: false },
    };
    answerOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
  }
  return { ok: true, message: null };
}

/** Removes only the number: all numbers of the application share its URL. */
async function detach(
  client: CloudonixClient,
  options: Asking & { address: string; application: VoiceApplication; name: string },
): Promise<{ ok: boolean; message: string | null }> {
  const { credentials, address, application, name, signal } = options;
  const forms = formsOf(address);
  const ours = (await listDnids(client, options)).filter(
    (each) => forms.includes(each.source) && belongsTo(each, application),
  );
  for (const { id } of ours) {
    const wanted: CloudonixRequest = {
      action: 'detach-number',
      method: 'DELETE',
      json: null,
      repeatable: true,
      path: `${applicationPath(name)}/dnids/${encodeURIComponent(id)}`,
    };
    const answer = await client.send(credentials, wanted, signal);
    if (answer.status !== NOT_FOUND) answerOf(answer, wanted, z.unknown());
  }
  return { ok: true, message: null };
}

/** Whether the DNID belongs to the application. A DNID without an owner counts as another's. */
function belongsTo({ applicationId }: Dnid, { id, uuid }: VoiceApplication): boolean {
  return applicationId === id || (uuid !== null && uuid !== undefined && applicationId === uuid);
}

/** Stored forms of a number: with `+` and without. A SIP address has one form. */
function formsOf(address: string): string[] {
  return /^\+\d+$/.test(address) ? [address, address.slice(1)] : [address];
}

async function listDnids(client: CloudonixClient, asking: Asking): Promise<Dnid[]> {
  const wanted: CloudonixRequest = {
    action: 'list-numbers',
    method: 'GET',
    json: null,
    repeatable: true,
    path: '/customers/self/domains/{domain}/dnids',
  };
  const answer = await client.send(asking.credentials, wanted, asking.signal);
  const rows = answerOf(answer, wanted, z.array(z.unknown()));
  return rows.flatMap((row) => dnid.safeParse(row).data ?? []);
}
