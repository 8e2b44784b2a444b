// Starts that name what they may not: rows of another organization, numbers of another configuration,
// telephony that is switched off. None leaves a run or reaches a provider. Source: contract §6.1.

import { describe, expect, it } from 'vitest';
import type { StartCall, TestCall } from '../../../../src/call/start/setup/call-start.ts';
import { GatewayError } from '../../../../src/errors/gateway-error.ts';
import { problemsIn } from '../../../../src/workflow/graph/workflow-refused.ts';
import { otherOrganization } from '../../../store/runs/completed-runs.ts';
import { type CallHarness, NUMBER, withCallHarness } from '../../call-harness.ts';
import { idleRun } from '../../idle-run.ts';

const held = withCallHarness();

async function told(start: Promise<unknown>): Promise<string> {
  const error = await start.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof GatewayError ? error.message : String(error);
}
const started = (harness: CallHarness, more: Partial<StartCall> = {}) => told(harness.start(more));
const tried = (harness: CallHarness, more: Partial<TestCall> = {}) => told(harness.startTest(more));

async function nothingHappened(harness: CallHarness): Promise<void> {
  expect(await harness.runs()).toEqual([]);
  expect(harness.rest.asked).toEqual([]);
}

describe('a start', () => {
  it('of an agent that is not valid is refused with every fault, and dials no number', async () => {
    const harness = await held.harness.prepare();
    await harness.at.sql(
      `update workflow_versions set definition = jsonb_set(definition::jsonb, '{edges}',
        '[{"id":"x","source":"nowhere","target":"1","data":{"label":"a","condition":"b"}}]')::json`,
    );
    for (const start of [harness.start(), harness.startTest()]) {
      const error = await start.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (!(error instanceof GatewayError)) throw new Error('not refused');
      expect(error.code).toBe('WORKFLOW_INVALID');
      expect(problemsIn(error)).toContainEqual({
        kind: 'edge',
        id: 'x',
        field: 'source',
        message: 'Source node nowhere does not exist',
      });
    }
    await nothingHappened(harness);
  });

  it.each([
    ['   ', 'it is not a telephone number'],
    ['hello', 'it is not a telephone number'],
    ['+1', 'a telephone number has 8 to 15 digits'],
    ['+123456789012345678', 'a telephone number has 8 to 15 digits'],
    ['911', 'emergency and short numbers'],
    ['00', 'emergency and short numbers'],
  ])('to %j is refused: %s', async (phoneNumber, reason) => {
    const harness = await held.harness.prepare();
    const words = expect.stringContaining(`phone_number cannot be dialled: ${reason}`);
    expect(await started(harness, { phoneNumber })).toEqual(words);
    expect(await tried(harness, { phoneNumber })).toEqual(words);
    await nothingHappened(harness);
  });
});

describe('a start that names', () => {
  it('telephony of another organization is refused as not found', async () => {
    const harness = await held.harness.prepare();
    const foreign = await harness.configure('Theirs');
    const number = await harness.addNumber('+14155550103', { configurationId: foreign.id });
    const other = await otherOrganization(harness.at);
    for (const table of ['telephony_configurations', 'phone_numbers']) {
      const column = table === 'phone_numbers' ? 'configuration_id' : 'id';
      await harness.at.sql(`update ${table} set organization_id = $1 where ${column} = $2`, [
        other,
        foreign.id,
      ]);
    }
    const configurationId = foreign.id;
    expect(await started(harness, { configurationId })).toBe('Telephony configuration not found');
    expect(await tried(harness, { configurationId })).toBe('telephony_configuration_not_found');
    const fromPhoneNumberId = number.id;
    expect(await started(harness, { fromPhoneNumberId })).toBe('from_phone_number_not_found');
    expect(await tried(harness, { fromPhoneNumberId })).toBe('from_phone_number_not_found');
    await nothingHappened(harness);
  });

  it('an agent of another organization is refused as not found', async () => {
    const harness = await held.harness.prepare();
    const other = await otherOrganization(harness.at);
    await harness.at.sql('update workflows set organization_id = $1', [other]);
    expect(await started(harness)).toBe('Workflow not found');
    expect(await tried(harness)).toBe('Workflow not found');
    await nothingHappened(harness);
  });

  it('a run of another organization is refused as not found, and the run stays idle', async () => {
    const harness = await held.harness.prepare();
    const other = await otherOrganization(harness.at);
    const id = await idleRun(harness);
    await harness.at.sql('update runs set organization_id = $1', [other]);
    expect(await tried(harness, { runId: id })).toBe('Workflow run not found');
    expect(await harness.run(id)).toMatchObject({ state: 'initialized', providerCallId: null });
    expect(harness.rest.asked).toEqual([]);
  });

  it('a number that is not active, or of another configuration, is refused as not found', async () => {
    const harness = await held.harness.prepare();
    const off = await harness.addNumber('+14155550104', { isActive: false });
    const second = await harness.configure('Second');
    const elsewhere = await harness.addNumber('+14155550105', { configurationId: second.id });
    const { id: configurationId } = harness.configuration;
    for (const { id: fromPhoneNumberId } of [off, elsewhere]) {
      const wish = { configurationId, fromPhoneNumberId };
      expect(await started(harness, wish)).toBe('from_phone_number_not_found');
      expect(await tried(harness, wish)).toBe('from_phone_number_not_found');
    }
    await nothingHappened(harness);
  });
});

describe('telephony that is switched off', () => {
  it('is not ready, for the reason that it has, where it is named', async () => {
    const harness = await held.harness.prepare();
    const { id: configurationId } = harness.configuration;
    await harness.at.sql(
      "update telephony_configurations set inactive_since = now(), inactive_reason = 'Nobody answers.'",
    );
    const detail = "'Main' is not ready for outbound calls. Nobody answers.";
    expect(await started(harness, { configurationId })).toBe(detail);
    expect(await tried(harness, { configurationId })).toBe(detail);
    await nothingHappened(harness);
  });

  it('is none where nothing is named, and nothing but it is there', async () => {
    const harness = await held.harness.prepare();
    await harness.at.sql('update telephony_configurations set inactive_since = now()');
    const detail = "'Main' is not ready for outbound calls. It is inactive.";
    expect(await started(harness)).toBe(detail);
    expect(await tried(harness)).toBe(detail);
    await nothingHappened(harness);
  });

  it('is not replaced by another account if it is the default', async () => {
    const harness = await held.harness.prepare();
    const { telephony } = harness.at.store;
    const { organizationId } = harness.at.owner;
    const other = await harness.configure('Other');
    await harness.addNumber('+14155550106', { configurationId: other.id });
    await telephony.setDefaultOutbound(organizationId, harness.configuration.id);
    await telephony.deactivate(organizationId, harness.configuration.id, 'Nobody answers.');
    const detail = "'Main' is not ready for outbound calls. Nobody answers.";
    expect(await started(harness)).toBe(detail);
    expect(await tried(harness)).toBe(detail);
    await nothingHappened(harness);
    await telephony.reactivate(organizationId, harness.configuration.id);
    await harness.at.sql('update phone_numbers set is_active = configuration_id = $1', [other.id]);
    const numberless =
      "'Main' is not ready for outbound calls. Add at least one active phone number.";
    expect(await started(harness)).toBe(numberless);
    expect(await tried(harness)).toBe(numberless);
    await nothingHappened(harness);
  });

  it('gives way to the oldest that is ready where no default is chosen', async () => {
    const harness = await held.harness.prepare();
    const { telephony } = harness.at.store;
    const { organizationId } = harness.at.owner;
    const other = await harness.configure('Other');
    await harness.addNumber('+14155550106', { configurationId: other.id });
    await telephony.deactivate(organizationId, harness.configuration.id, 'Nobody answers.');
    await harness.start();
    const [run] = await harness.runs();
    expect(run?.initialContext).toMatchObject({ telephony_configuration_id: other.id });
  });

  it('that has no number says so, in production and in a test', async () => {
    const harness = await held.harness.prepare();
    await harness.at.sql('update phone_numbers set is_active = false');
    const detail = "'Main' is not ready for outbound calls. Add at least one active phone number.";
    expect(await started(harness)).toBe(detail);
    expect(await tried(harness)).toBe(detail);
    expect(harness.number.addressNormalized).toBe(NUMBER);
    await nothingHappened(harness);
  });
});
