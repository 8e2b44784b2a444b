// Error codes of calls, campaigns, providers, PBXs, media and speech. One row per code; `{name}` in a text is
// replaced by the fact of that name.

export const callErrors = {
  // Starting a call
  TELEPHONY_NOT_CONFIGURED: {
    retry: false,
    text: 'Telephony provider not configured for this organization',
  },
  CONFIGURATION_NOT_READY: {
    retry: false,
    text: "'{name}' is not ready for outbound calls. {reason}",
  },
  /** The gateway disabled it, and retries it by itself. */
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
  NUMBER_NOT_DIALABLE: {
    retry: false,
    text: 'phone_number cannot be dialled: {why}',
  },
  RUN_HAS_CALL: { retry: false, text: 'Workflow run already has an active call' },
  RUN_WITHOUT_CALL: { retry: false, text: 'Workflow run has no call to hang up' },
  CALL_OUT_OF_REACH: {
    retry: true,
    text: 'The call cannot be controlled: it is still being placed, or its telephony configuration was deleted. Try again in a moment.',
  },
  RUN_OF_OTHER_WORKFLOW: { retry: false, text: 'workflow_run_workflow_mismatch' },
  START_KEY_REUSED: {
    retry: false,
    text: 'This Idempotency-Key was used for another request within the last day. Use a new one.',
  },
  CALL_NOT_TALKING: { retry: true, text: 'The call has not been answered, or is over' },
  DIGITS_WAITING: {
    retry: true,
    text: 'Too much audio is queued in the call to send more keys. Try again in a few seconds',
  },
  DIGITS_UNSUPPORTED: {
    retry: false,
    text: 'Over {provider} only the node that holds the call can send keys, and that is another node',
  },
  CALL_ELSEWHERE: {
    retry: true,
    text: 'Another gateway holds the call and cannot be reached at the moment. Try again in a few seconds; gateways reach each other over REDIS_URL',
  },
  CALL_LIMIT_REACHED: { retry: true, text: 'Concurrent call limit reached' },
  GATEWAY_OVERLOADED: {
    retry: true,
    text: 'This gateway is at its limit and accepts no new calls now. Try again in a few seconds',
  },
  CALL_NOT_PLACED: { retry: false, text: 'Failed to initiate call: {reason}' },
  /** The provider may have placed the call: another start could call the same person twice. */
  CALL_UNCERTAIN: { retry: false, text: 'Failed to initiate call: {reason}' },
  GATEWAY_DRAINING: { retry: true, text: 'This gateway is shutting down and accepts no new calls' },
  PROVIDER_NOT_BUILT: {
    retry: false,
    text: 'Calls over {provider} are not supported by this version',
  },

  // Campaigns
  CAMPAIGN_NOT_FOUND: { retry: false, text: 'Campaign not found' },
  CAMPAIGN_ID_NOT_FOUND: { retry: false, text: 'Campaign {id} not found' },
  CAMPAIGN_SOURCE_INVALID: { retry: false, text: '{problems}' },
  CAMPAIGN_SOURCE_KEY_INVALID: {
    retry: false,
    text: 'Invalid key format: source_id must be the file_key of an uploaded file, campaigns/<organization id>/<file name>. POST /s3/presigned-upload-url creates one',
  },
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
  PROVIDER_AUTH: { retry: false, text: '{provider} refused the credentials: {reason}' },
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
    text: 'The PBX at {host} does not accept the ARI user {user} with this password. Compare it with ari.conf, then: module reload res_ari.so',
  },
  PBX_READ_ONLY: {
    retry: false,
    text: 'The ARI user {user} at {host} has read-only access. Set read_only = no in ari.conf, then: module reload res_ari.so',
  },
  PBX_NO_ARI: {
    retry: false,
    text: 'There is an HTTP server at {host}, but no ARI. Is the address right, enabled = yes in ari.conf, and res_ari.so loaded?',
  },
  PBX_APP_TAKEN: {
    retry: false,
    text: 'Another program has connected to the PBX at {host} as the application {app}: its calls do not reach this gateway. {advice}',
  },
  PBX_NOT_CONNECTED: { retry: true, text: 'The PBX is not connected at the moment' },
  PBX_CALL_GONE: { retry: false, text: 'The call has ended at the PBX' },
  PBX_MEDIA: { retry: true, text: 'The PBX opened no media for the call: {reason}' },
  PBX_CODEC: {
    retry: false,
    text: 'The telephone offers no other codec than {formats}, which Asterisk cannot convert without {modules}: load the module, or allow ulaw or alaw at its endpoint and at the telephone',
  },
  PBX_TOO_OLD: { retry: false, text: 'Asterisk {version} has no {wanted}. {advice}' },

  // The check of a PBX (doctor)
  SYNC_UNSUPPORTED: {
    retry: false,
    text: 'Only hosted providers can be routed to this installation; {provider} is a PBX',
  },
  EXAMINATION_RUNNING: { retry: true, text: 'This configuration is being examined already' },
  EXAMINATION_CALL_UNSUPPORTED: {
    retry: false,
    text: 'Examination calls are for hosted providers. For Asterisk, the examination without a call also tests the audio',
  },
  EXAMINATION_CALL_RUNNING: {
    retry: true,
    text: 'An examination call of this organization is running already',
  },
  EXAMINATION_CALL_UNFINISHED: { retry: true, text: 'The examination call is not over yet' },
  EXAMINATION_CALL_NOT_FOUND: {
    retry: false,
    text: 'Examination call not found. It is kept for ten minutes, by the gateway that placed it',
  },
  PUBLIC_URL_UNFIT: { retry: false, text: 'No call can be examined: {reason}' },

  // Requests that are too many or too large
  API_BUSY: {
    retry: true,
    text: 'Too many requests wait at this gateway. Try again in a few seconds',
  },
  TOO_MANY_REQUESTS: {
    retry: true,
    text: 'Too many requests of this organization or address wait already. Send fewer at once, and try again in {retryAfterS} s',
  },
  BODY_VALUES: { retry: false, text: 'The body holds more than {max} values' },
  BODY_IN_PIECES: {
    retry: false,
    text: 'The body arrived in more than {max} pieces. Send larger pieces, or set Content-Length.',
  },
  AGENT_OVERSIZED: {
    retry: false,
    text: 'The agent is too large for calls: {excess}. Make it smaller and publish it again',
  },
  VARIABLE_MISSING: {
    retry: false,
    text: 'The variable {name} has no value in this call and no default in the text',
  },
  CONTEXT_OVERSIZED: { retry: false, text: 'The initial context is too large: {excess}' },

  // A provider's webhooks and media
  WEBHOOK_SIGNATURE: { retry: false, text: 'Invalid webhook signature' },
  WEBHOOK_MALFORMED: { retry: false, text: 'The webhook is malformed' },
  MEDIA_MALFORMED: { retry: false, text: 'The media message does not follow the protocol' },
  MEDIA_OVERSIZED: { retry: false, text: 'The media message is larger than allowed' },
  MEDIA_FLOOD: { retry: false, text: 'More media messages than real time allows' },
  MEDIA_BACKLOG: {
    retry: false,
    text: 'The gateway was stopped or blocked: {ms} ms of caller audio were not processed and are silence in the recording',
  },
  MEDIA_STALLED: { retry: false, text: 'The media socket does not accept audio' },
  MEDIA_LOST: {
    retry: false,
    text: 'The connection of the media broke, and the call did not go on over another one',
  },
  CALLER_AUDIO_MISSING: {
    retry: false,
    text: 'No audio of the caller arrived in the {seconds} s of the call',
  },
  MEDIA_SILENT: { retry: false, text: 'No media arrived in time' },
  MEDIA_UNAUTHORIZED: { retry: false, text: 'The media token is missing, wrong, used or expired' },
  MEDIA_REFUSED: { retry: false, text: 'No call waits for this media socket' },
  ORIGIN_FORBIDDEN: {
    retry: false,
    text: 'Pages of this origin may not open calls: see PATCHBAY_CORS_ORIGINS',
  },
  MEDIA_CODEC: { retry: false, text: 'The provider offers the encoding {encoding}' },
  CODEC_MISSING: {
    retry: false,
    text: 'The codec {name} needs an optional package: npm install {package}',
  },
  CODEC_UNKNOWN: { retry: false, text: 'The codec {name} is not supported' },

  AGENT_TRANSFER_REFUSED: {
    retry: false,
    text: 'The call cannot be transferred to the agent {agent}: {reason}',
  },

  // The library of recorded clips
  CLIP_NOT_FOUND: { retry: false, text: 'Recording not found' },
  CLIP_MISSING: {
    retry: false,
    text: "The recording '{name}' that the agent should play does not exist",
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
  SPEECH_SETTINGS_INVALID: {
    retry: false,
    text: 'The settings of the speech services ({section}) cannot be used: {reason}',
  },
  TTS_UNAVAILABLE: { retry: true, text: 'Speech synthesis is not available: {reason}' },
  TTS_FAILED: { retry: true, text: 'Speech synthesis failed: {reason}' },
  TTS_TIMEOUT: { retry: true, text: 'Speech synthesis returned no audio in time' },
  LLM_AUTH: { retry: false, text: 'The language model refused the credentials' },
  LLM_RATE: { retry: true, text: 'The language model is at its rate limit' },
  LLM_REFUSED: { retry: false, text: 'The language model refused the request: {reason}' },
  LLM_FAILED: { retry: true, text: 'The language model failed: {reason}' },
  LLM_TIMEOUT: { retry: true, text: 'The language model returned no {what} in time' },
  LLM_EMPTY: { retry: true, text: 'The language model returned an empty answer' },
  LLM_MALFORMED: {
    retry: true,
    text: 'The language model returned an answer that cannot be parsed',
  },

  // Requests to an organization's own servers
  OUTSIDE_FORBIDDEN: { retry: false, text: 'This must not be called from here: {reason}' },
  TOOL_ARGUMENTS: { retry: false, text: 'The arguments are invalid: {problems}' },
  TOOL_UNREACHABLE: { retry: true, text: 'The server of the tool could not be reached: {reason}' },
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
  TRANSFER_MACHINE: {
    retry: true,
    text: 'An answering machine answered at the destination of the transfer',
  },
  TRANSFER_FAILED: {
    retry: false,
    text: 'The destination of the transfer was not reached: {reason}',
  },
  TRANSFER_DECLINED: {
    retry: true,
    text: 'The person at the destination of the transfer did not accept the call: {reason}',
  },
  TRANSFER_QUEUE: { retry: true, text: 'Nobody in the queue took the call in time' },
  TRANSFER_DIGITS_UNSUPPORTED: {
    retry: false,
    text: 'Keys cannot be pressed at the destination of a transfer over {provider}: announce the caller (`warm` of the transfer tool), or leave the extension out of the destination',
  },
  TRANSFER_WARM_UNSUPPORTED: {
    retry: false,
    text: 'Warm transfers over {provider} are not supported: set `if_unsupported` of `warm` in the transfer tool to `cold`, or remove `warm` from it',
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

  // Worker processes
  WORKER_FAILED: {
    retry: true,
    text: 'Worker {worker} failed. See the log for the reason.',
  },
  WORKER_GONE: { retry: true, text: 'Worker {worker} is not running' },

  // Internal limits
  TIMED_OUT: { retry: true, text: 'Not finished in {ms} ms: {what}' },
  QUEUE_FULL: { retry: true, text: 'The queue {queue} is full' },
  RECORDING_FAILED: { retry: false, text: 'The recording cannot be written: {reason}' },
} as const;
