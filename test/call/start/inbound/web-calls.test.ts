// Calls from browsers in the call layer: what the run has, and sockets that come to another gateway than the one that
// started the call. Whole calls: test/e2e/web-calls.test.ts.

import { describe, expect, it } from 'vitest';
import type { WebCall } from '../../../../src/call/start/setup/web-call.ts';
import type { MediaSocket, MediaSocketListener } from '../../../../src/transport/media-socket.ts';
import { MEDIA_PATH, mediaPathOf, WEB_MEDIA_PATH } from '../../../../src/transport/media-token.ts';
import { settle } from '../../../fakes/fake-clock.ts';
import { type CallHarness, chat, GREETING, withCallHarness } from '../../call-harness.ts';
import { withSecondGateway } from '../../second-gateway.ts';

const held = withCallHarness();
const second = withSecondGateway();
const PAGE = 'https://shop.example.com';

function begin(harness: CallHarness, more: Partial<WebCall> = {}) {
  return harness.callControl.startWeb({
    organizationId: harness.at.owner.organizationId,
    apiKeyId: '7',
    apiKeyCreatedBy: '1',
    workflowId: harness.workflow.id,
    isDraft: false,
    initialContext: {},
    items: 'transcript',
    origin: PAGE,
    ...more,
  });
}

/** A page's socket: what it is sent, and how it is closed. */
class Socket implements MediaSocket {
  readonly messages: Record<string, unknown>[] = [];
  audioBytes = 0;
  bufferedBytes = 0;
  closed: number | undefined;
  listener: MediaSocketListener | undefined;

  get open(): boolean {
    return this.closed === undefined;
  }

  sendText(message: string): void {
    this.messages.push(JSON.parse(message));
  }

  sendBinary(message: Uint8Array): void {
    this.audioBytes += message.length;
  }

  close(code: number, reason: string): void {
    this.closed ??= code;
    this.listener?.onClose(code, reason);
  }

  say(message: object): void {
    this.listener?.onText(JSON.stringify(message));
  }
}

/** The socket, or the close code of its refusal. */
async function open(harness: CallHarness, token: string, origin = PAGE): Promise<Socket | number> {
  const headers = { 'sec-websocket-protocol': `patchbay.v1, token.${token}`, origin };
  const path = mediaPathOf({ url: WEB_MEDIA_PATH, headers });
  if (path === undefined) throw new Error('no path');
  const admission = await harness.callControl.admit(path, headers);
  if ('refuse' in admission) return admission.refuse;
  const socket = new Socket();
  socket.listener = admission.accept(socket);
  socket.say({ type: 'hello', rate: 16_000 });
  await settle();
  return socket;
}

async function talking(harness: CallHarness, token: string): Promise<Socket> {
  const socket = await open(harness, token);
  if (typeof socket === 'number') throw new Error(`refused: ${socket}`);
  await harness.passUntil(() => socket.audioBytes > 2_000);
  return socket;
}

describe('a call from a browser', () => {
  it('is an inbound run without a configuration, which knows its client', async () => {
    const harness = await held.harness.prepare(chat);
    const { runId, runName } = await begin(harness, {
      initialContext: { first_name: 'Ada', provider: 'mine' },
    });
    expect(runName).toMatch(/^WR-WEB-\d{8}$/);
    expect(await harness.run(runId)).toMatchObject({
      mode: 'web',
      callType: 'inbound',
      state: 'initialized',
      configurationId: null,
      initialContext: {
        first_name: 'Ada',
        direction: 'inbound',
        provider: 'web',
        trigger_mode: 'production',
        api_key_id: '7',
      },
    });
    expect(await harness.bodies({ id: runId }, 'call.created')).toEqual([
      { type: 'call.created', direction: 'inbound', provider: 'web', from: null, to: null },
    ]);
  });

  it('tells its page that it has started and why it has ended', async () => {
    const harness = await held.harness.prepare(chat);
    const { runId, token } = await begin(harness);
    const socket = await talking(harness, token);
    expect(socket.messages[0]).toMatchObject({ type: 'started', run_id: runId, resume_ms: 5_000 });
    expect(harness.tts.asked.join(' ')).toContain('Hello, how can I help?');
    await harness.callControl.hangUp({ organizationId: harness.at.owner.organizationId, runId });
    const { disposition } = await harness.ended({ id: runId });
    expect(socket.messages.at(-1)).toEqual({ type: 'ended', reason: disposition, disposition });
    expect(socket.closed).toBe(1000);
  });

  it('gives up after half a minute without a socket', async () => {
    const harness = await held.harness.prepare(chat);
    const { runId, token } = await begin(harness);
    harness.clock.advance(30_000);
    expect(await harness.ended({ id: runId })).toMatchObject({
      disposition: 'system_connect_error',
    });
    expect(await open(harness, token)).toBe(4401);
  });

  it('takes one socket, of its page', async () => {
    const harness = await held.harness.prepare(chat);
    const { runId, token } = await begin(harness);
    expect(await open(harness, token, 'https://evil.example.com')).toBe(4401);
    const socket = await talking(harness, token);
    expect(await open(harness, token)).toBe(4401);
    socket.say({ type: 'bye' });
    await harness.ended({ id: runId });
  });

  it('takes a return by the path of browsers alone', async () => {
    const harness = await held.harness.prepare(chat);
    const { runId, token } = await begin(harness, { origin: null });
    const socket = await talking(harness, token);
    const resume = String(socket.messages[0]?.['resume_token']);
    const [id, workflow, organization, ...rest] = resume.split('.');
    const url = [MEDIA_PATH.slice(0, -1), workflow, organization, id, rest.join('.')].join('/');
    const path = mediaPathOf({ url, headers: {} });
    if (path === undefined) throw new Error('no path');
    // A gateway's websocket server checks the origin, and counts messages, by the path.
    expect(await harness.callControl.admit(path, {})).toMatchObject({ refuse: 4401 });
    const back = await open(harness, resume);
    expect([back, socket.closed]).toEqual([expect.any(Socket), 1001]);
    if (typeof back !== 'number') back.say({ type: 'bye' });
    await harness.ended({ id: runId });
  });

  it('takes twenty sockets in a minute', async () => {
    const harness = await held.harness.prepare(chat);
    const { runId, token } = await begin(harness);
    let socket = await talking(harness, token);
    const again = () => open(harness, String(socket.messages[0]?.['resume_token']));
    for (let sockets = 1; sockets < 20; sockets++) {
      const next = await again();
      if (typeof next === 'number') throw new Error(`socket ${sockets + 1} refused: ${next}`);
      socket = next;
    }
    expect(await again()).toBe(4409);
    expect(socket.closed).toBeUndefined();
    socket.say({ type: 'bye' });
    await harness.ended({ id: runId });
  });

  it('is adopted by the gateway that its socket reaches', async () => {
    const one = await held.harness.prepare();
    const other = await second.beside(one);
    const { runId, token } = await begin(one);
    const socket = await talking(other, token);
    expect(other.tts.asked.join(' ')).toBe(GREETING);
    expect(await other.deps.store.runs.owner(runId)).toMatchObject({ isOwn: true });
    expect(await open(one, token)).toBe(4409);
    // Its page returns to where the call is; elsewhere the socket is passed on before it comes so far.
    const again = String(socket.messages[0]?.['resume_token']);
    expect(await open(one, again)).toBe(4404);
    socket.listener?.onClose(1006, '');
    const returned = await open(other, again);
    if (typeof returned === 'number') throw new Error(`refused: ${returned}`);
    const types = (await other.events({ id: runId })).map(({ body }) => body.type);
    expect(types).toContain('media.interrupted');
    expect(types).toContain('media.restored');
    returned.say({ type: 'bye' });
    await other.ended({ id: runId });
  });
});
