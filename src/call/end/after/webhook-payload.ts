// Payload of a webhook: rendered once, after the run's reviews, and sent unchanged in every attempt. Source: contract
// §8.10.

import type { Artifact, Run } from '../../../model/run.ts';
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
  const { caller_number: caller = null, called_number: called = null } = run.initialContext;
  const timeOf = (at: Date | null) => at && stamp(at.getTime());
  return {
    workflow_run_id: run.id,
    workflow_run_name: run.name,
    workflow_id: workflow.id,
    workflow_name: workflow.name,
    campaign_id: run.campaignId,
    call_type: run.callType,
    caller_number: caller,
    called_number: called,
    call_time: timeOf(run.createdAt),
    started_at: timeOf(run.startedAt),
    ended_at: timeOf(run.endedAt),
    call_duration_seconds: run.durationS,
    call_disposition: dispositionOf(run),
    gathered_context: run.gatheredContext,
  };
}

function dispositionOf({ gatheredContext, disposition }: Run): string {
  const gathered = gatheredContext['call_disposition'];
  return typeof gathered === 'string' && gathered !== '' ? gathered : (disposition ?? '');
}

function contextOf({ run, workflow, token, publicUrl }: PayloadFacts): Record<string, unknown> {
  const url = (artifact: Artifact, key: string | null) =>
    key === null ? null : artifactUrl(publicUrl, token, artifact);
  return {
    workflow_run_id: run.id,
    workflow_run_name: run.name,
    workflow_id: workflow.id,
    workflow_name: workflow.name,
    campaign_id: run.campaignId,
    call_time: stamp(run.createdAt.getTime()),
    initial_context: run.initialContext,
    gathered_context: run.gatheredContext,
    cost_info: run.usageInfo ?? {},
    annotations: run.annotations,
    extra: {},
    recording_url: url('recording', run.recordingKey),
    transcript_url: url('transcript', run.transcriptKey),
    user_recording_url: url('user_recording', run.recordingKey),
    bot_recording_url: url('bot_recording', run.recordingKey),
  };
}
