import { beforeEach, describe, expect, it } from 'vitest';
import { wavHeader } from '../../../src/audio/wav.ts';
import type { Peaks } from '../../../src/store/files/recording-peaks.ts';
import { withStoredRuns } from '../runs/stored-runs.ts';
import { withApi } from '../served.ts';

const asked: unknown[] = [];
let remote: Peaks | undefined;
const served = withApi(() => ({
  peaksElsewhere: async (...wanted: unknown[]) => {
    asked.push(wanted);
    return remote;
  },
}));
const stored = withStoredRuns(served);
beforeEach(() => {
  asked.splice(0);
  remote = undefined;
});

/** 100 ms: the caller loud, the agent silent. */
async function record(runId: string): Promise<string> {
  const data = Buffer.alloc(3_200);
  for (let moment = 0; moment < 800; moment++) data.writeInt16LE(12_800, moment * 4);
  const header = wavHeader({ rateHz: 8_000, channels: 2, dataBytes: data.length });
  const key = `recordings/${runId}.wav`;
  await served.deps.files.write(key, Buffer.concat([header, data]));
  return key;
}
const peaksOf = (runId: string, query = '', headers = {}) =>
  served.call('GET', `/api/v1/workflow/${stored.workflowId}/runs/${runId}/peaks${query}`, {
    headers,
  });

describe('GET .../peaks', () => {
  it('sends four bytes a bin, and what they mean in headers', async () => {
    const { id } = await stored.aRun();
    await served.test.store.runs.patch(id, stored.completed({ recordingKey: await record(id) }));
    const { status, headers, bytes } = await peaksOf(id, '?bins=5');
    expect([status, headers['content-type']]).toEqual([200, 'application/octet-stream']);
    expect(headers).toMatchObject({
      'x-duration-ms': '100',
      'x-from-ms': '0',
      'x-bin-ms': '20',
      'x-bins': '5',
    });
    expect([...bytes]).toEqual(Array.from({ length: 5 }, () => [50, 50, 0, 0]).flat());
    const again = await peaksOf(id, '?bins=5', { 'if-none-match': headers['etag'] });
    expect([again.status, again.text]).toEqual([304, '']);
    expect((await peaksOf(id, '?bins=4', { 'if-none-match': headers['etag'] })).status).toBe(200);
  });

  it('measures a recording while the call goes on, at its own gateway first', async () => {
    const { id } = await stored.aRun({ state: 'running' });
    await record(id);
    expect((await peaksOf(id)).headers['x-duration-ms']).toBe('100');
    expect(asked).toEqual([[expect.any(String), `recordings/${id}.wav`, expect.anything()]]);
    const values = new Int8Array([1, 2, 3, 4]);
    remote = { durationMs: 20, fromMs: 0, binMs: 20, bins: 1, etag: '"x"', values };
    expect([...(await peaksOf(id)).bytes]).toEqual([1, 2, 3, 4]);
  });

  it('says whether there is no recording, or none here yet', async () => {
    const live = await stored.aRun({ state: 'running' });
    const begins = await peaksOf(live.id);
    expect([begins.status, begins.bytes.length]).toEqual([200, 0]);
    expect(begins.headers).toMatchObject({ 'x-duration-ms': '0', 'x-bins': '0' });
    const { id } = await stored.aRun(stored.completed({ recordingKey: 'recordings/999998.wav' }));
    const missing = await peaksOf(id);
    expect([missing.status, missing.body.code]).toEqual([404, 'ARTIFACT_MISSING']);
    const over = await stored.aRun(stored.completed({ recordingKey: 'recordings/999999.wav' }));
    await served.test.sql('update runs set files_node = $1 where id = $2', ['gw2', over.id]);
    const waiting = await peaksOf(over.id);
    expect([waiting.status, waiting.body.code]).toEqual([503, 'FILE_NOT_YET_STORED']);
    expect((await peaksOf('999999')).body.code).toBe('RUN_NOT_FOUND');
  });

  it.each(['bins=0', 'bins=4001', 'from_ms=-1', 'bin_ms=0', 'from_ms=1.5'])(
    'refuses %s',
    async (query) => {
      const { id } = await stored.aRun();
      expect((await peaksOf(id, `?${query}`)).status).toBe(422);
    },
  );
});
