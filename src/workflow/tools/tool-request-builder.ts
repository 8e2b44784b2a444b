// Builds a tool's request from arguments, presets and the call's contexts, and says what the status of its answer means.
// Pure: call/ sends it and adds the credential's headers. Source: contract §8.7.

import { renderObject } from '../variables/template-object.ts';
import type { ToolContext, ToolValues } from './parameters.ts';
import { encoded, renderedUrl } from './tool-url.ts';

/** Longest timeout; the caller waits in silence. */
const TIMEOUT_MS_MAX = 60_000;

export interface ToolRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  /** JSON body; null for methods without one. */
  body: string | null;
  credentialUuid: string | null;
  timeoutMs: number;
}

interface RequestConfig {
  method: string;
  url: string;
  headers: Record<string, string>;
  credential_uuid: string | null;
  timeout_ms: number;
  body_template: Record<string, unknown> | null;
}

export interface RequestInput {
  /** The model's arguments, validated. */
  arguments: ToolValues;
  /** The author's presets; they replace arguments of the same name. */
  presets: ToolValues;
  context: ToolContext;
}

/** Builds the request. Throws TOOL_URL. */
export function toolRequest(config: RequestConfig, input: RequestInput): ToolRequest {
  const values = { ...input.arguments, ...input.presets };
  const { now } = input.context;
  const all = { ...input.context.values, ...values };
  const url = renderedUrl(config.url, all, now);
  const hasBody = ['POST', 'PUT', 'PATCH'].includes(config.method);
  if (!hasBody) addQuery(url, values);
  const template = config.body_template ?? {};
  const body = Object.keys(template).length > 0 ? renderObject(template, all, { now }) : values;
  return {
    method: config.method,
    url: url.href,
    headers: hasBody ? asJson(config.headers) : config.headers,
    body: hasBody ? JSON.stringify(body) : null,
    credentialUuid: config.credential_uuid || null,
    timeoutMs: Math.min(config.timeout_ms, TIMEOUT_MS_MAX),
  };
}

/** Headers with a JSON content type, unless the author has set another one. */
function asJson(headers: Record<string, string>): Record<string, string> {
  const isNamed = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type');
  return isNamed ? headers : { ['Content-Type']: 'application/json', ...headers };
}

/** Appends values to the author's query, whose spelling does not change. */
function addQuery(url: URL, values: ToolValues): void {
  const query = Object.entries(values).map(([name, value]) => {
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
    return `${encoded(name)}=${encoded(text)}`;
  });
  if (query.length === 0) return;
  url.search = [url.search.slice(1), ...query].filter((part) => part !== '').join('&');
}

/** Why the request failed, for the model and the author; undefined for a success. */
export function failureOf(status: number): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  if (status >= 500) return `The server failed (status ${status}).`;
  if (status >= 400) return `The server refused the request (status ${status}).`;
  return `The server redirects the request, and redirects are not followed (status ${status}).`;
}
