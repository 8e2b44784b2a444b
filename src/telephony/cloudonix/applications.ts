// The voice application of a configuration: found or created when the configuration is stored. Its URL is never
// changed: numbers of another gateway with the same account may use it. Source: providers §5.7.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { ProviderControl } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import {
  answerOf,
  type CloudonixClient,
  type CloudonixRequest,
  checkedCredentials,
} from './client.ts';
import type { CloudonixConfig } from './config.ts';

const APPLICATIONS = '/customers/self/domains/{domain}/applications';
const NOT_FOUND = 404;

const application = z.object({
  id: z.union([z.number(), z.string()]).transform(String),
  uuid: z.string().nullish(),
  name: z.string().nullish(),
  url: z.string().nullish(),
  apiKey: z.string().nullish(),
});
export type VoiceApplication = z.infer<typeof application>;

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
export async function findApplication(
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
export function applicationPath(name: string): string {
  if (!/^\.{1,2}$/.test(name)) return `${APPLICATIONS}/${encodeURIComponent(name)}`;
  throw refused('not the name of a voice application');
}

function refused(reason: string): GatewayError {
  const facts = { provider: 'cloudonix', action: 'find-application', reason };
  return new GatewayError('PROVIDER_REFUSED', facts);
}
