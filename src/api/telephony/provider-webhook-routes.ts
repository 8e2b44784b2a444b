// Webhooks of telephony providers: inbound calls, answer URLs, call events. The request is passed on unchanged,
// with its raw bytes; the provider's folder detects the provider and verifies the signature.
// Source: specification §4.14, contract §7.1.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import { type ProviderName, providerName } from '../../model/provider.ts';
import { isTransferId } from '../../model/transfer-id.ts';
import { withDeadline } from '../../std/deadline.ts';
import {
  answerMsOf,
  type HostedProvider,
  recognisedBy,
  type WebhookReply,
} from '../../telephony/provider/provider.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { faults } from '../http/error-schema.ts';
import { runIdInPath, workflowIdInPath } from '../http/path-parameters.ts';
import { providerRequest } from '../http/request-bodies.ts';
import { idIn } from '../http/values.ts';

/** Largest webhook; providers send a few kilobytes. */
const WEBHOOK_BYTES_MAX = 262_144;

/** Longest transfer id: the longest run id, and 32 digits. */
const TRANSFER_ID_MAX = 64;

const runParams = z.object({
  provider: z.string().meta({
    description: 'The provider of the call, such as `twilio`.',
    examples: ['twilio'],
  }),
  workflow_run_id: runIdInPath,
});
const ofRun = z.object({ workflow_run_id: runIdInPath });
const ofWorkflowPath = z.object({ workflow_id: workflowIdInPath });
const answerQuery = z.looseObject({
  workflow_run_id: idIn.describe('Id of the run that the call belongs to.'),
});

/** Reply to a request that no provider recognises. */
const HANG_UP: WebhookReply = {
  status: 200,
  contentType: 'text/xml; charset=utf-8',
  body: '<?xml version="1.0" encoding="UTF-8"?><Response><Hangup/></Response>',
};

const providerReply = {
  description: 'What the provider is to do.',
  content: {
    'text/xml': { schema: z.string() },
    'application/json': { schema: z.unknown() },
    'text/plain': { schema: z.string() },
  },
};

const route = { bodyLimit: WEBHOOK_BYTES_MAX, config: { providerBody: true } };
const refusals = faults('WEBHOOK_SIGNATURE', 'WEBHOOK_MALFORMED', 'RUN_NOT_FOUND');
const common = { tags: ['webhooks'], response: { 200: providerReply, ...refusals } };

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
        summary: 'Receive an inbound call',
        description:
          "The provider asks what to do with an inbound call. The agent of the called number answers; the reply is in the provider's own format.",
      },
    },
    async (request, reply) => {
      return send(reply, await inboundReply(deps, request, null));
    },
  );

  api.post(
    '/telephony/inbound/fallback',
    {
      ...route,
      schema: {
        ...common,
        operationId: 'inboundFallback',
        summary: 'Receive a call that could not be answered',
        description:
          "For the provider's fallback URL: the caller hears an apology, and the call ends. The reply reveals nothing, so it needs no signature.",
      },
    },
    async (request, reply) => {
      const sent = providerRequest(request, deps.publicUrl);
      return send(reply, apologyOf(recognisedBy(deps.hostedProviders, sent)));
    },
  );

  api.post(
    '/telephony/inbound/:workflow_id',
    {
      ...route,
      schema: {
        ...common,
        operationId: 'inboundCallOfAgent',
        summary: 'Receive an inbound call of an agent',
        description: 'As `/telephony/inbound/run`, with the agent in the path.',
        deprecated: true,
        params: z.object({ workflow_id: workflowIdInPath }),
      },
    },
    async (request, reply) => {
      return send(reply, await inboundReply(deps, request, request.params.workflow_id));
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
        summary: 'Receive the answer of a call',
        description: 'A call that the gateway placed was answered: the reply connects its media.',
        params: runParams,
      },
    },
    async (request, reply) => {
      const provider = builtProvider(deps, request.params.provider);
      const { workflow_run_id: runId } = request.params;
      return send(reply, await callReply(deps, request, { provider, runId, ask: 'answer' }));
    },
  );

  api.post(
    '/telephony/:provider/resume/:workflow_run_id',
    {
      ...route,
      schema: {
        ...common,
        operationId: 'resumeCall',
        summary: 'Receive the end of the media',
        description:
          'The media of a call have ended and the call goes on, as when a process of the gateway died: the reply connects the call again, or ends it.',
        params: runParams,
      },
    },
    async (request, reply) => {
      const provider = builtProvider(deps, request.params.provider);
      const { workflow_run_id: runId } = request.params;
      return send(reply, await callReply(deps, request, { provider, runId, ask: 'resume' }));
    },
  );

  api.post(
    '/telephony/:provider/wait/:workflow_run_id',
    {
      ...route,
      schema: {
        ...common,
        operationId: 'waitForPlace',
        summary: 'Receive a question about a waiting call',
        description:
          'The provider asks what to do next with a caller who waits for a place: wait on, talk with the agent, or end.',
        params: runParams,
      },
    },
    async (request, reply) => {
      const provider = builtProvider(deps, request.params.provider);
      const { workflow_run_id: runId } = request.params;
      return send(reply, await callReply(deps, request, { provider, runId, ask: 'wait' }));
    },
  );

  for (const { name: provider, webhook } of deps.hostedProviders) {
    const { namedAnswer } = webhook.routes;
    if (namedAnswer !== null) namedAnswerRoute(api, deps, { provider, ...namedAnswer });
  }
}

function inboundReply(
  deps: ApiDeps,
  request: FastifyRequest,
  workflowId: string | null,
): Promise<WebhookReply> {
  const sent = providerRequest(request, deps.publicUrl);
  const provider = recognisedBy(deps.hostedProviders, sent);
  return answerInTime(deps, provider, {
    work: deps.callService.inbound(sent, workflowId),
    late: () => apologyOf(provider),
  });
}

/** Replies to a provider that asks what to do with a run's call: as it is answered, or after its media ended. */
function callReply(
  deps: ApiDeps,
  request: FastifyRequest,
  { provider: name, runId, ask }: { provider: ProviderName; runId: string; ask: CallQuestion },
): Promise<WebhookReply> {
  const provider = deps.hostedProviders.find((each) => each.name === name);
  return answerInTime(deps, provider, {
    work: deps.callService[ask](name, runId, providerRequest(request, deps.publicUrl)),
    late: () => apologyOf(provider),
  });
}

type CallQuestion = 'answer' | 'resume' | 'wait';

/** The provider's document that says that something went wrong and ends the call. A provider with `answerStyle:
 *  command` gets only the reply: no command is sent. */
function apologyOf(provider: HostedProvider | undefined): WebhookReply {
  return provider?.webhook.reject('error', null).reply ?? HANG_UP;
}

function namedAnswerRoute(
  api: Api,
  deps: ApiDeps,
  { provider, name, method }: { provider: ProviderName; name: string; method: 'GET' | 'POST' },
): void {
  api.route({
    method,
    url: `/telephony/${name}`,
    ...route,
    schema: {
      ...common,
      operationId: `answerCallBy${operationPart(name)}`,
      summary: 'Receive the answer of a call (legacy)',
      description: 'As `answer`, with the run in the query.',
      deprecated: true,
      querystring: answerQuery,
    },
    handler: async (request, reply) => {
      const { workflow_run_id: runId } = request.query;
      return send(reply, await callReply(deps, request, { provider, runId, ask: 'answer' }));
    },
  });
}

/** Part of an operation id: `plivo-xml` becomes `plivoXml`. */
function operationPart(name: string): string {
  return name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** Event routes. Each provider has its own, as on the reference platform. */
function eventRoutes(api: Api, deps: ApiDeps): void {
  for (const { name, webhook } of deps.hostedProviders) {
    const { status, answeredBy, others, account, ofWorkflow = [] } = webhook.routes;
    for (const event of new Set([status, answeredBy, ...others])) {
      eventRoute(api, deps, { name, event, isOfMachine: event === answeredBy && event !== status });
    }
    transferRoute(api, deps, { name, path: webhook.routes.transferResult });
    for (const event of account) accountRoute(api, deps, { name, event, isOfWorkflow: false });
    for (const event of ofWorkflow) accountRoute(api, deps, { name, event, isOfWorkflow: true });
  }
}

function eventRoute(
  api: Api,
  deps: ApiDeps,
  { name, event, isOfMachine }: { name: ProviderName; event: string; isOfMachine: boolean },
): void {
  const described = isOfMachine
    ? {
        summary: 'Receive who answered a call',
        description: 'The provider reports whether a person or a machine answered.',
      }
    : {
        summary: 'Receive the status of a call',
        description: 'The provider reports that the state of a call changed.',
      };
  const operationId = `callEvent${operationPart(`-${name}-${event}`)}`;
  api.post(
    `/telephony/${name}/${event}/:workflow_run_id`,
    { ...route, schema: { ...common, ...described, operationId, params: ofRun } },
    async (request, reply) => {
      const { workflow_run_id: runId } = request.params;
      const sent = providerRequest(request, deps.publicUrl);
      return send(reply, await deps.callService.event(name, runId, sent));
    },
  );
}

function transferRoute(
  api: Api,
  deps: ApiDeps,
  { name, path }: { name: ProviderName; path: string },
): void {
  api.post(
    `/telephony/${path}/:transfer_id`,
    {
      ...route,
      schema: {
        ...common,
        operationId: `transferResult${operationPart(`-${name}`)}`,
        summary: 'Receive the result of a transfer',
        description:
          'The provider reports whether the destination of a transfer rings, answers or does not. The outcome is an event of the run.',
        params: z.object({
          transfer_id: z
            .string()
            .max(TRANSFER_ID_MAX)
            .describe('Names the transfer; the gateway gave it to the provider.'),
        }),
      },
    },
    async (request, reply) => {
      const sent = providerRequest(request, deps.publicUrl);
      const { transfer_id: transferId } = request.params;
      if (!isTransferId(transferId)) throw new GatewayError('RUN_NOT_FOUND');
      return send(reply, await deps.callService.event(name, transferId, sent));
    },
  );
}

function accountRoute(
  api: Api,
  deps: ApiDeps,
  { name, event, isOfWorkflow }: { name: ProviderName; event: string; isOfWorkflow: boolean },
): void {
  const id = `accountEvent${operationPart(`-${name}-${event}`)}`;
  api.post(
    `/telephony/${name}/${event}${isOfWorkflow ? '/workflow/:workflow_id' : ''}`,
    {
      ...route,
      schema: {
        ...common,
        operationId: isOfWorkflow ? `${id}OfWorkflow` : id,
        ...(isOfWorkflow && { params: ofWorkflowPath }),
        summary: 'Receive an event of an account',
        description: 'As the events of a run; the run is found by the call that the event names.',
      },
    },
    async (request, reply) => {
      const sent = providerRequest(request, deps.publicUrl);
      return send(reply, await deps.callService.accountEvent(name, sent));
    },
  );
}

/** The provider of a name. One that this version cannot use for calls has no webhooks. Throws RUN_NOT_FOUND. */
function builtProvider(deps: ApiDeps, name: string): ProviderName {
  const known = providerName.safeParse(name).data;
  const provider = known === undefined ? undefined : deps.providerByName(known);
  if (provider === undefined) throw new GatewayError('RUN_NOT_FOUND');
  return provider.name;
}

function send(reply: FastifyReply, { status, contentType, body }: WebhookReply): FastifyReply {
  return reply.status(status).type(contentType).send(body);
}

const WHAT = "the answer to a call's webhook";

/** The result of `work`, or `late` when the provider would not wait any longer, or the store is away for longer than a
 *  call waits (call/start/store-wait). Without an answer in time the provider ends the call, or uses a fallback, after a
 *  long time of ringing or silence. Until then the call may still connect. The work goes on: the run's watchdog closes
 *  it. */
export async function answerInTime(
  { clock, log }: Pick<ApiDeps, 'clock' | 'log'>,
  provider: HostedProvider | undefined,
  { work, late }: { work: Promise<WebhookReply>; late: () => WebhookReply },
): Promise<WebhookReply> {
  try {
    return await withDeadline(clock, answerMsOf(provider), WHAT, work);
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'TIMED_OUT' && code !== 'STORE_UNAVAILABLE') throw error;
    log.error({ err: error, provider: provider?.name }, 'webhook of a call not answered in time');
    return late();
  }
}
