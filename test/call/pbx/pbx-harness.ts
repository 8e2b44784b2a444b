// A PBX in the call room: its configuration, its numbers and its lines.

import type { ConfigurationSummary } from '../../../src/store/telephony/configurations.ts';
import type { FakeConnection } from '../../fakes/fake-pbx.ts';
import type { CallRoom } from '../call-harness.ts';
import type { Stream } from '../stream.ts';

export const EXTENSION = '8000';

export function configurePbx(
  room: CallRoom,
  more: { name?: string; organizationId?: string; credentials?: object } = {},
): Promise<ConfigurationSummary> {
  const organizationId = more.organizationId ?? room.at.owner.organizationId;
  return room.at.store.telephony.createConfiguration(organizationId, {
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
export async function withPbx(room: CallRoom): Promise<FakeConnection> {
  room.configuration = await configurePbx(room);
  const { id: inboundWorkflowId } = room.workflow;
  room.number = await room.addNumber(EXTENSION, { inboundWorkflowId });
  await room.switchboard.pbxLines.start();
  const { connection } = room.pbx;
  connection.up();
  return connection;
}

/** The far end of a call's media, once the call room has let it in. */
export async function mediaOf(room: CallRoom, callId: string): Promise<Stream> {
  await room.until(() => room.pbx.connections.some(({ admitted }) => admitted.includes(callId)));
  const stream = room.streams.findLast((each) => each.callId === callId);
  if (stream === undefined) throw new Error('no media');
  return stream;
}
