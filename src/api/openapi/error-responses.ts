// Error responses of the API's description: shared components, each with the cause of the error and an example body.

import { type ErrorCode, errorText, type Facts, GatewayError } from '../../errors/gateway-error.ts';
import { ServicesRefused } from '../../model/speech-services/services-refused.ts';
import { WorkflowRefused } from '../../workflow/graph/workflow-refused.ts';
import { errorReplyOf, plainFault } from '../http/error-reply.ts';
import { errorBodies } from '../http/error-schema.ts';
import { errorStatuses } from '../http/error-status.ts';

const missingPrompt = 'prompt is required for agent nodes';

/** Facts of errors that have none of their own in `exampleFacts`. */
const FACTS: Facts = {
  id: 42,
  name: 'Main line',
  provider: 'twilio',
  reason: 'Authenticate',
  why: 'emergency and short numbers are not called over this provider',
  problems: "Source must contain a 'phone_number' column",
  max: 100,
  address: '+14155550100',
  artifact: 'recording',
  attribute: 'colour',
  attributes: 'dateRange, dispositionCode, duration, status, tokenUsage',
  status: 'deleted',
  setting: 'external_pbx_lead_headers',
  bytes: 1_024,
  expected: 'text/csv',
  what: 'turns',
  limit: 20,
  asked: 50,
  wanted: "'paused'",
  action: 'resume',
  state: 'running',
  outcomes: 'busy, no_answer',
  excess: 'more than 20000 values',
  filter: 'status',
  value: 'new',
  allowed: 'active, archived',
  type: 'api_key',
  retryAfterS: 60,
  field: 'ari_endpoint',
  given: '42',
  uuid: '5f0c2f4e-6f0a-4c52-9d5b-0a4a3f1e7b11',
  runId: 42,
  runName: 'WR-API-1234',
  model: 'llm',
  mode: 'dograh',
  expected_revision: 1,
  actual: 3,
};

const SAMPLE_PROBLEM = {
  kind: 'node',
  id: '2',
  field: 'data.prompt',
  message: 'Value error, prompt is required for agent nodes',
} as const;

const SAMPLE_SERVICE_PROBLEM = {
  model: 'stt',
  message: 'Invalid deepgram API key. The service says: Invalid credentials.',
} as const;

const WITH_KEY: readonly ErrorCode[] = ['CREDENTIALS_MISSING', 'TOKEN_INVALID', 'API_KEY_INVALID'];
const LARGE_BODY: readonly ErrorCode[] = ['BODY_OVERSIZED', 'BODY_VALUES', 'BODY_IN_PIECES'];
const OF_ALL: readonly ErrorCode[] = ['STORE_UNAVAILABLE', 'STORE_FULL', 'API_BUSY'];

const common: Readonly<Record<string, string>> = {
  [WITH_KEY.join()]: 'Unauthorized',
  AGENT_API_KEY_INVALID: 'AgentKeyInvalid',
  TOO_MANY_ATTEMPTS: 'TooManyAttempts',
  [LARGE_BODY.join()]: 'BodyTooLarge',
  [OF_ALL.join()]: 'Unavailable',
};

/** Collects the components; `of` gives an operation's error responses by status, as references. */
export class ErrorResponses {
  readonly components: Record<string, ErrorResponse> = {};
  readonly #names = new Map<string, string>();

  of(traits: OperationTraits, own: ReadonlyMap<number, readonly ErrorCode[]>) {
    const codes = new Map(own);
    const add = (status: number, more: readonly ErrorCode[]): void => {
      codes.set(status, [...new Set([...(codes.get(status) ?? []), ...more])]);
    };
    if (traits.wantsKey) {
      add(401, traits.isStart ? ['AGENT_API_KEY_INVALID'] : WITH_KEY);
      add(429, ['TOO_MANY_ATTEMPTS', 'TOO_MANY_REQUESTS']);
    }
    if (traits.hasBody) add(413, LARGE_BODY);
    if (traits.hasInput) add(422, []);
    if (![...codes.keys()].some((status) => status < 500)) add(400, []);
    add(500, []);
    add(503, OF_ALL);
    const sorted = [...codes].sort(([one], [other]) => one - other);
    return Object.fromEntries(
      sorted.map(([status, named]) => [status, this.#reference(traits, status, named)]),
    );
  }

  #reference({ operationId }: OperationTraits, status: number, codes: readonly ErrorCode[]) {
    const key = `${status} ${codes.join()}`;
    const known = this.#names.get(key);
    const name = known ?? nameOf(operationId, status, codes);
    if (known === undefined) {
      this.#names.set(key, name);
      this.components[name] = responseOf(status, codes);
    }
    return { [REF]: `#/components/responses/${name}` };
  }
}

function nameOf(operationId: string, status: number, codes: readonly ErrorCode[]): string {
  const shared = common[codes.join()];
  if (shared !== undefined) return shared;
  if (status === 500 && codes.length === 0) return 'InternalError';
  if (status === 400 && codes.length === 0) return 'BadRequest';
  if (status === 422 && codes.length === 0) return 'ValidationFailed';
  if (codes.length <= 2 && status !== 422) return codes.map(pascal).join('Or');
  return `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}${status}`;
}

function pascal(code: string): string {
  return code
    .toLowerCase()
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function responseOf(status: number, codes: readonly ErrorCode[]): ErrorResponse {
  if (status === 500 && codes.length === 0) {
    return plain(
      'The gateway failed. Its log has more, under the id in `X-Request-Id`.',
      'INTERNAL_ERROR',
    );
  }
  if (status === 400 && codes.length === 0) {
    return plain('The request cannot be read as HTTP.', 'BAD_REQUEST');
  }
  const bodies = new Set(codes.map(bodyOf));
  if (status === 422) bodies.add('HTTPValidationError');
  const refs = [...bodies].map(bodyReference);
  const schema = refs.length === 1 ? refs[0] : { anyOf: refs };
  const words = codes.map((code) => `- ${errorText(code, factsOf(code))}`);
  if (status === 422) words.unshift('- The request does not fit its schema.');
  const examples = Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }]));
  if (status === 422) examples['REQUEST_INVALID'] = { value: invalid };
  return {
    description: words.length === 1 ? (words[0] ?? '').slice(2) : words.join('\n'),
    content: { 'application/json': { schema, examples } },
  };
}

function plain(description: string, code: ErrorCode): ErrorResponse {
  const schema = bodyReference('ErrorResponse');
  const { body: example } = plainFault(code);
  return { description, content: { 'application/json': { schema, example } } };
}

function bodyReference(name: string) {
  if (!errorBodies.some((schema) => schema.meta()?.id === name)) {
    throw new Error(`${name} is no body of an error`);
  }
  return { [REF]: `#/components/schemas/${name}` };
}

function bodyOf(code: ErrorCode): string {
  if (code === 'WORKFLOW_INVALID' || code === 'WORKFLOW_CONFLICT') return 'WorkflowErrorResponse';
  if (code === 'SERVICES_INVALID') return 'ServiceErrorResponse';
  if (code === 'CALL_NOT_PLACED' || code === 'CALL_UNCERTAIN') return 'CallNotPlacedResponse';
  return code === 'TEXT_CHAT_CONFLICT' ? 'RevisionConflictResponse' : 'ErrorResponse';
}

function factsOf(code: ErrorCode): Facts {
  return { ...FACTS, ...exampleFacts[code] };
}

function exampleOf(code: ErrorCode): unknown {
  if (code === 'WORKFLOW_INVALID' || code === 'WORKFLOW_CONFLICT') {
    return errorReplyOf(new WorkflowRefused(code, [SAMPLE_PROBLEM])).body;
  }
  if (code === 'SERVICES_INVALID') {
    return errorReplyOf(new ServicesRefused([SAMPLE_SERVICE_PROBLEM])).body;
  }
  const facts = code === 'TEXT_CHAT_CONFLICT' ? { expected: 1, actual: 3 } : factsOf(code);
  const { status, body } = errorReplyOf(new GatewayError(code, facts));
  if (status !== errorStatuses[code]) throw new Error(`${code} is answered with ${status}`);
  return body;
}

const invalid = {
  detail: [{ type: 'missing', loc: ['body', 'name'], msg: 'Field required', input: {} }],
  code: 'REQUEST_INVALID' satisfies ErrorCode,
};

/** Facts of example errors, by error code. */
export const exampleFacts: Readonly<Record<string, Facts>> = {
  ASTERISK_WORD_INVALID: {
    field: 'context',
    characters: 'letters, digits, and _ . -',
    lengthMin: 1,
    lengthMax: 80,
  },
  // Requests and files
  BODY_VALUES: { max: 25_000 },
  BODY_IN_PIECES: { max: 8_192 },
  TOO_MANY_REQUESTS: { retryAfterS: 2 },
  TOO_MANY_ATTEMPTS: { retryAfterS: 60 },
  FILE_OVERSIZED: { bytes: 2_048 },
  FILE_UNDERSIZED: { bytes: 2_048 },
  FILE_IN_PIECES: { max: 65_536 },
  FILE_TYPE_UNEXPECTED: { expected: 'text/csv' },
  CLIP_NAME_TAKEN: { name: 'greeting' },
  CLIP_UNUSABLE: { name: 'greeting', reason: 'its file was not sent' },

  // Agents
  WORKFLOW_INVALID: { problems: missingPrompt },
  WORKFLOW_CONFLICT: { problems: 'trigger path already used: appointments' },
  AGENT_OVERSIZED: { excess: 'its definition has more than 20000 values' },
  AGENT_NOT_WRITTEN: { reason: missingPrompt },
  FOLDER_NAME_TAKEN: { name: 'Support' },
  FOLDERS_FULL: { max: 500 },
  NODE_TYPE_UNKNOWN: { name: 'startcall' },

  // Services
  SERVICES_INVALID: {
    problems: 'Invalid deepgram API key. The service says: Invalid credentials.',
  },
  SERVICE_KEY_MASKED: { field: 'api_key' },
  USER_SERVICE_KEY_MASKED: { model: 'llm', field: 'api_key' },
  VOICES_UNAVAILABLE: { provider: 'elevenlabs', reason: 'no answer in time' },

  // Telephony
  CONFIGURATION_NAME_TAKEN: { name: 'PBX of the office' },
  CONFIGURATION_ADDRESS_FORBIDDEN: { field: 'ari_endpoint', reason: 'a private network' },
  CONFIGURATION_NOT_READY: { name: 'Twilio', reason: 'Add at least one active phone number.' },
  CONFIGURATION_INACTIVE: {
    name: 'PBX of the office',
    reason: 'The PBX at 10.0.0.5:8088 cannot be reached: connect ECONNREFUSED.',
  },
  SYNC_UNSUPPORTED: { provider: 'ari' },
  TRUNKS_UNSUPPORTED: { provider: 'twilio' },
  LINES_FULL: { max: 20 },
  LINE_INVALID: { reason: 'it needs a number to call' },
  TRUNKS_FULL: { max: 100 },
  TRUNK_NAME_TAKEN: { name: 'Europe' },
  PUBLIC_URL_UNFIT: { reason: 'Providers cannot reach http://10.0.0.7:8080.' },
  PROVIDER_AUTH: { reason: 'Authenticate' },
  PROVIDER_DESTINATION: { reason: 'The number is not valid' },
  PROVIDER_CAPACITY: { reason: 'Too many requests' },
  PROVIDER_FAILED: { reason: 'status 503' },
  PROVIDER_REFUSED: { reason: 'status 400' },
  PROVIDER_UNCERTAIN: { reason: 'the connection broke before an answer came' },

  // Calls, runs and chats
  CALL_NOT_PLACED: { reason: 'twilio refused the destination: The number is not valid' },
  CALL_UNCERTAIN: {
    reason:
      'twilio may or may not have carried out the request: the connection broke before an answer came',
  },
  CONTEXT_OVERSIZED: { excess: 'more than 8000 values' },
  PAGE_TOO_FAR: { max: 10_000 },
  STREAMS_FULL: { limit: 20 },
  TEXT_CHAT_FULL: { max: 200, what: 'turns' },
  TEXT_CHAT_TURN_FAILED: { reason: 'the graph runs in a cycle without the caller' },

  // Campaigns
  CAMPAIGN_SOURCE_INVALID: { problems: "Source must contain a 'phone_number' column" },
  CAMPAIGN_CONCURRENCY: { asked: 50, limit: 10 },
  CAMPAIGN_ENDED: { state: 'completed' },

  // Tools and credentials
  CREDENTIAL_NAME_TAKEN: { name: 'CRM' },
  CREDENTIAL_INVALID: { type: 'api_key', problems: 'header_name is required' },
  TOOL_FILTER_UNKNOWN: {
    filter: 'status',
    value: 'deleted',
    allowed: 'active, archived, draft',
  },
  TOOL_NOT_TESTABLE: { type: 'calculator' },
};

const REF = '$ref';

/** Traits of an operation on which its errors depend. */
export interface OperationTraits {
  operationId: string;
  wantsKey: boolean;
  /** Whether the operation starts calls of agents, whose key is only in `X-API-Key`. */
  isStart: boolean;
  hasBody: boolean;
  hasInput: boolean;
}

interface ErrorResponse {
  description: string;
  content: { 'application/json': Record<string, unknown> };
}
