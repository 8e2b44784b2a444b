// Webhook delivery: sends one signed webhook once and returns the outcome: delivered, retried later, or a dead letter.
// Source: contract §8.10 (limits, schedule, headers); the signature scheme is ours.

import { createHmac } from 'node:crypto';
import type {
  CredentialHeaders,
  GuardedHttp,
  GuardedResponse,
} from '../../../egress/guarded-http.ts';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { deliveries } from '../../../metrics/metrics.ts';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import type { Delivery, DeliveryOutcome } from '../../../store/deliveries/webhook-deliveries.ts';
import type { Store } from '../../../store/store.ts';

export const ATTEMPTS_MAX = 5;
const SEND_MS = 30_000;
const RETRY_FIRST_MS = 30_000;
const RETRY_MS_MAX = 600_000;
/** Statuses after which the same request may succeed. */
const RETRIED = new Set([408, 425, 429, 500, 502, 503, 504]);
/** Characters of a receiver's answer that are kept for troubleshooting. */
const EXCERPT_CHARACTERS_MAX = 500;

export interface DeliverDeps {
  store: Pick<Store, 'deliveries' | 'signingSecrets'>;
  clock: Clock;
  log: Log;
  outside: Pick<GuardedHttp, 'send'>;
  credentialHeaders: CredentialHeaders;
}

/** Makes one attempt and reports it to the store. Rejects only if that report fails; the expiry of the lease then
 *  makes the delivery due again. */
export async function deliverWebhook(
  deps: DeliverDeps,
  delivery: Delivery,
  stop: AbortSignal,
): Promise<void> {
  const { store, log } = deps;
  const { id, runId, attempts: attempt } = delivery;
  const outcome = await attemptOnce(deps, delivery, stop);
  await store.deliveries.report(id, delivery.claims, outcome);
  const result = outcome.state === 'pending' ? 'retry' : outcome.state;
  deliveries.inc({ result });
  const status = outcome.responseStatus;
  if (result === 'dead_letter') {
    log.warn({ deliveryId: id, runId, attempt, status }, 'webhook not delivered');
  } else {
    log.info({ deliveryId: id, runId, attempt, status, result }, 'webhook sent');
  }
}

async function attemptOnce(
  deps: DeliverDeps,
  delivery: Delivery,
  stop: AbortSignal,
): Promise<DeliveryOutcome> {
  const deadline = deadlineSignal(deps.clock, SEND_MS, 'webhook', stop);
  try {
    const headers = await headersOf(deps, delivery);
    const { method, url, body } = delivery;
    // Any answer proves that the receiver has the request: a repetition would count twice.
    const request = { method, url, headers, body: body ?? undefined, isStatusEnough: true };
    return outcomeOf(delivery, await deps.outside.send(request, deadline.signal));
  } catch (error) {
    return failed(delivery, {
      again: !(error instanceof GatewayError) || error.retry,
      responseStatus: null,
      responseExcerpt: null,
      error: wordsOf(error),
    });
  } finally {
    deadline.done();
  }
}

function outcomeOf(delivery: Delivery, { status, text }: GuardedResponse): DeliveryOutcome {
  const responseExcerpt = text.slice(0, EXCERPT_CHARACTERS_MAX);
  if (status >= 200 && status < 300) {
    return { state: 'delivered', responseStatus: status, responseExcerpt };
  }
  return failed(delivery, {
    again: RETRIED.has(status),
    responseStatus: status,
    responseExcerpt,
    error: `The receiver answered ${status}.`,
  });
}

function failed(
  { attempts }: Delivery,
  {
    again,
    ...facts
  }: {
    again: boolean;
    responseStatus: number | null;
    responseExcerpt: string | null;
    error: string;
  },
): DeliveryOutcome {
  if (!again || attempts >= ATTEMPTS_MAX) return { state: 'dead_letter', ...facts };
  return { state: 'pending', retryMs: retryMs(attempts), ...facts };
}

/** Pause before the next attempt, after `attempts` attempts: 30 s, doubling, at most 10 minutes. */
export function retryMs(attempts: number): number {
  return Math.min(RETRY_MS_MAX, RETRY_FIRST_MS * 2 ** (attempts - 1));
}

/** The author's headers, those of the credential, then the gateway's own. */
async function headersOf(
  { store, clock, credentialHeaders }: DeliverDeps,
  delivery: Delivery,
): Promise<Record<string, string>> {
  const { organizationId, credentialUuid, body } = delivery;
  const credential =
    credentialUuid === null ? {} : await credentialHeaders(organizationId, credentialUuid);
  const secrets = await store.signingSecrets.inForce(organizationId);
  return joined([
    ...(body === null ? [] : [['Content-Type', 'application/json'] as const]),
    ['User-Agent', 'Patchbay'],
    ...delivery.headers,
    ...Object.entries(credential),
    ...promised(delivery),
    [SIGNATURE_HEADER, signatureOf(secrets, clock.now(), body ?? '')],
  ]);
}

/** Headers that identify a delivery and its attempt, under our prefix and under the one by which existing receivers
 *  detect repeated deliveries. */
function promised({ id, runId, attempts }: Delivery): [string, string][] {
  const facts = [
    ['Delivery-Id', id],
    ['Workflow-Run-Id', runId],
    ['Delivery-Attempt', String(attempts)],
  ] as const;
  return ['X-Patchbay', 'X-Dograh'].flatMap((prefix) =>
    facts.map(([name, value]): [string, string] => [`${prefix}-${name}`, value]),
  );
}

/** Merges headers: the last one of a name counts, in any case of letters. */
function joined(headers: readonly (readonly [string, string])[]): Record<string, string> {
  const byName = new Map<string, readonly [string, string]>();
  for (const header of headers) byName.set(header[0].toLowerCase(), header);
  return Object.fromEntries(byName.values());
}

/** Error text for the delivery's record. It omits the address, which may contain a secret. */
function wordsOf(error: unknown): string {
  if (error instanceof GatewayError) return error.message;
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unexpected error';
  return `The receiver was not reached: ${code}.`;
}

export const SIGNATURE_HEADER = 'X-Patchbay-Signature';

/** `t=<unix seconds>,v1=<hex of HMAC(secret, "<t>.<body>")>`, one `v1` per secret, newest first. */
export function signatureOf(secrets: readonly string[], at: number, body: string): string {
  const seconds = Math.floor(at / 1_000);
  const values = secrets.map((secret) => {
    return `v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
  });
  return [`t=${seconds}`, ...values].join(',');
}
