// A tool with which the model hands the caller over to somebody else: to a fixed number, one that a
// server names, or one that a value of the call leads to. Source: contract §10.1, §8.7.

import { z } from 'zod';
import { lookUp } from '../variables/dotted-path.ts';
import { render } from '../variables/template.ts';
import type { TransferCallConfig } from './definition.ts';
import { checkedArguments, presetValues, type ToolContext, type ToolValues } from './parameters.ts';
import type { ToolParameter } from './tool-fields.ts';
import { type ToolRequest, toolRequest } from './tool-request-builder.ts';

const DESTINATION_CHARACTERS_MAX = 500;
const MESSAGE_CHARACTERS_MAX = 2_000;
/** A minute of speech: values may be long, and the caller waits. */
const SPOKEN_CHARACTERS_MAX = 1_000;

/** Of one name, the transfer's own comes before the resolver's. */
export function transferParameters(config: TransferCallConfig): ToolParameter[] {
  const isDynamic = config.destination_source === 'dynamic';
  const asked = isDynamic ? (config.resolver?.parameters ?? []) : [];
  const own = new Set(config.parameters.map(({ name }) => name));
  return [...config.parameters, ...asked.filter(({ name }) => !own.has(name))];
}

/** Where to, as far as the call itself knows; empty for nowhere. Not for dynamic destinations. */
export function knownDestination(
  { destination_source: source, destination, context_mapping: mapping }: TransferCallConfig,
  { values, now }: ToolContext,
): string {
  const rendered = (template: string): string => render(template, values, { now }).trim();
  if (source !== 'context_mapping' || mapping === null) return rendered(destination);
  for (const { context_path: path, routes } of mapping.rules) {
    const value = normal(lookUp(values, path));
    const route = routes.find((each) => value !== '' && normal(each.context_value) === value);
    if (route !== undefined) return rendered(route.destination);
  }
  return rendered(mapping.fallback_destination ?? '');
}

/** What the colleague is told first; undefined if the caller is joined with them at once. */
export function announcementOf(
  { warm }: TransferCallConfig,
  { values, now }: ToolContext,
): TransferAnnouncement | undefined {
  if (warm === null) return undefined;
  return {
    text: render(warm.message, values, { now }).trim().slice(0, SPOKEN_CHARACTERS_MAX),
    accept: warm.accept,
    refuseKey: warm.refuse_key,
    decisionS: warm.timeout,
    callerHears: warm.caller_hears,
  };
}

/** The question to the server that knows where to; undefined if there is none to ask. Throws TOOL_URL,
 *  TOOL_ARGUMENTS. */
export function resolverRequest(
  { destination_source: source, resolver }: TransferCallConfig,
  given: ToolValues,
  context: ToolContext,
): ToolRequest | undefined {
  if (source !== 'dynamic' || resolver === null) return undefined;
  return toolRequest(
    { ...resolver, method: 'POST', body_template: null },
    { arguments: given, presets: presetValues(resolver.preset_parameters, context), context },
  );
}

/** Throws TOOL_ARGUMENTS. */
export function transferArguments(config: TransferCallConfig, given: ToolValues): ToolValues {
  return checkedArguments(transferParameters(config), given);
}

const resolved = z.object({
  transfer_context: z.object({
    destination: z.string().trim().min(1).max(DESTINATION_CHARACTERS_MAX),
    custom_message: z.string().max(MESSAGE_CHARACTERS_MAX).nullish(),
  }),
});

/** What the server has said, or why it cannot be used. `data` may be anything. */
export function readResolved(
  status: number,
  data: unknown,
): { destination: string; message: string | null } | { reason: string } {
  if (status < 200 || status >= 300) return { reason: 'resolver_http_error' };
  const answer = resolved.safeParse(data);
  if (!answer.success) return { reason: 'resolver_invalid_response' };
  const { destination, custom_message: message } = answer.data.transfer_context;
  return { destination, message: message || null };
}

function normal(value: unknown): string {
  if (typeof value === 'object' || value === undefined) return '';
  return String(value).trim().toLowerCase();
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
