// JSON that was stored before there were limits stays readable and starts no call: neither one that we place nor
// one that comes in. The check at the start names such agents.

import { describe, expect, it } from 'vitest';
import { logOversizedAgents } from '../../../../src/app/startup-checks.ts';
import { codeOf, GatewayError } from '../../../../src/errors/gateway-error.ts';
import { createLog } from '../../../../src/log.ts';
import { drinks, inboundRequest, withCallHarness } from '../../call-harness.ts';

const held = withCallHarness();
const LARGE = { ...drinks, kept: Array.from({ length: 20_001 }, () => 1) };
const EXCESS = 'its definition has more than 20000 values';

async function refusalOf(start: Promise<unknown>): Promise<unknown> {
  return start.then(
    () => undefined,
    (error: unknown) => (error instanceof GatewayError ? [error.code, error.message] : error),
  );
}

describe('an agent with more than calls can use', () => {
  it('is readable, and is refused for calls out, tests and text chats', async () => {
    const harness = await held.harness.prepare(LARGE);
    const { store, owner } = harness.at;
    expect((await store.workflows.published(harness.workflow.id))?.definition).toEqual(LARGE);
    const refusal = [
      'AGENT_OVERSIZED',
      `The agent is too large for calls: ${EXCESS}. Make it smaller and publish it again`,
    ];
    expect(await refusalOf(harness.start())).toEqual(refusal);
    expect(await refusalOf(harness.startTest())).toEqual(refusal);
    expect(await harness.runs()).toEqual([]);
    expect(harness.rest.asked).toEqual([]);
    expect(owner.organizationId).toBe(harness.workflow.organizationId);
  });

  it('is refused for calls that come in, in words, without a run', async () => {
    const harness = await held.harness.prepare(LARGE);
    const reply = await harness.callControl.inbound(inboundRequest(), null);
    expect(reply.status).toBe(200);
    expect(reply.body).toContain('something went wrong');
    expect(await harness.runs()).toEqual([]);
  });

  it.each([
    ['configurations', 'its configurations have more than 65536 bytes'],
    ['template_context_variables', 'its template variables have more than 65536 bytes'],
  ])('is refused for what is in its %s as well', async (column, excess) => {
    const harness = await held.harness.prepare();
    const value = JSON.stringify({ a: 'x'.repeat(70_000) });
    await harness.at.sql(`update workflow_versions set ${column} = $1`, [value]);
    expect(await refusalOf(harness.start())).toEqual([
      'AGENT_OVERSIZED',
      expect.stringContaining(excess),
    ]);
  });

  it('is named by the check at the start, with what is too large', async () => {
    const harness = await held.harness.prepare(LARGE);
    const { store, owner } = harness.at;
    for (let i = 0; i < 45; i += 1) {
      await store.workflows.create(owner, {
        name: `more ${i}`,
        triggerPaths: [],
        definition: i < 22 ? LARGE : drinks,
        configurations: {},
        templateContextVariables: {},
      });
    }
    const lines: Record<string, unknown>[] = [];
    const log = createLog(
      { level: 'info', pii: false },
      { write: (line) => lines.push(JSON.parse(line)) },
    );
    await logOversizedAgents(store, log);
    expect(lines).toHaveLength(21);
    expect(lines[0]).toMatchObject({
      organizationId: owner.organizationId,
      workflowId: harness.workflow.id,
      status: 'published',
      excess: EXCESS,
    });
    expect(lines.at(-1)).toMatchObject({ agents: 23 });
  });
});

describe('a context with more than calls can use', () => {
  it('is refused before anything is sent, and its run says why', async () => {
    const harness = await held.harness.prepare();
    const initialContext = { text: 'x'.repeat(300_000) };
    const error = await harness.start({ initialContext }).catch((reason: unknown) => reason);
    expect(codeOf(error)).toBe('CALL_NOT_PLACED');
    expect(harness.dials).toEqual([]);
    const [run] = await harness.runs();
    expect(run).toMatchObject({ state: 'completed', disposition: 'error' });
    expect(run?.gatheredContext['error']).toBe(
      'The initial context is too large: more than 262144 bytes',
    );
  });
});
