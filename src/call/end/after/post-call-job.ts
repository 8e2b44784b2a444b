// The work after one completed run: its reviews, then its webhooks with the reviews' results. Every step may be
// interrupted and repeated: a stored review is not requested again, and all webhooks are created in the transaction
// that ends the work. A webhook's payload is rendered once and sent unchanged in every attempt (contract §8.10).

import type { Log } from '../../../log.ts';
import { reviews } from '../../../metrics/metrics.ts';
import { type Artifact, type Run, webhookBody, webhookVariables } from '../../../model/run.ts';
import type { WorkflowDefinition } from '../../../model/workflow.ts';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import type { PostCallJob, ReviewRecord } from '../../../store/deliveries/post-call-jobs.ts';
import type { NewDelivery } from '../../../store/deliveries/webhook-deliveries.ts';
import type { Store } from '../../../store/store.ts';
import {
  type ReviewNodeSettings,
  reviewsOf,
  type WebhookNodeSettings,
  webhooksOf,
} from '../../../workflow/graph/post-call-nodes.ts';
import { renderObject } from '../../../workflow/variables/template-object.ts';
import { effectiveEvents } from '../../events/event-log.ts';
import { stamp } from '../../events/transcript.ts';
import { artifactUrl } from '../../start/setup/callback-urls.ts';
import { annotationKey, failedReview, reviewCall } from './review.ts';
import type { ReviewModelDeps } from './review-model.ts';

/** Deadline of all reviews of a run together. */
const REVIEWS_MS = 120_000;
/** Longer than the reviews and the statements around them. */
export const POST_CALL_LEASE_MS = 180_000;
/** Attempts of the reviews, including those interrupted by a kill. */
const REVIEW_TRIES_MAX = 3;
const REVIEW_AGAIN_MS = 20_000;
/** Time after the end of a call in which a failed review may be repeated: its webhooks wait for the review. */
const HOLD_MS_MAX = 300_000;
/** Attempts, over about two hours, after which work that always fails is abandoned. */
const TRIES_MAX = 20;
const AGAIN_FIRST_MS = 5_000;
const AGAIN_MS_MAX = 600_000;
const BODILESS = new Set(['GET', 'DELETE']);

export interface PostCallJobDeps extends ReviewModelDeps {
  store: Store;
  clock: Clock;
  log: Log;
  publicUrl: string;
}

/** Returns true if the run has deliveries that can be sent. */
export async function runPostCallJob(
  deps: PostCallJobDeps,
  work: PostCallJob,
  stop: AbortSignal,
): Promise<boolean> {
  const { store, log } = deps;
  const { runId, claims } = work;
  try {
    return await attempt(deps, work, stop);
  } catch (error) {
    if (claims >= TRIES_MAX) {
      log.error({ err: error, runId }, 'work after a call abandoned');
      await store.afterworks.finish(runId, []);
    } else {
      log.warn({ err: error, runId, claims }, 'work after a call failed');
      const delayMs = Math.min(AGAIN_MS_MAX, AGAIN_FIRST_MS * 2 ** (claims - 1));
      await store.afterworks.postpone(work, delayMs);
    }
    return false;
  }
}

async function attempt(
  deps: PostCallJobDeps,
  work: PostCallJob,
  stop: AbortSignal,
): Promise<boolean> {
  const { store } = deps;
  const { run, workflowName } = (await store.afterworks.subject(work.runId)) ?? {};
  const version = run && (await store.workflows.version(run.workflowId, run.definitionId));
  if (run === undefined || workflowName === undefined || version === undefined) {
    await store.afterworks.finish(work.runId, []);
    return false;
  }
  const { definition, configurations } = version;
  const reviewing = { work, run, definition, configurations };
  const reviewed = await review(deps, reviewing, stop);
  if (reviewed === 'again') {
    if (stop.aborted) await store.afterworks.giveBack(work);
    else await store.afterworks.postpone(work, REVIEW_AGAIN_MS);
    return false;
  }
  // Read again, because it contains the reviews by now.
  const current = reviewed === 'done' ? await store.runs.find(run.id) : run;
  return fire(deps, { run: current ?? run, workflowName }, webhooksOf(definition));
}

interface Reviewing {
  work: PostCallJob;
  run: Run;
  definition: WorkflowDefinition;
  configurations: Record<string, unknown>;
}

/** Runs the reviews that are not stored yet. `again`: one failed and should be repeated. */
async function review(
  deps: PostCallJobDeps,
  { work, run, definition, configurations }: Reviewing,
  stop: AbortSignal,
): Promise<'none' | 'done' | 'again'> {
  const open = reviewsOf(definition).filter((each) => {
    return !Object.hasOwn(run.annotations, annotationKey(each));
  });
  if (open.length === 0) return 'none';
  const events = effectiveEvents(await deps.store.runs.events(run.id));
  const now = deps.clock.now();
  const isLast =
    work.claims >= REVIEW_TRIES_MAX || now - work.since.getTime() + REVIEW_AGAIN_MS > HOLD_MS_MAX;
  const deadline = deadlineSignal(deps.clock, REVIEWS_MS, 'reviews', stop);
  const { signal } = deadline;
  try {
    const call = { run, definition, configurations, events };
    let areAll = true;
    for (const each of open) {
      const look = () => reviewCall(deps, each, call, { isLast, now, signal });
      const record = await settled(deps, each, { work, run, isLast, stop }, look);
      if (record === undefined) areAll = false;
      else await deps.store.afterworks.annotate(run.id, record);
    }
    return areAll ? 'done' : 'again';
  } finally {
    deadline.done();
  }
}

/** The review's result; undefined if it should be repeated. */
async function settled(
  { log }: PostCallJobDeps,
  each: ReviewNodeSettings,
  facts: { work: PostCallJob; run: Run; isLast: boolean; stop: AbortSignal },
  look: () => Promise<ReviewRecord>,
): Promise<ReviewRecord | undefined> {
  const { work, run, isLast, stop } = facts;
  // A review that kills the process each time must not be repeated for ever.
  if (work.claims > REVIEW_TRIES_MAX) return failedReview(each, 'interrupted');
  try {
    const record = await look();
    const isSkipped = record.annotation['skipped'] === true;
    reviews.inc({ result: isSkipped ? 'skipped' : 'done' });
    return record;
  } catch (error) {
    log.warn({ err: error, runId: run.id, nodeId: each.nodeId, isLast }, 'review of a call failed');
    reviews.inc({ result: 'failed' });
    return isLast && !stop.aborted ? failedReview(each, 'failed') : undefined;
  }
}

async function fire(
  { store, clock, publicUrl }: PostCallJobDeps,
  { run, workflowName }: { run: Run; workflowName: string },
  webhooks: readonly WebhookNodeSettings[],
): Promise<boolean> {
  // A payload without a template has no links.
  const token = webhooks.some(hasTemplate) ? await store.runs.publicToken(run.id) : '';
  const facts = { run, workflowName, token, publicUrl, now: clock.now() };
  await store.afterworks.finish(
    run.id,
    webhooks.map((webhook) => deliveryOf(webhook, facts)),
  );
  return webhooks.length > 0;
}

function hasTemplate({ payloadTemplate }: WebhookNodeSettings): boolean {
  return Object.keys(payloadTemplate).length > 0;
}

interface PayloadFacts {
  run: Run;
  workflowName: string;
  /** The run's public token; empty if no payload has a template. */
  token: string;
  publicUrl: string;
  /** Wall clock, milliseconds since 1970. */
  now: number;
}

function deliveryOf(webhook: WebhookNodeSettings, facts: PayloadFacts): NewDelivery {
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
  if (!hasTemplate(webhook)) return defaultPayload(facts);
  const payload = renderObject(webhook.payloadTemplate, contextOf(facts), { now });
  if (Object.hasOwn(payload, 'call_disposition')) return payload;
  return { ...payload, call_disposition: dispositionOf(facts.run) };
}

/** Body of a node without a template. */
function defaultPayload({ run, workflowName }: PayloadFacts): Record<string, unknown> {
  const { caller_number: callerNumber = null, called_number: calledNumber = null } =
    run.initialContext;
  const numbers = { callerNumber, calledNumber };
  const disposition = dispositionOf(run);
  return valuesOf(webhookBody, { ...run, ...numbers, disposition, workflowName });
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

function contextOf({ run, workflowName, token, publicUrl }: PayloadFacts): Record<string, unknown> {
  const url = (artifact: Artifact, key: string | null) =>
    key === null ? null : artifactUrl(publicUrl, token, artifact);
  return {
    ...valuesOf(webhookVariables, {
      ...run,
      usageInfo: run.usageInfo ?? {},
      workflowName,
    }),
    extra: {},
    recording_url: url('recording', run.recordingKey),
    transcript_url: url('transcript', run.transcriptKey),
    user_recording_url: url('user_recording', run.recordingKey),
    bot_recording_url: url('bot_recording', run.recordingKey),
  };
}
