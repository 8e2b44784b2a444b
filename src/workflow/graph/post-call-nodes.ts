// What an agent wants done when a call is over: its webhook and review nodes, read from the stored graph.
// A field that cannot be used counts as not set. Source: contract §5.3, §8.10.

import { z } from 'zod';
import type { WorkflowDefinition } from '../../model/workflow.ts';
import { isObject } from '../../std/json.ts';
import { qaNode } from '../nodes/qa-node.ts';
import {
  HEADER_NAME_CHARACTERS_MAX,
  HEADER_VALUE_CHARACTERS_MAX,
  URL_CHARACTERS_MAX,
  WEBHOOK_HEADERS_MAX,
  webhookNode,
} from '../nodes/webhook-node.ts';

/** Far more than an agent has receivers or reviewers. */
const NODES_MAX = 20;

export interface WebhookNodeSettings {
  nodeId: string;
  name: string;
  method: z.infer<typeof webhookNode.data>['http_method'];
  url: string;
  credentialUuid: string | null;
  /** Without those that look as if they held secrets: credentials are for them. */
  headers: [string, string][];
  payloadTemplate: Record<string, unknown>;
}

export interface ReviewNodeSettings {
  nodeId: string;
  name: string;
  /** Whether the gateway's own model is asked. */
  usesGatewayModel: boolean;
  provider: string;
  model: string;
  apiKey: string | null;
  endpoint: string | null;
  /** Null: the gateway's own. */
  systemPrompt: string | null;
  durationMinS: number;
  reviewsVoicemail: boolean;
  /** Percent of calls. */
  sampleRate: number;
}

const text = z.string().trim().min(1).nullish().catch(null);
const name = z.string().min(1).catch('');

/** As authors are held to it; without a value it can use, as if it were left out. */
function lenient<Field extends z.ZodType>(field: Field) {
  return field.catch(() => field.parse(undefined));
}

const ofWebhook = webhookNode.data.shape;
const webhookData = z.object({
  name,
  enabled: lenient(ofWebhook.enabled),
  http_method: lenient(ofWebhook.http_method),
  endpoint_url: z.string().trim().min(1).max(URL_CHARACTERS_MAX).nullish().catch(null),
  credential_uuid: text,
  custom_headers: z.array(z.unknown()).nullish().catch([]),
  payload_template: lenient(ofWebhook.payload_template),
});

const ofReview = qaNode.data.shape;
const reviewData = z.object({
  name,
  qa_enabled: lenient(ofReview.qa_enabled),
  qa_use_workflow_llm: lenient(ofReview.qa_use_workflow_llm),
  qa_provider: text, // Whoever it is: a key is never sent to another service than was named.
  qa_model: text,
  qa_api_key: text,
  qa_endpoint: text,
  qa_system_prompt: text,
  qa_min_call_duration: lenient(ofReview.qa_min_call_duration),
  qa_voicemail_calls: lenient(ofReview.qa_voicemail_calls),
  qa_sample_rate: lenient(ofReview.qa_sample_rate),
});

/** Those that are enabled and have an address, in the graph's order. */
export function webhooksOf(definition: WorkflowDefinition): WebhookNodeSettings[] {
  const found: WebhookNodeSettings[] = [];
  for (const { id, type, data } of definition.nodes) {
    if (type !== 'webhook' || found.length >= NODES_MAX) continue;
    const node = webhookData.parse(data);
    if (!node.enabled || !node.endpoint_url) continue;
    found.push({
      nodeId: id,
      name: node.name,
      method: node.http_method,
      url: node.endpoint_url,
      credentialUuid: node.credential_uuid ?? null,
      headers: headersOf(node.custom_headers ?? []),
      payloadTemplate: node.payload_template ?? {},
    });
  }
  return found;
}

/** Those that are enabled, in the graph's order. */
export function reviewsOf(definition: WorkflowDefinition): ReviewNodeSettings[] {
  const found: ReviewNodeSettings[] = [];
  for (const { id, type, data } of definition.nodes) {
    if (type !== 'qa' || found.length >= NODES_MAX) continue;
    const node = reviewData.parse(data);
    if (!node.qa_enabled) continue;
    found.push({
      nodeId: id,
      name: node.name,
      usesGatewayModel: node.qa_use_workflow_llm,
      provider: node.qa_provider ?? 'openai',
      model: node.qa_model ?? 'default',
      apiKey: node.qa_api_key ?? null,
      endpoint: node.qa_endpoint ?? null,
      systemPrompt: node.qa_system_prompt ?? null,
      durationMinS: node.qa_min_call_duration,
      reviewsVoicemail: node.qa_voicemail_calls,
      sampleRate: node.qa_sample_rate,
    });
  }
  return found;
}

/** RFC 9110: a name is a token; a value is visible characters, spaces and tabs. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Names that stand for secrets, as a word of a name or anywhere in it. */
const SECRET_NAME =
  /(^|[-_.])(auth|authorization|cookies?|credentials?|jwt|pass|passwd|password|secrets?|session|sid|signature|tokens?)($|[-_.])|set-?cookie|(api|access|private|auth|secret)[-_.]?key|(access|auth|bearer|api|secret|session)[-_.]?token|password|secret/i;
/** What the connection, or we ourselves, say. */
const RESERVED_NAME =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|proxy-.*|x-(patchbay|dograh)-.*)$/i;

function headersOf(stored: readonly unknown[]): [string, string][] {
  return stored.slice(0, WEBHOOK_HEADERS_MAX).flatMap((each): [string, string][] => {
    if (!isObject(each)) return [];
    const { key, value } = each;
    if (typeof key !== 'string' || typeof value !== 'string') return [];
    return isHeader(key.trim(), value) ? [[key.trim(), value]] : [];
  });
}

function isHeader(key: string, value: string): boolean {
  const fits =
    key.length <= HEADER_NAME_CHARACTERS_MAX && value.length <= HEADER_VALUE_CHARACTERS_MAX;
  if (!fits || !HEADER_NAME.test(key) || !HEADER_VALUE.test(value)) return false;
  return !SECRET_NAME.test(key) && !RESERVED_NAME.test(key);
}
