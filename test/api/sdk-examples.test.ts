// Every example that the reference platform gives for its two SDKs, by what it does: run with the TypeScript
// SDK itself and with what the Python SDK sends and accepts, against a server on loopback.
// Source: dograh-hq/dograh (BSD-2-Clause), October 2026. sdk/python/README.md, sdk/typescript/README.md,
// docs/sdks/, examples/python/ and examples/typescript/. Calls and fields are theirs, the texts ours.

import type { AddressInfo } from 'node:net';
import { Workflow } from '@dograh/sdk';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { syncNext } from '../../src/campaign/contact-sync.ts';
import { catalogue } from '../../src/workflow/graph/node-catalogue.ts';
import { campaignHarness } from './campaigns/campaign-harness.ts';
import { PythonSdk } from './python-sdk/client.ts';
import { smallWorkflow, withApi } from './served.ts';
import { TypeScriptSdk } from './typescript-sdk.ts';

const served = withApi();
let url = '';

beforeAll(async () => {
  await served.api.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(served.api.server.address() as AddressInfo).port}`;
});

afterEach(() => vi.unstubAllEnvs());

type Sdk = PythonSdk | TypeScriptSdk;

/** What most examples build: a caller who agrees is asked, and a caller who has answered is let go. */
async function threeNodes(client: Sdk, name: string, more: Record<string, unknown> = {}) {
  const flow = new Workflow({ client, name });
  const greeting = await flow.add({
    type: 'startCall',
    name: 'greeting',
    prompt: '# Goal\nGreet the caller.\n\n## Flow\nAsk whether they have a minute.',
    ...more,
  });
  const qualify = await flow.add({
    type: 'agentNode',
    name: 'qualify',
    prompt: 'Ask for amount and date.\n- At most two sentences at a time — no more.',
  });
  const done = await flow.add({ type: 'endCall', name: 'done', prompt: 'Thank them.' });
  flow.edge(greeting, qualify, { label: 'interested', condition: 'They have a minute.' });
  flow.edge(qualify, done, { label: 'done', condition: 'Both questions are answered.' });
  return { flow, greeting, done };
}

describe.each([
  ['Python', (options: { baseUrl: string; apiKey: string }): Sdk => new PythonSdk(options)],
  ['TypeScript', (options: { baseUrl: string; apiKey: string }): Sdk => new TypeScriptSdk(options)],
] as const)('with the %s SDK', (sdk, connect) => {
  let client: Sdk;
  /** Id of an existing agent. */
  let id = 0;

  beforeEach(async () => {
    client = connect({ baseUrl: url, apiKey: served.test.apiKey });
    const body = { name: 'an agent', workflow_definition: smallWorkflow };
    id = Number((await client.createWorkflow({ body })).id);
  });

  const isValid = async () => (await client.validateWorkflow(id)).is_valid;

  describe('the example of the README', () => {
    it('builds three nodes with a greeting, and saves them as a draft', async () => {
      const opening = { greeting_type: 'text', greeting: 'Hello {{first_name}}, this is Ann.' };
      const { flow } = await threeNodes(client, 'loans', opening);
      const saved = await client.saveWorkflow(id, flow);
      expect(saved).toMatchObject({ name: 'loans', version_number: 2, version_status: 'draft' });
      expect(saved.workflow_definition).toMatchObject({ nodes: [{ data: opening }, {}, {}] });
      expect(await isValid()).toBe(true);
    });

    it.each([
      ['an unknown field', { promt: 'x' }, /unknown field.*promt/],
      ['a required field that is empty', { prompt: ' ' }, /required field missing: prompt/],
      ['a value of another type', { allow_interrupt: 'yes' }, /expected boolean, got string/],
      ['a value that is no option', { greeting_type: 'video' }, /"video" not in allowed/],
      [
        'a reference that is no list, with a hint',
        { tool_uuids: 'x' },
        /tool_refs.*\n {2}Hint: \S/,
      ],
    ])('is refused %s', async (_what, more, message) => {
      await expect(threeNodes(client, 'loans', more)).rejects.toThrow(message);
    });

    it('finds gateway and key in the environment', async () => {
      vi.stubEnv('DOGRAH_API_URL', url);
      vi.stubEnv('DOGRAH_API_KEY', served.test.apiKey);
      const bare = client instanceof PythonSdk ? new PythonSdk() : new TypeScriptSdk();
      expect((await bare.listNodeTypes()).node_types).toHaveLength(catalogue.length);
    });
  });

  describe('the examples of the documentation', () => {
    it('list the agents (introduction)', async () => {
      const listed = await client.listWorkflows();
      expect(listed.map((each) => [Number(each.id), each.name])).toContainEqual([id, 'an agent']);
    });

    it('build an agent and save it as a draft, while calls use what is published', async () => {
      const { flow } = await threeNodes(client, 'loans');
      await client.saveWorkflow(id, flow);
      expect(await client.getWorkflow(id)).toMatchObject({
        version_status: 'draft',
        workflow_definition: flow.toJson(),
      });
      const version = await served.test.store.workflows.published(String(id));
      expect(version).toMatchObject({ versionNumber: 1, definition: smallWorkflow });
    });

    it('load an agent, rename it and save it (build an agent)', async () => {
      const flow = await client.loadWorkflow(id);
      Reflect.set(flow, 'name', 'loans, second try');
      const saved = await client.saveWorkflow(id, flow);
      expect([saved.name, saved.version_status]).toEqual(['loans, second try', 'draft']);
      expect(saved.workflow_definition).toMatchObject(smallWorkflow);
    });

    it('list the node types with their properties (build an agent)', async () => {
      const { node_types: types } = await client.listNodeTypes();
      expect(
        types.map(({ name, properties }) => [name, properties.map((each) => each.name)]),
      ).toEqual(
        catalogue.map(({ name, properties }) => [name, properties.map((each) => each.name)]),
      );
    });

    it('call a number (outbound calls)', async () => {
      await client.testPhoneCall({ body: { workflow_id: id, phone_number: '+14155550123' } });
      expect(served.callService.started).toMatchObject([
        { workflowId: String(id), phoneNumber: '+14155550123' },
      ]);
    });
  });

  describe('the runnable example', () => {
    it('create_workflow makes an agent of one node', async () => {
      const data = {
        name: 'start call',
        greeting_type: 'text',
        prompt: '# Goal\nHelp the caller.\n\n## Rules\n- "Sorry?": say it again — word for word.',
        allow_interrupt: false,
        add_global_prompt: false,
        delayed_start: false,
        delayed_start_duration: 2,
        extraction_enabled: false,
      };
      const definition = {
        nodes: [{ id: '1', type: 'startCall', position: { x: 271, y: 4 }, data }],
        edges: [],
        viewport: { x: 0, y: 0, zoom: 1 },
      };
      const body = { name: 'made by an SDK', workflow_definition: definition };
      const made = await client.createWorkflow({ body });
      expect([made.name, made.status]).toEqual(['made by an SDK', 'active']);
      expect((await client.getWorkflow(Number(made.id))).workflow_definition).toEqual(definition);
    });

    it('build_workflow_with_sdk keeps the name of the agent that it fills', async () => {
      const { name } = await client.getWorkflow(id);
      const { flow } = await threeNodes(client, name);
      const saved = await client.saveWorkflow(id, flow);
      expect(saved).toMatchObject({ name: 'an agent', version_number: 2, version_status: 'draft' });
      expect(saved.workflow_definition['nodes']).toHaveLength(3);
      expect(await isValid()).toBe(true);
    });

    it('load_and_edit_workflow adds to the prompt of the first node', async () => {
      const existing = await client.getWorkflow(id);
      const definition = structuredClone(existing.workflow_definition) as typeof smallWorkflow;
      for (const node of definition.nodes) {
        if (node.type === 'startCall') node.data.prompt += ' Be brief — two sentences.';
      }
      const body = { name: existing.name, workflow_definition: definition };
      const saved = await client.updateWorkflow(id, { body });
      expect(saved).toMatchObject({
        name: existing.name,
        version_status: 'draft',
        workflow_definition: {
          nodes: [{ data: { prompt: 'Greet the caller. Be brief — two sentences.' } }, {}],
        },
      });
    });

    it('fetch_workflow_and_call calls a number with an agent', async () => {
      const { name, status } = await client.getWorkflow(id);
      expect([name, status]).toEqual(['an agent', 'active']);
      const body = { workflow_id: id, phone_number: '+14155550124' };
      expect(await client.testPhoneCall({ body })).toMatchObject({ workflow_run_id: '42' });
    });

    it('publish_agent_and_campaign makes, validates and publishes an agent, and has it call', async () => {
      const build = async (greeting: string) => {
        const { flow, greeting: first, done } = await threeNodes(client, 'published', { greeting });
        flow.edge(first, done, { label: 'declined', condition: 'They have no time.' });
        return flow;
      };
      const definition = { ...(await build('Hello.')).toJson() };
      const body = { name: 'published', workflow_definition: definition };
      id = Number((await client.createWorkflow({ body })).id);
      const draft = await client.saveWorkflow(id, await build('Good day.'));
      expect([draft.version_number, draft.version_status]).toEqual([2, 'draft']);
      expect(await isValid()).toBe(true);
      expect(await client.publishWorkflow(id)).toMatchObject({
        version_number: 2,
        status: 'published',
      });
      expect((await client.listWorkflowRuns(id, { limit: 5 })).total_count).toBe(0);

      const harness = await campaignHarness(served);
      await harness.telephony(`pbx of ${sdk}`);
      const campaign = await client.createCampaign({
        body: {
          name: 'campaign',
          workflow_id: id,
          source_type: 'csv',
          source_id: await harness.upload('phone_number\n+14155550125\n+14155550126\n'),
        },
      });
      expect(campaign.state).toBe('created');
      const { id: campaignId } = await client.startCampaign(Number(campaign.id));
      await syncNext({ ...served.deps }, new AbortController().signal);
      expect(await client.getCampaignProgress(Number(campaignId))).toMatchObject({
        state: 'running',
        processed_rows: 0,
        total_rows: 2,
      });
      expect((await client.pauseCampaign(Number(campaignId))).state).toBe('paused');
      expect((await client.resumeCampaign(Number(campaignId))).state).toBe('running');
    });
  });
});
