// What the library of recordings, the knowledge base and folders are refused for, row by row. Source:
// contract §10.3.

import { describe, expect, it } from 'vitest';
import { wavHeader } from '../../../src/audio/wav.ts';
import { smallWorkflow, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
type Loc = (string | number)[];

const fault = (type: string, ...loc: Loc) => [422, [expect.objectContaining({ type, loc })]];

async function answer(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
) {
  const { status, body: told } = await call(method, `/api/v1${path}`, { body });
  return [status, told?.detail];
}

describe('links for recordings are 422', () => {
  const file = { filename: 'a.wav', file_size: 1 };
  const first: Loc = ['body', 'files', 0];

  it.each<[string, unknown, string, Loc]>([
    ['no files', {}, 'missing', ['body', 'files']],
    ['an empty list', { files: [] }, 'too_short', ['body', 'files']],
    ['21 files', { files: Array(21).fill(file) }, 'too_long', ['body', 'files']],
    ['a file without a name', { files: [{ file_size: 1 }] }, 'missing', [...first, 'filename']],
    ['a file without a size', { files: [{ filename: 'a' }] }, 'missing', [...first, 'file_size']],
    [
      'nothing in it',
      { files: [{ ...file, file_size: 0 }] },
      'greater_than',
      [...first, 'file_size'],
    ],
    [
      'more than 5 MB',
      { files: [{ ...file, file_size: 5_242_881 }] },
      'less_than_equal',
      [...first, 'file_size'],
    ],
    [
      'half a byte',
      { files: [{ ...file, file_size: 1.5 }] },
      'int_from_float',
      [...first, 'file_size'],
    ],
    [
      'a type that is none',
      { files: [{ ...file, mime_type: 'wav' }] },
      'string_pattern_mismatch',
      [...first, 'mime_type'],
    ],
  ])('for %s', async (_what, body, type, loc) => {
    expect(await answer('POST', '/workflow-recordings/upload-url', body)).toEqual(
      fault(type, ...loc),
    );
  });
});

describe('recordings are', () => {
  const key = () => `recordings/${served.test.owner.organizationId}/a/a.wav`;
  const create = (recordings: unknown) => answer('POST', '/workflow-recordings/', { recordings });

  it.each(['recording_id', 'transcript', 'storage_key'])('422 without their %s', async (field) => {
    const whole = { recording_id: 'a', transcript: 'x', storage_key: key() };
    expect(await create([{ ...whole, [field]: undefined }])).toEqual(
      fault('missing', 'body', 'recordings', 0, field),
    );
  });

  it('422 where there are none or more than 20, or a name that cannot be', async () => {
    const whole = { recording_id: 'a', transcript: 'x', storage_key: key() };
    expect(await create([])).toEqual(fault('too_short', 'body', 'recordings'));
    expect(await create(Array(21).fill(whole))).toEqual(fault('too_long', 'body', 'recordings'));
    for (const [name, type] of [
      ['', 'string_too_short'],
      ['x'.repeat(65), 'string_too_long'],
      ['a b', 'string_pattern_mismatch'],
    ] as const) {
      const [status, detail] = await create([{ ...whole, recording_id: name }]);
      expect([status, detail[0].type, detail[0].loc]).toEqual([
        422,
        type,
        ['body', 'recordings', 0, 'recording_id'],
      ]);
    }
  });

  it('404 in the words of the contract, wherever they are named', async () => {
    const missing = [404, 'Recording not found'];
    expect(await answer('DELETE', '/workflow-recordings/none')).toEqual(missing);
    const body = { recording_id: 'b' };
    expect(await answer('PATCH', '/workflow-recordings/999999', body)).toEqual(missing);
    expect(await answer('PATCH', '/workflow-recordings/x', body)).toEqual(missing);
  });

  it('422 to be listed by what cannot be', async () => {
    for (const [query, type, field] of [
      ['workflow_id=x', 'int_parsing', 'workflow_id'],
      ['limit=0', 'greater_than_equal', 'limit'],
      ['offset=-1', 'greater_than_equal', 'offset'],
    ] as const) {
      expect(await answer('GET', `/workflow-recordings/?${query}`)).toEqual(
        fault(type, 'query', field),
      );
    }
  });
});

describe('documents', () => {
  const list = (query = '') => call('GET', `/api/v1/knowledge-base/documents${query}`);

  it('are none, by pages that are as wide as was asked for', async () => {
    expect((await list()).body).toEqual({ documents: [], total: 0, limit: 100, offset: 0 });
    for (const status of ['pending', 'processing', 'completed', 'failed']) {
      const { body } = await list(`?status=${status}&limit=1&offset=7`);
      expect(body).toEqual({ documents: [], total: 0, limit: 1, offset: 7 });
    }
  });

  it.each([
    ['status=gone', 'literal_error', 'status'],
    ['limit=0', 'greater_than_equal', 'limit'],
    ['limit=101', 'less_than_equal', 'limit'],
    ['limit=x', 'int_parsing', 'limit'],
    ['offset=-1', 'greater_than_equal', 'offset'],
  ])('are 422 for ?%s', async (query, type, field) => {
    const { status, body } = await list(`?${query}`);
    expect([status, body.detail]).toEqual(fault(type, 'query', field));
  });

  it('are not taken by this version: what would take one is not there', async () => {
    for (const [method, path] of [
      ['POST', '/upload-url'],
      ['POST', '/process-document'],
      ['POST', '/search'],
      ['GET', '/documents/0f8fad5b-d9cb-469f-a165-70867728950e'],
      ['DELETE', '/documents/0f8fad5b-d9cb-469f-a165-70867728950e'],
    ] as const) {
      const body = method === 'POST' ? {} : undefined;
      expect(await answer(method, `/knowledge-base${path}`, body), path).toEqual([
        404,
        'Not Found',
      ]);
    }
  });
});

describe('a folder', () => {
  it('is 422 when it is renamed to what it cannot be called', async () => {
    const { id } = await ok('POST', '/folder/', { name: 'Sales' });
    const rename = (body: unknown) => answer('PUT', `/folder/${id}`, body);
    expect(await rename({})).toEqual(fault('missing', 'body', 'name'));
    expect(await rename({ name: '' })).toEqual(fault('string_too_short', 'body', 'name'));
    expect(await rename({ name: 'x'.repeat(101) })).toEqual(
      fault('string_too_long', 'body', 'name'),
    );
    expect(await rename({ name: null })).toEqual(fault('string_type', 'body', 'name'));
    expect(await ok('GET', '/folder/')).toEqual([expect.objectContaining({ name: 'Sales' })]);
  });

  it('has a name that another organization may have too', async () => {
    await ok('POST', '/folder/', { name: 'Sales' });
    const { apiKey: key } = await served.stranger();
    const theirs = await call('POST', '/api/v1/folder/', { key, body: { name: 'Sales' } });
    expect(theirs.status).toBe(200);
  });
});

describe('a recording for one agent', () => {
  it('is 404 for an agent that is not there or is another organization’s', async () => {
    const { random } = served.deps;
    const { organizationId } = served.test.owner;
    const name = random.bytes(4).toString('hex');
    const storageKey = `recordings/${organizationId}/${name}/a.wav`;
    await served.deps.files.write(storageKey, helloWav());
    const { apiKey: key } = await served.stranger();
    const foreign = await call('POST', '/api/v1/workflow/create/definition', {
      key,
      body: { name: 'theirs', workflow_definition: smallWorkflow },
    });
    for (const id of ['999999', String(foreign.body.id)]) {
      const recording = { recording_id: name, transcript: 'x', storage_key: storageKey };
      const recordings = [{ ...recording, workflow_id: id }];
      expect(await answer('POST', '/workflow-recordings/', { recordings })).toEqual([
        404,
        `Workflow with id ${id} not found`,
      ]);
    }
    expect((await ok('GET', '/workflow-recordings/')).total).toBe(0);
  });
});

function helloWav(): Buffer {
  const data = Buffer.alloc(1_600);
  const header = wavHeader({ rateHz: 8_000, channels: 1, dataBytes: data.length });
  return Buffer.concat([header, data]);
}
