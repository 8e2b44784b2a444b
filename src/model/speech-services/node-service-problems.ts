// Problems of the services of an agent's nodes, as text for its author: wrong values, missing keys, languages that a
// service does not have. Sends no requests.

import { z } from 'zod';
import { isObject } from '../../std/json.ts';
import { isLanguageTag, isSameLanguage, languageName } from '../language-tag.ts';
import {
  type ConfiguredSections,
  type ConfiguredService,
  servicesIn,
} from './model-configuration.ts';
import {
  NODE_SERVICE_FIELDS,
  NODE_SERVICES_MAX,
  nodeServicesIn,
  sectionsOfNode,
} from './node-services.ts';
import { maskedField } from './service-masks.ts';
import { SPEECH_JOBS, type SpeechJob, serviceProblemOf, serviceRow } from './service-rows.ts';
import { EMBEDDED } from './vendors/embedded.ts';

export interface NodeServiceProblem {
  /** Field of the node's data. */
  field: string;
  message: string;
}

type Data = Readonly<Record<string, unknown>>;

const { language: LANGUAGE, voice: VOICE, overrides: OVERRIDES } = NODE_SERVICE_FIELDS;
const NAMES: Readonly<Record<SpeechJob, string>> = {
  stt: 'recogniser',
  tts: 'voice',
  llm: 'language model',
};
const ABILITIES = { stt: 'understands', tts: 'speaks' } as const;

/** Problems of one node's services. `base`: the sections of the call. */
export function nodeServiceProblems(base: ConfiguredSections, data: Data): NodeServiceProblem[] {
  const node = nodeServicesIn(data);
  const wrongTag = languageTagProblems(data);
  if (node === undefined) return wrongTag;
  const sections = sectionsOfNode(base, node);
  const named = SPEECH_JOBS.filter(
    (job) => node.overrides?.[job] !== undefined || (job === 'tts' && node.voice !== undefined),
  );
  return [
    ...wrongTag,
    ...maskProblems(node.overrides ?? {}),
    ...overrideProblems(node.overrides ?? {}, base),
    ...named.flatMap((job) => serviceProblems(job, sections, node.voice !== undefined)),
    ...(node.language === undefined ? [] : languageProblems(sections, node.language)),
  ];
}

/** The exceeded limit of all nodes together, as text; undefined if there is none. */
export function nodeServicesExcess(
  base: ConfiguredSections,
  nodes: readonly Data[],
): string | undefined {
  for (const job of SPEECH_JOBS) {
    const lists = new Set([JSON.stringify(base[job] ?? null)]);
    for (const data of nodes) {
      const node = nodeServicesIn(data);
      if (node !== undefined) lists.add(JSON.stringify(sectionsOfNode(base, node)[job] ?? null));
    }
    if (lists.size <= NODE_SERVICES_MAX) continue;
    return `The nodes use ${lists.size} different ${NAMES[job]}s, and ${NODE_SERVICES_MAX} are possible in one agent: use the same services in more nodes, or a second agent`;
  }
  return undefined;
}

function languageTagProblems(data: Data): NodeServiceProblem[] {
  const sent = data[LANGUAGE];
  if (typeof sent !== 'string' || sent.trim() === '' || isLanguageTag(sent.trim())) return [];
  const message = `"${sent}" is not a language tag: write it as in BCP 47, such as de or pt-BR`;
  return [{ field: `data.${LANGUAGE}`, message }];
}

function maskProblems(overrides: Data): NodeServiceProblem[] {
  const masked = maskedField(overrides);
  if (masked === undefined) return [];
  return [{ field: `data.${OVERRIDES}`, message: `${masked} is a mask: send the key itself` }];
}

function overrideProblems(overrides: Data, base: ConfiguredSections): NodeServiceProblem[] {
  return Object.entries(overrides).flatMap(([job, part]): NodeServiceProblem[] => {
    const field = `data.${OVERRIDES}.${job}`;
    if (!isJob(job)) {
      return [{ field, message: `${job} cannot be set for a node: stt, tts and llm can` }];
    }
    if (!isObject(part))
      return [{ field, message: 'must be an object with the fields of a service' }];
    if (part['provider'] === undefined && !base[job]) {
      return [{ field, message: 'names no provider, and the agent has no service to change' }];
    }
    if (job !== 'llm') return [];
    if (part['provider'] === 'scripted' || base.llm?.provider === 'scripted') {
      const message = 'The scripted policy leads a whole agent: a node cannot change it';
      return [{ field, message }];
    }
    return [];
  });
}

function serviceProblems(
  job: SpeechJob,
  sections: ConfiguredSections,
  hasVoice: boolean,
): NodeServiceProblem[] {
  const section = sections[job];
  return (section ? servicesIn(section) : []).flatMap((service) => {
    const problem = serviceProblemOf(job, service);
    if (problem === undefined) return [];
    const isVoice = job === 'tts' && hasVoice && problem.startsWith('voice:');
    const field = isVoice ? `data.${VOICE}` : `data.${OVERRIDES}.${job}`;
    return [{ field, message: `The ${NAMES[job]} ${service.provider} of this node: ${problem}` }];
  });
}

function languageProblems(sections: ConfiguredSections, language: string): NodeServiceProblem[] {
  return (['stt', 'tts'] as const).flatMap((job) => {
    const service = sections[job] ?? { provider: EMBEDDED[job] };
    const field = `data.${LANGUAGE}`;
    const wanted = `${languageName(language)} (${language})`;
    const known = languagesOf(job, service);
    if (known !== undefined && !known.some((each) => isSameLanguage(each, language))) {
      const names = known.map(languageName).join(', ');
      const message = `The ${NAMES[job]} of this node, ${nameOf(service)}, ${ABILITIES[job]} ${names} only, and the node is in ${wanted}: give the organization, the agent or the node a ${NAMES[job]} for it`;
      return [{ field, message }];
    }
    const own = serviceRow(job, service.provider)?.shape['language'];
    if (!(own instanceof z.ZodType) || own.safeParse(language).success) return [];
    const message = `The ${NAMES[job]} ${nameOf(service)} of this node does not take ${wanted} as its language: ${own.safeParse(language).error?.issues[0]?.message ?? ''}`;
    return [{ field, message }];
  });
}

/** The only languages of a service, by its row, or by the name of its model or voice. Undefined if it has many, or they
 *  are not known. */
function languagesOf(job: SpeechJob, service: ConfiguredService): readonly string[] | undefined {
  const row = serviceRow(job, service.provider);
  if (row === undefined) return undefined;
  const declared = z.array(z.string()).safeParse(row.meta()?.['languages']);
  if (declared.success) return declared.data;
  for (const [name, field] of Object.entries(row.shape)) {
    if (!(field instanceof z.ZodType)) continue;
    const pattern = field.meta()?.['language_in_name'];
    const value = field.safeParse(service[name]).data;
    if (typeof pattern !== 'string' || typeof value !== 'string') continue;
    const found = new RegExp(pattern).exec(value)?.[1];
    if (found !== undefined) return [found];
  }
  return undefined;
}

function nameOf(service: ConfiguredService): string {
  const { provider, model, voice } = service;
  const more = typeof voice === 'string' ? voice : model;
  return typeof more === 'string' ? `${provider} ${more}` : provider;
}

function isJob(name: string): name is SpeechJob {
  return name === 'stt' || name === 'tts' || name === 'llm';
}
