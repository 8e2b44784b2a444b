// Settings of the speech services of one agent of a call: those of its nodes, and those of its nodes in each language to
// which a tool may switch.

import { GatewayError } from '../../../errors/gateway-error.ts';
import { isSameLanguage } from '../../../model/language-tag.ts';
import type { ConfiguredSections } from '../../../model/speech-services/model-configuration.ts';
import { nodeServiceProblems } from '../../../model/speech-services/node-service-problems.ts';
import {
  type LanguageServices,
  type NodeServices,
  nodeServicesIn,
  nodeSettingsOf,
} from '../../../model/speech-services/node-services.ts';
import {
  type PickKey,
  type ServiceProblem,
  type SpeechSettings,
  settingsIn,
} from '../../../model/speech-services/speech-settings.ts';
import { type WorkflowDefinition, workflowConfigurations } from '../../../model/workflow.ts';
import { placeKey } from '../../../speech/speech-plan.ts';
import type { NodeSettings } from '../../../speech/speech-services.ts';
import { stepNodesIn } from '../../../workflow/graph/step-nodes.ts';

/** An agent of a call. */
export interface SpeechAgent {
  /** Its id in the call; undefined: the one with which the call begins. */
  agent?: string | undefined;
  /** Configurations of its version. */
  configurations: Record<string, unknown>;
  /** Definition of the same version. Default: no node has services of its own. */
  definition?: WorkflowDefinition;
  /** Languages to which tools may switch. Default: none. */
  languages?: readonly LanguageServices[];
}

export interface AgentSettings {
  /** Settings of the node in which the agent begins. */
  first: NodeSettings;
  /** Settings of each place (`placeKey`); empty if all of them are those of the call. */
  places: ReadonlyMap<string, NodeSettings>;
  /** Languages that its services have. */
  languages: readonly string[];
  problems: readonly ServiceProblem[];
  /** Why other languages are not offered. */
  languageFaults: readonly GatewayError[];
}

/** `sections`: those of the agent's version over the organization's. `callLanguage`: the language of the agent with which
 *  the call begins. */
export function agentSettings(
  { agent, configurations, definition, languages = [] }: SpeechAgent,
  sections: ConfiguredSections,
  { pickKey, callLanguage }: { pickKey: PickKey; callLanguage: string },
): AgentSettings {
  const problems: ServiceProblem[] = [];
  const call = settingsIn(sections, pickKey, problems);
  const steps = definition && stepNodesIn(definition);
  const ids = steps?.all.map(({ id }) => id) ?? [];
  const own = new Map<string, NodeServices>();
  for (const { id, data } of steps?.all ?? []) {
    const services = nodeServicesIn(data);
    if (services !== undefined) own.set(id, services);
  }
  const wrong = languages.map((each) => ({ each, fault: languageFault(sections, each) }));
  const offered = wrong.flatMap(({ each, fault }) => (fault === undefined ? [each] : []));
  const isPlain = own.size === 0 && offered.length === 0 && agent === undefined;
  const wanted = (isPlain ? [] : ids).flatMap((nodeId): Wanted[] => {
    const services = own.get(nodeId) ?? {};
    const plain = { key: placeKey({ agent, nodeId }), services };
    const spoken = offered.map((each) => {
      const key = placeKey({ agent, language: each.language, nodeId });
      return { key, services: { ...services, ...each } };
    });
    return [plain, ...spoken];
  });
  const settings = settingsOfEach(wanted, { sections, call, pickKey, problems });
  const agentLanguage = languageIn(configurations);
  const isOther = agent !== undefined && !isSameLanguage(agentLanguage, callLanguage);
  const places = new Map(
    wanted.map(({ key, services }): [string, NodeSettings] => {
      const language = services.language ?? (isOther ? agentLanguage : undefined);
      const ofAgent = agent === undefined ? {} : { agent };
      const found = settings.get(JSON.stringify(services)) ?? call;
      return [key, { ...found, ...(language !== undefined && { language }), ...ofAgent }];
    }),
  );
  const start = placeKey({ agent, nodeId: steps?.first?.id ?? '' });
  return {
    first: places.get(start) ?? call,
    places,
    languages: offered.map(({ language }) => language),
    problems,
    languageFaults: wrong.flatMap(({ fault }) => (fault === undefined ? [] : [fault])),
  };
}

interface Wanted {
  key: string;
  services: NodeServices;
}

/** The settings of places that have services of their own, each kind of them once, by their JSON. */
function settingsOfEach(
  wanted: readonly Wanted[],
  of: {
    sections: ConfiguredSections;
    call: SpeechSettings;
    pickKey: PickKey;
    problems: ServiceProblem[];
  },
): ReadonlyMap<string, SpeechSettings> {
  const kinds = new Map<string, NodeServices>();
  for (const { services } of wanted) {
    if (Object.keys(services).length > 0) kinds.set(JSON.stringify(services), services);
  }
  const { nodes, problems } = nodeSettingsOf(of.sections, kinds, of.pickKey);
  of.problems.push(...problems);
  return nodes;
}

/** Why the agent's services do not have the language; undefined if they have it. */
function languageFault(
  sections: ConfiguredSections,
  { language, voice }: LanguageServices,
): GatewayError | undefined {
  const [problem] = nodeServiceProblems(sections, { language, ...(voice && { voice }) });
  if (problem === undefined) return undefined;
  const reason = `the language ${language} is not offered: ${problem.message}`;
  return new GatewayError('SPEECH_SETTINGS_INVALID', { section: 'all', reason });
}

/** The language of an agent; a value out of range counts as not set. */
export function languageIn({ agent_language: language }: Record<string, unknown>): string {
  const { agent_language: field } = workflowConfigurations.shape;
  return field.safeParse(language ?? undefined).data ?? field.parse(undefined);
}
