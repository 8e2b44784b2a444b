// Agents that name tools. Source: contract §5.1, §5.3, Appendix B.

import { beforeEach, describe, expect, it } from 'vitest';
import { smallWorkflow, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
const UNKNOWN = '0f8fad5b-d9cb-469f-a165-70867728950e';
const definition = { type: 'http_api', config: { method: 'GET', url: 'https://crm.example.com/' } };

async function tool(name: string): Promise<string> {
  return (await ok('POST', '/tools/', { name, definition })).tool_uuid;
}

/** An agent whose first node may use the tools. It has an edge `Done`. */
function agentWith(...uuids: string[]) {
  const [start, ...others] = smallWorkflow.nodes;
  const nodes = [{ ...start, data: { ...start?.data, tool_uuids: uuids } }, ...others];
  return { ...smallWorkflow, nodes };
}

const create = (...uuids: string[]) =>
  call('POST', '/api/v1/workflow/create/definition', {
    body: { name: 'agent', workflow_definition: agentWith(...uuids) },
  });

describe('an agent with tools', () => {
  let id: string;
  const update = (...uuids: string[]) =>
    call('PUT', `/api/v1/workflow/${id}`, { body: { workflow_definition: agentWith(...uuids) } });
  beforeEach(async () => {
    id = (await create()).body.id;
  });

  it('is made and published', async () => {
    expect((await update(await tool('Look up'))).status).toBe(200);
    expect((await ok('POST', `/workflow/${id}/publish`)).status).toBe('published');
  });

  it('one of which has the name of an edge is refused: 422 when made, 409 when changed', async () => {
    const uuid = await tool('DONE');
    const problem = {
      kind: 'node',
      id: '1',
      field: 'data.tool_uuids',
      message: 'The tool DONE has the function name done, as the edge Done',
    };
    const made = await create(uuid);
    expect([made.status, made.body.detail.errors]).toEqual([422, [problem]]);
    const changed = await update(uuid);
    expect([changed.status, changed.body.detail.errors]).toEqual([409, [problem]]);
  });

  it('two of which have one name is refused, unless one of them is archived', async () => {
    const [first, second] = [await tool('Look up'), await tool('look-up')];
    expect((await create(first, second)).status).toBe(422);
    expect((await update(first, second)).status).toBe(409);
    await ok('DELETE', `/tools/${second}`);
    expect((await update(first, second)).status).toBe(200);
  });

  it('may name a tool twice', async () => {
    const uuid = await tool('Look up');
    expect((await create(uuid, uuid)).status).toBe(200);
  });

  it('that does not exist is stored as a draft and not published', async () => {
    expect((await update(UNKNOWN)).status).toBe(200);
    const problem = {
      kind: 'node',
      id: '1',
      field: 'data.tool_uuids',
      message: `Tool ${UNKNOWN} does not exist`,
    };
    for (const what of ['validate', 'publish']) {
      const { status, body } = await call('POST', `/api/v1/workflow/${id}/${what}`);
      expect([what, status, body.detail.errors]).toEqual([what, 422, [problem]]);
    }
  });

  it('that transfers to an agent needs that agent, published or not', async () => {
    const transferTo = async (agentUuid: string) => {
      const config = { agent_uuid: agentUuid };
      const body = { name: 'To billing', definition: { type: 'transfer_agent', config } };
      return (await ok('POST', '/tools/', body)).tool_uuid;
    };
    await update(await transferTo(UNKNOWN));
    const refused = await call('POST', `/api/v1/workflow/${id}/publish`);
    expect([refused.status, refused.body.detail.errors]).toEqual([
      422,
      [
        {
          kind: 'node',
          id: '1',
          field: 'data.tool_uuids',
          message: `The tool To billing transfers to the agent ${UNKNOWN}, which does not exist`,
        },
      ],
    ]);
    const { workflow_uuid: uuid } = (await create()).body;
    expect((await update(await transferTo(uuid))).status).toBe(200);
    expect((await ok('POST', `/workflow/${id}/publish`)).status).toBe('published');
  });

  it('of another organization has a tool that does not exist', async () => {
    const { apiKey } = await served.stranger();
    const foreign = await call('POST', '/api/v1/tools/', {
      key: apiKey,
      body: { name: 'Done', definition },
    });
    expect((await update(foreign.body.tool_uuid)).status).toBe(200);
    expect((await call('POST', `/api/v1/workflow/${id}/publish`)).status).toBe(422);
  });
});
