// A telephone that offers a codec for which Asterisk has no module, such as Opus alone: the call was answered, bridged and
// silent, and the run was completed as if all were well. Source: asterisk §4.4.

import { describe, expect, it } from 'vitest';
import { dial, nothingLeft, patient, type Table, table, talks, until } from '../ari-harness.ts';

async function offering(at: Table, formats: string[]) {
  const phone = at.asterisk.placeCall({ from: '5551234', to: '8000', formats });
  await until(() => at.harness.inbound.length > 0, 'the call');
  const { callId } = at.harness.inbound[0] ?? { callId: '' };
  return { phone, callId };
}

describe('a telephone whose codec Asterisk cannot convert', () => {
  it.each([
    ['opus', 'codec_opus.so'],
    ['g729', 'codec_g729.so'],
    ['silk16', 'codec_silk.so'],
  ])(
    'is refused before the answer, with the module that is missing: %s',
    async (format, module) => {
      const at = await table();
      const { phone, callId } = await offering(at, [format]);
      await expect(at.connection.openMedia(callId, patient)).rejects.toMatchObject({
        code: 'PBX_CODEC',
        message: expect.stringContaining(module),
      });
      expect(await phone.ended).toMatchObject({ cause: 58, sipStatus: 488, by: 'pbx' });
      await until(() => at.harness.statuses.length > 0, 'the status');
      expect(at.harness.statuses).toMatchObject([
        { status: 'failed', providerStatus: 'no codec in common (cause 58)' },
      ]);
      await nothingLeft(at);
    },
  );

  it.each([
    ['the module is loaded', ['opus'], 'codec_opus'],
    ['a module of another name is loaded', ['opus'], 'codec_opus_open_source'],
    ['a card converts it', ['g729'], 'codec_dahdi'],
    ['it offers another codec too', ['opus', 'ulaw'], ''],
    ['the codec is not known here', ['lyra'], ''],
  ])('is answered where %s', async (_, formats, module) => {
    const at = await table();
    at.asterisk.machine.modules.add(module);
    const { callId } = await offering(at, formats);
    await at.connection.openMedia(callId, patient);
    expect(at.harness.of(callId)).toEqual(['in-progress']);
  });

  it('is answered where Asterisk does not say which codecs there are', async () => {
    const at = await table();
    at.asterisk.faults.rest = ({ path }) =>
      path.endsWith('/variable') ? { status: 500, body: null } : undefined;
    const { audio } = await talks(at);
    expect(audio.closedWith).toBe(null);
  });

  it('leaves nothing behind if it hangs up while its codecs are looked up', async () => {
    const at = await table();
    const callId = await dial(at, 'instant');
    await until(() => at.harness.answered.length > 0, 'the answer');
    at.asterisk.faults.rest = ({ path }) => (path.endsWith('/variable') ? 'hang' : undefined);
    const opening = at.connection.openMedia(callId, patient);
    const isJoined = () =>
      at.asterisk.requests.some(
        ({ path, status }) => path.endsWith('/addChannel') && status === 204,
      );
    await until(isJoined, 'the media');
    const joinedMs = at.clock.monotonicMs();
    await until(() => at.clock.monotonicMs() > joinedMs + 500, 'its answer');
    at.asterisk.phone('instant').hangUp();
    await expect(opening).rejects.toMatchObject({ code: 'PBX_CALL_GONE' });
    await nothingLeft(at);
  });

  it('is hung up after it has answered a call of ours', async () => {
    const at = await table();
    const callId = await dial(at, 'instant');
    await until(() => at.harness.answered.length > 0, 'the answer');
    for (const channel of at.asterisk.channels) channel.formats = ['opus'];
    await expect(at.connection.openMedia(callId, patient)).rejects.toMatchObject({
      code: 'PBX_CODEC',
    });
    await nothingLeft(at);
  });
});
