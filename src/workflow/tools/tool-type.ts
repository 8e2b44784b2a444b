// The interface of a tool type: its settings, the functions for the model, and the outcome of a function call.
// Pure: the engine carries the outcome out. registry.ts has a row for each type.
// Source: contract §5.4, §8.7, §10.1.

import { z } from 'zod';
import type { LanguageServices } from '../../model/speech-services/node-services.ts';
import type { DigitRules } from './digit-check.ts';
import type { ToolContext, ToolValues } from './parameters.ts';
import { orElse, type ToolMessage } from './tool-fields.ts';
import type { ToolRequest } from './tool-request-builder.ts';

export interface ToolFunction {
  /** Name of the function within the tool. */
  key: string;
  /** Name for the model, unless another function of the node has it. */
  name: string;
  /** Origin of the name. `author`: the tool's author can rename it, so a duplicate is an error. `derived`: made from a
   *  server's names, so a duplicate gets a suffix. */
  namedBy: 'author' | 'derived';
  description: string;
  /** Parameters as the JSON Schema of an object. */
  parameters: Record<string, unknown>;
}

/** What the engine does after a function call. */
export type ToolOutcome =
  /** The result is given to the model at once. */
  | { what: 'result'; result: Record<string, unknown> }
  /** A request to another system; its reply is given to the model. */
  | { what: 'request'; request: ToolRequest }
  /** The call ends after the tool's message was played. */
  | { what: 'end'; disposition: string | null }
  /** The caller is transferred as the tool's `transfer` says. */
  | { what: 'transfer'; arguments: ToolValues }
  /** The caller enters digits by keys, after the tool's message. */
  | { what: 'digits'; collection: DigitCollection }
  /** The call goes on in another language, with the message as its first words; empty: the model speaks. */
  | { what: 'language'; language: string; message: string }
  /** Another agent takes the call over. */
  | { what: 'agent'; agentUuid: string; reason: string; greets: boolean };

/** How the caller enters digits. */
export interface DigitCollection {
  rules: DigitRules;
  terminator: '#' | '*' | null;
  /** Milliseconds from the end of the message to the first key. */
  firstDigitMs: number;
  /** Milliseconds between two keys after which the entry is complete. */
  pauseMs: number;
  /** Entries that the caller has. */
  tries: number;
  /** Whether the digits are kept from the model, the transcript, the log and the recording. */
  isHidden: boolean;
  /** Name under which the digits are stored; null: they are not. */
  variable: string | null;
  /** What is said before a further entry, as a template; empty: the engine's own line. */
  retryMessage: string;
}

/** Steps of a transfer, in order. */
export interface TransferSteps {
  /** Seconds for which the destination rings. */
  ringS: number;
  /** Whether keys are pressed at the destination of a transfer without an announcement. */
  needsDigits: boolean;
  /** Whether it fails where the provider has no warm transfer. */
  needsWarm: boolean;
  /** Whether a server returns the destination. */
  asksServer: boolean;
  /** The request to the server that returns the destination; undefined without one. Throws TOOL_URL,
   *  TOOL_ARGUMENTS. */
  resolverRequest(given: ToolValues, context: ToolContext): ToolRequest | undefined;
  /** Message while the server is asked. */
  waitMessage: ToolMessage;
  /** The destination without a server; empty if there is none. */
  knownDestination(context: ToolContext): string;
  /** The announcement to the destination; undefined if the caller is connected at once. */
  announcement(context: ToolContext): TransferAnnouncement | undefined;
}

/** The message to the person at the destination before the caller is connected, and how that person accepts the
 *  call. */
export interface TransferAnnouncement {
  text: string;
  /** How the person accepts the call: by a key, or by staying on the line. */
  accept: 'key' | 'stay';
  refuseKey: string;
  /** Seconds to press a key after the text. */
  decisionS: number;
  /** Set if the destination is a queue: seconds within which a person takes the call by a key. The text is repeated
   *  meanwhile. */
  queueS?: number | undefined;
  callerHears: 'music' | 'ringback';
  /** Whether the transfer fails with a provider that cannot announce it. If not, both are connected at once. */
  isRequired: boolean;
}

/** A tool with its settings. */
export interface OpenTool {
  functions: readonly ToolFunction[];
  /** Carries out a function call. Throws TOOL_ARGUMENTS, TOOL_URL. */
  call(key: string, given: ToolValues, context: ToolContext): ToolOutcome;
  /** The reply as the model sees it. Default: its status and its data. */
  resultOf?(key: string, reply: { status: number; data: unknown }): Record<string, unknown>;
  /** Whether the tool ends the conversation or takes its next step, so that only the first such call of an answer counts.
   *  Default: false. */
  leavesConversation?: boolean;
  message?: ToolMessage;
  transfer?: TransferSteps;
  /** Languages to which it may switch the call. Absent: none. */
  languages?: readonly LanguageServices[];
  /** Agent to which it may transfer the call. Absent: none. */
  agentUuid?: string;
  /** Test without a call; undefined if that is not possible. */
  trial?: ToolTrial;
}

/** A tool's request outside a call. */
export interface ToolTrial {
  /** The request as the author wrote it, for one that cannot be built. */
  unsent: Pick<ToolRequest, 'method' | 'url' | 'headers'>;
  /** Builds the request. `presets` replace the author's templates. Throws TOOL_ARGUMENTS, TOOL_URL. */
  request(values: { given: ToolValues; presets: ToolValues }, now: number): ToolRequest;
}

/** A tool as stored. */
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
  /** Type in a definition's `type` and a tool's category. */
  type: Type;
  config: Config;
  /** Opens a stored tool. Absent for a type that is stored and not run. */
  open?(config: z.output<Config>, tool: StoredTool): OpenTool;
}

const schemaVersion = orElse(z.int().min(1), 1).describe(
  'Version of the form of the definition. Default: 1, the only one.',
);

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
  return z.object({
    schema_version: schemaVersion,
    type: z.literal(type).describe('Decides what `config` has. It cannot be changed later.'),
    config: config.describe('Settings of the tool.'),
  });
}
