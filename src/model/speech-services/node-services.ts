// Services of single nodes of an agent: a language, a voice, or services of their own over those of the call, resolved
// when the call is planned. The reference has no such setting.

import { z } from 'zod';
import { isObject } from '../../std/json.ts';
import { isLanguageTag, primaryLanguage, withRegion } from '../language-tag.ts';
import { NODE_OVERRIDES } from '../workflow.ts';
import type {
  ConfiguredSection,
  ConfiguredSections,
  ConfiguredService,
} from './model-configuration.ts';
import { SPEECH_JOBS, type SpeechJob, serviceRow, withoutNulls } from './service-rows.ts';
import {
  mergedSections,
  type PickKey,
  type ServiceProblem,
  type SpeechSettings,
  settingsIn,
} from './speech-settings.ts';
import { EMBEDDED } from './vendors/embedded.ts';

/** Settings of a node over those of the call. At least one is set. */
export interface NodeServices {
  /** Language (BCP 47) of recogniser and voice. */
  language?: string;
  /** Voice of the first synthesiser, by its own name. */
  voice?: string;
  /** Services by job, as `model_overrides` of a workflow. */
  overrides?: Readonly<Record<string, unknown>>;
}

/** Services of an agent in another language. */
export interface LanguageServices extends Pick<NodeServices, 'language' | 'voice'> {
  language: string;
}

/** Different lists of services for each job in one agent: each has connections of its own in every call. An agent with
 *  more languages has to transfer the caller to another agent. */
export const NODE_SERVICES_MAX = 16;

/** Names of the fields in a node's `data`. */
export const NODE_SERVICE_FIELDS = {
  language: 'language',
  voice: 'voice',
  overrides: NODE_OVERRIDES,
} as const;

const text = z.string().trim().min(1).optional().catch(undefined);
const nodeData = z.object({
  language: text,
  voice: text,
  model_overrides: z.record(z.string(), z.unknown()).optional().catch(undefined),
});

/** Services of a node; undefined if it uses those of the call. An invalid language counts as not set. */
export function nodeServicesIn(data: Readonly<Record<string, unknown>>): NodeServices | undefined {
  const { language, voice, model_overrides: sent = {} } = nodeData.parse(data);
  const overrides = withoutNulls(sent);
  const own: NodeServices = {
    ...(language !== undefined && isLanguageTag(language) && { language }),
    ...(voice !== undefined && { voice }),
    ...(Object.keys(overrides).length > 0 && { overrides }),
  };
  return Object.keys(own).length === 0 ? undefined : own;
}

/** The sections of a call with those of the node over them. Other services keep the fallbacks of the call, unless the
 *  node names its own. */
export function sectionsOfNode(base: ConfiguredSections, node: NodeServices): ConfiguredSections {
  const { language, voice, overrides } = node;
  const merged =
    overrides === undefined ? base : withFallbacks(mergedSections(base, overrides), base);
  return {
    ...merged,
    stt: withLanguage('stt', merged.stt, language),
    tts: withVoice(withLanguage('tts', merged.tts, language), voice),
  };
}

/** Settings of the nodes with services of their own, by id. Their problems, without those of the call's settings, are
 *  added to `problems`. */
export function nodeSettingsOf(
  base: ConfiguredSections,
  nodes: ReadonlyMap<string, NodeServices>,
  pickKey: PickKey,
): { nodes: ReadonlyMap<string, SpeechSettings>; problems: ServiceProblem[] } {
  const known: ServiceProblem[] = [];
  settingsIn(base, pickKey, known);
  const found = new Set(known.map(({ message }) => message));
  const problems: ServiceProblem[] = [];
  const settings = [...nodes].map(([id, node]): [string, SpeechSettings] => {
    const wrong: ServiceProblem[] = [];
    const own = settingsIn(sectionsOfNode(base, node), pickKey, wrong);
    for (const problem of wrong) {
      if (found.has(problem.message)) continue;
      found.add(problem.message);
      problems.push(problem);
    }
    return [id, own];
  });
  return { nodes: new Map(settings), problems };
}

function withFallbacks(merged: ConfiguredSections, base: ConfiguredSections): ConfiguredSections {
  const kept: ConfiguredSections = { ...merged };
  for (const job of SPEECH_JOBS) {
    const [section, before] = [merged[job], base[job]];
    if (!section || !before?.fallbacks || section.fallbacks !== undefined) continue;
    kept[job] = { ...section, fallbacks: before.fallbacks };
  }
  return kept;
}

function withLanguage(
  job: SpeechJob,
  section: ConfiguredSection | null | undefined,
  language: string | undefined,
): ConfiguredSection | null | undefined {
  if (!section || language === undefined) return section;
  const { fallbacks } = section;
  return {
    ...speaking(job, section, language),
    ...(fallbacks && { fallbacks: fallbacks.map((each) => speaking(job, each, language)) }),
  };
}

/** The service with the language; unchanged if it has no such setting, or not this value. */
function speaking<Service extends ConfiguredService>(
  job: SpeechJob,
  service: Service,
  language: string,
): Service {
  const field = serviceRow(job, service.provider)?.shape['language'];
  if (!(field instanceof z.ZodType)) return service;
  const named = languageFor(field, language);
  return field.safeParse(named).success ? { ...service, language: named } : service;
}

/** The language as the service names it: by its only region, by a name of its own, or in the form of its default. */
function languageFor(field: z.ZodType, language: string): string {
  const { language_region: region, language_names: names } = field.meta() ?? {};
  if (typeof region === 'string') return `${primaryLanguage(language)}-${region}`;
  const own = isObject(names) ? names[primaryLanguage(language)] : undefined;
  if (typeof own === 'string') return own;
  const preset = field.safeParse(undefined).data;
  if (typeof preset !== 'string' || !/^[a-z]{2,3}-[A-Za-z]{2}$/.test(preset)) return language;
  const named = withRegion(language);
  return preset === preset.toLowerCase() ? named.toLowerCase() : named;
}

/** The section with the voice. Without a section the embedded voice is meant. */
function withVoice(
  section: ConfiguredSection | null | undefined,
  voice: string | undefined,
): ConfiguredSection | null | undefined {
  if (voice === undefined) return section;
  return { ...(section ?? { provider: EMBEDDED.tts }), voice };
}
