// Starts that name what they may not: rows of another organization, numbers of another configuration,
// telephony that is switched off. None leaves a run or reaches a provider. Source: contract §6.1.

import { describe, expect, it } from 'vitest';
import type { StartCall, TestCall } from '../../../src/call/call-service.ts';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { otherOrganization } from '../../store/runs/completed-runs.ts';
import { type CallRoom, NUMBER, withCallRoom } from '../call-harness.ts';

const held = withCallRoom();

async function told(start: Promise<unknown>): Promise<string> {
  const error = await start.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof GatewayError ? error.message : String(error);
}
const started = (room: CallRoom, more: Partial<StartCall> = {}) => told(room.start(more));
const tried = (room: CallRoom, more: Partial<TestCall> = {}) => told(room.startTest(more));

async function nothingHappened(room: CallRoom): Promise<void> {
  expect(await room.runs()).toEqual([]);
  expect(room.rest.asked).toEqual([]);
}

describe('a start that names', () => {
  it('telephony of another organization is told that there is none', async () => {
    const room = await held.room.prepare();
    const foreign = await room.configure('Theirs');
    const number = await room.addNumber('+14155550103', { configurationId: foreign.id });
    const other = await otherOrganization(room.at);
    for (const table of ['telephony_configurations', 'phone_numbers']) {
      const column = table === 'phone_numbers' ? 'configuration_id' : 'id';
      await room.at.sql(`update ${table} set organization_id = $1 where ${column} = $2`, [
        other,
        foreign.id,
      ]);
    }
    const configurationId = foreign.id;
    expect(await started(room, { configurationId })).toBe('Telephony configuration not found');
    expect(await tried(room, { configurationId })).toBe('telephony_configuration_not_found');
    const fromPhoneNumberId = number.id;
    expect(await started(room, { fromPhoneNumberId })).toBe('from_phone_number_not_found');
    expect(await tried(room, { fromPhoneNumberId })).toBe('from_phone_number_not_found');
    await nothingHappened(room);
  });

  it('an agent of another organization is told that there is none', async () => {
    const room = await held.room.prepare();
    const other = await otherOrganization(room.at);
    await room.at.sql('update workflows set organization_id = $1', [other]);
    expect(await started(room)).toBe('Workflow not found');
    expect(await tried(room)).toBe('Workflow not found');
    await nothingHappened(room);
  });

  it('a run of another organization is told that there is none, and the run stays idle', async () => {
    const room = await held.room.prepare();
    const other = await otherOrganization(room.at);
    const { id } = await room.at.store.starts.createIdle({
      organizationId: room.at.owner.organizationId,
      workflowId: room.workflow.id,
      definitionId: room.version.id,
      name: 'theirs',
      mode: 'twilio',
      callType: 'outbound',
      configurationId: null,
      providerCallId: null,
      initialContext: {},
      gatheredContext: {},
      logs: {},
    });
    await room.at.sql('update runs set organization_id = $1', [other]);
    expect(await tried(room, { runId: id })).toBe('Workflow run not found');
    expect(await room.run(id)).toMatchObject({ state: 'initialized', providerCallId: null });
    expect(room.rest.asked).toEqual([]);
  });

  it('a number that is not active, or of another configuration, is told that it is not found', async () => {
    const room = await held.room.prepare();
    const off = await room.addNumber('+14155550104', { isActive: false });
    const second = await room.configure('Second');
    const elsewhere = await room.addNumber('+14155550105', { configurationId: second.id });
    const { id: configurationId } = room.configuration;
    for (const { id: fromPhoneNumberId } of [off, elsewhere]) {
      const wish = { configurationId, fromPhoneNumberId };
      expect(await started(room, wish)).toBe('from_phone_number_not_found');
      expect(await tried(room, wish)).toBe('from_phone_number_not_found');
    }
    await nothingHappened(room);
  });
});

describe('telephony that is switched off', () => {
  it('is not ready, for the reason that it has, where it is named', async () => {
    const room = await held.room.prepare();
    const { id: configurationId } = room.configuration;
    await room.at.sql(
      "update telephony_configurations set inactive_since = now(), inactive_reason = 'Nobody answers.'",
    );
    const detail = "'Main' is not ready for outbound calls. Nobody answers.";
    expect(await started(room, { configurationId })).toBe(detail);
    expect(await tried(room, { configurationId })).toBe(detail);
    await nothingHappened(room);
  });

  it('is none where nothing is named, and nothing but it is there', async () => {
    const room = await held.room.prepare();
    await room.at.sql('update telephony_configurations set inactive_since = now()');
    const detail = "'Main' is not ready for outbound calls. It is inactive.";
    expect(await started(room)).toBe(detail);
    expect(await tried(room)).toBe(detail);
    await nothingHappened(room);
  });

  it('is not replaced by another account if it is the default', async () => {
    const room = await held.room.prepare();
    const { telephony } = room.at.store;
    const { organizationId } = room.at.owner;
    const other = await room.configure('Other');
    await room.addNumber('+14155550106', { configurationId: other.id });
    await telephony.setDefaultOutbound(organizationId, room.configuration.id);
    await telephony.deactivate(organizationId, room.configuration.id, 'Nobody answers.');
    const detail = "'Main' is not ready for outbound calls. Nobody answers.";
    expect(await started(room)).toBe(detail);
    expect(await tried(room)).toBe(detail);
    await nothingHappened(room);
    await telephony.reactivate(organizationId, room.configuration.id);
    await room.at.sql('update phone_numbers set is_active = configuration_id = $1', [other.id]);
    const numberless =
      "'Main' is not ready for outbound calls. Add at least one active phone number.";
    expect(await started(room)).toBe(numberless);
    expect(await tried(room)).toBe(numberless);
    await nothingHappened(room);
  });

  it('gives way to the oldest that is ready where no default is chosen', async () => {
    const room = await held.room.prepare();
    const { telephony } = room.at.store;
    const { organizationId } = room.at.owner;
    const other = await room.configure('Other');
    await room.addNumber('+14155550106', { configurationId: other.id });
    await telephony.deactivate(organizationId, room.configuration.id, 'Nobody answers.');
    await room.start();
    const [run] = await room.runs();
    expect(run?.initialContext).toMatchObject({ telephony_configuration_id: other.id });
  });

  it('that has no number says so, in production and in a test', async () => {
    const room = await held.room.prepare();
    await room.at.sql('update phone_numbers set is_active = false');
    const detail = "'Main' is not ready for outbound calls. Add at least one active phone number.";
    expect(await started(room)).toBe(detail);
    expect(await tried(room)).toBe(detail);
    expect(room.number.addressNormalized).toBe(NUMBER);
    await nothingHappened(room);
  });
});
