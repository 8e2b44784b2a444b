// What campaigns need to be made over the API: an agent, telephony and a contact file.

import type { Answer, Served } from '../served.ts';
import { smallWorkflow } from '../served.ts';

/** An agent that asks every contact for a `name`. */
export const namingWorkflow = {
  ...smallWorkflow,
  nodes: smallWorkflow.nodes.map((node) =>
    node.type === 'startCall'
      ? { ...node, data: { ...node.data, greeting: 'Hello {{name}}, at {{current_time}}.' } }
      : node,
  ),
};

export interface CampaignHarness {
  workflowId: string;
  /** Stores a contact file of the organization; gives its key. */
  upload(text: string, name?: string): Promise<string>;
  /** Plivo's configuration, with that many active numbers. */
  telephony(name: string, numbers?: number): Promise<string>;
  /** The body of a request for a new campaign that succeeds. */
  body(more?: Record<string, unknown>): Promise<Record<string, unknown>>;
  create(more?: Record<string, unknown>): Promise<Answer['body']>;
  /** Status and detail of an answer that is none. */
  refusal(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    body?: unknown,
  ): Promise<unknown[]>;
}

export async function campaignHarness({ ok, call, deps, test }: Served): Promise<CampaignHarness> {
  const workflow = await ok('POST', '/workflow/create/definition', {
    name: 'agent',
    workflow_definition: namingWorkflow,
  });
  const own = test.owner.organizationId;
  let numbers = 0;
  const harness: CampaignHarness = {
    workflowId: workflow.id,
    async upload(text, name = 'a.csv') {
      const key = `campaigns/${own}/${deps.random.uuid()}_${name}`;
      await deps.files.write(key, Buffer.from(text));
      return key;
    },
    async telephony(name, count = 1) {
      const config = { provider: 'plivo', auth_id: name, auth_token: 'b' };
      const { id } = await ok('POST', '/organizations/telephony-configs', { name, config });
      for (let i = 0; i < count; i++) {
        numbers += 1;
        const address = `+1415555${1_000 + numbers}`;
        await ok('POST', `/organizations/telephony-configs/${id}/phone-numbers`, { address });
      }
      return id;
    },
    async body(more = {}) {
      return {
        name: 'sept',
        workflow_id: harness.workflowId,
        source_type: 'csv',
        source_id: await harness.upload('phone_number,name\n+14155550100,Ana\n+14155550101,Ben\n'),
        ...more,
      };
    },
    async create(more = {}) {
      return ok('POST', '/campaign/create', await harness.body(more));
    },
    async refusal(method, path, body) {
      const answer = await call(method, `/api/v1${path}`, body === undefined ? {} : { body });
      return [answer.status, answer.body?.detail];
    },
  };
  return harness;
}
