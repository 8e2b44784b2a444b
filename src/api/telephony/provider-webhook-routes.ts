// Webhooks of telephony providers: inbound calls, answer URLs, call events. The request is passed on unchanged,
// with its raw bytes; the provider's folder detects the provider and verifies the signature.
// Source: specification §4.14, contract §7.1.

import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { type ProviderName, providerName } from '../../model/provider.ts';
import type { WebhookReply } from '../../telephony/provider/provider.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { faults } from '../http/error-schema.ts';
import { providerRequest } from '../http/request-bodies.ts';
import { idIn } from '../http/values.ts';

/** Providers send a few kilobytes. */
const WEBHOOK_BYTES_MAX = 262_144;

const runParams = z.object({ provider: z.string(), workflow_run_id: idIn });
const answerQuery = z.looseObject({ workflow_run_id: idIn });

/** Answer URLs of old clients that name no run in their path. */
const namedAnswers: Readonly<Record<string, ProviderName>> = { twiml: 'twilio' };

const providerReply = {
  description: 'What the provider is to do.',
  content: {
    'text/xml': { schema: z.string() },
    'application/json': { schema: z.unknown() },
    'text/plain': { schema: z.string() },
  },
};

const route = { bodyLimit: WEBHOOK_BYTES_MAX, config: { providerBody: true } };
const common = { tags: ['webhooks'], response: { 200: providerReply, ...faults(400, 401, 404) } };

export function telephonyWebhookRoutes(api: Api, deps: ApiDeps): void {
  inboundRoutes(api, deps);
  answerRoutes(api, deps);
  eventRoutes(api, deps);
}

function inboundRoutes(api: Api, deps: ApiDeps): void {
  api.post(
    '/telephony/inbound/run',
    {
      ...route,
      schema: {
        ...common,
        operationId: 'inboundCall',
        summary: "An inbound call: the number's agent answers.",
      },
    },
    async (request, reply) => {
      return send(
        reply,
        await deps.callService.inbound(providerRequest(request, deps.publicUrl), null),
      );
    },
  );

  api.post(
    '/telephony/inbound/:workflow_id',
    {
      ...route,
      schema: {
        ...common,
        operationId: 'inboundCallOfAgent',
        summary: 'An inbound call: the agent of the URL answers.',
        deprecated: true,
        params: z.object({ workflow_id: idIn }),
      },
    },
    async (request, reply) => {
      const { workflow_id: workflowId } = request.params;
      return send(
        reply,
        await deps.callService.inbound(providerRequest(request, deps.publicUrl), workflowId),
      );
    },
  );
}

function answerRoutes(api: Api, deps: ApiDeps): void {
  api.post(
    '/telephony/:provider/answer/:workflow_run_id',
    {
      ...route,
      schema: {
        ...common,
        operationId: 'answerCall',
        summary: 'A call that we placed was answered.',
        params: runParams,
      },
    },
    async (request, reply) => {
      const provider = builtProvider(deps, request.params.provider);
      const { workflow_run_id: runId } = request.params;
      const sent = providerRequest(request, deps.publicUrl);
      return send(reply, await deps.callService.answer(provider, runId, sent));
    },
  );

  for (const [name, provider] of Object.entries(namedAnswers)) {
    api.post(
      `/telephony/${name}`,
      {
        ...route,
        schema: {
          ...common,
          operationId: `answerCallBy${name}`,
          summary: 'A call that we placed was answered; its run is in the query.',
          querystring: answerQuery,
        },
      },
      async (request, reply) => {
        const { workflow_run_id: runId } = request.query;
        const sent = providerRequest(request, deps.publicUrl);
        return send(reply, await deps.callService.answer(provider, runId, sent));
      },
    );
  }
}

function eventRoutes(api: Api, deps: ApiDeps): void {
  const events = [
    { name: 'status-callback', operationId: 'callStatus', summary: 'The state of a call changed.' },
    {
      name: 'answered-by',
      operationId: 'callAnsweredBy',
      summary: 'A person or a machine answered.',
    },
  ];
  for (const { name, operationId, summary } of events) {
    api.post(
      `/telephony/:provider/${name}/:workflow_run_id`,
      { ...route, schema: { ...common, operationId, summary, params: runParams } },
      async (request, reply) => {
        const provider = builtProvider(deps, request.params.provider);
        const { workflow_run_id: runId } = request.params;
        const sent = providerRequest(request, deps.publicUrl);
        return send(reply, await deps.callService.event(provider, runId, sent));
      },
    );
  }
}

/** A provider that this version cannot hold calls over has no webhooks. Throws RUN_NOT_FOUND. */
function builtProvider(deps: ApiDeps, name: string): ProviderName {
  const known = providerName.safeParse(name).data;
  const provider = known === undefined ? undefined : deps.providerByName(known);
  if (provider === undefined) throw new GatewayError('RUN_NOT_FOUND');
  return provider.name;
}

function send(reply: FastifyReply, { status, contentType, body }: WebhookReply): FastifyReply {
  return reply.status(status).type(contentType).send(body);
}
