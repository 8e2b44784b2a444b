// The library of recorded speech. Source: contract §10.3; background noise: §5.1.

import { describe, expect, it } from 'vitest';
import { wavHeader } from '../../../src/audio/wav.ts';
import { PUBLIC_URL, smallWorkflow, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
const LIBRARY = '/workflow-recordings/';

function wav(seconds: number, rateHz = 8_000, channels = 1): Buffer {
  const data = Buffer.alloc(Math.round(seconds * rateHz) * channels * 2);
  return Buffer.concat([wavHeader({ rateHz, channels, dataBytes: data.length }), data]);
}

/** A file that was sent. */
async function sent(bytes: Buffer | undefined): Promise<{ recording_id: string; key: string }> {
  const files = [{ filename: 'hello.wav', file_size: bytes?.length ?? 100 }];
  const { items } = await ok('POST', '/workflow-recordings/upload-url', { files });
  const { upload_url: url, recording_id, storage_key: key } = items[0];
  const headers = { 'content-type': 'audio/wav' };
  if (bytes !== undefined) {
    const put = { body: bytes, headers, key: null };
    expect((await call('PUT', url.slice(PUBLIC_URL.length), put)).status).toBe(200);
  }
  return { recording_id, key };
}

async function made(name: string, more: object = {}) {
  const { key } = await sent(wav(0.1));
  const recording = { recording_id: name, transcript: 'Hello.', storage_key: key, ...more };
  const { recordings } = await ok('POST', LIBRARY, { recordings: [recording] });
  return recordings[0];
}

const refusal = async (recordings: object[], key?: string) => {
  const options = { body: { recordings }, ...(key === undefined ? {} : { key }) };
  const { status, body } = await call('POST', `/api/v1${LIBRARY}`, options);
  return [status, body.detail];
};

describe('links for recordings', () => {
  it('come in a batch, each with a name and a key of the organization', async () => {
    const { organizationId } = served.test.owner;
    const files = [
      { filename: 'Grüße an alle.wav', file_size: 5_242_880 },
      { filename: '.wav', file_size: 1, mime_type: 'audio/x-wav' },
    ];
    const { items } = await ok('POST', '/workflow-recordings/upload-url', { files });
    expect(items).toHaveLength(2);
    for (const item of items) {
      expect(item).toEqual({
        upload_url: expect.stringContaining(`${PUBLIC_URL}/api/v1/files/${item.storage_key}?`),
        recording_id: expect.stringMatching(/^[a-zA-Z0-9_-]{1,64}$/),
        storage_key: expect.stringMatching(
          new RegExp(`^recordings/${organizationId}/${item.recording_id}/[A-Za-z0-9_][\\w.-]*wav$`),
        ),
      });
      expect((await call('GET', `/api/v1/s3/signed-url?key=${item.storage_key}`)).status).toBe(200);
    }
    expect(items[1].upload_url).toContain('audio%2Fx-wav');
  });
});

describe('recordings', () => {
  it('are made of files that were sent, and listed with every field', async () => {
    const { key, recording_id } = await sent(wav(1.5, 44_100, 2));
    const recording = { recording_id, transcript: 'Hello.', storage_key: key };
    const answer = await ok('POST', LIBRARY, {
      recordings: [{ ...recording, tts_provider: 'p', metadata: { a: 1 } }],
    });
    const whole = {
      id: expect.stringMatching(/^\d+$/),
      recording_id,
      workflow_id: null,
      organization_id: served.test.owner.organizationId,
      tts_provider: 'p',
      tts_model: null,
      tts_voice_id: null,
      transcript: 'Hello.',
      storage_key: key,
      storage_backend: 's3',
      metadata: { a: 1 },
      created_by: served.test.owner.userId,
      created_at: expect.stringMatching(/Z$/),
      is_active: true,
    };
    expect(answer).toEqual({ recordings: [whole], total: 1 });
    expect(await ok('GET', LIBRARY)).toEqual({ recordings: [whole], total: 1 });
    const { apiKey } = await served.stranger();
    const foreign = await call('GET', `/api/v1${LIBRARY}`, { key: apiKey });
    expect(foreign.body).toEqual({ recordings: [], total: 0 });
  });

  it('are listed by agent and voice, in pages', async () => {
    const definition = { name: 'a', workflow_definition: smallWorkflow };
    const { id } = await ok('POST', '/workflow/create/definition', definition);
    await made('one', { workflow_id: id, tts_voice_id: 'v' });
    await made('two');
    const names = async (query: string) => {
      const { recordings, total } = await ok('GET', `${LIBRARY}?${query}`);
      return [recordings.map((each: { recording_id: string }) => each.recording_id), total];
    };
    expect(await names(`workflow_id=${id}`)).toEqual([['two', 'one'], 2]);
    expect(await names('workflow_id=999999')).toEqual([['two'], 1]);
    expect(await names('tts_voice_id=v')).toEqual([['one'], 1]);
    expect(await names('limit=1&offset=1')).toEqual([['one'], 2]);
  });

  it.each([
    ['was not sent', undefined, 'its file was not sent'],
    ['is no WAV', Buffer.from('ID3 and so on'), 'it does not begin with RIFF and WAVE'],
    ['has four channels', wav(0.1, 8_000, 4), 'it has 4 channels; one or two are played'],
    ['has an odd rate', wav(0.1, 96_000), 'its sample rate is 96000 Hz; these are played: 8000'],
    ['is empty', wav(0), 'there is no audio in it'],
    ['is too long', wav(60.1), 'it is longer than 60 seconds'],
  ])('are refused if the file %s, and none of the batch is made', async (_what, bytes, reason) => {
    const good = await sent(wav(0.1));
    const bad = await sent(bytes);
    const recordings = [good, bad].map(({ recording_id, key }) => ({
      recording_id,
      transcript: 'x',
      storage_key: key,
    }));
    const [status, detail] = await refusal(recordings);
    expect([status, detail]).toEqual([400, expect.stringContaining(reason)]);
    expect(detail).toContain(bad.recording_id);
    expect(await ok('GET', LIBRARY)).toMatchObject({ total: 0 });
  });

  it('are made of files of the organization only, and of this kind', async () => {
    const { key } = await sent(wav(0.1));
    const recording = { recording_id: 'a', transcript: 'x', storage_key: key };
    const { apiKey, organizationId } = await served.stranger();
    expect(await refusal([recording], apiKey)).toEqual([403, 'Access denied']);
    const { organizationId: own } = served.test.owner;
    for (const [wrong, status] of [
      [`campaigns/${own}/x.csv`, 400],
      [`recordings/${organizationId}/a/a.wav`, 403],
      ['../../secret.key', 400],
      [`recordings/${own}/../1/a.wav`, 400],
    ] as const) {
      expect((await refusal([{ ...recording, storage_key: wrong }]))[0], wrong).toBe(status);
    }
  });

  it('keep their own name: a second of the same is refused, by creation and by renaming', async () => {
    const one = await made('one');
    await made('two');
    const { key } = await sent(wav(0.1));
    const taken = [409, expect.stringContaining("'one'")];
    expect(await refusal([{ recording_id: 'one', transcript: 'x', storage_key: key }])).toEqual(
      taken,
    );
    const rename = async (name: string, id = one.id, apiKey = served.test.apiKey) => {
      const body = { recording_id: name };
      const answer = await call('PATCH', `/api/v1${LIBRARY}${id}`, { body, key: apiKey });
      return [answer.status, answer.body.detail ?? answer.body.recording_id];
    };
    expect(await rename('two')).toEqual([409, expect.stringContaining("'two'")]);
    expect(await rename('three')).toEqual([200, 'three']);
    expect((await rename('not allowed'))[0]).toBe(422);
    expect((await rename('x', '999999'))[0]).toBe(404);
    expect((await rename('x', one.id, (await served.stranger()).apiKey))[0]).toBe(404);
  });

  it('that are deleted are gone', async () => {
    await made('one');
    const { apiKey } = await served.stranger();
    const path = `/api/v1${LIBRARY}one`;
    expect((await call('DELETE', path, { key: apiKey })).status).toBe(404);
    expect((await call('DELETE', path)).body).toEqual({
      success: true,
      message: 'Recording deleted successfully',
    });
    expect((await call('DELETE', path)).status).toBe(404);
    expect(await ok('GET', LIBRARY)).toEqual({ recordings: [], total: 0 });
  });

  it('cannot be transcribed without a recogniser for free speech', async () => {
    const { status, body } = await call('POST', `/api/v1${LIBRARY}transcribe`, {
      body: Buffer.alloc(3_000_000),
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    });
    expect([status, body.detail]).toEqual([400, expect.stringContaining('by hand')]);
  });
});

describe('a link for background noise', () => {
  const ask = async (change: object = {}, apiKey = served.test.apiKey) => {
    const definition = { name: 'a', workflow_definition: smallWorkflow };
    const { id } = await ok('POST', '/workflow/create/definition', definition);
    const body = { workflow_id: id, filename: 'office.wav', file_size: 10_485_760, ...change };
    const path = '/api/v1/workflow/ambient-noise/upload-url';
    return { id, ...(await call('POST', path, { body, key: apiKey })) };
  };

  it('is for an agent of the organization', async () => {
    const { id, body } = await ask({ file_size: wav(1).length });
    const { organizationId } = served.test.owner;
    expect(body).toEqual({
      upload_url: expect.stringContaining('/api/v1/files/ambient_noise/'),
      storage_key: expect.stringMatching(
        new RegExp(`^ambient_noise/${organizationId}/${id}/[0-9a-f-]{36}_office.wav$`),
      ),
      storage_backend: 's3',
    });
    const put = { body: wav(1), headers: { 'content-type': 'audio/wav' }, key: null };
    const link = body.upload_url.slice(PUBLIC_URL.length);
    expect((await call('PUT', link, put)).status).toBe(200);
    served.test.clock.advance(1_800_000);
    expect((await call('PUT', link, put)).status).toBe(403);
  });

  it('is refused for agents of others', async () => {
    const { apiKey } = await served.stranger();
    expect((await ask({}, apiKey)).status).toBe(404);
    expect((await ask({ workflow_id: '999999' })).status).toBe(404);
  });
});
