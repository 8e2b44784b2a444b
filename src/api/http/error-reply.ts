// Errors as HTTP replies; error-status.ts has their statuses. Bodies are `{detail, code}`, with `retry_after` where the
// reply has `Retry-After`; a list of a workflow's problems also has a sentence in `message`. Source: contract §1 and
// the error rows of its tables.

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, errorText, GatewayError } from '../../errors/gateway-error.ts';
import { serviceProblemsIn } from '../../model/speech-services/services-refused.ts';
import { problemsIn } from '../../workflow/graph/workflow-refused.ts';
import { ClientGone } from '../admission/client-gone.ts';
import { codeOfStatus, errorStatuses } from './error-status.ts';
import { RequestInvalid } from './validation.ts';

/** Default of `Retry-After`, in seconds. */
const RETRY_AFTER_S = 5;

const INTERNAL = 500;

/** What a body has besides `code` and `retry_after`. */
interface Content {
  detail: unknown;
  message?: string;
  workflow_run_id?: string;
  workflow_run_name?: string;
}

interface Fault {
  status: number;
  body: Content & { code: ErrorCode; retry_after?: number };
  /** Whether the error is unexpected and must be logged. */
  unexpected: boolean;
}

/** The reply for an error. */
export function errorReplyOf(error: unknown): Fault {
  if (error instanceof RequestInvalid) return fault('REQUEST_INVALID', { detail: error.items });
  if (error instanceof GatewayError) return gatewayFault(error);
  if (error instanceof ClientGone) return plainFault('CLIENT_GONE');
  const status = frameworkStatus(error);
  if (status === undefined) return internalFault();
  return { ...plainFault(codeOfStatus(status)), status };
}

function gatewayFault(error: GatewayError): Fault {
  const { code, facts } = error;
  if (errorStatuses[code] === undefined) return internalFault();
  return fault(code, contentOf(error), Number(facts['retryAfterS'] ?? RETRY_AFTER_S));
}

function contentOf(error: GatewayError): Content {
  const { code, message, facts } = error;
  switch (code) {
    case 'TEXT_CHAT_CONFLICT': {
      const { expected: expectedRevision, actual: actualRevision } = facts;
      const detail = {
        message,
        expected_revision: expectedRevision,
        actual_revision: actualRevision,
      };
      return { detail, message };
    }
    case 'SERVICES_INVALID':
      return { detail: serviceProblemsIn(error) };
    case 'CALL_NOT_PLACED':
    case 'CALL_UNCERTAIN':
      return { detail: message, ...runOf(error) };
    case 'WORKFLOW_INVALID':
    case 'WORKFLOW_CONFLICT':
      return { detail: { is_valid: false, errors: problemsIn(error) }, message };
    default:
      return { detail: message };
  }
}

/** The run of a call that could not be started: it is stored as completed. */
function runOf({ facts: { runId, runName } }: GatewayError) {
  if (runId === undefined) return {};
  return { workflow_run_id: String(runId), workflow_run_name: String(runName) };
}

/** The reply for a code without facts. */
export function plainFault(code: ErrorCode): Fault {
  return fault(code, { detail: errorText(code, {}) });
}

function internalFault(): Fault {
  return { ...plainFault('INTERNAL_ERROR'), unexpected: true };
}

function fault(code: ErrorCode, { detail, ...more }: Content, retryAfterS = RETRY_AFTER_S): Fault {
  const status = errorStatuses[code] ?? INTERNAL;
  const mayWait = status === 429 || status === 503;
  const body = { detail, code, ...(mayWait && { retry_after: retryAfterS }), ...more };
  return { status, body, unexpected: false };
}

/** Status of an error that Fastify raised for a request it could not read. */
function frameworkStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined;
  const { statusCode } = error as FastifyError;
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500 ? statusCode : undefined;
}

/** Replies with the error. Sent as text, so that no response schema applies. */
export function sendFault(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { status, body, unexpected } = errorReplyOf(error);
  if (unexpected) request.log.error({ err: error }, 'request failed');
  else if (status >= 500) request.log.warn({ err: error }, 'request refused');
  if (body.retry_after !== undefined) reply.header('Retry-After', body.retry_after);
  reply.status(status).type('application/json; charset=utf-8').send(JSON.stringify(body));
}
