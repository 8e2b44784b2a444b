// Errors as HTTP replies; error-status.ts has their statuses. Bodies are `{detail}`; a list of a workflow's problems
// also has a sentence in `message`. Source: contract §1 and the error rows of its tables.

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../../errors/gateway-error.ts';
import { serviceProblemsIn } from '../../model/speech-services/services-refused.ts';
import { problemsIn } from '../../workflow/graph/workflow-refused.ts';
import { ClientGone } from '../admission/client-gone.ts';
import { errorStatuses } from './error-status.ts';
import { RequestInvalid } from './validation.ts';

/** Default of `Retry-After`, in seconds. */
const RETRY_AFTER_S = 5;

const INTERNAL = 500;
/** Status for metrics and logs only: the client has closed the connection. nginx uses the same one. */
const CLIENT_CLOSED = 499;

/** Text for a status whose error has none of its own. */
export const errorPhrases: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Request body is too large',
  414: 'URI Too Long',
  417: 'Expectation Failed',
  431: 'Request Header Fields Too Large',
};

interface Fault {
  status: number;
  body: { detail: unknown; message?: string; workflow_run_id?: string; workflow_run_name?: string };
  /** Whether the error is unexpected and must be logged. */
  unexpected: boolean;
}

/** The reply for an error. */
export function errorReplyOf(error: unknown): Fault {
  if (error instanceof RequestInvalid) {
    return { status: 422, body: { detail: error.items }, unexpected: false };
  }
  if (error instanceof GatewayError) return gatewayFault(error);
  if (error instanceof ClientGone) {
    return { status: CLIENT_CLOSED, body: { detail: 'Client Closed Request' }, unexpected: false };
  }
  const status = frameworkStatus(error);
  if (status === undefined) return internalFault();
  return { status, body: { detail: errorPhrases[status] ?? 'Bad Request' }, unexpected: false };
}

function gatewayFault(error: GatewayError): Fault {
  const status = errorStatuses[error.code];
  if (status === undefined) return internalFault();
  const { message } = error;
  if (error.code === 'TEXT_CHAT_CONFLICT') {
    const { expected: expectedRevision, actual: actualRevision } = error.facts;
    const detail = {
      message,
      expected_revision: expectedRevision,
      actual_revision: actualRevision,
    };
    return { status, body: { detail, message }, unexpected: false };
  }
  if (error.code === 'SERVICES_INVALID') {
    return { status, body: { detail: serviceProblemsIn(error) }, unexpected: false };
  }
  if (error.code === 'CALL_NOT_PLACED') {
    return { status, body: { detail: message, ...runOf(error) }, unexpected: false };
  }
  if (error.code !== 'WORKFLOW_INVALID' && error.code !== 'WORKFLOW_CONFLICT') {
    return { status, body: { detail: message }, unexpected: false };
  }
  const errors = problemsIn(error);
  return { status, body: { detail: { is_valid: false, errors }, message }, unexpected: false };
}

/** The run of a call that could not be started: it is stored as completed. */
function runOf({ facts: { runId, runName } }: GatewayError) {
  if (runId === undefined) return {};
  return { workflow_run_id: String(runId), workflow_run_name: String(runName) };
}

function internalFault(): Fault {
  return { status: INTERNAL, body: { detail: 'Internal Server Error' }, unexpected: true };
}

/** Status of an error that Fastify raised for a request it could not read. */
function frameworkStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined;
  const { statusCode } = error as FastifyError;
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500 ? statusCode : undefined;
}

function retryAfterS(error: unknown): string | number {
  const named = error instanceof GatewayError ? error.facts['retryAfterS'] : undefined;
  return named ?? RETRY_AFTER_S;
}

/** Replies with the error. Sent as text, so that no response schema applies. */
export function sendFault(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, body, unexpected } = errorReplyOf(error);
  if (unexpected) request.log.error({ err: error }, 'request failed');
  else if (status >= 500) request.log.warn({ err: error }, 'request refused');
  if (status === 429 || status === 503) reply.header('Retry-After', retryAfterS(error));
  reply.status(status).type('application/json; charset=utf-8').send(JSON.stringify(body));
}
