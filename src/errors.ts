// Every error the gateway raises on purpose: one row per code, one class.
// Callers match on `code`, never on `message`. HTTP statuses live in api/reply.ts, not here.
// `{name}` in a text is replaced by the fact of that name.

const table = {
  // Start
  CONFIG_INVALID: { retry: false, text: 'Configuration is invalid: {problems}' },
  NATIVE_BROKEN: { retry: false, text: 'The native module {file} is present but unusable' },
  NATIVE_MISSING: { retry: false, text: 'The file {file} is missing. Make it by: {command}' },

  // The command line
  COMMAND_INVALID: { retry: false, text: 'Wrong command: {problem}' },
  GATEWAY_UNREACHABLE: {
    retry: true,
    text: 'The gateway at {url} cannot be reached: {reason}. Does it run, and is the address right?',
  },
  GATEWAY_REFUSED: { retry: false, text: 'The gateway at {url} says: {said}' },

  // Store
  STORE_LOCKED: {
    retry: false,
    text: 'Another process uses the data folder {folder}. Stop it, or set PATCHBAY_DATA to another folder.',
  },
  STORE_NOT_DURABLE: {
    retry: false,
    text: 'The embedded database does not reach the disk (no fsync seen). Use DATABASE_URL.',
  },
  STORE_UNAVAILABLE: { retry: true, text: 'The database does not answer' },
  STORE_FULL: { retry: true, text: 'The disk is full' },
  MIGRATION_CHANGED: {
    retry: false,
    text: 'Migration {name} differs from the one that was applied to this database',
  },
  MIGRATION_UNKNOWN: {
    retry: false,
    text: 'The database was written by a newer version (migration {name}). Start that version.',
  },
  SECRET_KEY_MISSING: { retry: false, text: 'No key with id {keyId} to open a stored secret' },
  SECRET_UNREADABLE: { retry: false, text: 'A stored secret cannot be opened: {field}' },

  // Credentials
  DEVOPS_SECRET_UNSET: { retry: false, text: 'Set PATCHBAY_DEVOPS_SECRET to read these figures' },
  DEVOPS_SECRET_WRONG: { retry: false, text: 'The devops secret is missing or wrong' },
  CREDENTIALS_MISSING: { retry: false, text: 'Authorization header required' },
  TOKEN_INVALID: { retry: false, text: 'Invalid or expired token' },
  API_KEY_INVALID: { retry: false, text: 'Invalid or expired API key' },
  AGENT_API_KEY_INVALID: { retry: false, text: 'Invalid API key' },
  API_KEY_NOT_FOUND: { retry: false, text: 'API key not found' },
  USER_NOT_FOUND: { retry: false, text: 'User not found' },
  LOG_IN_REFUSED: { retry: false, text: 'Invalid email or password' },
  SIGN_UP_CLOSED: { retry: false, text: 'Signup is disabled' },
  EMAIL_TAKEN: { retry: false, text: 'Email already registered' },
  LOG_IN_ELSEWHERE: { retry: false, text: 'Not found' },
  LOG_IN_EXISTS: { retry: false, text: 'The user of this API key has a log-in already' },
  TOO_MANY_ATTEMPTS: {
    retry: true,
    text: 'Too many failed attempts. Try again in {retryAfterS} seconds.',
  },

  // Telephony configurations and numbers
  CONFIGURATION_NOT_FOUND: { retry: false, text: 'Telephony configuration not found' },
  CONFIGURATION_NAME_TAKEN: {
    retry: false,
    text: "A telephony configuration named '{name}' already exists in this organization",
  },
  CONFIGURATION_PROVIDER_FIXED: {
    retry: false,
    text: 'Provider cannot be changed; create a new configuration instead.',
  },
  CONFIGURATION_IN_USE: {
    retry: false,
    text: 'Telephony configuration {id} is referenced by one or more campaigns',
  },
  TRUNKS_UNSUPPORTED: { retry: false, text: 'Configurations of {provider} have no trunks' },
  TRUNKS_FULL: { retry: false, text: 'A telephony configuration has at most {max} trunks' },
  TRUNK_NAME_TAKEN: {
    retry: false,
    text: "A trunk named '{name}' already exists in this configuration",
  },
  TRUNK_IN_USE: {
    retry: false,
    text: 'Telephony trunk {id} has phone numbers; attach them elsewhere first',
  },
  TRUNK_NOT_FOUND: { retry: false, text: 'Telephony trunk not found' },
  PHONE_NUMBER_NOT_FOUND: { retry: false, text: 'Phone number not found' },
  PHONE_NUMBER_TAKEN: {
    retry: false,
    text: 'A phone number with this address already exists in the org.',
  },
  PHONE_NUMBER_ROUTED_ELSEWHERE: {
    retry: false,
    text: 'This number of this provider account already belongs to another configuration',
  },
  PHONE_NUMBER_NOT_OWNED: {
    retry: false,
    text: 'The provider account does not own the number {address}',
  },

  // Workflows
  WORKFLOW_NOT_FOUND: { retry: false, text: 'Workflow with id {id} not found' },
  WORKFLOW_STATUS_INVALID: {
    retry: false,
    text: "Invalid status '{status}'. Allowed: active, archived",
  },
  EXTERNAL_PBX_DISABLED: {
    retry: false,
    text: "External PBX integrations are disabled for this organization. Enable them in the organization's preferences before you change {setting}.",
  },
  WORKFLOW_INVALID: { retry: false, text: 'The workflow is not valid: {problems}' },
  WORKFLOW_CONFLICT: { retry: false, text: 'The workflow conflicts with stored data: {problems}' },
  FOLDER_NOT_FOUND: { retry: false, text: 'Folder not found' },
  FOLDER_NAME_TAKEN: {
    retry: false,
    text: "A folder named '{name}' already exists in this organization",
  },
  FOLDERS_FULL: { retry: false, text: 'An organization has at most {max} folders' },
  AGENT_WRITER_UNAVAILABLE: {
    retry: false,
    text: 'No language model is configured on this gateway, and agents are written by one. Set OPENAI_API_KEY or OPENAI_BASE_URL, or begin from a template.',
  },
  AGENT_NOT_WRITTEN: {
    retry: true,
    text: 'The language model wrote no agent that works: {reason}',
  },
  TEMPLATE_NOT_FOUND: { retry: false, text: 'Workflow template with id {id} not found' },
  NODE_TYPE_UNKNOWN: { retry: false, text: "Unknown node type: '{name}'" },
  WORKFLOW_NO_DRAFT: { retry: false, text: 'No draft to publish' },
  AGENT_NOT_FOUND: { retry: false, text: 'Workflow not found' },
  AGENT_NOT_ACTIVE: { retry: false, text: 'Workflow is not active' },
  AGENT_NOT_PUBLISHED: { retry: false, text: 'Workflow has no published definition' },
  TRIGGER_NOT_FOUND: { retry: false, text: 'Agent trigger not found' },
  TRIGGER_FORBIDDEN: { retry: false, text: 'Access denied' },
  TRIGGER_NOT_ACTIVE: { retry: false, text: 'Agent trigger is not active' },
  TRIGGER_NOT_IN_AGENT: { retry: false, text: 'Trigger not found in the selected Agent' },

  // Runs and artifacts
  RUN_NOT_FOUND: { retry: false, text: 'Workflow run not found' },
  STREAMS_FULL: {
    retry: true,
    text: 'Too many event streams are open at once ({limit}). Close one, or watch the organization by one.',
  },
  FILTER_INVALID: { retry: false, text: 'Invalid filter format' },
  FILTER_FORBIDDEN: { retry: false, text: "Invalid attribute '{attribute}'" },
  ARTIFACT_TYPE_UNKNOWN: { retry: false, text: 'Unsupported artifact type' },
  ARTIFACT_TOKEN_INVALID: { retry: false, text: 'Invalid or expired token' },
  ARTIFACT_MISSING: { retry: false, text: 'No {artifact} available for this workflow run' },
  FILE_KEY_INVALID: { retry: false, text: 'Invalid key format' },
  FILE_FORBIDDEN: { retry: false, text: 'Access denied' },
  FILE_LINK_INVALID: { retry: false, text: 'The link is not valid or has expired' },
  FILE_NOT_FOUND: { retry: false, text: 'File not found' },
  FILE_OVERSIZED: {
    retry: false,
    text: 'The file has more than the {bytes} bytes that were announced for it',
  },
  FILE_CUT_OFF: { retry: true, text: 'The file did not arrive whole. Send it again.' },
  FILE_TYPE_UNEXPECTED: {
    retry: false,
    text: 'Send the file with the header that was announced for it: Content-Type: {expected}',
  },

  // Text chats
  TEXT_CHAT_NOT_FOUND: { retry: false, text: 'Text chat session not found' },
  RUN_NOT_TEXT_CHAT: { retry: false, text: 'Workflow run is not a text chat session' },
  TEXT_CHAT_ENDED: { retry: false, text: 'Text chat session has ended' },
  TEXT_CHAT_CONFLICT: { retry: true, text: 'Text chat session revision conflict' },
  TEXT_CHAT_TURN_NOT_FOUND: { retry: false, text: 'Turn not found in text chat session' },
  TEXT_CHAT_FULL: {
    retry: false,
    text: 'A text chat session holds at most {max} {what}. Start a new one.',
  },
  TEXT_CHAT_TURN_FAILED: {
    retry: true,
    text: 'Failed to execute text chat assistant turn: {reason}. Send the message again.',
  },

  // Starting a call
  TELEPHONY_NOT_CONFIGURED: {
    retry: false,
    text: 'Telephony provider not configured for this organization',
  },
  CONFIGURATION_NOT_READY: {
    retry: false,
    text: "'{name}' is not ready for outbound calls. {reason}",
  },
  /** Out of use by itself, and tried again by itself. */
  CONFIGURATION_INACTIVE: {
    retry: true,
    text: "'{name}' is not ready for outbound calls. {reason}",
  },
  CALLER_ID_NOT_FOUND: { retry: false, text: 'from_phone_number_not_found' },
  TEST_NOT_CONFIGURED: { retry: false, text: 'telephony_not_configured' },
  TEST_CONFIGURATION_NOT_FOUND: { retry: false, text: 'telephony_configuration_not_found' },
  PHONE_NUMBER_MISSING: {
    retry: false,
    text: "Phone number must be provided in the request, or as the organization's test_phone_number",
  },
  RUN_HAS_CALL: { retry: false, text: 'Workflow run already has an active call' },
  RUN_WITHOUT_CALL: { retry: false, text: 'Workflow run has no call to hang up' },
  CALL_OUT_OF_REACH: {
    retry: true,
    text: 'The call cannot be reached: it is just being placed, or its telephony configuration is gone. Try again in a moment.',
  },
  RUN_OF_OTHER_WORKFLOW: { retry: false, text: 'workflow_run_workflow_mismatch' },
  START_KEY_REUSED: {
    retry: false,
    text: 'This Idempotency-Key was used for another request within the last day. Use a new one.',
  },
  CALL_LIMIT_REACHED: { retry: true, text: 'Concurrent call limit reached' },
  CALL_NOT_PLACED: { retry: false, text: 'Failed to initiate call: {reason}' },
  GATEWAY_DRAINING: { retry: true, text: 'This gateway is shutting down and takes no new call' },
  PROVIDER_NOT_BUILT: {
    retry: false,
    text: 'Calls over {provider} are not supported by this version',
  },

  // Campaigns
  CAMPAIGN_NOT_FOUND: { retry: false, text: 'Campaign not found' },
  CAMPAIGN_ID_NOT_FOUND: { retry: false, text: 'Campaign {id} not found' },
  CAMPAIGN_SOURCE_INVALID: { retry: false, text: '{problems}' },
  CAMPAIGN_CONFIGURATION_NOT_FOUND: { retry: false, text: 'telephony_configuration_not_found' },
  CAMPAIGN_TELEPHONY_MISSING: {
    retry: false,
    text: 'You must configure telephony first: add a telephony configuration',
  },
  CAMPAIGN_CONCURRENCY: {
    retry: false,
    text: 'max_concurrency ({asked}) cannot exceed {limit}, the calls that your organization may have at a time',
  },
  CAMPAIGN_STATE: {
    retry: false,
    text: 'Campaign must be in {wanted} state to {action}, current state: {state}',
  },
  CAMPAIGN_ENDED: { retry: false, text: 'Cannot update a {state} campaign' },
  CAMPAIGN_REDIALED: {
    retry: false,
    text: 'Campaign has already been redialed (by campaign {id})',
  },
  CAMPAIGN_NOBODY_LEFT: {
    retry: false,
    text: "No subscribers match: no contact's last call ended as chosen ({outcomes})",
  },

  // A provider's REST interface
  PROVIDER_AUTH: { retry: false, text: '{provider} refused the credentials' },
  PROVIDER_DESTINATION: { retry: false, text: '{provider} refused the destination: {reason}' },
  PROVIDER_CAPACITY: { retry: true, text: '{provider} is at its limit: {reason}' },
  PROVIDER_FAILED: { retry: true, text: '{provider} failed: {reason}' },
  PROVIDER_REFUSED: { retry: false, text: '{provider} refused the request: {reason}' },
  /** The request may have taken effect: repeating it could place a second call. */
  PROVIDER_UNCERTAIN: {
    retry: false,
    text: '{provider} may or may not have carried out the request: {reason}',
  },
  PROVIDER_TIMEOUT: { retry: false, text: '{provider} did not answer in time' },

  // The connection to a PBX
  PBX_UNREACHABLE: {
    retry: true,
    text: 'The PBX at {host} cannot be reached: {reason}. Is Asterisk running, is its HTTP server enabled in http.conf and bound to an address that the gateway reaches, and does a firewall let it through?',
  },
  PBX_TLS: {
    retry: false,
    text: 'No TLS connection to the PBX at {host}: {reason}. Check the address, tlsenable in http.conf and the certificate.',
  },
  PBX_UNAUTHORIZED: {
    retry: false,
    text: 'The PBX at {host} does not take the ARI user {user} with its password. Compare with ari.conf, then: module reload res_ari.so',
  },
  PBX_READ_ONLY: {
    retry: false,
    text: 'The ARI user {user} at {host} may only read. Set read_only = no in ari.conf, then: module reload res_ari.so',
  },
  PBX_NO_ARI: {
    retry: false,
    text: 'There is an HTTP server at {host}, but no ARI. Is the address right, enabled = yes in ari.conf, and res_ari.so loaded?',
  },
  PBX_APP_TAKEN: {
    retry: false,
    text: 'Another program has connected to the PBX at {host} as the application {app} and gets its calls. Stop it; this gateway tries again every few minutes.',
  },
  PBX_NOT_CONNECTED: { retry: true, text: 'There is no connection to the PBX just now' },
  PBX_CALL_GONE: { retry: false, text: 'The call has ended at the PBX' },
  PBX_MEDIA: { retry: true, text: 'The PBX opened no media for the call: {reason}' },
  PBX_TOO_OLD: { retry: false, text: 'Asterisk {version} has no {wanted}. {advice}' },

  // The examination of a PBX
  EXAMINATION_UNSUPPORTED: {
    retry: false,
    text: 'Only PBXs can be examined; {provider} is a hosted provider',
  },
  EXAMINATION_RUNNING: { retry: true, text: 'This configuration is being examined already' },

  // A provider's webhooks and media
  WEBHOOK_SIGNATURE: { retry: false, text: 'Invalid webhook signature' },
  WEBHOOK_MALFORMED: { retry: false, text: 'The webhook cannot be understood' },
  MEDIA_MALFORMED: { retry: false, text: 'The media message does not follow the protocol' },
  MEDIA_OVERSIZED: { retry: false, text: 'The media message is larger than allowed' },
  MEDIA_FLOOD: { retry: false, text: 'More media messages than real time allows' },
  MEDIA_STALLED: { retry: false, text: 'The media socket does not accept audio' },
  MEDIA_SILENT: { retry: false, text: 'No media arrived in time' },
  MEDIA_UNAUTHORIZED: { retry: false, text: 'The media token is missing, wrong, used or expired' },
  MEDIA_REFUSED: { retry: false, text: 'No call waits for this media socket' },
  MEDIA_CODEC: { retry: false, text: 'The provider offers the encoding {encoding}' },
  CODEC_UNKNOWN: { retry: false, text: 'The codec {name} is not supported' },

  // The library of recorded speech
  CLIP_NOT_FOUND: { retry: false, text: 'Recording not found' },
  CLIP_MISSING: {
    retry: false,
    text: "The recording '{name}' that the agent is to play is not there",
  },
  CLIP_NAME_TAKEN: {
    retry: false,
    text: "A recording with the id '{name}' already exists in this organization",
  },
  CLIP_UNUSABLE: { retry: false, text: "Recording '{name}' cannot be used: {reason}" },
  AMBIENT_NOISE_MISSING: {
    retry: false,
    text: 'The background noise of this agent cannot be read: the built-in one is played',
  },
  TRANSCRIPTION_UNAVAILABLE: {
    retry: false,
    text: 'No speech recognition for free speech is configured on this gateway. Write the transcript by hand.',
  },
  WAV_UNREADABLE: { retry: false, text: 'The WAV file cannot be read: {reason}' },

  // Speech services
  STT_UNAVAILABLE: { retry: true, text: 'Speech recognition is not available: {reason}' },
  STT_FAILED: { retry: true, text: 'Speech recognition failed: {reason}' },
  TTS_UNAVAILABLE: { retry: true, text: 'Speech synthesis is not available: {reason}' },
  TTS_FAILED: { retry: true, text: 'Speech synthesis failed: {reason}' },
  TTS_TIMEOUT: { retry: true, text: 'Speech synthesis gave no audio in time' },
  LLM_AUTH: { retry: false, text: 'The language model refused the credentials' },
  LLM_RATE: { retry: true, text: 'The language model is at its rate limit' },
  LLM_REFUSED: { retry: false, text: 'The language model refused the request: {reason}' },
  LLM_FAILED: { retry: true, text: 'The language model failed: {reason}' },
  LLM_TIMEOUT: { retry: true, text: 'The language model gave no {what} in time' },
  LLM_EMPTY: { retry: true, text: 'The language model answered with nothing' },
  LLM_MALFORMED: { retry: true, text: 'The language model answered with something unreadable' },

  // Requests to where an organization wants them
  OUTSIDE_FORBIDDEN: { retry: false, text: 'This must not be called from here: {reason}' },
  TOOL_ARGUMENTS: { retry: false, text: 'The arguments do not fit: {problems}' },
  TOOL_UNREACHABLE: { retry: true, text: 'The server of the tool was not reached: {reason}' },
  TOOL_URL: { retry: false, text: 'The address of the tool cannot be used: {reason}' },
  TRANSFER_UNSUPPORTED: {
    retry: false,
    text: 'Calls over {provider} cannot be transferred by this version',
  },
  TRANSFER_DESTINATION: {
    retry: false,
    text: 'Calls can be transferred to telephone numbers and SIP addresses only',
  },
  TRANSFER_BUSY: { retry: true, text: 'The destination of the transfer is busy' },
  TRANSFER_NO_ANSWER: { retry: true, text: 'The destination of the transfer does not answer' },
  TRANSFER_FAILED: {
    retry: false,
    text: 'The destination of the transfer was not reached: {reason}',
  },
  PRE_CALL_FETCH_FAILED: {
    retry: false,
    text: 'No variables could be fetched before the call: {reason}',
  },
  DELIVERY_NOT_FOUND: { retry: false, text: 'Webhook delivery not found' },
  CREDENTIAL_NOT_FOUND: { retry: false, text: 'Credential not found' },
  CREDENTIAL_NAME_TAKEN: {
    retry: false,
    text: "A credential named '{name}' already exists in this organization",
  },
  TOOL_NOT_FOUND: { retry: false, text: 'Tool not found' },
  TOOL_FILTER_UNKNOWN: {
    retry: false,
    text: "Invalid {filter} '{value}'. Must be one of: {allowed}",
  },
  TOOL_NOT_TESTABLE: {
    retry: false,
    text: 'Only tools of the type http_api can be tested, this is one of the type {type}',
  },
  TOOL_NOT_MCP: { retry: false, text: 'Only tools of the type mcp have functions to refresh' },
  TOOL_MCP_UNAVAILABLE: {
    retry: false,
    text: 'This gateway stores MCP servers but does not call them: use an http_api tool instead',
  },
  CREDENTIAL_INVALID: { retry: false, text: 'Invalid credential data for {type}: {problems}' },

  // Limits inside
  TIMED_OUT: { retry: true, text: 'Not finished in {ms} ms: {what}' },
  QUEUE_FULL: { retry: true, text: 'The queue {queue} is full' },
  RECORDING_FAILED: { retry: false, text: 'The recording cannot be written: {reason}' },
} as const satisfies Record<string, { retry: boolean; text: string }>;

export type ErrorCode = keyof typeof table;
export type Facts = Record<string, string | number>;

export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  /** Facts for the log line and the text: ids, sizes, names. Never audio, speech or secrets. */
  readonly facts: Facts;

  constructor(code: ErrorCode, facts: Facts = {}, cause?: unknown) {
    super(fill(table[code].text, facts), cause === undefined ? undefined : { cause });
    this.code = code;
    this.facts = facts;
  }

  /** Whether the same request may succeed later. */
  get retry(): boolean {
    return table[this.code].retry;
  }
}

/** Whether `text` is one of our codes, such as the reason of a close. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(table, text);
}

/** The code if `error` is one of ours, else undefined. */
export function codeOf(error: unknown): ErrorCode | undefined {
  return error instanceof GatewayError ? error.code : undefined;
}

function fill(text: string, facts: Facts): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(facts[name] ?? whole));
}
