// What the reference platform's Python SDK sends is taken, and what comes back fits its models: every method
// of it, with whatever may be stored. Its examples are in sdk-examples.test.ts. Source: python-sdk/values.ts.

import { readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { ApiError, SpecMismatchError, Workflow } from '@dograh/sdk';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { syncNext } from '../../src/campaign/contact-sync.ts';
import { catalogue } from '../../src/workflow/graph/node-catalogue.ts';
import { templates } from '../../src/workflow/templates/template-registry.ts';
import { campaignHarness } from './campaigns/campaign-harness.ts';
import { PythonSdk } from './python-sdk/client.ts';
import { withStoredRuns } from './runs/stored-runs.ts';
import { smallWorkflow, withApi } from './served.ts';

const served = withApi();
const stored = withStoredRuns(served);
let url = '';
let client: PythonSdk;
/** Id of an existing agent. */
let id = 0;

beforeAll(async () => {
  await served.api.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(served.api.server.address() as AddressInfo).port}`;
});

beforeEach(async () => {
  client = new PythonSdk({ baseUrl: url, apiKey: served.test.apiKey });
  const body = { name: 'agent', workflow_definition: smallWorkflow };
  id = (await client.createWorkflow({ body })).id;
});

describe('node types', () => {
  it('fit, in the list and each by itself', async () => {
    const { node_types: types, spec_version } = await client.listNodeTypes();
    expect([types, spec_version]).toEqual([catalogue, '1.0.0']);
    const other = new PythonSdk({ baseUrl: url, apiKey: served.test.apiKey });
    for (const spec of catalogue) expect(await other.getNodeType(spec.name)).toEqual(spec);
    await expect(other.getNodeType('roark')).rejects.toThrow(SpecMismatchError);
  });

  it('take what the typed nodes of the SDK send where nothing but the prompt is given', async () => {
    const flow = new Workflow({ client, name: 'typed' });
    const row = { name: 'day', type: 'string' };
    const extraction = { extraction_enabled: true, extraction_variables: [row] };
    const first = await flow.add({
      type: 'startCall',
      prompt: 'Greet.',
      name: 'Start Call',
      greeting_type: 'text',
      allow_interrupt: false,
      add_global_prompt: true,
      delayed_start: false,
      delayed_start_duration: 1.2,
      pre_call_fetch_mode: 'disabled',
      ...extraction,
    });
    const step = { allow_interrupt: true, add_global_prompt: true, ...extraction };
    const next = await flow.add({ type: 'agentNode', prompt: 'Ask.', name: 'Agent', ...step });
    const last = await flow.add({
      type: 'endCall',
      prompt: 'Thank.',
      name: 'End Call',
      add_global_prompt: false,
      ...extraction,
    });
    await flow.add({ type: 'globalNode', name: 'Global Node', prompt: 'Be kind.' });
    await flow.add({ type: 'trigger', name: 'API Trigger', enabled: true });
    await flow.add({
      type: 'webhook',
      name: 'Webhook',
      enabled: true,
      http_method: 'POST',
      endpoint_url: 'https://crm.example.com/calls',
      custom_headers: [{ key: 'X-Source', value: 'agent' }],
      payload_template: { call_id: '{{workflow_run_id}}' },
    });
    await flow.add({
      type: 'qa',
      name: 'QA Analysis',
      qa_enabled: true,
      qa_system_prompt: 'Look for questions that nobody answered.',
      qa_min_call_duration: 15,
      qa_voicemail_calls: false,
      qa_sample_rate: 100,
      qa_use_workflow_llm: true,
      qa_model: 'default',
    });
    flow.edge(first, next, { label: 'on', condition: 'Greeted.' });
    flow.edge(next, last, { label: 'end', condition: 'Asked.' });
    await client.saveWorkflow(id, flow);
    expect(await client.validateWorkflow(id)).toEqual({ is_valid: true, errors: [] });
  });
});

describe('agents', () => {
  it.each(readdirSync('fixtures/workflows'))('are loaded and saved: %s', async (file) => {
    const definition = JSON.parse(readFileSync(`fixtures/workflows/${file}`, 'utf8'));
    const body = { name: file, workflow_definition: definition };
    const { id: own } = await client.createWorkflow({ body });
    const flow = await client.loadWorkflow(own);
    expect((await client.saveWorkflow(own, flow)).version_status).toBe('draft');
  });

  it.each(templates.map((each) => [each.name, each.id]))(
    'are loaded: %s',
    async (name, template) => {
      const body = { template_id: template, workflow_name: name };
      const made = await served.ok('POST', '/workflow/templates/duplicate', body);
      expect((await client.loadWorkflow(Number(made.id))).toJson().nodes.length).toBeGreaterThan(1);
    },
  );

  it('keep the settings that the SDK sends when only one is given', async () => {
    const outcome = { code: 'sold', description: 'They buy.' };
    const settings = { max_call_duration: 600, call_dispositions: [outcome] };
    const saved = await client.updateWorkflow(id, {
      body: { workflow_configurations: settings, template_context_variables: { city: 'Ulm' } },
    });
    expect(saved.template_context_variables).toEqual({ city: 'Ulm' });
    expect(saved.workflow_configurations).toMatchObject({
      ...settings,
      max_user_idle_timeout: 10,
      turn_start_strategy: 'min_words',
    });
  });

  it('are filed in folders', async () => {
    const folder = await client.createFolder({ body: { name: 'sales' } });
    await served.ok('PUT', `/workflow/${id}/folder`, { folder_id: folder.id });
    expect(await client.listFolders()).toEqual([folder]);
    const listed = await client.listWorkflows({ status: 'active' });
    expect(listed.find((each) => each.id === id)?.folder_id).toBe(folder.id);
  });

  it('that are not complete are refused with a list of problems', async () => {
    const first = { id: '1', type: 'startCall', data: { name: 'a' } };
    const definition = { nodes: [first], edges: [] };
    await client.updateWorkflow(id, { body: { workflow_definition: definition } });
    const refused = client.validateWorkflow(id);
    await expect(refused).rejects.toThrow(ApiError);
    await expect(refused).rejects.toMatchObject({
      statusCode: 422,
      body: { detail: { is_valid: false, errors: [{ kind: 'node', field: 'data.prompt' }] } },
    });
  });
});

describe('runs', () => {
  it('fit in every state, in the list and each by itself', async () => {
    const { aRun, completed } = stored;
    const runs = [
      await aRun(),
      await aRun(
        { state: 'running', startedAt: new Date(0) },
        { callType: 'inbound', mode: 'ari' },
      ),
      await aRun(completed()),
      await aRun(
        completed({
          recordingKey: 'recordings/1/a.wav',
          transcriptKey: 'transcripts/1/a.txt',
          usageInfo: { llm: {} },
          costInfo: { total_cost_usd: 0 },
          annotations: { qa_1: { tags: [] } },
          logs: { realtime_feedback_events: [] },
        }),
      ),
      await aRun(completed({ disposition: 'busy', durationS: 0 }), { mode: 'textchat' }),
    ];
    const workflowId = Number(stored.workflowId);
    const page = await client.listWorkflowRuns(workflowId, {
      page: 1,
      limit: 5,
      filters: '[]',
      sortBy: 'created_at',
      sortOrder: 'asc',
    });
    expect(page.runs.map((run) => run.id)).toEqual(runs.map((run) => Number(run.id)));
    for (const run of runs) {
      const detail = await client.getWorkflowRun(workflowId, Number(run.id));
      expect([detail.id, detail.workflow_id]).toEqual([Number(run.id), workflowId]);
    }
  });
});

describe('tools', () => {
  const transfer = (more: object) => ({
    name: 'To sales',
    category: 'transfer_call' as const,
    definition: { type: 'transfer_call' as const, config: more },
  });
  const request = { method: 'POST' as const, url: 'https://crm.example.com/' };

  it.each([
    ['http_api', { type: 'http_api', config: request }],
    ['end_call', { type: 'end_call', config: {} }],
    ['transfer_call', { type: 'transfer_call', config: { destination: '+14155550100' } }],
    ['calculator', { type: 'calculator' }],
    ['mcp', { type: 'mcp', config: { url: 'https://mcp.example.com/' } }],
  ] as const)(
    'of type %s are made, read, changed, listed and archived',
    async (category, definition) => {
      const made = await client.createTool({ body: { name: category, category, definition } });
      expect(made).toMatchObject({ category, status: 'active', icon: 'globe' });
      const uuid = made.tool_uuid;
      const changed = await client.updateTool(uuid, { body: { name: 'other', definition } });
      expect(await client.getTool(uuid)).toEqual(changed);
      expect(await client.listTools({ category, status: 'active' })).toEqual([changed]);
      expect(await client.deleteTool(uuid)).toEqual({ status: 'archived', tool_uuid: uuid });
      expect((await client.getTool(uuid)).status).toBe('archived');
    },
  );

  it('that transfer by one rule may have it in the older form', async () => {
    const routes = [{ context_value: 'de', destination: '+4930555010' }];
    const older = { context_path: 'initial_context.language', routes };
    const made = await client.createTool({
      body: transfer({ destination_source: 'context_mapping', context_mapping: older }),
    });
    expect(made.definition).toMatchObject({
      config: { context_mapping: { rules: [older], fallback_destination: null } },
    });
  });

  it('of an MCP server may have deadlines of 0 seconds', async () => {
    const config = { url: 'https://mcp.example.com/', timeout_secs: 0, sse_read_timeout_secs: 0 };
    const body = { name: 'm', category: 'mcp', definition: { type: 'mcp', config } } as const;
    expect((await client.createTool({ body })).definition).toMatchObject({ config });
  });
});

describe('what agents use', () => {
  it('fits: credentials and documents', async () => {
    await served.ok('POST', '/credentials/', {
      name: 'CRM',
      credential_type: 'bearer_token',
      credential_data: { token: 'for the CRM' },
    });
    expect(await client.listCredentials()).toMatchObject([{ name: 'CRM' }]);
    const none = { documents: [], total: 0, limit: 5, offset: 0 };
    expect(await client.listDocuments({ status: 'completed', limit: 5 })).toEqual(none);
  });

  it('fits: recordings, of a user who is gone too', async () => {
    const { organizationId } = served.test.owner;
    const [user] = await served.test.sql(
      "insert into users (organization_id, name, created_at) values ($1, 'Ann', now()) returning id",
      [organizationId],
    );
    const clip = {
      name: 'hello',
      transcript: 'Hello.',
      storageKey: `recordings/${organizationId}/hello.wav`,
      workflowId: String(id),
      ttsProvider: 'flite',
      ttsModel: null,
      ttsVoiceId: null,
      metadata: {},
    };
    const userId = String(user?.['id']);
    await served.test.store.clips.create({ organizationId, userId }, [clip]);
    const listed = () => client.listRecordings({ workflowId: id, ttsProvider: 'flite' });
    expect(await listed()).toMatchObject({
      total: 1,
      recordings: [{ created_by: Number(userId) }],
    });
    await served.test.sql('delete from users where id = $1', [userId]);
    expect(await listed()).toMatchObject({ total: 1, recordings: [{ created_by: 0 }] });
  });
});

describe('campaigns', () => {
  it('fit with every setting, before, while and after they call', async () => {
    const harness = await campaignHarness(served);
    const configuration = Number(await harness.telephony('pbx', 2));
    const made = await client.createCampaign({
      body: {
        name: 'autumn',
        workflow_id: Number(harness.workflowId),
        source_type: 'csv',
        source_id: await harness.upload('phone_number,name\n+14155550100,Ana\n'),
        telephony_configuration_id: configuration,
        retry_config: {},
        max_concurrency: 2,
        schedule_config: { slots: [{ day_of_week: 0, start_time: '09:00', end_time: '17:00' }] },
        circuit_breaker: {},
      },
    });
    expect(made).toMatchObject({
      state: 'created',
      telephony_configuration_id: configuration,
      retry_config: { max_retries: 2, retry_delay_seconds: 120 },
      circuit_breaker: { failure_threshold: 0.5 },
    });
    expect((await client.listCampaigns()).campaigns).toContainEqual(made);
    expect((await client.startCampaign(made.id)).state).toBe('syncing');
    await syncNext({ ...served.deps }, new AbortController().signal);
    expect(await client.getCampaignProgress(made.id)).toMatchObject({ total_rows: 1 });
    expect((await client.pauseCampaign(made.id)).state).toBe('paused');
    expect((await client.resumeCampaign(made.id)).state).toBe('running');
    await served.test.sql("update campaigns set state = 'completed', completed_at = now()");
    expect(await client.getCampaign(made.id)).toMatchObject({ state: 'completed' });
  });
});
