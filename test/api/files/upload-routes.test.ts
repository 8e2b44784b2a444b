// Files that clients send: the link, and what is taken under it. Over real connections where it matters
// how the bytes come.

import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '../../../src/api/http/api-deps.ts';
import { buildServer } from '../../../src/api/server.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { PUBLIC_URL, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
const CSV = { 'content-type': 'text/csv' };

interface Link {
  path: string;
  key: string;
}

async function linkFor(bytes: number, more: object = {}): Promise<Link> {
  const body = { file_name: 'contacts.csv', file_size: bytes, ...more };
  const { upload_url: url, file_key: key } = await ok('POST', '/s3/presigned-upload-url', body);
  return { path: url.slice(PUBLIC_URL.length), key };
}

const put = (path: string, body: unknown, headers: Record<string, string> = CSV) =>
  call('PUT', path, { body, headers, key: null });
const stored = async (key: string): Promise<string> =>
  (await served.test.store.files.readAll(key)).toString();
const isStored = async (key: string): Promise<boolean> =>
  (await served.test.store.files.stat(key)) !== undefined;
const unfinished = (): string[] => {
  try {
    return readdirSync(join(served.test.dataFolder, 'files/.unfinished'));
  } catch {
    return []; // Nothing was ever sent.
  }
};

describe('a link for contacts', () => {
  it('is good for a quarter of an hour and one file of the organization', async () => {
    const { organizationId } = served.test.owner;
    const body = { file_name: 'März list (1).csv', file_size: 10_485_760 };
    const link = await ok('POST', '/s3/presigned-upload-url', body);
    expect(link).toEqual({
      upload_url: expect.stringMatching(`^${PUBLIC_URL}/api/v1/files/campaigns/`),
      file_key: expect.stringMatching(
        new RegExp(`^campaigns/${organizationId}/[0-9a-f-]{36}_M_rz_list__1_.csv$`),
      ),
      expires_in: 900,
    });
    const again = await ok('POST', '/s3/presigned-upload-url', body);
    expect(again.file_key).not.toBe(link.file_key);
  });

  it('keeps the end of a very long name', async () => {
    const { key, path } = await linkFor(1, { file_name: `${'long'.repeat(60)}.csv` });
    expect(key).toMatch(/long\.csv$/);
    expect((await put(path, 'a')).status).toBe(200);
  });

  it.each([
    ['another kind of file', { file_name: 'contacts.xlsx' }, 'string_pattern_mismatch'],
    ['a name that goes on', { file_name: 'a.csv.exe' }, 'string_pattern_mismatch'],
    ['a type that is not CSV', { content_type: 'image/png' }, 'string_pattern_mismatch'],
    ['a type with a line break', { content_type: 'text/csv\r\nX: y' }, 'string_pattern_mismatch'],
  ])('is refused for %s', async (_what, change, type) => {
    const body = { file_name: 'contacts.csv', file_size: 100, ...change };
    const answer = await call('POST', '/api/v1/s3/presigned-upload-url', { body });
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toEqual([expect.objectContaining({ type })]);
  });
});

describe('a file that is sent', () => {
  it('is stored without a key, and answered with nothing', async () => {
    const { path, key } = await linkFor(23);
    const { status, text: answer } = await put(path, 'phone_number\n+15550100\n');
    expect([status, answer]).toEqual([200, '']);
    expect(await stored(key)).toBe('phone_number\n+15550100\n');
  });

  it('ends its link: what is sent under it later is refused, and the first stays', async () => {
    const { path, key } = await linkFor(10);
    expect((await put(path, '0123456789')).status).toBe(200);
    const again = await put(path, 'other');
    expect([again.status, again.body.detail]).toEqual([
      403,
      'The link is not valid or has expired',
    ]);
    expect(await stored(key)).toBe('0123456789');
  });

  it.each([
    'text/csv; charset=utf-8',
    'text/csv;charset="UTF-8"',
    'application/csv',
    'application/vnd.ms-excel',
  ])('may come as %s, whichever type of CSV was announced', async (type) => {
    const { path, key } = await linkFor(1, { file_name: 'CONTACTS.CSV' });
    expect((await put(path, 'a', { 'content-type': type })).status).toBe(200);
    expect(await isStored(key)).toBe(true);
    const announced = await linkFor(1, { content_type: type });
    expect((await put(announced.path, 'a')).status).toBe(200);
  });

  it('comes as the type that was announced', async () => {
    const { path, key } = await linkFor(10);
    for (const headers of [{ 'content-type': 'text/html' }, { 'content-type': 'text/csv2' }, {}]) {
      const { status, body } = await put(path, 'a', headers);
      expect([status, body.detail]).toEqual([415, expect.stringContaining('text/csv')]);
    }
    expect(await isStored(key)).toBe(false);
  });

  it('has at most the bytes that were announced', async () => {
    const { path, key } = await linkFor(10);
    const { status, body } = await put(path, '01234567890');
    expect([status, body.detail]).toEqual([413, expect.stringContaining('10 bytes')]);
    expect(await isStored(key)).toBe(false);
    expect(unfinished()).toEqual([]);
  });

  it('has at least the bytes that were announced: a shorter one leaves its link valid', async () => {
    const { path, key } = await linkFor(10);
    for (const body of ['012345678', '']) {
      const { status, body: refusal } = await put(path, body);
      const words = 'The file has fewer than the 10 bytes that were announced for it';
      expect([status, refusal.detail]).toEqual([400, expect.stringContaining(words)]);
      expect(await isStored(key)).toBe(false);
      expect(unfinished()).toEqual([]);
    }
    expect((await put(path, '0123456789')).status).toBe(200);
    expect(await stored(key)).toBe('0123456789');
  });

  it('is refused under a link that was changed, is over, or is for reading', async () => {
    const { path, key } = await linkFor(10);
    const read = await ok('GET', `/s3/signed-url?key=${key}`);
    for (const forged of [
      path.replace('size=10', 'size=11'),
      path.replace('text%2Fcsv', 'text%2Fhtml'),
      path.replace('contacts.csv', 'other.csv'),
      path.split('?')[0] ?? '',
      read.url.slice(PUBLIC_URL.length),
    ]) {
      expect((await put(forged, 'a')).status, forged).toBe(403);
    }
    expect((await call('GET', path)).status).toBe(403);
    served.test.clock.advance(900_000);
    expect((await put(path, 'a')).status).toBe(403);
    expect(await isStored(key)).toBe(false);
  });

  it('can be read under a link of its own, by those of its organization', async () => {
    const { path, key } = await linkFor(3);
    await put(path, 'a,b');
    const { url } = await ok('GET', `/s3/signed-url?key=${key}`);
    const { bytes, headers } = await call('GET', url.slice(PUBLIC_URL.length), { key: null });
    expect([bytes.toString(), headers['content-type']]).toEqual(['a,b', 'text/csv; charset=utf-8']);
    expect(await ok('GET', `/s3/file-metadata?key=${key}`)).toMatchObject({
      key,
      metadata: { size: 3, content_type: 'text/csv; charset=utf-8' },
    });
  });
});

describe('keys of files that organizations send', () => {
  const ask = async (key: string, operation: string, apiKey?: string) => {
    const path = `/api/v1/s3/${operation}?key=${encodeURIComponent(key)}`;
    const answer = await call('GET', path, apiKey === undefined ? {} : { key: apiKey });
    return [answer.status, answer.body.detail];
  };

  it.each(['signed-url', 'file-metadata'])('have a %s for their own', async (operation) => {
    const { organizationId } = served.test.owner;
    const { apiKey } = await served.stranger();
    for (const key of [
      `campaigns/${organizationId}/x_contacts.csv`,
      `knowledge_base/${organizationId}/x.pdf`,
      `knowledge_base/${organizationId}/0b1c/x.pdf`,
      `recordings/${organizationId}/greeting-1/hello.wav`,
      `ambient_noise/${organizationId}/7/x_office.wav`,
    ]) {
      expect(await ask(key, operation), key).toEqual([200, undefined]);
      expect(await ask(key, operation, apiKey), key).toEqual([403, 'Access denied']);
    }
  });

  it.each(['signed-url', 'file-metadata'])('have no %s in another shape', async (operation) => {
    const { organizationId } = served.test.owner;
    for (const key of [
      `campaigns/${organizationId}`,
      `campaigns/${organizationId}/a/b.csv`,
      `campaigns/x/b.csv`,
      `campaigns/${organizationId}/../1/b.csv`,
      `campaigns/${organizationId}/.hidden`,
      `recordings/${organizationId}/greeting/hello.wav/x`,
      `recordings/${organizationId}/a b/hello.wav`,
      `secrets/${organizationId}/key`,
    ]) {
      expect(await ask(key, operation), key).toEqual([400, 'Invalid key format']);
    }
  });
});

describe('over a connection', () => {
  const agent = new Agent({ keepAlive: true });
  let port = 0;
  beforeAll(async () => {
    await served.api.listen({ port: 0, host: '127.0.0.1' });
    port = (served.api.server.address() as AddressInfo).port;
  });
  afterAll(() => agent.destroy());

  function send(path: string, headers: Record<string, string | number> = CSV) {
    const out = request({ port, method: 'PUT', path, headers, agent });
    const answer = new Promise<IncomingMessage>((resolve, reject) => {
      out.once('response', resolve).once('error', reject);
    });
    return { out, answer };
  }

  /** Until the gateway has taken the first bytes to the disk. */
  async function arriving(): Promise<void> {
    while (unfinished().length === 0) await new Promise((resolve) => setImmediate(resolve));
  }

  it('a file goes to the disk as it comes', async () => {
    const { path, key } = await linkFor(1_000_000);
    const { out, answer } = send(path);
    out.write(Buffer.alloc(300_000, 'a'));
    await arriving();
    expect(await isStored(key)).toBe(false);
    out.end(Buffer.alloc(700_000, 'b'));
    const { statusCode, headers } = await answer;
    expect([statusCode, headers['content-length'], headers.connection]).toEqual([
      200,
      '0',
      'keep-alive',
    ]);
    expect((await stored(key)).length).toBe(1_000_000);
    expect(unfinished()).toEqual([]);
  });

  it('a file that breaks off leaves nothing, and may be sent again', async () => {
    const { path, key } = await linkFor(1_000);
    const { out, answer } = send(path, { ...CSV, 'content-length': 1_000 });
    answer.catch(() => undefined); // The connection is cut on purpose.
    out.write('half of it');
    await arriving();
    expect((await put(path, 'beside it')).status).toBe(403);
    out.destroy();
    while (unfinished().length > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await isStored(key)).toBe(false);
    expect((await put(path, 'whole'.repeat(200))).status).toBe(200);
    expect(await stored(key)).toBe('whole'.repeat(200));
    const faults = served.test.lines().filter(({ level }) => level === 'error');
    expect(faults).toEqual([]);
  });

  it('slow files of one organization leave room for those of another', async () => {
    const { apiKey } = await served.stranger();
    const slow: ReturnType<typeof send>[] = [];
    for (let i = 0; i < 24; i += 1) {
      const { path } = await linkFor(1_000);
      const { out, answer } = send(path, { ...CSV, 'content-length': 1_000 });
      answer.catch(() => undefined); // The connection is cut on purpose.
      out.write('x');
      slow.push({ out, answer });
    }
    while (unfinished().length < 24) await new Promise((resolve) => setImmediate(resolve));
    const { path: own } = await linkFor(3);
    expect((await put(own, 'own')).status).toBe(503);
    const body = { file_name: 'contacts.csv', file_size: 5 };
    const link = await call('POST', '/api/v1/s3/presigned-upload-url', { body, key: apiKey });
    const other = link.body.upload_url.slice(PUBLIC_URL.length);
    expect((await put(other, 'other')).status).toBe(200);
    for (const { out } of slow) out.destroy();
    // The gateway finds out by and by that they are gone.
    let status = 503;
    while (status === 503) {
      await new Promise((resolve) => setImmediate(resolve));
      ({ status } = await put(own, 'own'));
    }
    expect(status).toBe(200);
  });

  it('a file that goes on for ever is cut off', async () => {
    const { path, key } = await linkFor(1_000);
    const { out, answer } = send(path);
    let isCutOff = false;
    out.once('close', () => {
      isCutOff = true;
    });
    const piece = Buffer.alloc(65_536);
    const more = (): void => {
      if (!isCutOff) out.write(piece, () => setImmediate(more));
    };
    out.on('error', () => undefined); // Writing on into a connection that is gone.
    more();
    const reached = await answer.then(
      ({ statusCode, headers }) => [statusCode, headers.connection],
      () => [413, 'close'], // The answer may be lost behind what is still sent.
    );
    expect(reached).toEqual([413, 'close']);
    isCutOff = true;
    out.destroy();
    expect(await isStored(key)).toBe(false);
    expect(unfinished()).toEqual([]);
  });

  it('a file of which the header says that it is far too long is refused at once', async () => {
    const { path } = await linkFor(1_000);
    const { out, answer } = send(path, { ...CSV, 'content-length': 50_000_000 });
    out.flushHeaders();
    const { statusCode, headers } = await answer;
    expect([statusCode, headers.connection]).toEqual([413, 'close']);
    out.destroy();
  });

  it('a file that is a little too long is refused with that reason', async () => {
    const { path } = await linkFor(1_000);
    const { out, answer } = send(path);
    out.end(Buffer.alloc(200_000));
    const message = await answer;
    expect(message.statusCode).toBe(413);
    expect(JSON.parse(await text(message))).toEqual({
      detail: expect.stringContaining('1000'),
      code: 'FILE_OVERSIZED',
    });
  });
});

// A piece took 3 us of the event loop and only its bytes counted: 2 MB in chunks of one byte took 6 s.
describe('a file in very small chunks', () => {
  let api: Api;
  const clock = new FakeClock();
  afterEach(() => api.close());

  async function sendChunks(count: number, bytes = count) {
    api = await buildServer({ ...served.deps, clock });
    await api.listen({ port: 0, host: '127.0.0.1' });
    const { path, key } = await linkFor(bytes);
    const client = connect((api.server.address() as AddressInfo).port, '127.0.0.1');
    client.on('error', () => undefined); // Writing on into a connection that is gone.
    const head = 'Host: a\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n';
    client.write(`PUT ${path} HTTP/1.1\r\n${head}`);
    while (unfinished().length === 0) await new Promise((resolve) => setImmediate(resolve));
    client.write(`${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`);
    return { client, key };
  }

  it('is received at the pace of so many pieces', async () => {
    const { client, key } = await sendChunks(4_000);
    while (clock.timers === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await isStored(key)).toBe(false);
    clock.advance(2_000);
    const [reply] = await once(client, 'data');
    expect(String(reply)).toMatch(/^HTTP\/1.1 200 /);
    client.destroy();
  });

  it('is refused if these are too many', async () => {
    const { client, key } = await sendChunks(150_000);
    const replied = once(client, 'data');
    let isOver = false;
    void replied.then(() => {
      isOver = true;
    });
    while (!isOver) {
      clock.advance(10_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const [reply] = await replied;
    expect(String(reply)).toMatch(/^HTTP\/1.1 413 /);
    expect(String(reply)).toContain('more than 65536 pieces');
    expect(await isStored(key)).toBe(false);
    client.destroy();
  });
});

describe('a body that is no file', () => {
  let api: Api;
  afterEach(() => api.close());

  it('is there within half a minute, or the connection ends', async () => {
    const clock = new FakeClock();
    api = await buildServer({ ...served.deps, clock });
    await api.listen({ port: 0, host: '127.0.0.1' });
    const { port } = api.server.address() as AddressInfo;
    const out = request({
      port,
      method: 'POST',
      path: '/api/v1/user/api-keys',
      headers: { 'x-api-key': served.test.apiKey, 'content-length': 100 },
    });
    const ended = new Promise<string>((resolve) => {
      out.once('error', ({ message }) => resolve(message));
    });
    out.write('{');
    while (clock.timers === 0) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(30_000);
    expect(await ended).toMatch(/hang up|ECONNRESET/);
  });
});
