// Payload of a webhook: rendered once, after the run's reviews, and sent unchanged in every attempt. Source: contract
// §8.10.

import { type Artifact, type Run, webhookBody, webhookVariables } from '../../../model/run.ts';
import type { Workflow } from '../../../model/workflow.ts';
import type { NewDelivery } from '../../../store/deliveries/webhook-deliveries.ts';
import type { WebhookNodeSettings } from '../../../workflow/graph/post-call-nodes.ts';
import { renderObject } from '../../../workflow/variables/template-object.ts';
import { stamp } from '../../events/transcript.ts';
import { artifactUrl } from '../../start/setup/callback-urls.ts';

const BODILESS = new Set(['GET', 'DELETE']);

export interface PayloadFacts {
  run: Run;
  workflow: Workflow;
  /** The run's public token. */
  token: string;
  publicUrl: string;
  /** Wall clock, milliseconds since 1970. */
  now: number;
}

export function deliveryOf(webhook: WebhookNodeSettings, facts: PayloadFacts): NewDelivery {
  const { nodeId, name, method, url, headers, credentialUuid } = webhook;
  return {
    nodeId,
    nodeName: name,
    method,
    url,
    headers,
    credentialUuid,
    body: BODILESS.has(method) ? null : JSON.stringify(payloadOf(webhook, facts)),
  };
}

/** The rendered template, or the default body without one. It has the call's disposition even if the template does not
 *  name it. */
function payloadOf(webhook: WebhookNodeSettings, facts: PayloadFacts): Record<string, unknown> {
  const { now } = facts;
  if (Object.keys(webhook.payloadTemplate).length === 0) return defaultPayload(facts);
  const payload = renderObject(webhook.payloadTemplate, contextOf(facts), { now });
  if (Object.hasOwn(payload, 'call_disposition')) return payload;
  return { ...payload, call_disposition: dispositionOf(facts.run) };
}

/** Body of a node without a template. */
function defaultPayload({ run, workflow }: PayloadFacts): Record<string, unknown> {
  const { caller_number: callerNumber = null, called_number: calledNumber = null } =
    run.initialContext;
  const numbers = { callerNumber, calledNumber };
  const disposition = dispositionOf(run);
  return valuesOf(webhookBody, { ...run, ...numbers, disposition, workflowName: workflow.name });
}

/** The facts under their names in a payload. */
function valuesOf<Fact extends string>(
  names: Readonly<Record<string, Fact>>,
  facts: Readonly<Record<Fact, unknown>>,
): Record<string, unknown> {
  const wordOf = (value: unknown) => (value instanceof Date ? stamp(value.getTime()) : value);
  return Object.fromEntries(
    Object.entries(names).map(([name, fact]) => [name, wordOf(facts[fact])]),
  );
}

function dispositionOf({ gatheredContext, disposition }: Run): string {
  const gathered = gatheredContext['call_disposition'];
  return typeof gathered === 'string' && gathered !== '' ? gathered : (disposition ?? '');
}

function contextOf({ run, workflow, token, publicUrl }: PayloadFacts): Record<string, unknown> {
  const url = (artifact: Artifact, key: string | null) =>
    key === null ? null : artifactUrl(publicUrl, token, artifact);
  return {
    ...valuesOf(webhookVariables, {
      ...run,
      usageInfo: run.usageInfo ?? {},
      workflowName: workflow.name,
    }),
    extra: {},
    recording_url: url('recording', run.recordingKey),
    transcript_url: url('transcript', run.transcriptKey),
    user_recording_url: url('user_recording', run.recordingKey),
    bot_recording_url: url('bot_recording', run.recordingKey),
  };
}
