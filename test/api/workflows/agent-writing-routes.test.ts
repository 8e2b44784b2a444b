// Agents from a description in plain words, over HTTP. Source: contract §5.1.

import { describe, expect, it } from 'vitest';
import { WorkflowGenerator } from '../../../src/workflow/authoring/agent-writer.ts';
import { ReviewerModel } from '../../fakes/call/reviewer-model.ts';
import { smallWorkflow, withApi } from '../served.ts';

const body = { call_type: 'outbound', use_case: 'Reminders', activity_description: 'Remind.' };
const path = '/api/v1/workflow/create/template';

describe('with a language model', () => {
  const llm = new ReviewerModel();
  const { call, ok } = withApi(({ clock }) => ({
    writer: new WorkflowGenerator({ modelOf: () => Promise.resolve(llm), clock }),
  }));

  it('an agent is written, stored and published', async () => {
    llm.answers = [JSON.stringify(smallWorkflow)];
    const made = await ok('POST', '/workflow/create/template', body);
    expect(made).toMatchObject({
      name: 'Reminders',
      status: 'active',
      version_number: 1,
      version_status: 'published',
      workflow_definition: smallWorkflow,
    });
    expect(await ok('GET', `/workflow/fetch/${made.id}`)).toEqual(made);
  });

  it('nothing is stored if the model draws nothing that works', async () => {
    llm.answers = ['no'];
    const { status, body: fault } = await call('POST', path, { body });
    expect(status).toBe(502);
    expect(fault.detail).toMatch(/^The language model did not create a valid agent/);
    expect(await ok('GET', '/workflow/fetch')).toEqual([]);
  });
});

describe('without a language model', () => {
  const { call } = withApi();

  it('says what to set', async () => {
    const { status, body: fault } = await call('POST', path, { body });
    expect([status, fault.detail]).toEqual([400, expect.stringContaining('OPENAI_API_KEY')]);
  });
});
