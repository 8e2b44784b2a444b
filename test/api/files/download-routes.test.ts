import { beforeEach, describe, expect, it } from 'vitest';
import { readWav, wavHeader } from '../../../src/audio/wav.ts';
import { PUBLIC_URL, smallWorkflow, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
const CALLER = [1, 2, 3, 4, 30_000];
const AGENT = [10, 20, 30, 40, 30_000];
let workflowId = '';
let runId = '';
let token = '';

beforeEach(async () => {
  const { store, owner } = served.test;
  const workflow = await ok('POST', '/workflow/create/definition', {
    name: 'agent',
    workflow_definition: smallWorkflow,
  });
  workflowId = workflow.id;
  const config = { provider: 'plivo', auth_id: 'a', auth_token: 'b' };
  const configuration = await ok('POST', '/organizations/telephony-configs', { name: 'c', config });
  const { run } = await store.runs.create(
    {
      organizationId: owner.organizationId,
      workflowId: workflow.id,
      definitionId: workflow.current_definition_id,
      name: 'r',
      mode: 'plivo',
      callType: 'inbound',
      configurationId: configuration.id,
      providerCallId: null,
      initialContext: {},
      gatheredContext: {},
      logs: {},
    },
    10,
  );
  runId = run.id;
  await store.files.write(`recordings/${runId}.wav`, stereo());
  await store.runs.patch(runId, { recordingKey: `recordings/${runId}.wav` });
  token = await store.runs.publicToken(runId);
});

function stereo(): Buffer {
  const samples = Int16Array.from(CALLER.flatMap((sample, i) => [sample, AGENT[i] ?? 0]));
  const data = Buffer.from(samples.buffer);
  return Buffer.concat([wavHeader({ rateHz: 8_000, channels: 2, dataBytes: data.length }), data]);
}
const publicly = (artifact: string, query = '') =>
  call('GET', `/api/v1/public/download/workflow/${token}/${artifact}${query}`, { key: null });
const linkOf = async (artifact: string, query = '') =>
  String((await publicly(artifact, query)).headers['location']).slice(PUBLIC_URL.length);
const fetch = (
  link: string,
  headers: Record<string, string> = {},
  method: 'GET' | 'HEAD' = 'GET',
) => call(method, link, { key: null, headers });

describe("a run's public token", () => {
  it('ends a month after its first issue, although the run is read meanwhile', async () => {
    const read = () => ok('GET', `/workflow/${workflowId}/runs/${runId}`);
    const { recording_public_url: shown } = await read();
    expect(shown).toContain(token);
    served.test.clock.advance(29 * 86_400_000);
    expect((await publicly('recording')).status).toBe(302);
    expect((await read()).recording_public_url).toBe(shown);
    served.test.clock.advance(2 * 86_400_000);
    const { status, body } = await publicly('recording');
    expect([status, body.detail]).toEqual([404, 'Invalid or expired token']);
  });

  it('leads to a link that lasts an hour', async () => {
    const { status, headers, text } = await publicly('recording');
    expect([status, text]).toEqual([302, '']);
    expect(headers['location']).toMatch(new RegExp(`^${PUBLIC_URL}/api/v1/files/recordings/`));
    const link = String(headers['location']).slice(PUBLIC_URL.length);
    expect((await fetch(link)).status).toBe(200);
    served.test.clock.advance(3_601_000);
    const late = await fetch(link);
    expect([late.status, late.body.detail]).toEqual([403, expect.any(String)]);
  });

  it('refuses artifacts that are unknown or not there, and tokens that are not ours', async () => {
    const faults = async (answer: ReturnType<typeof publicly>) => {
      const { status, body } = await answer;
      return [status, body.detail];
    };
    expect(await faults(publicly('video'))).toEqual([400, 'Unsupported artifact type']);
    expect(await faults(publicly('transcript'))).toEqual([
      404,
      'No transcript available for this workflow run',
    ]);
    token = 'made-up';
    expect(await faults(publicly('recording'))).toEqual([404, 'Invalid or expired token']);
  });
});

describe('a signed link', () => {
  it('gives the stereo recording, as a file to save', async () => {
    const { status, headers, bytes } = await fetch(await linkOf('recording'));
    expect(status).toBe(200);
    expect(bytes.equals(stereo())).toBe(true);
    expect(headers).toMatchObject({
      'content-type': 'audio/wav',
      'content-length': '64',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-disposition': `attachment; filename="recordings-${runId}.wav"`,
      etag: expect.stringMatching(/^".+"$/),
    });
  });

  it('may ask to be shown', async () => {
    const { headers } = await fetch(await linkOf('recording', '?inline=true'));
    expect(headers['content-disposition']).toMatch(/^inline;/);
  });

  it.each([
    ['user_recording', '', CALLER],
    ['bot_recording', '', AGENT],
    ['recording', '?mix=mono', [11, 22, 33, 44, 32_767]],
  ])('gives the %s%s drawn from the stereo recording', async (artifact, query, expected) => {
    const { status, bytes } = await fetch(await linkOf(artifact, query));
    expect(status).toBe(200);
    const wav = readWav(bytes);
    expect([wav.rateHz, wav.channels, [...wav.samples]]).toEqual([8_000, 1, expected]);
    expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8);
    expect(bytes.readUInt32LE(40)).toBe(10);
  });

  it('gives any range of any track', async () => {
    for (const artifact of ['recording', 'user_recording', 'bot_recording']) {
      const link = await linkOf(artifact);
      const whole = (await fetch(link)).bytes;
      for (const [range, start, end] of [
        ['0-0', 0, 0],
        ['0-43', 0, 43],
        ['40-47', 40, 47],
        ['45-46', 45, 46],
        ['47-', 47, whole.length - 1],
        ['-3', whole.length - 3, whole.length - 1],
        ['44-9999', 44, whole.length - 1],
      ] as const) {
        const part = await fetch(link, { range: `bytes=${range}` });
        expect(part.status, `${artifact} ${range}`).toBe(206);
        expect(part.headers['content-range']).toBe(`bytes ${start}-${end}/${whole.length}`);
        expect(part.bytes.equals(whole.subarray(start, end + 1)), `${artifact} ${range}`).toBe(
          true,
        );
      }
    }
  });

  it('refuses a range beyond the end, and ignores what is no single range', async () => {
    const link = await linkOf('recording');
    const beyond = await fetch(link, { range: 'bytes=64-' });
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, 'bytes */64']);
    for (const range of ['bytes=0-1,4-5', 'lines=1-2', 'bytes=5-2', 'bytes=-']) {
      expect((await fetch(link, { range })).status, range).toBe(200);
    }
  });

  it('answers HEAD, and conditions by the entity tag', async () => {
    const link = await linkOf('user_recording');
    const head = await fetch(link, {}, 'HEAD');
    expect([head.status, head.bytes.length, head.headers['content-length']]).toEqual([
      200,
      0,
      '54',
    ]);
    const etag = String(head.headers['etag']);
    expect((await fetch(link, { 'if-none-match': etag })).status).toBe(304);
    expect((await fetch(link, { 'if-none-match': etag }, 'HEAD')).status).toBe(304);
    expect((await fetch(link, { range: 'bytes=54-' }, 'HEAD')).status).toBe(416);
    expect((await fetch(link, { 'if-none-match': '"other"' })).status).toBe(200);
    expect((await fetch(link, { range: 'bytes=0-1', 'if-range': etag })).status).toBe(206);
    expect((await fetch(link, { range: 'bytes=0-1', 'if-range': '"other"' })).status).toBe(200);
  });

  it('that was changed is refused', async () => {
    const link = await linkOf('recording');
    for (const forged of [
      link.replace(`/${runId}.wav`, `/${runId}/bot.wav`),
      link.replace(/expires=\d+/, 'expires=99999999999'),
      `${link}x`,
      link.split('?')[0] ?? '',
    ]) {
      expect((await fetch(forged)).status, forged).toBe(403);
    }
  });

  it('to a file that is gone is not found', async () => {
    const link = await linkOf('recording');
    await served.test.store.files.remove(`recordings/${runId}.wav`);
    expect((await fetch(link)).status).toBe(404);
  });
});

describe('links for those who hold a key', () => {
  const signed = (key: string, more = '', apiKey?: string) =>
    call('GET', `/api/v1/s3/signed-url?key=${encodeURIComponent(key)}${more}`, {
      ...(apiKey === undefined ? {} : { key: apiKey }),
    });

  it('are made from a storage key or from a URL that a run carries', async () => {
    const first = await signed(`recordings/${runId}.wav`);
    expect(first.body).toEqual({ url: expect.any(String), expires_in: 3600 });
    const again = await signed(first.body.url, '&expires_in=60&inline=true&storage_backend=s3');
    expect(again.body).toMatchObject({ expires_in: 60 });
    for (const { body } of [first, again]) {
      const { bytes } = await fetch(body.url.slice(PUBLIC_URL.length));
      expect(bytes.equals(stereo())).toBe(true);
    }
  });

  it('are refused for files of others and for keys of no run', async () => {
    const { apiKey } = await served.stranger();
    const theirs = await signed(`recordings/${runId}/user.wav`, '', apiKey);
    expect([theirs.status, theirs.body]).toEqual([
      403,
      { detail: 'Access denied', code: 'FILE_FORBIDDEN' },
    ]);
    for (const key of [
      '../secret.key',
      'recordings/x.wav',
      `recordings/${runId}/all.wav`,
      'a'.repeat(400),
    ]) {
      const { status, body } = await signed(key);
      expect([status, body]).toEqual([
        400,
        { detail: 'Invalid key format', code: 'FILE_KEY_INVALID' },
      ]);
    }
  });

  it('have a file’s size and time', async () => {
    const path = `/s3/file-metadata?key=recordings/${runId}.wav`;
    expect(await ok('GET', path)).toEqual({
      key: `recordings/${runId}.wav`,
      metadata: {
        size: 64,
        created_at: null,
        modified_at: expect.stringMatching(/Z$/),
        etag: null,
        content_type: 'audio/wav',
      },
    });
    expect(await ok('GET', `/s3/file-metadata?key=transcripts/${runId}.txt`)).toMatchObject({
      metadata: null,
    });
  });
});
