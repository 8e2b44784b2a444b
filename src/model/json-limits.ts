// Size limits of the JSON that clients store. Larger JSON would delay every call that uses it, on the event loop that
// carries its audio. Larger JSON of earlier versions stays readable, but starts no call.

import { GatewayError } from '../errors/gateway-error.ts';
import { type JsonLimits, jsonTextExcess } from '../std/json-size.ts';
import type { WorkflowVersion } from './workflow.ts';

/** Limits of a definition. An agent of 500 nodes with long prompts has a third of each. */
export const DEFINITION_LIMITS: JsonLimits = {
  bytesMax: 1_048_576,
  valuesMax: 20_000,
  depthMax: 40,
};

/** Limits of variables, settings and metadata. */
export const CONTEXT_LIMITS: JsonLimits = { bytesMax: 65_536, valuesMax: 2_000, depthMax: 40 };

/** Limits of a run's initial context: the client's, the agent's template variables, the fetched variables, and the
 *  gateway's additions. */
export const RUN_CONTEXT_LIMITS: JsonLimits = { bytesMax: 262_144, valuesMax: 8_000, depthMax: 40 };

type Content = Pick<WorkflowVersion, 'definition' | 'configurations' | 'templateContextVariables'>;

/** The parts of a version as JSON text, as they are stored. */
export type ContentText = Record<keyof Content, string>;

const PARTS: readonly [keyof Content, name: string, JsonLimits][] = [
  ['definition', 'its definition has', DEFINITION_LIMITS],
  ['configurations', 'its configurations have', CONTEXT_LIMITS],
  ['templateContextVariables', 'its template variables have', CONTEXT_LIMITS],
];

/** The exceeded limit of a stored version, as text; undefined if calls can use it. */
export function contentExcess(content: ContentText): string | undefined {
  for (const [part, name, limits] of PARTS) {
    const excess = jsonTextExcess(content[part], limits);
    if (excess !== undefined) return `${name} ${excess}`;
  }
  return undefined;
}

/** Returns the version if calls can use it. Throws AGENT_OVERSIZED. */
export function requireUsable<Version extends Content>(version: Version): Version {
  const excess = contentExcess({
    definition: JSON.stringify(version.definition),
    configurations: JSON.stringify(version.configurations),
    templateContextVariables: JSON.stringify(version.templateContextVariables),
  });
  if (excess !== undefined) throw new GatewayError('AGENT_OVERSIZED', { excess });
  return version;
}
