// One of everything in an organization, and for every operation that wants a key one request that does
// its work there. Tests that go through all operations begin from these.

import { wavHeader } from '../../src/audio/wav.ts';
import { webhook } from '../store/runs/completed-runs.ts';
import type { Example } from './example.ts';
import type { Served } from './served.ts';
import { smallWorkflow } from './served.ts';
import { makeServices, SERVICE_SECRET } from './world-services.ts';
import { makeTextChats } from './world-text-chats.ts';
import { CREDENTIAL_SECRET, makeTools, TOOL_SECRET } from './world-tools.ts';

/** In the name of every row that is there: no other organization may ever see it. */
export const MARK = 'owners-own';
/** Every secret that the owner stores; no answer and no log may hold one. */
export const SECRETS = {
  pbx: 'the-password-of-the-pbx',
  trunked: 'the-token-of-the-trunked-account',
  credential: CREDENTIAL_SECRET,
  tool: TOOL_SECRET,
  service: SERVICE_SECRET,
} as const;

export interface World {
  /** By operation id. */
  examples: Record<string, Example>;
  /** Names of rows that are there. */
  ids: string[];
}

export async function makeWorld(served: Served): Promise<World> {
  const telephony = await makeTelephony(served);
  const agent = await makeAgent(served, telephony);
  return {
    examples: {
      ...accountExamples(await makeKey(served)),
      ...telephonyExamples(telephony),
      ...workflowExamples(agent),
      ...runExamples(agent),
      ...deliveryExamples(await makeDelivery(served, agent)),
      ...(await makeTools(served, MARK)),
      ...(await makeServices(served)),
      ...(await makeTextChats(served, MARK)),
      ...campaignExamples(await makeCampaign(served, agent)),
      ...recordingExamples(agent, await makeRecording(served)),
    },
    ids: [...Object.values(telephony), ...Object.values(agent)],
  };
}

const pbx = {
  provider: 'ari',
  ari_endpoint: 'http://pbx:8088',
  app_name: 'a',
  app_password: SECRETS.pbx,
};

async function makeKey(served: Served): Promise<string> {
  return (await served.ok('POST', '/user/api-keys', { name: `${MARK} key` })).id;
}

interface Telephony {
  config_id: string;
  phone_number_id: string;
  /** Configuration of a provider that has trunks. */
  trunked_config_id: string;
  trunk_id: string;
  examination_id: string;
  line_id: string;
}

async function makeTelephony(served: Served): Promise<Telephony> {
  const configurations = '/organizations/telephony-configs';
  const { id } = await served.ok('POST', configurations, { name: `${MARK} pbx`, config: pbx });
  const number = await served.ok('POST', `${configurations}/${id}/phone-numbers`, {
    address: '1001',
    label: `${MARK} number`,
  });
  const trunked = await served.ok('POST', configurations, {
    name: `${MARK} trunked`,
    config: { provider: 'cloudonix', bearer_token: SECRETS.trunked, domain_id: MARK },
  });
  const trunk = await served.ok('POST', `${configurations}/${trunked.id}/trunks`, {
    name: `${MARK} trunk`,
  });
  const examination = await served.ok('POST', `${configurations}/${id}/examination-calls`, {
    phone_number: '+15550100',
  });
  const line = await served.ok('POST', `${configurations}/${id}/lines`, {
    name: `${MARK} line`,
    kind: 'number',
    number: '1001',
  });
  return {
    line_id: line.id,
    examination_id: examination.id,
    config_id: id,
    phone_number_id: number.id,
    trunked_config_id: trunked.id,
    trunk_id: trunk.id,
  };
}

interface Agent {
  workflow_id: string;
  uuid: string;
  version_id: string;
  trigger: string;
  run_id: string;
  recordingKey: string;
  folder_id: string;
}

async function makeAgent(served: Served, telephony: Telephony): Promise<Agent> {
  const trigger = {
    id: '9',
    type: 'trigger',
    position: { x: 0, y: 0 },
    data: { name: 'API', trigger_path: `${MARK}-trigger` },
  };
  const made = await served.ok('POST', '/workflow/create/definition', {
    name: `${MARK} agent`,
    workflow_definition: { ...smallWorkflow, nodes: [...smallWorkflow.nodes, trigger] },
  });
  const { workflow_uuid: uuid } = await served.ok('GET', `/workflow/fetch/${made.id}`);
  const { store, owner } = served.test;
  const { run } = await store.runs.create(
    {
      organizationId: owner.organizationId,
      workflowId: made.id,
      definitionId: made.current_definition_id,
      name: `${MARK} run`,
      mode: 'ari',
      callType: 'inbound',
      configurationId: telephony.config_id,
      providerCallId: null,
      initialContext: {},
      gatheredContext: {},
      logs: {},
    },
    10,
  );
  served.callService.run = run;
  const recordingKey = `recordings/${run.id}.wav`;
  await served.test.store.files.write(recordingKey, Buffer.from('RIFF'));
  await store.runs.patch(run.id, { recordingKey });
  const folder = await served.ok('POST', '/folder/', { name: `${MARK} folder` });
  return {
    folder_id: folder.id,
    workflow_id: made.id,
    uuid,
    version_id: made.current_definition_id,
    trigger: `${MARK}-trigger`,
    run_id: run.id,
    recordingKey,
  };
}

async function makeDelivery({ test }: Served, agent: Agent): Promise<string> {
  const made = webhook({ nodeName: `${MARK} webhook` });
  await test.store.afterworks.finish(agent.run_id, [made]);
  const page = { limit: 1, offset: 0 };
  const { deliveries } = await test.store.deliveries.list(test.owner.organizationId, page);
  return deliveries[0]?.id ?? '';
}

function deliveryExamples(deliveryId: string): Record<string, Example> {
  const path = { delivery_id: deliveryId };
  return {
    listWebhookDeliveries: {},
    getWebhookDelivery: { path },
    redeliverWebhook: { path },
    getWebhookSigningSecret: {},
    rotateWebhookSigningSecret: {},
  };
}

function accountExamples(apiKeyId: string): Record<string, Example> {
  const path = { api_key_id: apiKeyId };
  return {
    listApiKeys: {},
    createApiKey: { body: { name: 'other key' } },
    reactivateApiKey: { path },
    archiveApiKey: { path },
    getOwnUser: {},
    getAuthUser: {},
    getOnboardingState: {},
    updateOnboardingState: { body: { skipped: true, seen_tooltips: ['a'] } },
    getOrganizationContext: {},
    getPreferences: {},
    updatePreferences: { body: { test_phone_number: '+15550100', timezone: 'Europe/Oslo' } },
    listDispositionCodes: {},
  };
}

function telephonyExamples({
  config_id,
  phone_number_id,
  trunked_config_id,
  trunk_id,
  examination_id,
  line_id,
}: Telephony): Record<string, Example> {
  const path = { config_id };
  const number = { config_id, phone_number_id };
  const examination = { config_id, call_id: examination_id };
  const line = { config_id, line_id };
  const trunked = { config_id: trunked_config_id };
  const trunk = { ...trunked, trunk_id };
  return {
    listTelephonyProviders: {},
    listTelephonyConfigurations: {},
    createTelephonyConfiguration: { body: { name: 'second pbx', config: pbx } },
    getTelephonyConfiguration: { path },
    updateTelephonyConfiguration: { path, body: { name: 'renamed', config: pbx } },
    deleteTelephonyConfiguration: { path },
    setDefaultOutbound: { path },
    getAsteriskFiles: { path },
    getSystemStatus: { foreign: 403 },
    listPhoneNumbers: { path },
    createPhoneNumber: { path, body: { address: '1002' } },
    getPhoneNumber: { path: number },
    updatePhoneNumber: { path: number, body: { label: 'desk' } },
    deletePhoneNumber: { path: number },
    setDefaultCaller: { path: number },
    getTelephonyWarnings: {},
    getDefaultTelephonyConfiguration: {},
    saveDefaultTelephonyConfiguration: { body: pbx },
    reactivateTelephonyConfiguration: { path },
    examineTelephonyConfiguration: { path, body: { call_numbers: true, context: 'from-trunk' } },
    startExaminationCall: { path, body: { phone_number: '+15550100' } },
    getExaminationCall: { path: examination },
    hangUpExaminationCall: { path: examination },
    getExaminationCapture: { path: examination },
    syncTelephonyConfiguration: { path, body: { apply: true } },
    listWatchedLines: { path },
    createWatchedLine: { path, body: { name: 'second line', kind: 'pbx' } },
    updateWatchedLine: { path: line, body: { enabled: false } },
    deleteWatchedLine: { path: line },
    listWatchedLineTests: { path: line },
    listTrunks: { path: trunked },
    createTrunk: { path: trunked, body: { name: 'second trunk', settings: { region: 'eu' } } },
    updateTrunk: { path: trunk, body: { enabled: false } },
    deleteTrunk: { path: trunk },
  };
}

function workflowExamples({
  workflow_id,
  uuid,
  version_id,
  trigger,
  folder_id,
}: Agent): Record<string, Example> {
  const path = { workflow_id };
  const call = { phone_number: '+15550100' };
  return {
    // The call service decides whose agent it is, by the organization that it gets.
    startCallByAgent: { path: { workflow_uuid: uuid }, body: call, foreign: 200 },
    startTestCallByAgent: { path: { workflow_uuid: uuid }, body: call, foreign: 200 },
    startCallByTrigger: { path: { uuid: trigger }, body: call, foreign: 200 },
    startTestCallByTrigger: { path: { uuid: trigger }, body: call, foreign: 200 },
    initiateCall: { body: { workflow_id }, foreign: 200 },
    startWebCall: { body: { workflow_id }, foreign: 200 },
    createWorkflow: { body: { name: 'new', workflow_definition: smallWorkflow } },
    listWorkflows: {},
    listWorkflowNames: {},
    countWorkflows: {},
    getWorkflow: { path },
    updateWorkflow: { path, body: { name: 'renamed' } },
    setWorkflowStatus: { path, body: { status: 'active' } },
    listWorkflowVersions: { path },
    getWorkflowVersion: { path: { workflow_id, version_id } },
    restoreWorkflowVersion: { path: { workflow_id, version_id } },
    validateWorkflow: { path },
    createWorkflowDraft: { path },
    publishWorkflow: { path },
    duplicateWorkflow: { path },
    writeWorkflow: { body: { call_type: 'inbound', use_case: 'a', activity_description: 'b' } },
    createWorkflowFromTemplate: { body: { template_id: '1', workflow_name: 'new' } },
    listFolders: {},
    createFolder: { body: { name: 'new folder' } },
    moveWorkflowToFolder: { path, body: { folder_id } },
    renameFolder: { path: { folder_id }, body: { name: 'renamed' } },
    deleteFolder: { path: { folder_id } },
    listNodeTypes: {},
    // The same for everybody.
    getNodeType: { path: { name: 'startCall' }, foreign: 200 },
    listDocuments: {},
  };
}

async function makeRecording(served: Served): Promise<{ id: string; name: string; key: string }> {
  const { store, owner } = served.test;
  const name = `${MARK}-recording-${served.deps.random.integer(1_000_000)}`;
  const key = `recordings/${owner.organizationId}/${name}/a.wav`;
  await store.files.write(key, helloWav());
  const [clip] = await store.clips.create(owner, [
    {
      name,
      transcript: `${MARK} words`,
      storageKey: key,
      workflowId: null,
      ttsProvider: null,
      ttsModel: null,
      ttsVoiceId: null,
      metadata: {},
    },
  ]);
  return { id: clip?.id ?? '', name, key };
}

/** A tenth of a second. */
function helloWav(): Buffer {
  const header = wavHeader({ rateHz: 8_000, channels: 1, dataBytes: 1_600 });
  return Buffer.concat([header, Buffer.alloc(1_600)]);
}

function recordingExamples(
  { workflow_id }: Agent,
  { id, name, key }: { id: string; name: string; key: string },
): Record<string, Example> {
  const file = { filename: 'a.wav', file_size: 100 };
  const recording = { recording_id: 'another', transcript: 'Hello.', storage_key: key };
  return {
    createRecordingUploads: { body: { files: [file] } },
    createAmbientNoiseUpload: { body: { workflow_id, ...file }, foreign: 404 },
    listRecordings: {},
    createRecordings: { body: { recordings: [recording] }, foreign: 403 },
    renameRecording: { path: { recording_id: id }, body: { recording_id: name } },
    deleteRecording: { path: { recording_id: name } },
    transcribeRecording: {},
  };
}

function runExamples({ workflow_id, run_id, recordingKey }: Agent): Record<string, Example> {
  return {
    getRun: { path: { workflow_id, run_id } },
    explainRun: { path: { workflow_id, run_id } },
    listRuns: { path: { workflow_id } },
    listAllRuns: {},
    listRunEvents: { path: { workflow_id, run_id } },
    getRunPeaks: { path: { workflow_id, run_id } },
    listActiveCalls: {},
    watchRun: { path: { workflow_id, run_id }, query: { follow: 'false' } },
    watchCalls: { query: { follow: 'false' }, foreign: 200 },
    hangUpCall: { path: { workflow_id, run_id } },
    sendDigits: { path: { workflow_id, run_id }, body: { digits: '12#' } },
    createRun: { path: { workflow_id }, body: { mode: 'ari', name: 'mine' } },
    downloadWorkflowReport: { path: { workflow_id } },
    getDailyReport: { query: { date: '2026-01-15', timezone: 'UTC', workflow_id } },
    listDailyRuns: { query: { date: '2026-01-15', timezone: 'UTC', workflow_id } },
    listReportWorkflows: {},
    listUsageRuns: {},
    downloadUsageReport: {},
    getCurrentUsage: {},
    getDailyUsage: {},
    getSignedUrl: { query: { key: recordingKey }, foreign: 403 },
    getFileMetadata: { query: { key: recordingKey }, foreign: 403 },
    createContactsUpload: { body: { file_name: 'contacts.csv', file_size: 100 } },
  };
}

interface Campaigns {
  campaign_id: string;
  body: Record<string, unknown>;
}

async function makeCampaign(served: Served, { workflow_id }: Agent): Promise<Campaigns> {
  const sourceId = `campaigns/${served.test.owner.organizationId}/${MARK}.csv`;
  await served.deps.files.write(sourceId, Buffer.from('phone_number\n+14155550100\n'));
  const body = { name: `${MARK} campaign`, workflow_id, source_type: 'csv', source_id: sourceId };
  const { id } = await served.ok('POST', '/campaign/create', body);
  return { campaign_id: id, body };
}

function campaignExamples({ campaign_id, body }: Campaigns): Record<string, Example> {
  const path = { campaign_id };
  return {
    createCampaign: { body, foreign: 404 },
    previewContacts: { query: { source_id: String(body['source_id']) }, foreign: 403 },
    listCampaigns: {},
    getCampaign: { path },
    updateCampaign: { path, body: { name: 'renamed' } },
    getCampaignDefaults: {},
    startCampaign: { path },
    pauseCampaign: { path },
    resumeCampaign: { path },
    redialCampaign: { path, body: {} },
    cancelCampaign: { path },
    deleteCampaign: { path },
    getCampaignProgress: { path },
    getCampaignSource: { path },
    listCampaignRuns: { path },
    getCampaignReport: { path },
  };
}
