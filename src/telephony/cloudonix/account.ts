// A Cloudonix domain: its state, its numbers (DNIDs), and the voice application that receives their calls. A DNID is free
// text: a call is matched by what its SIP trunk delivers, with or without `+`, so both forms are kept. The application
// is found or created when a configuration is stored; its URL is changed by `point` alone, as numbers of another
// gateway may use it. Source: providers §5.7; the fields of a DNID from the repository cloudonix/cloudonix-php.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { type InboundNumbers, inboundNumbers } from '../provider/inbound-numbers.ts';
import type { NumberTarget, ProviderInspection } from '../provider/inspection.ts';
import type { ProviderControl } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import {
  answerOf,
  type CloudonixClient,
  type CloudonixRequest,
  checkedCredentials,
} from './client.ts';
import type { CloudonixConfig } from './config.ts';

const NOT_FOUND = 404;

const domain = z.looseObject({ active: z.boolean().nullish() });

export function createCloudonixInspection(client: CloudonixClient): ProviderInspection {
  return {
    async account(credentials, signal) {
      const wanted: CloudonixRequest = {
        action: 'get-account',
        method: 'GET',
        json: null,
        repeatable: true,
        path: '/customers/self/domains/{domain}',
      };
      const answer = await client.send(credentials, wanted, signal);
      const { active } = answerOf(answer, wanted, domain);
      const standing = active === false ? 'suspended' : active === true ? 'active' : 'unknown';
      return { standing, balance: null, dateMs: answer.dateMs ?? null };
    },

    application: {
      async read(credentials, signal) {
        const { application_name: name } = checkedCredentials(credentials);
        if (!name) return undefined;
        const found = await findApplication(client, { credentials, name, signal });
        const otherId = found?.uuid ?? undefined;
        return found && { id: found.id, otherId, name, inboundUrl: found.url || null };
      },

      async point(credentials, inboundUrl, signal) {
        const { application_name: name } = checkedCredentials(credentials);
        const wanted: CloudonixRequest = {
          action: 'point-application',
          method: 'PATCH',
          repeatable: true,
          path: applicationPath(name ?? ''),
          json: { url: inboundUrl, method: 'POST' },
        };
        answerOf(await client.send(credentials, wanted, signal), wanted, z.unknown());
      },
    },

    movesNumbers: false,

    targets: (credentials, addresses, signal) =>
      targetsOf(client, { credentials, addresses, signal }),
  };
}

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

interface InboundApplication {
  name: string;
  /** Undefined if the domain has none of that name. */
  application: VoiceApplication | undefined;
}

export function createCloudonixNumbers(client: CloudonixClient): InboundNumbers['control'] {
  const named = (credentials: ProviderCredentials) => {
    const { application_name: name, application_key: key } = checkedCredentials(credentials);
    return { name: name ?? '', key };
  };
  const { configureInbound, detachInbound } = inboundNumbers<InboundApplication>({
    label: 'Cloudonix',
    // Any address may come by a trunk.
    form: /^/,
    unready: (credentials) => (named(credentials).name === '' ? NO_APPLICATION : undefined),

    /** A domain owns no numbers: this is the application that is to have the number. */
    async find({ credentials, signal }) {
      const { name } = named(credentials);
      return { name, application: await findApplication(client, { credentials, name, signal }) };
    },

    targetOf: () => ({ kind: 'none' }),

    async point({ name, application }, look) {
      const fault = unfit(application, { name, url: look.url, key: named(look.credentials).key });
      if (application === undefined || fault !== undefined) return fault;
      return attach(client, { ...look, application });
    },

    isPointed: async ({ application }, { url }) => application?.url === url,

    async detach({ name, application }, look) {
      if (application !== undefined) await detach(client, { ...look, application, name });
      return undefined;
    },
  }).control;
  return {
    configureInbound,
    detachInbound,

    /** Undefined, never false, for a number that is not listed: it may still come by a trunk. */
    async ownsNumber(credentials, address, signal) {
      const wanted = formsOf(address);
      const all = await listDnids(client, { credentials, signal });
      return all.some(({ source }) => wanted.includes(source)) ? true : undefined;
    },
  };
}

/** Destinations of the numbers' calls, in the order of `addresses`. A number that no application has may come by a
 *  trunk. */
async function targetsOf(
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

/** Why the application cannot receive our calls; undefined if it can. */
function unfit(
  application: VoiceApplication | undefined,
  { name, url, key }: { name: string; url: string; key: string | null },
): string | undefined {
  if (application === undefined) {
    return `Cloudonix has no voice application with the name ${name}. Clear the name in the configuration and save it: an application is made.`;
  }
  if (application.url !== url) {
    return `The voice application ${name} at Cloudonix calls another address, which is not changed here. Set its URL to ${url} there, or name another application in the configuration.`;
  }
  if (!key) {
    return `The key of the voice application ${name} is not known, so that its calls would be refused. Enter it in the configuration.`;
  }
  return undefined;
}

/** Returns the reason why not, as text for users. */
async function attach(
  client: CloudonixClient,
  options: Asking & { address: string; application: VoiceApplication },
): Promise<string | undefined> {
  const { credentials, address, application, signal } = options;
  const all = await listDnids(client, options);
  const forms = formsOf(address);
  const known = all.filter(({ source }) => forms.includes(source));
  const elsewhere = known.find((each) => !belongsTo(each, application));
  if (elsewhere !== undefined) {
    return 'Another voice application at Cloudonix receives the calls of this number. Remove the number there first.';
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
  return undefined;
}

/** Removes only the number: all numbers of the application share its URL. */
async function detach(
  client: CloudonixClient,
  options: Asking & { address: string; application: VoiceApplication; name: string },
): Promise<void> {
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

const APPLICATIONS = '/customers/self/domains/{domain}/applications';

const application = z.object({
  id: z.union([z.number(), z.string()]).transform(String),
  uuid: z.string().nullish(),
  name: z.string().nullish(),
  url: z.string().nullish(),
  apiKey: z.string().nullish(),
});
type VoiceApplication = z.infer<typeof application>;

export function createCloudonixApplications(
  client: CloudonixClient,
): Required<Pick<ProviderControl, 'ensureApplication'>> {
  return {
    async ensureApplication(credentials, { installationId, inboundUrl }, signal) {
      const config = checkedCredentials(credentials);
      const given = config.application_name;
      const isKnown = given && credentials['application_of'] === identity(config, given);
      if (isKnown && config.application_key) return undefined;
      const name = given || `patchbay-${installationId}`;
      const found = await findApplication(client, { credentials, name, signal });
      if (found === undefined && given) {
        throw refused(`the domain has no voice application with the name ${given}`);
      }
      const { id, uuid, apiKey } =
        found ?? (await createApplication(client, { credentials, name, url: inboundUrl, signal }));
      return {
        application_name: name,
        application_id: uuid || id,
        // Cloudonix may show the key only once, when the application is created.
        application_key: apiKey || config.application_key,
        application_of: identity(config, name),
      };
    },
  };
}

/** Identity of the application to which the stored facts belong: another domain or name has another id and key. */
function identity({ domain_id }: CloudonixConfig, name: string): string {
  return `${domain_id}/${name}`;
}

/** The application with this name; undefined if the domain has none. */
async function findApplication(
  client: CloudonixClient,
  options: { credentials: ProviderCredentials; name: string; signal: AbortSignal },
): Promise<VoiceApplication | undefined> {
  const { credentials, name, signal } = options;
  const wanted: CloudonixRequest = {
    action: 'find-application',
    method: 'GET',
    json: null,
    repeatable: true,
    path: applicationPath(name),
  };
  const answer = await client.send(credentials, wanted, signal);
  return answer.status === NOT_FOUND ? undefined : answerOf(answer, wanted, application);
}

async function createApplication(
  client: CloudonixClient,
  options: { credentials: ProviderCredentials; name: string; url: string; signal: AbortSignal },
): Promise<VoiceApplication> {
  const { credentials, name, url, signal } = options;
  const wanted: CloudonixRequest = {
    action: 'create-application',
    method: 'POST',
    path: APPLICATIONS,
    repeatable: false,
    json: { name, type: 'cxml', url, method: 'POST' },
  };
  return answerOf(await client.send(credentials, wanted, signal), wanted, application);
}

/** Path of the application. Throws PROVIDER_REFUSED for a name of dots alone, which would address another path. */
function applicationPath(name: string): string {
  if (!/^\.{1,2}$/.test(name)) return `${APPLICATIONS}/${encodeURIComponent(name)}`;
  throw refused('not the name of a voice application');
}

function refused(reason: string): GatewayError {
  const facts = { provider: 'cloudonix', action: 'find-application', reason };
  return new GatewayError('PROVIDER_REFUSED', facts);
}
