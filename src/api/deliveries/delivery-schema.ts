// Schemas of webhook deliveries. Extension: the reference platform has none.

import { z } from 'zod';
import { DELIVERY_STATES } from '../../model/webhook-delivery.ts';
import { parseJson } from '../../std/json.ts';
import type { SigningSecret } from '../../store/deliveries/signing-secrets.ts';
import type { Delivery } from '../../store/deliveries/webhook-deliveries.ts';
import { pageFigures } from '../http/page-parameters.ts';
import { idOut, isoTime, isoTimeOrNull, timeOut } from '../http/values.ts';

export const deliveryStatus = z.enum(DELIVERY_STATES);

const deliveryFields = {
  id: idOut,
  workflow_run_id: idOut,
  workflow_id: idOut,
  node_id: z.string(),
  node_name: z.string(),
  status: deliveryStatus.meta({
    description: 'dead_letter: refused by its receiver, or not accepted in five attempts.',
  }),
  http_method: z.string(),
  endpoint_url: z.string(),
  attempts: z.int().meta({ description: 'Since it was made or redelivered.' }),
  next_attempt_at: timeOut.nullable(),
  last_attempt_at: timeOut.nullable(),
  finished_at: timeOut.nullable(),
  created_at: timeOut,
  response_status: z.int().nullable().describe('HTTP status. Null: no answer yet.'),
  response_excerpt: z.string().nullable().meta({ description: 'First 500 characters.' }),
  error: z.string().nullable(),
};

export const deliveryOut = z.object(deliveryFields).meta({
  id: 'WebhookDelivery',
  description: 'A webhook after a call, and how its delivery stands.',
});

export const deliveryDetail = z
  .object({
    ...deliveryFields,
    headers: z.array(z.object({ name: z.string(), value: z.string() })).meta({
      description: "The author's headers. Those of the credential are never shown.",
    }),
    credential_uuid: z.string().nullable(),
    payload: z.unknown().meta({ description: 'The body, rendered once; null for none.' }),
  })
  .meta({ id: 'WebhookDeliveryDetail', description: 'A webhook with its headers and body.' });

export const deliveryPage = z
  .object({
    deliveries: z.array(deliveryOut),
    ...pageFigures,
    total_count: z.int().meta({
      description: 'Counted up to 10,000 behind the begin of the page; there may be more then.',
    }),
  })
  .describe('A page of deliveries, newest first.');

export const signingSecretOut = z
  .object({
    secret_prefix: z.string().nullable().meta({ description: 'Null: none was needed yet.' }),
    created_at: timeOut.nullable(),
    former_valid_until: timeOut.nullable().meta({
      description: 'Until then every webhook is signed by the secret before as well.',
    }),
  })
  .meta({ id: 'WebhookSigningSecret', description: 'The secret without its secret part.' });

export const signingSecretMade = signingSecretOut
  .extend({ secret: z.string().meta({ description: 'Shown this once.' }) })
  .meta({ id: 'WebhookSigningSecretCreated', description: 'The new secret.' });

export function deliveryOnWire(delivery: Delivery): z.infer<typeof deliveryOut> {
  return {
    id: delivery.id,
    workflow_run_id: delivery.runId,
    workflow_id: delivery.workflowId,
    node_id: delivery.nodeId,
    node_name: delivery.nodeName,
    status: delivery.state,
    http_method: delivery.method,
    endpoint_url: delivery.url,
    attempts: delivery.attempts,
    next_attempt_at: delivery.state === 'pending' ? isoTimeOrNull(delivery.dueAt) : null,
    last_attempt_at: isoTimeOrNull(delivery.attemptedAt),
    finished_at: isoTimeOrNull(delivery.finishedAt),
    created_at: isoTime(delivery.createdAt),
    response_status: delivery.responseStatus,
    response_excerpt: delivery.responseExcerpt,
    error: delivery.error,
  };
}

export function deliveryDetailOnWire(delivery: Delivery): z.infer<typeof deliveryDetail> {
  return {
    ...deliveryOnWire(delivery),
    headers: delivery.headers.map(([name, value]) => ({ name, value })),
    credential_uuid: delivery.credentialUuid,
    payload: delivery.body === null ? null : parseJson(delivery.body),
  };
}

export function secretOnWire(secret: SigningSecret | undefined): z.infer<typeof signingSecretOut> {
  return {
    secret_prefix: secret?.prefix ?? null,
    created_at: isoTimeOrNull(secret?.createdAt ?? null),
    former_valid_until: isoTimeOrNull(secret?.formerUntil ?? null),
  };
}
