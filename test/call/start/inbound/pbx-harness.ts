// A PBX for the call layer: its configuration, its numbers and its connections.

import type { ConfigurationSummary } from '../../../../src/store/telephony/configurations.ts';
import type { FakeConnection } from '../../../fakes/call/fake-pbx.ts';
import type { CallHarness } from '../../call-harness.ts';
import type { Stream } from '../../stream.ts';

export const EXTENSION = '8000';

export function configurePbx(
  harness: CallHarness,
  more: { name?: string; organizationId?: string; credentials?: object } = {},
): Promise<ConfigurationSummary> {
  const organizationId = more.organizationId ?? harness.at.owner.organizationId;
  return harness.at.store.telephony.createConfiguration(organizationId, {
    name: more.name ?? 'PBX',
    provider: 'ari',
    isDefaultOutbound: true,
    credentials: {
      provider: 'ari',
      ari_endpoint: 'http://pbx.example.com:8088',
      app_name: 'gw',
      app_password: 'pbx-secret-4713',
      ...more.credentials,
    },
    accountId: null,
    secretFields: ['app_password'],
  });
}

/** A PBX that is connected, with the extension 8000 that the room's agent answers. */
export async function withPbx(harness: CallHarness): Promise<FakeConnection> {
  harness.configuration = await configurePbx(harness);
  const { id: inboundWorkflowId } = harness.workflow;
  harness.number = await harness.addNumber(EXTENSION, { inboundWorkflowId });
  await harness.callControl.startJobs({ hasPbxs: true });
  const { connection } = harness.pbx;
  connection.up();
  return connection;
}

/** The far end of a call's media, once the call layer has admitted it. */
export async function mediaOf(harness: CallHarness, callId: string): Promise<Stream> {
  await harness.until(() =>
    harness.pbx.connections.some(({ admitted }) => admitted.includes(callId)),
  );
  const stream = harness.streams.findLast((each) => each.callId === callId);
  if (stream === undefined) throw new Error('no media');
  return stream;
}
