// Routes for webhooks after calls: their results, repeating one, and the secret that signs them. Extension: the
// reference platform shows no deliveries and does not sign (contract §13.1 item 11).

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { pageParameters } from '../http/page-parameters.ts';
import { deliveryIdInPath } from '../http/path-parameters.ts';
import { idIn } from '../http/values.ts';
import {
  deliveryDetail,
  deliveryDetailOnWire,
  deliveryOnWire,
  deliveryPage,
  deliveryStatus,
  secretOnWire,
  signingSecretMade,
  signingSecretOut,
} from './delivery-schema.ts';

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
