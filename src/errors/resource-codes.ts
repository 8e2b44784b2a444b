// Error codes of the API: of requests that no route answers, and of resources in the store. One row per code;
// `{name}` in a text is replaced by the fact of that name.

/** Requests that no route answers: they do not fit a schema, have no route, or are no HTTP. Texts are the reason
 *  phrases of HTTP (RFC 9110), which the contract sends as `detail`. */
export const requestErrors = {
  /** The body has the items in place of this text. */
  REQUEST_INVALID: { retry: false, text: 'The request does not fit its schema' },
  BAD_REQUEST: { retry: false, text: 'Bad Request' },
  PATH_NOT_FOUND: { retry: false, text: 'Not Found' },
  METHOD_NOT_ALLOWED: { retry: false, text: 'Method Not Allowed' },
  REQUEST_TIMEOUT: { retry: true, text: 'Request Timeout' },
  BODY_OVERSIZED: { retry: false, text: 'Request body is too large' },
  URI_OVERSIZED: { retry: false, text: 'URI Too Long' },
  EXPECTATION_FAILED: { retry: false, text: 'Expectation Failed' },
  UPGRADE_REQUIRED: { retry: false, text: 'Upgrade Required' },
  HEADERS_OVERSIZED: { retry: false, text: 'Request Header Fields Too Large' },
  /** For metrics and logs only: the client has closed the connection. */
  CLIENT_GONE: { retry: true, text: 'Client Closed Request' },
  INTERNAL_ERROR: { retry: true, text: 'Internal Server Error' },
} as const;

/** Resources in the store: accounts, configurations, workflows, runs. */
export const resourceErrors = {
  // Start
  CONFIG_INVALID: { retry: false, text: 'Configuration is invalid: {problems}' },
  NATIVE_BROKEN: { retry: false, text: 'The native module {file} is present but unusable' },
  NATIVE_MISSING: { retry: false, text: 'The file {file} is missing. Create it with: {command}' },

  // The command line
  COMMAND_INVALID: { retry: false, text: 'Wrong command: {problem}' },
  GATEWAY_UNREACHABLE: {
    retry: true,
    text: 'The gateway at {url} cannot be reached: {reason}. Is it running, and is the address right?',
  },
  GATEWAY_REFUSED: { retry: false, text: 'The gateway at {url} says: {said}' },

  // Store
  NO_DATA: {
    retry: false,
    text: 'There is no gateway data in {place}. Start the gateway once, or specify where its data is: --data FOLDER, PATCHBAY_DATA or DATABASE_URL.',
  },
  S3_REFUSED: {
    retry: false,
    text: 'S3 at {endpoint} refuses the bucket {bucket} ({said}): {reason}',
  },
  DATA_FOLDER_FULL: {
    retry: true,
    text: 'The disk of the data folder {folder} is full. Free some space, or set PATCHBAY_DATA to a folder on another disk.',
  },
  OPEN_FILES_LIMIT: {
    retry: false,
    text: 'A process may open {limit} files here; the gateway needs at least {min}, and {needed} for 400 calls in a process. Raise the limit: ulimit -n 65536 in the shell, LimitNOFILE=65536 in the systemd unit, --ulimit nofile=65536 for docker run.',
  },
  PORT_UNAVAILABLE: {
    retry: true,
    text: 'The gateway cannot listen on {host}, port {port} ({reason}). {remedy}',
  },
  DATA_FOLDER_UNWRITABLE: {
    retry: false,
    text: 'The data folder {folder} cannot be written ({reason}). Mount its disk for writing and let the user {user} own it, or set PATCHBAY_DATA to another folder.',
  },
  STORE_LOCKED: {
    retry: false,
    text: 'Another process uses the data folder {folder}. Stop it, or set PATCHBAY_DATA to another folder.',
  },
  STORE_NOT_DURABLE: {
    retry: false,
    text: 'The embedded database does not reach the disk (no fsync seen). Use DATABASE_URL.',
  },
  NODE_NAME_TAKEN: {
    retry: false,
    text: 'Another gateway runs as node {node}: {sign}. Stop it, or give this one a name of its own in PATCHBAY_NODE.',
  },
  NODE_REPLACED: {
    retry: false,
    text: 'Another gateway runs as node {node} from now on, and has closed the calls of this one, which stops. Give each a name of its own in PATCHBAY_NODE.',
  },
  STORE_UNAVAILABLE: { retry: true, text: 'The database does not answer' },
  STORE_POOLER: {
    retry: false,
    text: 'The connection pooler before the database refuses the startup parameter {parameter}. Add pgbouncer=1 to the query of DATABASE_URL.',
  },
  STORE_FULL: { retry: true, text: 'The disk is full' },
  MIGRATION_CHANGED: {
    retry: false,
    text: 'Migration {name} differs from the one that was applied to this database',
  },
  MIGRATION_UNKNOWN: {
    retry: false,
    text: 'The database was written by a newer version (migration {name}). Start that version.',
  },
  SECRET_KEY_MISSING: {
    retry: false,
    text: 'No key with id {keyId} to open a stored secret. Put back the file secret.key of the data folder, or add the key to PATCHBAY_SECRET_KEYS.',
  },
  SECRET_KEY_LOST: {
    retry: false,
    text: 'The data folder {folder} has a database, and the file secret.key, which opens its secrets, is missing. Nothing was changed. Put secret.key back from a backup of the folder, or set PATCHBAY_SECRET_KEYS if the gateway had its keys there.',
  },
  SECRET_KEYS_DIFFER: {
    retry: false,
    text: 'The secrets in this database are sealed by a key (id {keyId}) that this node does not have. Set PATCHBAY_SECRET_KEYS to the keys of the other nodes; a node without this setting has its key in the file secret.key of its data folder. Put a lost secret.key back from its backup.',
  },
  SECRET_UNREADABLE: { retry: false, text: 'A stored secret cannot be opened: {field}' },

  // Credentials
  DEVOPS_SECRET_UNSET: { retry: false, text: 'Set PATCHBAY_DEVOPS_SECRET to read these figures' },
  DEVOPS_SECRET_WRONG: { retry: false, text: 'The devops secret is missing or wrong' },
  METRICS_TOKEN_WRONG: {
    retry: false,
    text: 'Send the token of PATCHBAY_METRICS_TOKEN as Authorization: Bearer',
  },
  CREDENTIALS_MISSING: {
    retry: false,
    text: 'Authorization header required. Send an API key in X-API-Key, or a token in Authorization',
  },
  TOKEN_INVALID: { retry: false, text: 'Invalid or expired token' },
  SESSION_OVER: { retry: false, text: 'The session of the console is over: log in again' },
  CONSOLE_HEADER_MISSING: {
    retry: false,
    text: 'A request by the cookie of the console needs the header X-Patchbay-Console; programs use an API key in X-API-Key',
  },
  CONSOLE_ORIGIN_FORBIDDEN: {
    retry: false,
    text: 'The console opens this socket from a page of this gateway only: see PATCHBAY_PUBLIC_URL',
  },
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

  // Speech services
  SERVICES_INVALID: { retry: false, text: '{problems}' },
  SERVICE_KEY_MASKED: {
    retry: false,
    text: 'The {field} appears to be masked. Please provide the actual value, not the masked value.',
  },
  USER_SERVICE_KEY_MASKED: {
    retry: false,
    text: 'The {model} {field} appears to be masked. Please provide the actual value, not the masked value.',
  },
  MODEL_MODE_UNSUPPORTED: {
    retry: false,
    text: 'This gateway does not offer the mode {mode}. Use mode byok, with byok.mode pipeline.',
  },
  MODEL_CONFIGURATION_EXISTS: {
    retry: false,
    text: 'Organization already has a v2 model configuration',
  },
  LEGACY_CONFIGURATION_INCOMPLETE: {
    retry: false,
    text: 'Pipeline legacy configuration is incomplete',
  },
  VOICES_UNAVAILABLE: { retry: true, text: 'Failed to fetch voices for {provider}: {reason}' },

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
  CONFIGURATION_ADDRESS_FORBIDDEN: {
    retry: false,
    text: '{field} points to {reason}, to which this gateway does not connect. Use another address, or ask the operator to allow this one (PATCHBAY_OUTSIDE_ALLOW).',
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
  LINES_FULL: { retry: false, text: 'An organization has at most {max} watched lines' },
  LINE_NOT_FOUND: { retry: false, text: 'Watched line not found' },
  LINE_INVALID: { retry: false, text: 'The line cannot be watched: {reason}' },
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
    text: 'Generating an agent needs a language model, and this gateway has none. Set OPENAI_API_KEY or OPENAI_BASE_URL, or start from a template.',
  },
  AGENT_NOT_WRITTEN: {
    retry: true,
    text: 'The language model did not create a valid agent: {reason}',
  },
  TEMPLATE_NOT_FOUND: { retry: false, text: 'Workflow template with id {id} not found' },
  NODE_TYPE_UNKNOWN: { retry: false, text: "Unknown node type: '{name}'" },
  WORKFLOW_NO_DRAFT: { retry: false, text: 'No draft to publish' },
  AGENT_NOT_FOUND: { retry: false, text: 'Workflow not found' },
  AGENT_UUID_EXPECTED: {
    retry: false,
    text: 'Workflow not found: {given} is the id of a workflow, and its workflow_uuid is expected, {uuid}',
  },
  AGENT_NOT_ACTIVE: { retry: false, text: 'Workflow is not active' },
  AGENT_NOT_PUBLISHED: { retry: false, text: 'Workflow has no published definition' },
  TRIGGER_NOT_FOUND: { retry: false, text: 'Agent trigger not found' },
  TRIGGER_PATH_EXPECTED: {
    retry: false,
    text: 'Agent trigger not found: {given} is a workflow, and the trigger_path of a trigger node is expected. Start the workflow itself at /public/agent/workflow/{uuid}',
  },
  TRIGGER_FORBIDDEN: { retry: false, text: 'Access denied' },
  TRIGGER_NOT_ACTIVE: { retry: false, text: 'Agent trigger is not active' },
  TRIGGER_NOT_IN_AGENT: { retry: false, text: 'Trigger not found in the selected Agent' },

  // Runs and artifacts
  RUN_NOT_FOUND: { retry: false, text: 'Workflow run not found' },
  STREAMS_FULL: {
    retry: true,
    text: 'Too many event streams are open at once ({limit}). Close one, or use a single stream for the organization.',
  },
  PAGE_TOO_FAR: {
    retry: false,
    text: 'A list by duration ends at row {max}: filter it, or sort it by age',
  },
  CONFIGURATION_NOT_ASTERISK: {
    retry: false,
    text: "The configuration is one of {provider}, and only those of Asterisk ('ari') have files",
  },
  ASTERISK_WORD_INVALID: {
    retry: false,
    text: "{field} cannot be written into Asterisk's files: it must have {lengthMin} to {lengthMax} of {characters}",
  },
  SYSTEM_FORBIDDEN: {
    retry: false,
    text: 'Where everybody may sign up, only the first organization sees the state of the gateways',
  },
  WORKFLOW_VERSION_NOT_FOUND: { retry: false, text: 'Workflow version not found' },
  CURSOR_INVALID: { retry: false, text: 'after must be the `next` of the page before' },
  FILTER_INVALID: { retry: false, text: 'Invalid filter format' },
  FILTER_FORBIDDEN: {
    retry: false,
    text: "Invalid attribute '{attribute}'. Must be one of: {attributes}",
  },
  ARTIFACT_TYPE_UNKNOWN: { retry: false, text: 'Unsupported artifact type' },
  ARTIFACT_TOKEN_INVALID: { retry: false, text: 'Invalid or expired token' },
  ARTIFACT_MISSING: { retry: false, text: 'No {artifact} available for this workflow run' },
  FILE_KEY_INVALID: { retry: false, text: 'Invalid key format' },
  FILE_FORBIDDEN: { retry: false, text: 'Access denied' },
  FILE_LINK_INVALID: { retry: false, text: 'The link is not valid or has expired' },
  FILE_NOT_FOUND: { retry: false, text: 'File not found' },
  FILE_NOT_YET_STORED: {
    retry: true,
    text: 'The file is still on the gateway that had the call. It is here when that one has stored it: send the request again later.',
  },
  /** `reason` is for the log: it may be the fault of a setting. */
  FILES_UNAVAILABLE: {
    retry: true,
    text: 'The storage of files does not answer. Send the request again later.',
  },
  /** For the upload's route, which says that the link was used. */
  FILE_EXISTS: { retry: false, text: 'The key has a file already' },
  FILE_OVERSIZED: {
    retry: false,
    text: 'The file has more than the {bytes} bytes that were announced for it',
  },
  FILE_UNDERSIZED: {
    retry: true,
    text: 'The file has fewer than the {bytes} bytes that were announced for it. Send all of it: the link is still valid.',
  },
  FILE_IN_PIECES: {
    retry: false,
    text: 'The file arrived in more than {max} pieces. Send larger pieces, or set Content-Length.',
  },
  FILE_CUT_OFF: { retry: true, text: 'The file did not arrive completely. Send it again.' },
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
} as const;
