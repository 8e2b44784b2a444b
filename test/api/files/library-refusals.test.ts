// Recordings, documents and folders that are not there. Source: contract §10.3.

import { describe, expect, it } from 'vitest';
import { wavHeader } from '../../../src/audio/wav.ts';
import { smallWorkflow, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
async function answer(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
) {
  const { status, body: told } = await call(method, `/api/v1${path}`, { body });
  return [status, told?.detail];
}

describe('recordings are', () => {
  it('404 in the words of the contract, wherever they are named', async () => {
    const missing = [404, 'Recording not found'];
    expect(await answer('DELETE', '/workflow-recordings/none')).toEqual(missing);
    const body = { recording_id: 'b' };
    expect(await answer('PATCH', '/workflow-recordings/999999', body)).toEqual(missing);
    expect(await answer('PATCH', '/workflow-recordings/x', body)).toEqual(missing);
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
