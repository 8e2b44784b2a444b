// The reference platform's own TypeScript client (npm @dograh/sdk 0.1.7) against a server on loopback.
// Source: contract §12.2.

import { readdirSync, readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { ApiError, DograhClient, SpecMismatchError, ValidationError, Workflow } from '@dograh/sdk';
import { agentNode, endCall, globalNode, qa, startCall, trigger, webhook } from '@dograh/sdk/typed';
import fc from 'fast-check';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import { catalogue } from '../../src/workflow/graph/node-catalogue.ts';
import { templates } from '../../src/workflow/templates/template-registry.ts';
import { rounds } from '../rounds.ts';
import { dataOf } from '../workflow/from-catalogue.ts';
import { smallWorkflow, withApi } from './served.ts';

const served = withApi();
let url = '';
let client: DograhClient;

beforeAll(async () => {
  await served.api.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(served.api.server.address() as AddressInfo).port}`;
});

beforeEach(() => {
  client = new DograhClient({ baseUrl: `${url}/`, apiKey: served.test.apiKey });
});

const text = (value: unknown) => JSON.stringify(value);
const created = async (definition: object, name = 'agent') =>
  String(
    (await client.createWorkflow({ body: { name, workflow_definition: { ...definition } } })).id,
  );

describe('the client', () => {
  it('lists the node types and reads one, and says which is unknown', async () => {
    const { node_types: types, spec_version } = await client.listNodeTypes();
    expect(types).toEqual(catalogue);
    expect([spec_version, client.specVersion]).toEqual(['1.0.0', '1.0.0']);
    const other = new DograhClient({ baseUrl: url, apiKey: served.test.apiKey });
    expect(await other.getNodeType('webhook')).toEqual(
      types.find(({ name }) => name === 'webhook'),
    );
    await expect(other.getNodeType('tuner')).rejects.toThrow(SpecMismatchError);
  });

  it('needs a key for them', async () => {
    const bare = new DograhClient({ baseUrl: url });
    await expect(bare.listNodeTypes()).rejects.toThrow(
      '[401] Authorization header required. Send an API key in X-API-Key, or a token in Authorization',
    );
  });

  it('builds a workflow, stores it, loads it, changes it and saves it as a draft', async () => {
    const flow = new Workflow({ client, name: 'reminder' });
    const hello = await flow.add({ type: 'startCall', prompt: 'Greet.', greeting: 'Hello.' });
    const ask = await flow.add({ type: 'agentNode', name: 'Ask', prompt: 'Ask for a day.' });
    const bye = await flow.add({ type: 'endCall', prompt: 'Say goodbye.', position: [0, 400] });
    flow.edge(hello, ask, { label: 'go on', condition: 'Greeted.' });
    flow.edge(ask, bye, { label: 'done', condition: 'Has a day.', transitionSpeech: 'Fine.' });
    const id = await created(flow.toJson(), 'reminder');

    const loaded = await client.loadWorkflow(Number(id));
    expect([loaded.name, loaded.toJson()]).toEqual(['reminder', flow.toJson()]);
    expect(loaded.findNode(ask.id)).toEqual(ask);
    const more = await loaded.add({ type: 'globalNode' });
    expect(more.id).toBe('4');
    expect(await client.saveWorkflow(Number(id), loaded)).toMatchObject({
      id,
      name: 'reminder',
      version_number: 2,
      version_status: 'draft',
      workflow_definition: loaded.toJson(),
    });
    const published = await served.ok('POST', `/workflow/${id}/publish`);
    expect(published).toMatchObject({ version_number: 2, status: 'published' });
    const listed = await client.listWorkflows({ status: 'active' });
    expect(listed).toMatchObject([{ id, name: 'reminder', total_runs: 0 }]);
    expect(await client.listWorkflows({ status: 'archived' })).toEqual([]);
  });

  it('builds with typed nodes, those of an older form included', async () => {
    const flow = new Workflow({ client, name: 'typed' });
    const first = await flow.addTyped(
      startCall({
        prompt: 'Greet.',
        pre_call_fetch_enabled: true,
        pre_call_fetch_url: 'https://crm.example.com',
      }),
    );
    const next = await flow.addTyped(
      agentNode({
        prompt: 'Ask.',
        extraction_enabled: true,
        extraction_variables: [{ name: 'day', type: 'string' }],
      }),
    );
    const last = await flow.addTyped(endCall({ prompt: 'Say goodbye.' }));
    await flow.addTyped(globalNode({ name: 'Manners', prompt: 'Be kind.' }));
    await flow.addTyped(trigger({ enabled: true, trigger_path: 'typed-trigger' }));
    await flow.addTyped(
      webhook({ custom_headers: [{ key: 'X-Source', value: 'agent' }], payload_template: {} }),
    );
    await flow.addTyped(qa({ qa_use_workflow_llm: false, qa_api_key: 'sk-0123456789' }));
    flow.edge(first, next, { label: 'on', condition: 'Greeted.' });
    flow.edge(next, last, { label: 'end', condition: 'Asked.' });
    const id = await created(flow.toJson());
    expect((await served.ok('POST', `/workflow/${id}/validate`)).is_valid).toBe(true);
    const loaded = (await client.loadWorkflow(Number(id))).toJson();
    expect(loaded.nodes[0]?.data).toMatchObject({ pre_call_fetch_mode: 'always' });
    expect(loaded.nodes[0]?.data).not.toHaveProperty('pre_call_fetch_enabled');
    expect(loaded.nodes[6]?.data).toMatchObject({ qa_api_key: '*********6789' });
  });

  it('refuses by our catalogue what our catalogue does not have', async () => {
    const flow = new Workflow({ client, name: 'wrong' });
    for (const [node, message] of [
      [{ type: 'agentNode', prompt: 'Ask.', accent: 'x' }, /unknown field/],
      [{ type: 'agentNode' }, /required field missing: prompt/],
      [{ type: 'webhook', http_method: 'TRACE' }, /not in allowed/],
      [{ type: 'qa', qa_sample_rate: '10' }, /expected number/],
    ] as const) {
      const adding = flow.add(node);
      await expect(adding).rejects.toThrow(ValidationError);
      await expect(adding).rejects.toThrow(message);
    }
  });

  it('shows our sentence for errors whose detail is a list of problems', async () => {
    const [start] = smallWorkflow.nodes;
    const two = { nodes: [start, { ...start, id: '3' }], edges: [] };
    const refused = created(two);
    await expect(refused).rejects.toThrow(ApiError);
    await expect(refused).rejects.toThrow(
      '[422] The workflow is not valid: Workflow can have at most one Start Call',
    );
    await expect(client.getWorkflow(999_999)).rejects.toThrow(
      '[404] Workflow with id 999999 not found',
    );
    await expect(client.listWorkflows({ status: 'gone' })).rejects.toThrow(
      "[422] Invalid status 'gone'",
    );
  });

  it('publishes an agent and tries it out on the telephone', async () => {
    const id = await created(smallWorkflow);
    const loaded = await client.loadWorkflow(Number(id));
    await client.saveWorkflow(Number(id), loaded);
    await served.ok('POST', `/workflow/${id}/publish`);
    const body = { workflow_id: Number(id), phone_number: '+15550100' };
    expect(await client.testPhoneCall({ body })).toMatchObject({
      workflow_run_id: '42',
      workflow_run_name: 'WR-API-4821',
    });
    expect(served.callService.started).toMatchObject([
      { workflowId: id, phoneNumber: '+15550100' },
    ]);
    served.callService.refusal = new GatewayError('TELEPHONY_NOT_CONFIGURED');
    await expect(client.testPhoneCall({ body })).rejects.toThrow(
      '[400] Telephony provider not configured for this organization',
    );
  });

  it('makes tools and lists them', async () => {
    expect(await client.listTools()).toEqual([]);
    const made = await client.createTool({
      body: {
        name: 'Hang up',
        description: 'Ends the call.',
        category: 'end_call',
        definition: { schema_version: 1, type: 'end_call', config: { messageType: 'none' } },
      } as Parameters<typeof client.createTool>[0]['body'],
    });
    expect(made).toMatchObject({ name: 'Hang up', category: 'end_call', status: 'active' });
    expect(await client.listTools({ status: 'active', category: 'end_call' })).toEqual([made]);
    expect(await client.listTools({ category: 'http_api' })).toEqual([]);
    await expect(client.listTools({ status: 'gone' })).rejects.toThrow(/^\[400\] /);
    const flow = new Workflow({ client, name: 'with a tool' });
    await flow.add({ type: 'startCall', prompt: 'Greet.', tool_uuids: [made.tool_uuid] });
    const id = await created(flow.toJson());
    expect((await served.ok('POST', `/workflow/${id}/validate`)).is_valid).toBe(true);
  });

  it('lists credentials, without their secrets', async () => {
    expect(await client.listCredentials()).toEqual([]);
    const made = await served.ok('POST', '/credentials/', {
      name: 'CRM',
      credential_type: 'bearer_token',
      credential_data: { token: 'for the CRM' },
    });
    expect(await client.listCredentials()).toEqual([made]);
    expect(text(made)).not.toContain('for the CRM');
  });

  it('makes tools and lists them', async () => {
    const body: Parameters<DograhClient['createTool']>[0]['body'] = {
      name: 'Look up',
      category: 'http_api',
      icon: 'globe',
      icon_color: '#3B82F6',
      definition: {
        schema_version: 1,
        type: 'http_api',
        config: { method: 'GET', url: 'https://crm.example.com/', timeout_ms: 5_000 },
      },
    };
    const made = await client.createTool({ body });
    expect(await client.listTools({ category: 'http_api' })).toEqual([made]);
    expect(await client.listTools({ status: 'archived' })).toEqual([]);
    await expect(client.listTools({ status: 'gone' })).rejects.toThrow(
      "[400] Invalid status 'gone'",
    );
  });

  it('lists recordings, by agent and voice', async () => {
    const id = await created(smallWorkflow);
    const clip = (name: string, ttsProvider: string, workflowId: string | null) => ({
      name,
      transcript: 'Hello.',
      storageKey: `recordings/${served.test.owner.organizationId}/${name}/hello.wav`,
      workflowId,
      ttsProvider,
      ttsModel: null,
      ttsVoiceId: null,
      metadata: {},
    });
    await served.test.store.clips.create(served.test.owner, [
      clip('mine', 'flite', id),
      clip('other', 'other', null),
    ]);
    const names = async (options: Parameters<typeof client.listRecordings>[0]) =>
      (await client.listRecordings(options)).recordings.map(({ recording_id }) => recording_id);
    expect((await names({})).sort()).toEqual(['mine', 'other']);
    expect(await names({ workflowId: Number(id), ttsProvider: 'flite' })).toEqual(['mine']);
    expect(await names({ ttsModel: 'none' })).toEqual([]);
  });

  it('finds no documents', async () => {
    expect(await client.listDocuments()).toEqual({
      documents: [],
      total: 0,
      limit: 100,
      offset: 0,
    });
    expect(await client.listDocuments({ status: 'completed', limit: 5, offset: 10 })).toEqual({
      documents: [],
      total: 0,
      limit: 5,
      offset: 10,
    });
  });
});

/** Anything that a client may have sent for a node: whole, half, of the wrong kind, of an older form. */
function storedNodes(): fc.Arbitrary<object[]> {
  const legacy = { is_start: fc.boolean(), is_end: fc.boolean(), mcp_tool_filters: fc.object() };
  const nodeOf = (spec: (typeof catalogue)[number], id: number) => {
    const names = spec.properties.map(({ name }) => name).filter((name) => name !== 'trigger_path');
    const junk = fc.dictionary(
      fc.oneof(fc.constantFrom(...names), fc.string()),
      fc.oneof(fc.jsonValue(), fc.constantFrom('', ' ', null, [{}], [{ name: 'x', type: 1 }])),
      { maxKeys: 6 },
    );
    const data = fc
      .tuple(fc.oneof(dataOf(spec), fc.constant({})), junk, fc.record(legacy, { requiredKeys: [] }))
      .map(([whole, odd, old]) => ({ ...whole, ...odd, ...old }));
    return fc.record(
      { id: fc.constant(String(id)), type: fc.constant(spec.name), data },
      { requiredKeys: ['id', 'type'] },
    );
  };
  return fc.subarray([...catalogue.keys()]).chain((chosen) =>
    fc.tuple(
      ...chosen.flatMap((index) => {
        const spec = catalogue[index];
        return spec === undefined ? [] : [nodeOf(spec, index)];
      }),
    ),
  );
}

describe('every workflow that is stored', () => {
  it('is loaded by the client, and saved again without a change', async () => {
    await fc.assert(
      fc.asyncProperty(storedNodes(), async (nodes) => {
        const { workflows } = served.test.store;
        const path = `p${served.deps.random.uuid().slice(0, 20)}`;
        const unique = nodes.map((node) => distinct(node, path));
        const id = await created({ nodes: unique, edges: [], viewport: { x: 0, y: 0, zoom: 1 } });
        const loaded = await client.loadWorkflow(Number(id));
        expect(loaded.toJson().nodes.map((node) => node.id)).toEqual(
          unique.map((node) => Reflect.get(node, 'id')),
        );
        await client.saveWorkflow(Number(id), loaded);
        const again = await client.loadWorkflow(Number(id));
        expect(text(again.toJson())).toBe(text(loaded.toJson()));
        expect((await workflows.draft(id))?.definition.nodes).toHaveLength(unique.length);
      }),
      { numRuns: rounds(40, 80) },
    );
  });

  it.each(readdirSync('fixtures/workflows'))('is loaded: %s', async (file) => {
    const definition = JSON.parse(readFileSync(`fixtures/workflows/${file}`, 'utf8'));
    const id = await created(definition);
    const loaded = (await client.loadWorkflow(Number(id))).toJson();
    const edges = (graph: { edges: { source: string; target: string; data: object }[] }) =>
      graph.edges.map(({ source, target, data }) => [source, target, data]);
    expect(edges(loaded as never)).toEqual(edges(definition));
    expect(loaded.nodes).toMatchObject(definition.nodes);
  });

  it.each(templates.map(({ id, name }) => [name, id]))('is loaded: %s', async (name, id) => {
    const body = { template_id: id, workflow_name: name };
    const made = await served.ok('POST', '/workflow/templates/duplicate', body);
    const loaded = (await client.loadWorkflow(Number(made.id))).toJson();
    expect(loaded.nodes).toMatchObject(made.workflow_definition.nodes);
  });

  it('is loaded where it is empty', async () => {
    const id = await created({});
    expect((await client.loadWorkflow(Number(id))).toJson()).toMatchObject({
      nodes: [],
      edges: [],
    });
  });

  it('says in place of a missing prompt that there is none, and does not take that for one', async () => {
    const id = await created({ nodes: [{ id: '1', type: 'startCall', data: {} }], edges: [] });
    const loaded = await client.loadWorkflow(Number(id));
    expect(loaded.toJson().nodes[0]?.data).toMatchObject({ prompt: '(no prompt yet)' });
    await client.saveWorkflow(Number(id), loaded);
    const { status, body } = await served.call('POST', `/api/v1/workflow/${id}/publish`);
    expect([status, body.detail.errors[0].field]).toEqual([422, 'data.prompt']);
  });
});

function distinct(node: object, path: string): object {
  const data: unknown = Reflect.get(node, 'data');
  if (typeof data !== 'object' || data === null || !('trigger_path' in data)) return node;
  return { ...node, data: { ...data, trigger_path: path } };
}
