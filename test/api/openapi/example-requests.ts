// The requests in the API's description, as somebody who uses it would write them. Those of world.ts test rights; these
// are read by people. Their ids and keys are those of the world.

import { isObject } from '../../../src/std/json.ts';
import type { Example } from '../example.ts';

const call = {
  phone_number: '+14155550100',
  initial_context: { first_name: 'Ana', appointment: 'Thursday at nine' },
};

const pbx = {
  provider: 'ari',
  ari_endpoint: 'http://10.0.0.5:8088',
  app_name: 'patchbay',
  app_password: 'password-in-ari-conf',
};

const reception = {
  nodes: [
    {
      id: 'start',
      type: 'startCall',
      position: { x: 0, y: 0 },
      data: {
        name: 'Greeting',
        greeting: 'Hello, this is the dental practice. How can I help you?',
        prompt: 'Find out whether the caller wants an appointment.',
      },
    },
    {
      id: 'appointment',
      type: 'agentNode',
      position: { x: 0, y: 200 },
      data: {
        name: 'Appointment',
        prompt: 'Ask for the day and the time that suit the caller.',
        extraction_enabled: true,
        extraction_variables: [{ name: 'day', type: 'string', prompt: 'The day.' }],
      },
    },
    {
      id: 'end',
      type: 'endCall',
      position: { x: 0, y: 400 },
      data: { name: 'Goodbye', prompt: 'Repeat the appointment and say goodbye.' },
    },
  ],
  edges: [
    {
      id: 'start-appointment',
      source: 'start',
      target: 'appointment',
      data: { label: 'Appointment', condition: 'The caller wants an appointment.' },
    },
    {
      id: 'appointment-end',
      source: 'appointment',
      target: 'end',
      data: { label: 'Done', condition: 'Day and time are known.' },
    },
  ],
};

const localServices = {
  llm: {
    provider: 'openai',
    base_url: 'http://127.0.0.1:11434/v1',
    api_key: 'ollama',
    model: 'llama3.1',
  },
  tts: { provider: 'flite', voice: 'rms' },
  stt: { provider: 'pocketsphinx' },
};

/** The name that the recording gets. */
const RECORDING = 'opening-hours';

/** Bodies by operation. `of` gives a field of the world's body of that operation. */
function bodies(of: (operation: string, field: string) => unknown): Record<string, unknown> {
  return {
    startCallByAgent: call,
    startTestCallByAgent: call,
    startCallByTrigger: call,
    startTestCallByTrigger: call,
    initiateCall: {
      workflow_id: of('initiateCall', 'workflow_id'),
      phone_number: '+14155550100',
    },
    startWebCall: {
      workflow_id: of('startWebCall', 'workflow_id'),
      initial_context: { first_name: 'Ada' },
    },
    createRun: { mode: 'ari', name: 'Test of the greeting' },
    ...accountBodies,
    ...telephonyBodies,
    ...workflowBodies(of('moveWorkflowToFolder', 'folder_id')),
    ...toolBodies,
    ...fileBodies(of),
    createCampaign: {
      name: 'Reminders in spring',
      workflow_id: of('createCampaign', 'workflow_id'),
      source_type: 'csv',
      source_id: of('createCampaign', 'source_id'),
      max_concurrency: 5,
      retry_config: { max_retries: 2, retry_delay_seconds: 300 },
      schedule_config: {
        timezone: 'America/New_York',
        slots: [{ day_of_week: 0, start_time: '09:00', end_time: '17:00' }],
      },
    },
    updateCampaign: { name: 'Reminders in spring', max_concurrency: 3 },
    redialCampaign: { name: 'Reminders, second round', retry_on_voicemail: false },
    createTextChat: { name: 'Visitor of the website', initial_context: { who: 'Ana' } },
    sendTextChatMessage: { text: 'Are you open on Saturday?' },
  };
}

const accountBodies = {
  createApiKey: { name: 'Reporting' },
  updateOnboardingState: { seen_tooltips: ['publish'], completed_actions: ['first-call'] },
  updatePreferences: { test_phone_number: '+14155550100', timezone: 'Europe/Oslo' },
  saveModelConfiguration: {
    version: 2,
    mode: 'byok',
    byok: { mode: 'pipeline', pipeline: localServices },
  },
};

const telephonyBodies = {
  createTelephonyConfiguration: { name: 'PBX of the branch', config: pbx },
  updateTelephonyConfiguration: {
    name: 'PBX of the office',
    calls_per_second: 2,
    config: { provider: 'ari', dial_template: 'PJSIP/{number}@trunk' },
  },
  saveDefaultTelephonyConfiguration: pbx,
  startExaminationCall: { phone_number: '+14155550100' },
  createWatchedLine: { name: 'Main number', kind: 'number', number: '1001' },
  updateWatchedLine: { interval_minutes: 15, channels: 8 },
  createTrunk: { name: 'Europe', settings: { region: 'eu' } },
  createPhoneNumber: { address: '+14155550101', label: 'Reception', is_default_caller_id: true },
  updatePhoneNumber: { label: 'Reception' },
};

function workflowBodies(folderId: unknown): Record<string, unknown> {
  return {
    createWorkflow: { name: 'Reception', workflow_definition: reception },
    updateWorkflow: {
      name: 'Appointments',
      workflow_configurations: { max_call_duration: 600, agent_language: 'en' },
    },
    writeWorkflow: {
      call_type: 'inbound',
      use_case: 'Reception of a dental practice',
      activity_description: 'Greets the caller, asks for a day and a time, and repeats both.',
    },
    createWorkflowFromTemplate: { template_id: '1', workflow_name: 'Appointment reminder' },
    createFolder: { name: 'Support' },
    renameFolder: { name: 'Customer support' },
    moveWorkflowToFolder: { folder_id: folderId },
  };
}

const toolBodies = {
  createTool: {
    name: 'Look up customer',
    description: 'Use it when the caller gives a customer number.',
    definition: {
      type: 'http_api',
      config: {
        method: 'GET',
        url: 'https://crm.example.com/customers',
        parameters: [
          { name: 'customer_id', type: 'string', description: 'The number of the customer.' },
        ],
      },
    },
  },
  updateTool: { description: 'Use it when the caller gives a customer number.' },
  testTool: { llm_params: { customer_id: '4711' } },
  createCredential: {
    name: 'CRM',
    credential_type: 'bearer_token',
    credential_data: { token: 'token-of-the-crm' },
  },
  updateCredential: { description: 'Reads customers.' },
};

function fileBodies(of: (operation: string, field: string) => unknown): Record<string, unknown> {
  const [recording] = of('createRecordings', 'recordings') as [{ storage_key: string }];
  return {
    createContactsUpload: { file_name: 'contacts.csv', file_size: 2_048 },
    createRecordingUploads: { files: [{ filename: 'greeting.wav', file_size: 96_044 }] },
    createAmbientNoiseUpload: {
      workflow_id: of('createAmbientNoiseUpload', 'workflow_id'),
      filename: 'office.wav',
      file_size: 480_044,
    },
    createRecordings: {
      recordings: [
        {
          recording_id: 'greeting',
          transcript: 'Thank you for calling.',
          storage_key: recording.storage_key,
        },
      ],
    },
    renameRecording: { recording_id: RECORDING },
  };
}

/** The world's requests with these bodies. */
export function documentedRequests(examples: Record<string, Example>): Record<string, Example> {
  const written = bodies((operation, field) => {
    const body = examples[operation]?.body;
    return isObject(body) ? body[field] : undefined;
  });
  return {
    ...Object.fromEntries(
      Object.entries(examples).map(([id, example]) => [
        id,
        id in written ? { ...example, body: written[id] } : example,
      ]),
    ),
    deleteRecording: { path: { recording_id: RECORDING } },
  };
}
