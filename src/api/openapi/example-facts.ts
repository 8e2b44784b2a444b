// Facts of errors in the API's description: each text has values that its error has. error-responses.ts has those that
// fit every text that names them.

import type { Facts } from '../../errors/gateway-error.ts';

const missingPrompt = 'prompt is required for agent nodes';

/** Facts of example errors, by error code. */
export const exampleFacts: Readonly<Record<string, Facts>> = {
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
