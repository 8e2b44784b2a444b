// Other names of an agent's keys, as people and other products write them: `validate` names the key that was meant.
// Nothing reads a value under one of these names.

type Aliases = Readonly<Record<string, string>>;

const step: Aliases = {
  system_prompt: 'prompt',
  instructions: 'prompt',
  tools: 'tool_uuids',
  tool_ids: 'tool_uuids',
  documents: 'document_uuids',
  document_ids: 'document_uuids',
  knowledge_base: 'document_uuids',
  interruptible: 'allow_interrupt',
  allow_interruptions: 'allow_interrupt',
  variables: 'extraction_variables',
  llm: 'model_overrides.llm',
  stt: 'model_overrides.stt',
  tts: 'model_overrides.tts',
};

/** Other names of a node's keys, by the name of the node type. */
export const NODE_ALIASES: Readonly<Record<string, Aliases>> = {
  startCall: {
    ...step,
    greeting_message: 'greeting',
    greeting_text: 'greeting',
    first_message: 'greeting',
    initial_message: 'greeting',
    welcome_message: 'greeting',
    recording_id: 'greeting_recording_id',
  },
  agentNode: step,
  endCall: step,
  globalNode: { system_prompt: 'prompt', instructions: 'prompt' },
  trigger: { path: 'trigger_path' },
  webhook: {
    url: 'endpoint_url',
    uri: 'endpoint_url',
    endpoint: 'endpoint_url',
    webhook_url: 'endpoint_url',
    method: 'http_method',
    headers: 'custom_headers',
    body: 'payload_template',
    payload: 'payload_template',
    credential: 'credential_uuid',
    credential_id: 'credential_uuid',
  },
  qa: {
    enabled: 'qa_enabled',
    prompt: 'qa_system_prompt',
    system_prompt: 'qa_system_prompt',
    min_call_duration: 'qa_min_call_duration',
    voicemail_calls: 'qa_voicemail_calls',
    sample_rate: 'qa_sample_rate',
    use_workflow_llm: 'qa_use_workflow_llm',
    provider: 'qa_provider',
    model: 'qa_model',
    api_key: 'qa_api_key',
    endpoint: 'qa_endpoint',
  },
};

export const EDGE_ALIASES: Aliases = {
  name: 'label',
  description: 'condition',
  speech: 'transition_speech',
};

export const CONFIGURATION_ALIASES: Aliases = {
  max_duration: 'max_call_duration',
  call_duration: 'max_call_duration',
  max_call_duration_seconds: 'max_call_duration',
  idle_timeout: 'max_user_idle_timeout',
  user_idle_timeout: 'max_user_idle_timeout',
  language: 'agent_language',
  ambient_noise: 'ambient_noise_configuration',
  voicemail: 'voicemail_detection',
  transcript: 'transcript_configuration',
  keywords: 'dictionary',
  vocabulary: 'dictionary',
  llm: 'model_overrides.llm',
  stt: 'model_overrides.stt',
  tts: 'model_overrides.tts',
};
