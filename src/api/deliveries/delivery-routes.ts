// Routes for webhooks after calls: their results, repeating one, and the secret that signs them. Extension: the
// reference platform shows no deliveries and does not sign (contract §13.1 item 11).

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { DELIVERY_STATES } from '../../model/delivery-state.ts';
import { parseJson } from '../../std/json.ts';
import type { SigningSecret } from '../../store/deliveries/signing-secrets.ts';
import type { Delivery } from '../../store/deliveries/webhook-deliveries.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { pageFigures, pageParameters } from '../http/page-parameters.ts';
import { deliveryIdInPath } from '../http/path-parameters.ts';
import { idIn, idOut, isoTime, isoTimeOrNull, timeOut } from '../http/values.ts';

const deliveryStatus = z.enum(DELIVERY_STATES);

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

const deliveryOut = z.object(deliveryFields).meta({
  id: 'WebhookDelivery',
  description: 'A webhook after a call, and how its delivery stands.',
});

const deliveryDetail = z
  .object({
    ...deliveryFields,
    headers: z.array(z.object({ name: z.string(), value: z.string() })).meta({
      description: "The author's headers. Those of the credential are never shown.",
    }),
    credential_uuid: z.string().nullable(),
    payload: z.unknown().meta({ description: 'The body, rendered once; null for none.' }),
  })
  .meta({ id: 'WebhookDeliveryDetail', description: 'A webhook with its headers and body.' });

const deliveryPage = z
  .object({
    deliveries: z.array(deliveryOut),
    ...pageFigures,
    total_count: z.int().meta({
      description: 'Counted up to 10,000 behind the begin of the page; there may be more then.',
    }),
  })
  .describe('A page of deliveries, newest first.');

const signingSecretOut = z
  .object({
    secret_prefix: z.string().nullable().meta({ description: 'Null: none was needed yet.' }),
    created_at: timeOut.nullable(),
    former_valid_until: timeOut.nullable().meta({
      description: 'Until then every webhook is signed by the secret before as well.',
    }),
  })
  .meta({ id: 'WebhookSigningSecret', description: 'The secret without its secret part.' });

const signingSecretMade = signingSecretOut
  .extend({ secret: z.string().meta({ description: 'Shown this once.' }) })
  .meta({ id: 'WebhookSigningSecretCreated', description: 'The new secret.' });

function deliveryOnWire(delivery: Delivery): z.infer<typeof deliveryOut> {
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

function deliveryDetailOnWire(delivery: Delivery): z.infer<typeof deliveryDetail> {
  return {
    ...deliveryOnWire(delivery),
    headers: delivery.headers.map(([name, value]) => ({ name, value })),
    credential_uuid: delivery.credentialUuid,
    payload: delivery.body === null ? null : parseJson(delivery.body),
  };
}

function secretOnWire(secret: SigningSecret | undefined): z.infer<typeof signingSecretOut> {
  return {
    secret_prefix: secret?.prefix ?? null,
    created_at: isoTimeOrNull(secret?.createdAt ?? null),
    former_valid_until: isoTimeOrNull(secret?.formerUntil ?? null),
  };
}

const ROOT = '/organizations/webhook-deliveries';
const SECRET = '/organizations/webhook-signing-secret';
/** Time for which the previous secret also signs: receivers have a day to change to the new one. */
const GRACE_MS = 86_400_000;
/** Largest page: rows that are skipped are still read. */
const PAGE_MAX = 1_000_000;

const common = { tags: ['runs'], security: keyRequired };
const params = z.object({ delivery_id: deliveryIdInPath });
const pageQuery = z.object({
  status: deliveryStatus.optional().describe('Only deliveries in that state. Default: all.'),
  run_id: idIn.optional().describe('Only deliveries of that run, by its `id`. Default: all.'),
  ...pageParameters(PAGE_MAX),
});

export function webhookDeliveryRoutes(api: Api, deps: ApiDeps): void {
  readRoutes(api, deps);
  redeliverRoute(api, deps);
  signingSecretRoutes(api, deps);
}

function readRoutes(api: Api, { store: { deliveries } }: ApiDeps): void {
  api.get(
    ROOT,
    {
      schema: {
        ...common,
        operationId: 'listWebhookDeliveries',
        summary: 'List webhook deliveries',
        description: 'Webhooks after calls, newest first, by pages.',
        querystring: pageQuery,
        response: { 200: deliveryPage, ...faults() },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { status: state, run_id: runId, page, limit } = request.query;
      const filter = { state, runId, limit, offset: (page - 1) * limit };
      const found = await deliveries.list(organizationId, filter);
      return {
        deliveries: found.deliveries.map(deliveryOnWire),
        total_count: found.total,
        page,
        limit,
        total_pages: Math.ceil(found.total / limit),
      };
    },
  );

  api.get(
    `${ROOT}/:delivery_id`,
    {
      schema: {
        ...common,
        operationId: 'getWebhookDelivery',
        summary: 'Get a webhook delivery',
        description: 'One webhook with what it says.',
        params,
        response: { 200: deliveryDetail, ...faults('DELIVERY_NOT_FOUND') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const found = await deliveries.get(organizationId, request.params.delivery_id);
      if (found === undefined) throw new GatewayError('DELIVERY_NOT_FOUND');
      return deliveryDetailOnWire(found);
    },
  );
}

function redeliverRoute(api: Api, { store: { deliveries } }: ApiDeps): void {
  api.post(
    `${ROOT}/:delivery_id/redeliver`,
    {
      schema: {
        ...common,
        operationId: 'redeliverWebhook',
        summary: 'Redeliver a webhook',
        description:
          'Sends a webhook once more, with all its attempts; one under way is left alone.',
        params,
        response: { 200: deliveryDetail, ...faults('DELIVERY_NOT_FOUND') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const found = await deliveries.redeliver(organizationId, request.params.delivery_id);
      if (found === undefined) throw new GatewayError('DELIVERY_NOT_FOUND');
      return deliveryDetailOnWire(found);
    },
  );
}

function signingSecretRoutes(api: Api, deps: ApiDeps): void {
  const { signingSecrets } = deps.store;

  api.get(
    SECRET,
    {
      schema: {
        ...common,
        operationId: 'getWebhookSigningSecret',
        summary: 'Get the webhook signing secret',
        description: 'Which secret signs webhooks, by its first characters.',
        response: { 200: signingSecretOut, ...faults() },
      },
    },
    async (request) => secretOnWire(await signingSecrets.get(principalOf(request).organizationId)),
  );

  api.post(
    SECRET,
    {
      schema: {
        ...common,
        operationId: 'rotateWebhookSigningSecret',
        summary: 'Rotate the webhook signing secret',
        description: 'A new secret; the one before signs as well for a day.',
        response: { 200: signingSecretMade, ...faults() },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { record, secret } = await signingSecrets.rotate(organizationId, GRACE_MS);
      return { ...secretOnWire(record), secret };
    },
  );
}
