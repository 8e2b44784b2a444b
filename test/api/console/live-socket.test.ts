// The socket of the console's board over real sockets: who gets it, what it sends, and how it ends.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Api } from '../../../src/api/http/api-deps.ts';
import { buildServer } from '../../../src/api/server.ts';
import { onWebsocketUpgrade, withConsole } from '../../../src/app/upgrades.ts';
import { LiveWatchers } from '../../../src/call/events/live-watchers.ts';
import type { Run } from '../../../src/model/run.ts';
import { refuseUpgrade } from '../../../src/transport/upgrade-refusal.ts';
import { withStoredRuns } from '../runs/stored-runs.ts';
import { withApi } from '../served.ts';

const served = withApi();
const stored = withStoredRuns(served);
let folder = '';
let api: Api;
let live: LiveWatchers;
let base = '';
/** Upgrades that the console left to the gateway's media. */
let passedOn: string[];
let cookie = '';
let sockets: WebSocket[];

beforeEach(async () => {
  folder = `${mkdtempSync(join(tmpdir(), 'patchbay-console-'))}/`;
  writeFileSync(join(folder, 'index.html'), '<!doctype html>');
  live = new LiveWatchers();
  sockets = [];
  await begin({ folder, fileOrigins: [], live });
  const { userId } = served.test.owner;
  const token = await served.deps.access.sessions?.issue({ userId, apiKeyId: null });
  cookie = `patchbay_session=${token}`;
});

afterEach(async () => {
  for (const socket of sockets) socket.terminate();
  await api.close();
  rmSync(folder, { recursive: true });
});

async function begin(console: Parameters<typeof buildServer>[0]['console']): Promise<void> {
  api = await buildServer({ ...served.deps, console });
  passedOn = [];
  onWebsocketUpgrade(
    api.server,
    withConsole(api, (request, socket) => {
      passedOn.push(`${request.url}`);
      refuseUpgrade(socket, '404 Not Found');
    }),
  );
  base = await api.listen({ host: '127.0.0.1', port: 0 });
}

interface Client {
  socket: WebSocket;
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of a message
  messages: any[];
  closed: () => [number, string] | undefined;
}

/** The open socket, or the status of the refusal. */
function open(
  path = '/console/live',
  headers: Record<string, string> = { cookie, origin: base },
): Promise<Client | number> {
  const socket = new WebSocket(base.replace('http', 'ws') + path, { headers });
  sockets.push(socket);
  const messages: unknown[] = [];
  let end: [number, string] | undefined;
  socket.on('message', (data) => messages.push(JSON.parse(String(data))));
  socket.on('close', (code, reason) => {
    end = [code, String(reason)];
  });
  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve({ socket, messages, closed: () => end }));
    socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode ?? 0));
    socket.on('error', reject);
  });
}

async function opened(): Promise<Client> {
  const client = await open();
  if (typeof client === 'number') throw new Error(`refused: ${client}`);
  return client;
}

async function say(run: Run, seq: number, text: string): Promise<void> {
  const turn = { source: 'speech' as const, confidence: 1, nodeId: null, nodeName: null };
  await served.test.store.runs.appendEvents([
    {
      runId: run.id,
      seq,
      at: served.test.clock.now(),
      mediaMs: 0,
      body: { type: 'user.turn', text, ...turn, startMs: 0, endMs: 1 },
    },
  ]);
  live.notifyStored([run.id]);
}

const until = (check: () => void) => vi.waitFor(check, { interval: 10, timeout: 5_000 });

describe('the socket of the board', () => {
  it('is opened by the cookie from a page of the gateway, and by nothing else', async () => {
    const own = { cookie, origin: base };
    expect(await open('/console/live', { origin: base })).toBe(401);
    expect(await open('/console/live', { ...own, cookie: 'patchbay_session=a.b.c' })).toBe(401);
    expect(await open('/console/live', { cookie })).toBe(403);
    expect(await open('/console/live', { cookie, origin: 'https://evil.example' })).toBe(403);
    expect(passedOn).toEqual([]);
    expect(await open('/console/lively', own)).toBe(404);
    expect(await open('/console/', own)).toBe(404);
    expect(passedOn).toEqual(['/console/lively', '/console/']);
    expect(
      (await fetch(`${base}/console/live`, { headers: { cookie, origin: base } })).status,
    ).toBe(426);
    const client = await opened();
    await until(() => expect(client.messages[0]).toMatchObject({ type: 'snapshot', calls: [] }));
    expect(await open('/console/live', { cookie, origin: served.deps.publicUrl })).toBeTypeOf(
      'object',
    );
  });

  it('leaves the upgrades of media to others', async () => {
    const atFastify = vi.spyOn(api as Required<Api>, 'takeUpgrade');
    for (const path of ['/api/v1/telephony/ws/1/1/1/token', '/api/v1/telephony/ws/ari', '/x']) {
      expect(await open(path, { cookie, origin: base })).toBe(404);
      expect(passedOn.pop()).toBe(path);
    }
    expect(atFastify.mock.results.map(({ value }) => value)).toEqual([false, false, false]);
  });

  it('is refused while the console is off', async () => {
    await api.close();
    await begin(undefined);
    expect(await open()).toBe(404);
    expect(passedOn).toEqual(['/console/live']);
  });

  it('shows the calls, then their words and their end', async () => {
    const run = await stored.aRun({ state: 'running' });
    const first = await opened();
    await until(() => expect(first.messages).not.toEqual([]));
    const [snapshot] = first.messages;
    const [call] = snapshot.calls;
    expect([call.run_id, call.state, call.last_words]).toEqual([run.id, 'answered', null]);
    await say(run, 1, 'a table for two');
    await until(() =>
      expect(first.messages.at(-1)).toEqual({
        type: 'changes',
        calls: [{ run_id: run.id, last_speaker: 'caller', last_words: 'a table for two' }],
        ended: [],
        total: snapshot.total,
      }),
    );
    const second = await opened();
    await until(() => expect(second.messages[0]?.calls[0]?.last_words).toBe('a table for two'));
    await served.test.sql("update runs set state = 'completed' where id = $1", [run.id]);
    await until(() => expect(second.messages.at(-1)?.ended).toEqual([run.id]));
    await until(() => expect(first.messages.at(-1)?.ended).toEqual([run.id]));
  });

  it('ends when its client speaks, and with a reason when the gateway stops', async () => {
    const rude = await opened();
    rude.socket.send('hello');
    await until(() => expect(rude.closed()).toEqual([1008, 'unexpected']));
    const client = await opened();
    await api.close();
    await until(() => expect(client.closed()).toEqual([1001, 'closing']));
  });

  it('is not opened more than 50 times by an organization', async () => {
    const clients = await Promise.all(Array.from({ length: 50 }, () => opened()));
    expect(await open()).toBe(429);
    clients[0]?.socket.close();
    await until(() => expect(clients[0]?.closed()).toBeDefined());
    await opened();
  });

  it('has changes of a call that nobody reports within two seconds', async () => {
    const run = await stored.aRun({ state: 'running' });
    const client = await opened();
    await until(() => expect(client.messages).not.toEqual([]));
    vi.spyOn(live, 'notifyStored').mockReturnValue(undefined);
    await say(run, 1, 'unreported');
    await until(() => expect(client.messages.at(-1)?.calls[0]?.last_words).toBe('unreported'));
  });
});
