// Server-sent events over a real socket.

import { get, type IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallEventBody } from '../../../src/model/call-event.ts';
import type { Run } from '../../../src/model/run.ts';
import { smallWorkflow, withApi } from '../served.ts';

const served = withApi();
let base: string;
let run: Run;
let path: string;
const streams: Stream[] = [];

beforeEach(async () => {
  const { server } = served.api;
  if (!server.listening) await served.api.listen({ host: '127.0.0.1', port: 0 });
  const address = server.address();
  base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/api/v1`;
  run = await aRun(served.test.owner.organizationId);
  path = `/workflow/${run.workflowId}/runs/${run.id}/events`;
});
afterEach(() => {
  for (const stream of streams.splice(0)) stream.close();
});

async function aRun(organizationId: string): Promise<Run> {
  const { store, owner } = served.test;
  const { workflow, version } = await store.workflows.create(
    { ...owner, organizationId },
    {
      name: 'a',
      triggerPaths: [],
      definition: smallWorkflow,
      configurations: {},
      templateContextVariables: {},
    },
  );
  const { id: configurationId } = await store.telephony.createConfiguration(organizationId, {
    name: `c${workflow.id}`,
    provider: 'twilio',
    isDefaultOutbound: false,
    credentials: {},
    accountId: null,
    secretFields: [],
  });
  return store.runs.create(
    {
      organizationId,
      workflowId: workflow.id,
      definitionId: version.id,
      name: 'r',
      mode: 'twilio',
      callType: 'inbound',
      configurationId,
      providerCallId: null,
      initialContext: {},
      gatheredContext: {},
      logs: {},
    },
    10,
  );
}

async function happens(body: CallEventBody, of = run): Promise<void> {
  (await served.events.open(of.id)).append(body, 0);
}
const created: CallEventBody = {
  type: 'call.created',
  direction: 'inbound',
  provider: 'twilio',
  from: '+1',
  to: '+2',
};
const said = (text: string): CallEventBody => ({
  type: 'agent.said',
  utteranceId: 1,
  kind: 'reply',
  text,
  interrupted: false,
  nodeId: '1',
  nodeName: 'Start',
  startMs: 0,
  endMs: 1,
});
async function ends(of = run): Promise<void> {
  await happens({ type: 'call.ended', reason: 'user_hangup', by: 'caller', durationS: 3 }, of);
  await served.events.flush();
  const patch = { state: 'completed', disposition: 'user_hangup', durationS: 3 } as const;
  await served.test.store.runs.patch(of.id, patch);
  served.events.release(of.id);
}

class Stream {
  readonly status: number;
  readonly contentType: string;
  readonly #answer: IncomingMessage;
  readonly #pieces: AsyncIterator<Buffer>;
  #text = '';

  constructor(answer: IncomingMessage) {
    this.status = answer.statusCode ?? 0;
    this.contentType = String(answer.headers['content-type']);
    this.#answer = answer;
    this.#pieces = answer[Symbol.asyncIterator]();
    streams.push(this);
  }

  close(): void {
    this.#answer.destroy();
  }

  /** The next item; undefined at the end of the stream. Comments are passed over. */
  async next(): Promise<{ id: string; data: Record<string, unknown> } | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end >= 0) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        const [, id, data] = /^id: (.+)\ndata: (.+)$/s.exec(block) ?? [];
        if (id !== undefined && data !== undefined) return { id, data: JSON.parse(data) };
        continue;
      }
      const piece = await this.#pieces.next();
      if (piece.done === true) return undefined;
      this.#text += piece.value.toString();
    }
  }

  async all(): Promise<[string, unknown][]> {
    const items: [string, unknown][] = [];
    for (let item = await this.next(); item !== undefined; item = await this.next()) {
      items.push([item.id, item.data['type']]);
    }
    return items;
  }
}

function follow(at: string, headers?: Record<string, string>): Promise<Stream> {
  const options = { headers: headers ?? { 'x-api-key': served.test.apiKey }, agent: false };
  return new Promise((resolve, reject) => {
    get(base + at, options, (answer) => resolve(new Stream(answer))).once('error', reject);
  });
}

describe('the stream of a run', () => {
  it('tells what has happened, then what happens, then that the run is completed', async () => {
    await happens(created);
    await happens(said('Hello.'));
    const stream = await follow(path);
    expect(stream.contentType).toBe('text/event-stream; charset=utf-8');
    expect(await stream.next()).toMatchObject({ id: `${run.id}:1`, data: { type: 'run-started' } });
    expect(await stream.next()).toMatchObject({
      id: `${run.id}:2`,
      data: { type: 'rtf-bot-text', run_id: run.id, payload: { text: 'Hello.' } },
    });
    await happens(said('Bye.'));
    expect(await stream.next()).toMatchObject({ data: { payload: { text: 'Bye.' } } });
    await ends();
    expect(await stream.next()).toMatchObject({
      data: {
        type: 'run-completed',
        payload: { status: 'completed', disposition: 'user_hangup', duration: 3 },
      },
    });
    expect(await stream.next()).toBeUndefined();
  });

  it('of a run that is over is its history', async () => {
    await happens(created);
    await happens(said('Hello.'));
    await ends();
    expect(await (await follow(path)).all()).toEqual([
      [`${run.id}:1`, 'run-started'],
      [`${run.id}:2`, 'rtf-bot-text'],
      [`${run.id}:3`, 'run-completed'],
    ]);
  });

  it('goes on after the last event that the client has', async () => {
    for (const text of ['one', 'two', 'three']) await happens(said(text));
    await ends();
    const headers = { 'x-api-key': served.test.apiKey, 'last-event-id': `${run.id}:2` };
    expect(await (await follow(path, headers)).all()).toEqual([
      [`${run.id}:3`, 'rtf-bot-text'],
      [`${run.id}:4`, 'run-completed'],
    ]);
  });

  it('tells two clients the same, each event once', async () => {
    const both = await Promise.all([follow(path), follow(path)]);
    for (let number = 1; number <= 50; number += 1) await happens(said(`word ${number}`));
    await ends();
    const [one, other] = await Promise.all(both.map((stream) => stream.all()));
    expect(one).toHaveLength(51);
    expect(new Set(one?.map(([id]) => id)).size).toBe(51);
    expect(other).toEqual(one);
  });

  it('follows a run of another process by the store', async () => {
    const stream = await follow(path);
    const event = { runId: run.id, seq: 1, at: 0, mediaMs: 0, body: said('From afar.') };
    await served.test.store.runs.appendEvents([event]);
    expect(await stream.next()).toMatchObject({ data: { payload: { text: 'From afar.' } } });
  });

  it('ends when it was asked to', async () => {
    expect(await (await follow(`${path}?max_seconds=0`)).all()).toEqual([]);
  });

  it('of another organization is not found', async () => {
    const { apiKey } = await served.stranger();
    expect((await follow(path, { 'x-api-key': apiKey })).status).toBe(404);
    expect((await follow(`/workflow/1${run.workflowId}/runs/${run.id}/events`)).status).toBe(404);
  });
});

describe('the stream of an organization', () => {
  it('tells what happens in its calls from now on, and nothing of others', async () => {
    const { organizationId } = await served.stranger();
    const theirs = await aRun(organizationId);
    await happens(said('Before.'));
    const stream = await follow('/organizations/events');
    await happens(said('Theirs.'), theirs);
    await happens(said('Ours.'));
    expect(await stream.next()).toMatchObject({
      data: { run_id: run.id, payload: { text: 'Ours.' } },
    });
    await ends();
    expect(await stream.next()).toMatchObject({ data: { type: 'run-completed' } });
    const next = await aRun(served.test.owner.organizationId);
    await happens(created, next);
    expect(await stream.next()).toMatchObject({ data: { type: 'run-started', run_id: next.id } });
  });
});

describe('a stream', () => {
  it('takes a key in its address, which is logged nowhere', async () => {
    await ends();
    const { apiKey } = served.test;
    const stream = await follow(`${path}?api_key=${apiKey}`, {});
    expect([stream.status, (await stream.all()).length]).toEqual([200, 1]);
    expect(JSON.stringify(served.test.lines())).not.toContain(apiKey);
    expect((await follow(`${path}?api_key=wrong`, {})).status).toBe(401);
    expect((await follow(path, {})).status).toBe(401);
    expect((await follow(`${path}?api_key=${apiKey}`, { 'x-api-key': 'wrong' })).status).toBe(401);
  });

  it('is one of fifty at most, and leaves its place when its client goes', async () => {
    const open = await Promise.all(Array.from({ length: 50 }, () => follow(path)));
    const refused = await follow(path);
    expect(refused.status).toBe(429);
    open[0]?.close();
    for (let tries = 0; ; tries += 1) {
      const stream = await follow(path);
      if (stream.status === 200) break;
      expect(tries).toBeLessThan(50);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

  it('ends when the gateway closes', async () => {
    const stream = await follow('/organizations/events');
    const closed = served.api.close();
    expect(await stream.next()).toBeUndefined();
    await closed;
  });
});
