// GET /user/configurations/voices/{provider}: the voices of a service, from the account whose key is stored, or those
// that this version knows. Source: contract §3.5.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { servicesIn } from '../../model/speech-services/model-configuration.ts';
import { addressesIn } from '../../model/speech-services/service-rows.ts';
import { services } from '../../model/speech-services/services.ts';
import type { Voice } from '../../speech/account/voice-list-table.ts';
import { fetchVoices, voiceListHost } from '../../speech/account/voice-lists.ts';
import { ServiceFault } from '../../speech/service/service-fault.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import { isObject } from '../../std/json.ts';
import type { Api } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { type ServiceRouteDeps, sectionsInUse } from './model-configuration-routes.ts';
import { serviceForms } from './service-forms.ts';

/** With the rest of an answer that comes slowly. */
const LIST_MS_MAX = 8_000;
const REFERENCE_PROVIDERS = ['elevenlabs', 'deepgram', 'sarvam', 'cartesia', 'dograh', 'rime'];

const provider = z
  .string()
  .refine(
    (name) => REFERENCE_PROVIDERS.includes(name) || Object.hasOwn(services.tts, name),
    'not a service that speaks',
  );
const filter = z.string().max(100).optional();

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
  .meta({ id: 'VoicesResponse' });

export function voiceRoutes(api: Api, deps: ServiceRouteDeps): void {
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
          model: filter,
          language: filter,
          q: filter,
          gender: filter,
          accent: filter,
        }),
        response: { 200: voicesOut, ...faults('VOICES_UNAVAILABLE') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const name = request.params.provider;
      const all = await voicesOf(deps, organizationId, name);
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

/** Throws VOICES_UNAVAILABLE. */
async function voicesOf(
  deps: ServiceRouteDeps,
  organizationId: string,
  name: string,
): Promise<Voice[]> {
  const key = await storedKey(deps, organizationId, name);
  const known = knownVoices(name);
  if (key === undefined) {
    if (known.length > 0) return known;
    const reason = 'no key of it is stored, and this version knows none';
    throw new GatewayError('VOICES_UNAVAILABLE', { provider: name, reason });
  }
  const deadline = deadlineSignal(deps.clock, LIST_MS_MAX, 'list of voices');
  try {
    const listed = await fetchVoices({ provider: name, key }, deps, deadline.signal);
    return listed.length === 0 ? known : listed;
  } catch (error) {
    const reason = error instanceof ServiceFault ? error.detail : 'no answer in time';
    throw new GatewayError('VOICES_UNAVAILABLE', { provider: name, reason }, error);
  } finally {
    deadline.done();
  }
}

/** Of a service at its vendor's address: a key for another address is not for this one. */
async function storedKey(
  { store }: ServiceRouteDeps,
  organizationId: string,
  name: string,
): Promise<string | undefined> {
  const host = voiceListHost(name);
  if (host === undefined) return undefined;
  const sections = sectionsInUse(await store.modelConfigurations.forCalls(organizationId));
  const own = [sections.tts, sections.stt]
    .flatMap((section) => (section ? servicesIn(section) : []))
    .filter((service) => service.provider === name)
    .filter((service) =>
      addressesIn(service).every(([, address]) => URL.parse(address)?.hostname === host),
    );
  const keys = own.flatMap((service) => [service['api_key']].flat());
  return keys.find((key): key is string => typeof key === 'string' && key !== '');
}

/** The values and examples of the row's `voice`. */
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
  return isNamed && speaks && isSame(each.gender, gender) && isSame(each.accent, accent);
}

function has(text: string | null, part: string | undefined): boolean {
  return part === undefined || (text ?? '').toLowerCase().includes(part.toLowerCase());
}

function isSame(value: string | null, wanted: string | undefined): boolean {
  return wanted === undefined || value?.toLowerCase() === wanted.toLowerCase();
}

function valuesOf(voices: readonly Voice[], name: 'gender' | 'accent' | 'language'): string[] {
  return [...new Set(voices.flatMap((each) => each[name] ?? []))].sort();
}
