// Watching calls over a real socket.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Api } from '../../../src/api/http/api-deps.ts';
import { EventStreams } from '../../../src/api/http/event-streams.ts';
import { buildServer } from '../../../src/api/server.ts';
import { LiveWatchers } from '../../../src/call/events/live-watchers.ts';
import type { Run } from '../../../src/model/run.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { EventClient } from '../http/event-client.ts';
import { withApi } from '../served.ts';
import { withStoredRuns } from './stored-runs.ts';

const served = withApi();
const stored = withStoredRuns(served);
let api: Api;
let live: LiveWatchers;
let streams: EventStreams;
let base = '';
let clients: EventClient[] = [];

beforeEach(async () => {
  live = new LiveWatchers();
  const { places } = served.test.store;
  streams = new EventStreams({ places, clock: systemClock, live, lifeMs: 60_000 });
  api = await buildServer({ ...served.deps, streams });
  base = `${await api.listen({ host: '127.0.0.1', port: 0 })}/api/v1`;
});

afterEach(async () => {
  for (const client of clients) client.leave();
  clients = [];
  await api.close();
});

async function open(path: string, headers: Record<string, string> = {}): Promise<EventClient> {
  const client = await EventClient.open(base + path, headers);
  clients.push(client);
  return client;
}
const own = () => ({ 'x-api-key': served.test.apiKey });
const watch = (run: Run, headers = {}) => open(pathOf(run), { ...own(), ...headers });
const pathOf = ({ id }: Run) => `/workflow/${stored.workflowId}/runs/${id}/events`;
const until = (condition: () => boolean) =>
  vi.waitFor(() => expect(condition()).toBe(true), { interval: 5, timeout: 5_000 });

async function say(run: Run, seq: number, text = `t${seq}`): Promise<void> {
  const heard = { source: 'speech' as const, confidence: 1, nodeId: null, nodeName: null };
  await served.test.store.runs.appendEvents([
    {
      runId: run.id,
      seq,
      at: served.test.clock.now(),
      mediaMs: 0,
      body: { type: 'user.turn', text, ...heard, startMs: 0, endMs: 1 },
    },
  ]);
  live.notifyStored([run.id]);
}

describe('the events of a run', () => {
  it('are refused to an organization whose places other gateways have taken', async () => {
    const run = await stored.aRun({ state: 'running' });
    const { organizationId } = served.test.owner;
    await served.test.sql(
      `insert into places (name, node, until)
       select $1, 'another', $2 from generate_series(1, 20)`,
      [`streams ${organizationId}`, new Date(served.test.clock.now() + 60_000)],
    );
    const answer = await fetch(base + pathOf(run), { headers: own() });
    expect(answer.status).toBe(429);
    await served.test.sql('delete from places');
    const client = await watch(run);
    expect(await served.test.sql('select node from places')).toEqual([
      { node: served.test.store.node },
    ]);
    client.leave();
    await vi.waitFor(async () =>
      expect(await served.test.sql('select node from places')).toEqual([]),
    );
  });

  it('are what has happened, then what happens, and end with the run', async () => {
    const run = await stored.aRun({ state: 'running' });
    await say(run, 1);
    const client = await watch(run);
    expect(client.response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
      'x-request-id': expect.any(String),
    });
    await until(() => client.heard.length === 1);
    expect(client.heard[0]).toEqual({
      id: `${run.id}:1`,
      event: undefined,
      data: {
        workflow_run_id: run.id,
        workflow_id: stored.workflowId,
        type: 'rtf-user-transcription',
        payload: expect.objectContaining({ text: 't1' }),
        timestamp: expect.any(String),
        at_ms: 0,
        turn: 1,
      },
    });
    await say(run, 2);
    await until(() => client.heard.length === 2);
    await served.test.store.runs.patch(run.id, stored.completed());
    await until(() => client.isOver);
    expect(client.words).toEqual(['t1', 't2', 'completed']);
    expect(client.heard.at(-1)).toEqual({
      id: `${run.id}:2`,
      event: 'completed',
      data: {
        workflow_run_id: run.id,
        workflow_id: stored.workflowId,
        type: 'completed',
        payload: { disposition: 'user_qualified' },
        timestamp: expect.stringMatching(/\+00:00$/),
        disposition: 'user_qualified',
      },
    });
    expect(streams.count).toBe(0);
  });

  it('come behind the last one that the client has, or not at all if that was the end', async () => {
    const run = await stored.aRun({ state: 'running' });
    await say(run, 1);
    await say(run, 2);
    const client = await watch(run, { 'last-event-id': `${run.id}:1` });
    await until(() => client.heard.length === 1);
    expect(client.words).toEqual(['t2']);
    await served.test.store.runs.patch(run.id, stored.completed());
    await until(() => client.isOver);
    const again = await watch(run, { 'last-event-id': client.lastId });
    expect(again.status).toBe(204);
    const whole = await watch(run);
    await until(() => whole.isOver);
    expect(whole.words).toEqual(['t1', 't2', 'completed']);
  });

  it('send events that are not stored to connected clients', async () => {
    const run = await stored.aRun({ state: 'running' });
    await say(run, 1);
    const client = await watch(run);
    await until(() => client.heard.length === 1);
    await vi.waitFor(() => {
      const timestamp = '2026-01-15T09:00:00.000+00:00';
      live.emit(run.id, { type: 'rtf-bot-started-speaking', payload: {}, timestamp });
      expect(client.words).toContain('rtf-bot-started-speaking');
    });
    const told = client.heard.at(-1);
    expect([told?.id, told?.data['workflow_run_id']]).toEqual([`${run.id}:1`, run.id]);
  });

  it('of a call of another node are found in the store', async () => {
    const run = await stored.aRun({ state: 'running' });
    const client = await watch(run);
    live.notifyStored = () => undefined; // No listener.
    await say(run, 1);
    await until(() => client.words.includes('t1'));
  });

  it('can be had without waiting for more', async () => {
    const run = await stored.aRun({ state: 'running' });
    await say(run, 1);
    const client = await open(`${pathOf(run)}?follow=false`, own());
    await until(() => client.isOver);
    expect(client.words).toEqual(['t1']);
  });

  it('of another organization or agent are not found; HEAD is no way to watch', async () => {
    const run = await stored.aRun();
    const { apiKey } = await served.stranger();
    expect((await open(pathOf(run), { 'x-api-key': apiKey })).status).toBe(404);
    expect((await open(`/workflow/999999/runs/${run.id}/events`, own())).status).toBe(404);
    const head = await fetch(base + pathOf(run), { method: 'HEAD', headers: own() });
    expect(head.status).toBe(405);
  });
});

describe('the events of an organization', () => {
  it('are those of all its calls, and go on behind the last one', async () => {
    const one = await stored.aRun({ state: 'running' });
    await say(one, 1);
    const client = await open('/organizations/events', own());
    await until(() => client.words.length === 2);
    const two = await stored.aRun();
    await say(two, 1, 'other');
    await until(() => client.words.includes('other'));
    expect(client.words).toEqual(['started', 't1', 'started', 'other']);
    client.leave();
    await until(() => streams.count === 0);
    await served.test.store.runs.patch(one.id, stored.completed());
    const again = await open('/organizations/events', {
      ...own(),
      'last-event-id': client.lastId,
    });
    await until(() => again.words.length === 1);
    expect(again.words).toEqual(['completed']);
    const { apiKey } = await served.stranger();
    const stranger = await open('/organizations/events?follow=false', { 'x-api-key': apiKey });
    await until(() => stranger.isOver);
    expect(stranger.words).toEqual([]);
  });
});

describe('a stream', () => {
  it('opens by a key or a token in the query, which no log shows', async () => {
    const run = await stored.aRun({ state: 'running' });
    const { apiKey } = served.test;
    expect((await open(`${pathOf(run)}?follow=false&api_key=${apiKey}`)).status).toBe(200);
    const { token } = await served.ok('POST', '/auth/signup', {
      email: 'ada@example.com',
      password: 'correct horse',
    });
    expect((await open(`/organizations/events?follow=false&token=${token}`)).status).toBe(200);
    for (const query of ['', '?api_key=', '?api_key=wrong', '?token=a.b.c', '?token=']) {
      expect((await open(pathOf(run) + query)).status, query).toBe(401);
    }
    // A header is the only one tried.
    const bad = await open(`${pathOf(run)}?api_key=${apiKey}`, { 'x-api-key': 'wrong' });
    expect(bad.status).toBe(401);
    const lines = JSON.stringify(served.test.lines());
    expect([lines.includes(apiKey), lines.includes(token)]).toEqual([false, false]);
  });

  it('is one of twenty that an organization may have', async () => {
    const run = await stored.aRun({ state: 'running' });
    const all = await Promise.all(Array.from({ length: 21 }, () => watch(run)));
    expect(all.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(all.find(({ status }) => status === 429)?.response.headers['retry-after']).toBe('5');
    all.find(({ status }) => status === 200)?.leave();
    await until(() => streams.count === 19);
    expect((await watch(run)).status).toBe(200);
  });

  it('ends with a word when the gateway stops, which does not wait for it', async () => {
    const run = await stored.aRun({ state: 'running' });
    const client = await watch(run);
    await say(run, 1);
    await until(() => client.heard.length === 1);
    await api.close();
    await until(() => client.isOver);
    expect(client.heard.at(-1)).toMatchObject({ event: 'closed', data: { reason: 'closing' } });
  });

  it('ends with a word when the store is away', async () => {
    const run = await stored.aRun({ state: 'running' });
    const { runs } = served.deps.store;
    const client = await watch(run);
    await say(run, 1);
    await until(() => client.heard.length === 1);
    const failing = vi.spyOn(runs, 'eventsAfter').mockRejectedValue(new Error('away'));
    await until(() => client.isOver);
    failing.mockRestore();
    expect(client.heard.at(-1)?.data).toMatchObject({ payload: { reason: 'unavailable' } });
  });
});
