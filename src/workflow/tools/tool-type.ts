// What every kind of tool declares: its settings, the functions that it offers to the model, and what a
// call of one comes to. Pure: the engine carries the outcome out. registry.ts has a row for each kind.
// Source: contract §5.4, §8.7, §10.1.

import { z } from 'zod';
import type { ToolContext, ToolValues } from './parameters.ts';
import { orElse, type ToolMessage } from './tool-fields.ts';
import type { ToolRequest } from './tool-request-builder.ts';

export interface ToolFunction {
  /** The tool's own name of the function, unique within the tool. */
  key: string;
  /** What the model calls, unless the node has another function of that name. */
  name: string;
  /** `author`: who wrote the tool can rename it, so a name that is taken is an error. `derived`: from names
   *  that a server gave, so a name that is taken gets a suffix. */
  namedBy: 'author' | 'derived';
  description: string;
  /** JSON Schema of an object. */
  parameters: Record<string, unknown>;
}

/** What the engine does for a call of a function. */
export type ToolOutcome =
  /** The model is shown it at once. */
  | { what: 'result'; result: Record<string, unknown> }
  /** Another system is asked; the model is shown its reply. */
  | { what: 'request'; request: ToolRequest }
  /** The call ends, once the tool's message was heard. */
  | { what: 'end'; disposition: string | null }
  /** The caller is handed over by the tool's `transfer`. */
  | { what: 'transfer'; arguments: ToolValues };

/** How a caller is handed over, in order. */
export interface TransferSteps {
  /** Seconds for which the destination rings. */
  ringS: number;
  /** Whether somebody is spoken to before the caller is joined with them. */
  isWarm: boolean;
  /** The question to the server that knows where to; undefined if there is none to ask. Throws TOOL_URL,
   *  TOOL_ARGUMENTS. */
  resolverRequest(given: ToolValues, context: ToolContext): ToolRequest | undefined;
  /** Said while the server is asked. */
  waitMessage: ToolMessage;
  /** Where to, as far as the call itself knows; empty for nowhere. */
  knownDestination(context: ToolContext): string;
  /** Undefined if the caller is joined with the destination at once. */
  announcement(context: ToolContext): TransferAnnouncement | undefined;
}

/** What a colleague is told before the caller is joined with them, and how they take the call. */
export interface TransferAnnouncement {
  text: string;
  /** By a key, or by not hanging up. */
  accept: 'key' | 'stay';
  refuseKey: string;
  /** To press a key in, once the text was said. */
  decisionS: number;
  callerHears: 'music' | 'ringback';
}

/** A tool with its settings. */
export interface OpenTool {
  functions: readonly ToolFunction[];
  /** Throws TOOL_ARGUMENTS, TOOL_URL. */
  call(key: string, given: ToolValues, context: ToolContext): ToolOutcome;
  /** What the model is shown of a reply. Default: its status and its data. */
  resultOf?(key: string, reply: { status: number; data: unknown }): Record<string, unknown>;
  /** Its calls end the conversation, so only the first such call of an answer counts. Default: false. */
  leavesConversation?: boolean;
  message?: ToolMessage;
  transfer?: TransferSteps;
  /** Undefined if it cannot be tried out without a call. */
  trial?: ToolTrial;
}

/** A tool's request outside of a call. */
export interface ToolTrial {
  /** As written, for a request that cannot be built. */
  unsent: Pick<ToolRequest, 'method' | 'url' | 'headers'>;
  /** `presets` take the place of the author's templates. Throws TOOL_ARGUMENTS, TOOL_URL. */
  request(values: { given: ToolValues; presets: ToolValues }, now: number): ToolRequest;
}

/** A tool as it is stored. */
export interface StoredTool {
  uuid: string;
  name: string;
  description: string | null;
  definition: Record<string, unknown>;
}

export type NotOpened = 'unreadable' | 'not run by this version';

export interface ToolType<Type extends string = string, Config extends z.ZodType = z.ZodType> {
  type: Type;
  definition: ReturnType<typeof definitionSchema<Type, Config>>;
  open(tool: StoredTool): OpenTool | NotOpened;
}

interface ToolTypeDeclaration<Type extends string, Config extends z.ZodType> {
  /** The word in a definition's `type` and a tool's category. */
  type: Type;
  config: Config;
  /** Left out for a type that is stored and not run. */
  open?(config: z.output<Config>, tool: StoredTool): OpenTool;
}

const schemaVersion = orElse(z.int().min(1), 1);

export function defineTool<Type extends string, Config extends z.ZodType>({
  type,
  config,
  open,
}: ToolTypeDeclaration<Type, Config>): ToolType<Type, Config> {
  const definition = definitionSchema(type, config);
  return {
    type,
    definition,
    open(tool) {
      const version = schemaVersion.safeParse(tool.definition['schema_version']);
      const settings = config.safeParse(tool.definition['config']);
      if (!version.success || !settings.success) return 'unreadable';
      return open?.(settings.data, tool) ?? 'not run by this version';
    },
  };
}

function definitionSchema<Type extends string, Config extends z.ZodType>(
  type: Type,
  config: Config,
) {
  return z.object({ schema_version: schemaVersion, type: z.literal(type), config });
}
