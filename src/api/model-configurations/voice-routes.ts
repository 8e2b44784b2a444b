// GET /user/configurations/voices/{provider}: the voices of a service, from the account whose key is stored, or the
// built-in list. Source: contract §3.5.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { servicesIn } from '../../model/speech-services/model-configuration.ts';
import { addressesIn } from '../../model/speech-services/service-rows.ts';
import { services } from '../../model/speech-services/services.ts';
import { fetchVoices, voiceListOrigin } from '../../speech/account/voice-lists.ts';
import { ServiceFault } from '../../speech/service/service-fault.ts';
import type { CheckedFields, Voice } from '../../speech/vendors/vendor.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import { isObject } from '../../std/json.ts';
import { SharedWork } from '../../std/shared-work.ts';
import { sectionsInUse } from '../../store/library/model-configurations.ts';
import type { Api } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import type { ServiceRouteDeps } from './model-configuration-routes.ts';
import { serviceForms } from './service-forms.ts';

/** Deadline of a list, including an answer that comes slowly. */
const LIST_MS_MAX = 8_000;
const REFERENCE_PROVIDERS = ['elevenlabs', 'deepgram', 'sarvam', 'cartesia', 'dograh', 'rime'];

const provider = z
  .string()
  .refine(
    (name) => REFERENCE_PROVIDERS.includes(name) || Object.hasOwn(services.tts, name),
    'not a text-to-speech service',
  )
  .meta({
    description: 'A text-to-speech service, as `getDefaultConfigurations` names it under `tts`.',
    examples: ['elevenlabs'],
  });
const filter = (what: string) => z.string().max(100).optional().describe(`${what} Default: all.`);

const voice = z
  .object({
    voice_id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    accent: z.string().nullable(),
    gender: z.string().nullable(),
    language: z.string().nullable(),
    preview_url: z.string().nullable(),
  })
  .meta({ id: 'VoiceInfo' });

const voicesOut = z
  .object({
    provider: z.string(),
    voices: z.array(voice),
    facets: z.object({
      genders: z.array(z.string()),
      accents: z.array(z.string()),
      languages: z.array(z.string()),
    }),
  })
  .meta({ id: 'VoicesResponse', description: 'The voices that fit the query.' });

export function voiceRoutes(api: Api, deps: ServiceRouteDeps): void {
  const underWay: VoiceRequests = new SharedWork();
  api.get(
    '/user/configurations/voices/:provider',
    {
      schema: {
        tags: ['services'],
        security: keyRequired,
        operationId: 'listVoices',
        summary: 'List the voices of a service',
        description:
          'Voices of the account whose key is stored, else those that this version knows. `facets` are those of all voices, before the filters.',
        params: z.object({ provider }),
        querystring: z.object({
          model: z.string().max(100).optional().describe('Accepted and ignored.'),
          language: filter('Only voices of this language, such as `en`.'),
          q: filter('Only voices with this text in their name, id or description.'),
          gender: filter('Only voices of this gender, one of `facets.genders`.'),
          accent: filter('Only voices with this accent, one of `facets.accents`.'),
        }),
        response: { 200: voicesOut, ...faults('VOICES_UNAVAILABLE') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const name = request.params.provider;
      const all = await voicesOf({ ...deps, underWay }, organizationId, name);
      const voices = all.filter((each) => isWanted(each, { ...NO_FILTERS, ...request.query }));
      const facets = {
        genders: valuesOf(all, 'gender'),
        accents: valuesOf(all, 'accent'),
        languages: valuesOf(all, 'language'),
      };
      return { provider: name, voices, facets };
    },
  );
}

/** Requests to services, by organization and account: forms that are open at the same time share one. */
type VoiceRequests = SharedWork<Voice[]>;

/** Asks the service for its voices. Throws VOICES_UNAVAILABLE. */
async function voicesOf(
  deps: ServiceRouteDeps & { underWay: VoiceRequests },
  organizationId: string,
  name: string,
): Promise<Voice[]> {
  const account = await storedAccount(deps, organizationId, name);
  const known = knownVoices(name);
  if (account === undefined) {
    if (known.length > 0) return known;
    const reason = 'no key of the service is stored, and this version has no list of its voices';
    throw new GatewayError('VOICES_UNAVAILABLE', { provider: name, reason });
  }
  const deadline = deadlineSignal(deps.clock, LIST_MS_MAX, 'list of voices');
  try {
    const of = { provider: name, ...account };
    const key = JSON.stringify([organizationId, of]);
    const fetch = (signal: AbortSignal) => fetchVoices(of, deps, signal);
    const listed = await deps.underWay.run(key, fetch, deadline.signal);
    return listed.length === 0 ? known : listed;
  } catch (error) {
    const reason = error instanceof ServiceFault ? error.detail : 'no answer in time';
    throw new GatewayError('VOICES_UNAVAILABLE', { provider: name, reason }, error);
  } finally {
    deadline.done();
  }
}

interface Account {
  fields: CheckedFields;
  key: string;
}

/** The stored service whose key belongs to the address that lists its voices. */
async function storedAccount(
  { store }: ServiceRouteDeps,
  organizationId: string,
  name: string,
): Promise<Account | undefined> {
  const sections = sectionsInUse(await store.modelConfigurations.forCalls(organizationId));
  const accounts = [sections.tts, sections.stt]
    .flatMap((section) => (section ? servicesIn(section) : []))
    .filter((service) => service.provider === name)
    .filter((service) => {
      const origin = voiceListOrigin(name, service);
      return (
        origin !== undefined &&
        addressesIn(service).every(([, address]) => originOf(address) === origin)
      );
    })
    .flatMap((fields) => {
      const keys = [fields['api_key']].flat();
      const key = keys.find((each) => typeof each === 'string' && each !== '');
      return typeof key === 'string' ? [{ fields, key }] : [];
    });
  return accounts[0];
}

/** Origin of an address; websockets use the same one as requests. */
function originOf(address: string): string | undefined {
  return URL.parse(address.replace(/^ws/, 'http'))?.origin;
}

/** Voices in the values and examples of the row's `voice`. */
function knownVoices(name: string): Voice[] {
  const properties = serviceForms.tts[name]?.['properties'];
  const form = isObject(properties) ? properties['voice'] : undefined;
  if (!isObject(form)) return [];
  const names = [form['enum'], form['examples']].flat().filter((each) => typeof each === 'string');
  return [...new Set(names)].map((id) => ({
    voice_id: id,
    name: id,
    description: null,
    accent: null,
    gender: null,
    language: null,
    preview_url: null,
  }));
}

type Filters = Record<'language' | 'q' | 'gender' | 'accent', string | undefined>;

const NO_FILTERS: Filters = {
  language: undefined,
  q: undefined,
  gender: undefined,
  accent: undefined,
};

function isWanted(each: Voice, { language, q, gender, accent }: Filters): boolean {
  const isNamed = [each.name, each.description, each.voice_id].some((text) => has(text, q));
  const speaks = each.language === null || has(each.language, language);
  return isNamed && speaks && isOf(each.gender, gender) && isOf(each.accent, accent);
}

function has(text: string | null, part: string | undefined): boolean {
  return part === undefined || (text ?? '').toLowerCase().includes(part.toLowerCase());
}

/** Whether a voice matches the wanted value. A property that the service does not report matches anything. */
function isOf(value: string | null, wanted: string | undefined): boolean {
  if (wanted === undefined || value === null) return true;
  const said = value.toLowerCase();
  return said === wanted.toLowerCase() || OTHER_NAMES[said] === wanted.toLowerCase();
}

/** Values of services by the names that clients of the reference use: accents are countries there. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  feminine: 'female',
  masculine: 'male',
  american: 'us',
  australian: 'au',
  british: 'gb',
  canadian: 'ca',
  indian: 'in',
  irish: 'ie',
  'new zealand': 'nz',
  'south african': 'za',
};

function valuesOf(voices: readonly Voice[], name: 'gender' | 'accent' | 'language'): string[] {
  return [...new Set(voices.flatMap((each) => each[name] ?? []))].sort();
}
