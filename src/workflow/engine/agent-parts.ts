// One agent of a conversation as the engine uses it: its graph, policy and tools, and its wording in each language.

import { isSameLanguage } from '../../model/language-tag.ts';
import type { DialogueLines } from '../../model/languages/languages.ts';
import type { DialoguePolicy, WorkflowConfigurations } from '../../model/workflow.ts';
import type { Graph } from '../graph/graph.ts';
import { NO_TOOLS, type NodeTools } from '../tools/offered-functions.ts';
import { ENGLISH_LINES, linesFor } from './dialogue-lines.ts';
import type { AgentIdentity, AgentParts, Wording } from './step.ts';

/** Words of the dictionary setting that are passed to recognisers. */
const BOOST_MAX = 100;

const NO_IDENTITY = { name: '', workflowId: '', definitionId: '' };

/** One agent of a conversation. */
export interface AgentOptions {
  graph: Graph;
  policy: DialoguePolicy;
  settings: Pick<WorkflowConfigurations, 'dictionary'> &
    Partial<
      Pick<
        WorkflowConfigurations,
        | 'agent_language'
        | 'filler_phrases'
        | 'fault_transfer_enabled'
        | 'fault_transfer_destination'
      >
    >;
  /** Its name and version, for transfers. Default: none. */
  identity?: Omit<AgentIdentity, 'id'>;
  /** Functions of nodes for the model in addition to their edges. Default: none. */
  tools?: NodeTools;
  /** The engine's own lines. Default: English. */
  lines?: Partial<DialogueLines>;
  /** Whether the voice speaks Latin letters only: nodes of other scripts have English lines. Default: false. */
  isLatinOnly?: boolean;
  /** Languages that its services have. Default: all that its tools name. */
  languages?: readonly string[];
}

/** `id`: null for the agent with which the conversation begins. */
export function agentParts(options: AgentOptions, id: string | null): AgentParts {
  const { graph, policy, settings, lines, tools = NO_TOOLS, identity, languages } = options;
  const boost = settings.dictionary
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')
    .slice(0, BOOST_MAX);
  const waitPhrases = settings.filler_phrases ?? [];
  const all = { ...ENGLISH_LINES, ...lines };
  return {
    agent: { id, ...(identity ?? NO_IDENTITY) },
    graph,
    policy,
    tools,
    boost,
    languages,
    agentLanguage: settings.agent_language,
    faultTransfer: {
      isEnabled: settings.fault_transfer_enabled ?? false,
      destination: settings.fault_transfer_destination ?? '',
    },
    wordingOf: wordings({ lines: all, waitPhrases, isAgentLanguage: true }, options),
  };
}

/** The wording of each node: in the agent's language the author's words and the engine's lines, in other languages only
 *  the engine's lines. */
function wordings(
  own: Wording,
  { settings: { agent_language: agentLanguage }, isLatinOnly }: AgentOptions,
): AgentParts['wordingOf'] {
  return (node, chosen) => {
    const language = chosen ?? node.language;
    if (language === undefined) return own;
    if (agentLanguage !== undefined && isSameLanguage(language, agentLanguage)) return own;
    return { lines: linesFor(language, isLatinOnly), waitPhrases: [], isAgentLanguage: false };
  };
}
