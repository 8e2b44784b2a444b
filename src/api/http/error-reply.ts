// Errors as HTTP: the only file with statuses. Bodies are `{detail}`; with a list of a workflow's faults there is a
// sentence in `message` too. Source: contract §1 and the error rows of its tables.

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { type ErrorCode, GatewayError } from '../../errors/gateway-error.ts';
import { WorkflowRefused } from '../../workflow/graph/workflow-refused.ts';
import { RequestInvalid } from './validation.ts';

/** Seconds after which a refused request may be tried again, where the refusal names none. */
const RETRY_AFTER_S = 5;

const INTERNAL = 500;

/** Codes that are not here never reach a client: they are 500, and their text stays inside. */
const statuses: Partial<Record<ErrorCode, number>> = {
  STORE_UNAVAILABLE: 503,
  STORE_FULL: 503,
  DEVOPS_SECRET_UNSET: 503,
  DEVOPS_SECRET_WRONG: 403,
  CREDENTIALS_MISSING: 401,
  TOKEN_INVALID: 401,
  API_KEY_INVALID: 401,
  AGENT_API_KEY_INVALID: 401,
  API_KEY_NOT_FOUND: 404,
  USER_NOT_FOUND: 401,
  LOG_IN_REFUSED: 401,
  SIGN_UP_CLOSED: 403,
  EMAIL_TAKEN: 409,
  LOG_IN_ELSEWHERE: 404,
  LOG_IN_EXISTS: 409,
  TOO_MANY_ATTEMPTS: 429,
  CONFIGURATION_NOT_FOUND: 404,
  CONFIGURATION_NAME_TAKEN: 409,
  CONFIGURATION_PROVIDER_FIXED: 400,
  CONFIGURATION_IN_USE: 409,
  CONFIGURATION_ADDRESS_FORBIDDEN: 400,
  TRUNKS_UNSUPPORTED: 400,
  TRUNKS_FULL: 409,
  TRUNK_NAME_TAKEN: 409,
  TRUNK_IN_USE: 409,
  TRUNK_NOT_FOUND: 404,
  PHONE_NUMBER_NOT_FOUND: 404,
  PHONE_NUMBER_TAKEN: 409,
  PHONE_NUMBER_ROUTED_ELSEWHERE: 409,
  PHONE_NUMBER_NOT_OWNED: 400,
  WORKFLOW_NOT_FOUND: 404,
  WORKFLOW_STATUS_INVALID: 422,
  EXTERNAL_PBX_DISABLED: 403,
  WORKFLOW_INVALID: 422,
  WORKFLOW_CONFLICT: 409,
  FOLDER_NOT_FOUND: 404,
  FOLDER_NAME_TAKEN: 409,
  FOLDERS_FULL: 409,
  AGENT_WRITER_UNAVAILABLE: 400,
  AGENT_NOT_WRITTEN: 502,
  TEMPLATE_NOT_FOUND: 404,
  NODE_TYPE_UNKNOWN: 404,
  WORKFLOW_NO_DRAFT: 400,
  AGENT_NOT_FOUND: 404,
  AGENT_NOT_ACTIVE: 404,
  AGENT_NOT_PUBLISHED: 404,
  TRIGGER_NOT_FOUND: 404,
  TRIGGER_FORBIDDEN: 403,
  TRIGGER_NOT_ACTIVE: 404,
  TRIGGER_NOT_IN_AGENT: 404,
  RUN_NOT_FOUND: 404,
  STREAMS_FULL: 429,
  FILTER_INVALID: 400,
  FILTER_FORBIDDEN: 403,
  ARTIFACT_TYPE_UNKNOWN: 400,
  ARTIFACT_TOKEN_INVALID: 404,
  ARTIFACT_MISSING: 404,
  FILE_KEY_INVALID: 400,
  FILE_FORBIDDEN: 403,
  FILE_LINK_INVALID: 403,
  FILE_NOT_FOUND: 404,
  FILE_OVERSIZED: 413,
  FILE_CUT_OFF: 400,
  FILE_TYPE_UNEXPECTED: 415,
  CLIP_NOT_FOUND: 404,
  CLIP_NAME_TAKEN: 409,
  CLIP_UNUSABLE: 400,
  TRANSCRIPTION_UNAVAILABLE: 400,
  TELEPHONY_NOT_CONFIGURED: 400,
  CONFIGURATION_NOT_READY: 400,
  CONFIGURATION_INACTIVE: 400,
  CALLER_ID_NOT_FOUND: 400,
  TEST_NOT_CONFIGURED: 400,
  TEST_CONFIGURATION_NOT_FOUND: 400,
  PHONE_NUMBER_MISSING: 400,
  RUN_HAS_CALL: 409,
  RUN_WITHOUT_CALL: 409,
  CALL_OUT_OF_REACH: 409,
  CALL_NOT_TALKING: 409,
  DIGITS_WAITING: 409,
  DIGITS_UNSUPPORTED: 400,
  RUN_OF_OTHER_WORKFLOW: 400,
  START_KEY_REUSED: 409,
  TEXT_CHAT_NOT_FOUND: 404,
  RUN_NOT_TEXT_CHAT: 400,
  TEXT_CHAT_ENDED: 400,
  TEXT_CHAT_CONFLICT: 409,
  TEXT_CHAT_TURN_NOT_FOUND: 404,
  TEXT_CHAT_FULL: 400,
  TEXT_CHAT_TURN_FAILED: 500,
  CALL_LIMIT_REACHED: 429,
  CALL_NOT_PLACED: 400,
  GATEWAY_DRAINING: 503,
  GATEWAY_OVERLOADED: 503,
  PROVIDER_NOT_BUILT: 400,
  CAMPAIGN_NOT_FOUND: 404,
  CAMPAIGN_ID_NOT_FOUND: 404,
  CAMPAIGN_SOURCE_INVALID: 400,
  CAMPAIGN_CONFIGURATION_NOT_FOUND: 400,
  CAMPAIGN_TELEPHONY_MISSING: 401,
  CAMPAIGN_CONCURRENCY: 400,
  CAMPAIGN_STATE: 400,
  CAMPAIGN_ENDED: 400,
  CAMPAIGN_REDIALED: 400,
  CAMPAIGN_NOBODY_LEFT: 400,
  PROVIDER_AUTH: 502,
  PROVIDER_DESTINATION: 502,
  PROVIDER_CAPACITY: 502,
  PROVIDER_FAILED: 502,
  PROVIDER_REFUSED: 502,
  PROVIDER_UNCERTAIN: 502,
  PROVIDER_TIMEOUT: 502,
  EXAMINATION_UNSUPPORTED: 400,
  EXAMINATION_RUNNING: 409,
  DELIVERY_NOT_FOUND: 404,
  TOOL_NOT_FOUND: 404,
  TOOL_FILTER_UNKNOWN: 400,
  TOOL_NOT_TESTABLE: 400,
  TOOL_NOT_MCP: 400,
  TOOL_MCP_UNAVAILABLE: 400,
  CREDENTIAL_NOT_FOUND: 404,
  CREDENTIAL_NAME_TAKEN: 409,
  CREDENTIAL_INVALID: 400,
  API_BUSY: 503,
  BODY_VALUES: 413,
  AGENT_OVERSIZED: 422,
  CONTEXT_OVERSIZED: 422,
  WEBHOOK_SIGNATURE: 401,
  WEBHOOK_MALFORMED: 400,
  QUEUE_FULL: 503,
};

const phrases: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Request body is too large',
  414: 'URI Too Long',
  431: 'Request Header Fields Too Large',
};

interface Fault {
  status: number;
  body: { detail: unknown; message?: string; workflow_run_id?: string; workflow_run_name?: string };
  /** An unexpected error: log it. */
  unexpected: boolean;
}

/** What a client gets of an error. */
export function errorReplyOf(error: unknown): Fault {
  if (error instanceof RequestInvalid) {
    return { status: 422, body: { detail: error.items }, unexpected: false };
  }
  if (error instanceof GatewayError) return gatewayFault(error);
  const status = frameworkStatus(error);
  if (status === undefined) return internalFault();
  return { status, body: { detail: phrases[status] ?? 'Bad Request' }, unexpected: false };
}

function gatewayFault(error: GatewayError): Fault {
  const status = statuses[error.code];
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
  if (error.code === 'CALL_NOT_PLACED') {
    return { status, body: { detail: message, ...runOf(error) }, unexpected: false };
  }
  if (error.code !== 'WORKFLOW_INVALID' && error.code !== 'WORKFLOW_CONFLICT') {
    return { status, body: { detail: message }, unexpected: false };
  }
  const errors =
    error instanceof WorkflowRefused
      ? error.problems
      : [{ kind: 'workflow', id: null, field: null, message }];
  return { status, body: { detail: { is_valid: false, errors }, message }, unexpected: false };
}

/** The run of a call that could not be begun: it is stored, completed. */
function runOf({ facts: { runId, runName } }: GatewayError) {
  if (runId === undefined) return {};
  return { workflow_run_id: String(runId), workflow_run_name: String(runName) };
}

function internalFault(): Fault {
  return { status: INTERNAL, body: { detail: 'Internal Server Error' }, unexpected: true };
}

/** The status of an error that Fastify raised for a request it could not read. */
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
