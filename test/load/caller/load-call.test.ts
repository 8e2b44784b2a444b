// A whole simulated call over a real socket against a gateway that makes faults on purpose: what the tool
// reports must be what was done. Time is handed in; the far end's clock moves when the test says so.

import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { type GatewayEnd, gatewayEnd, streamOf } from '../gateway-end.ts';
import { base64Of } from '../wires/json-stream.ts';
import type { HostedName } from '../wires/wire.ts';
import { FRAME_MS } from './ear.ts';
import { type Heard, heardNothing } from './heard.ts';
import { LoadCall } from './load-call.ts';
import { markedClip, silentFrame } from './prepared-speech.ts';
import { FRAME_BYTES } from './watermark.ts';

const LEAD_FRAMES = 5;
const FRAMES = 60;
const clip = markedClip(0, FRAMES);

const sent = z.looseObject({ event: z.string() });

interface Rig {
  heard: Heard;
  call: LoadCall;
  socket: WebSocket;
  /** Messages of the call, oldest first. */
  messages: z.infer<typeof sent>[];
  gateway: GatewayEnd;
  clock: { nowMs: number };
  /** Sends to the call at `atMs` and waits until it has read everything. */
  send(text: string | Uint8Array, atMs: number): Promise<void>;
}

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const each of cleanUps.splice(0)) each();
});

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}

async function withCall(provider: HostedName = 'twilio'): Promise<Rig> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  cleanUps.push(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const heard = { ...heardNothing(), measuring: true };
  const clock = { nowMs: 1_000 };
  const connection = once(server, 'connection');
  const call = new LoadCall({
    media: { url: `ws://127.0.0.1:${port}/`, headers: {} },
    stream: streamOf(provider),
    leadMs: LEAD_FRAMES * FRAME_MS,
    clipFrames: [FRAMES],
    heard,
    caller: () => ({
      next: () => silentFrame(base64Of),
      tick: () => undefined,
      agentBegins: () => undefined,
    }),
    now: () => clock.nowMs,
  });
  cleanUps.push(() => call.hangUp());
  const [socket] = (await connection) as [WebSocket];
  const messages: z.infer<typeof sent>[] = [];
  socket.on('message', (data: Buffer) => messages.push(sent.parse(JSON.parse(data.toString()))));
  await until(() => messages.length === streamOf(provider).opening().length);
  let pings = 0;
  const send = async (text: string | Uint8Array, atMs: number): Promise<void> => {
    clock.nowMs = atMs;
    pings += 1;
    const answered = once(socket, 'pong');
    socket.send(text);
    socket.ping(String(pings)); // Its answer shows that the text before it was read.
    await answered;
  };
  return {
    heard,
    call,
    socket,
    messages,
    gateway: gatewayEnd(provider, streamOf(provider)),
    clock,
    send,
  };
}

interface Plan {
  /** Which frame of the clip is sent in place `i`; undefined: none, -1: silence. */
  frameAt: (i: number) => number | undefined;
  /** How late. */
  lateMs: (i: number) => number;
}

async function play(rig: Rig, plan: Partial<Plan>): Promise<Heard> {
  for (let i = 0; i < FRAMES; i++) {
    const frame = plan.frameAt === undefined ? i : plan.frameAt(i);
    if (frame === undefined) continue;
    const payload =
      frame < 0
        ? new Uint8Array(FRAME_BYTES).fill(0xff)
        : clip.subarray(frame * FRAME_BYTES, (frame + 1) * FRAME_BYTES);
    const dueMs = 2_000 + Math.max(0, i + 1 - LEAD_FRAMES) * FRAME_MS;
    await rig.send(rig.gateway.audio(payload), dueMs + (plan.lateMs?.(i) ?? 0));
  }
  return rig.heard;
}

describe('a simulated call', () => {
  it('reports nothing of a gateway without fault', async () => {
    const heard = await play(await withCall(), {});
    expect(heard).toMatchObject({
      frames: FRAMES,
      markedFrames: FRAMES,
      underruns: 0,
      lostFrames: 0,
      reorderedFrames: 0,
    });
    expect(heard.lateness.max).toBe(0);
    expect(heard.spacing.max).toBe(FRAME_MS);
  });

  it('reports a late frame', async () => {
    const heard = await play(await withCall(), { lateMs: (i) => (i === 30 ? 19 : 0) });
    expect(heard.lateness.max).toBe(19);
    expect(heard.underruns).toBe(0);
  });

  it('reports a missing frame', async () => {
    const heard = await play(await withCall(), { frameAt: (i) => (i === 30 ? undefined : i) });
    expect(heard).toMatchObject({ lostFrames: 1, reorderedFrames: 0 });
  });

  it('reports a frame of silence in place of speech', async () => {
    const heard = await play(await withCall(), { frameAt: (i) => (i === 30 ? -1 : i) });
    expect(heard).toMatchObject({ lostFrames: 1, reorderedFrames: 0, underruns: 0 });
  });

  it('reports swapped frames', async () => {
    const swapped = new Map([
      [30, 31],
      [31, 30],
    ]);
    const heard = await play(await withCall(), { frameAt: (i) => swapped.get(i) ?? i });
    expect(heard).toMatchObject({ lostFrames: 0, reorderedFrames: 1 });
  });

  it('reports a gap of silence', async () => {
    const heard = await play(await withCall(), { lateMs: (i) => (i < 30 ? 0 : 300) });
    expect(heard).toMatchObject({ underruns: 1, underrunMs: 220, lostFrames: 0 });
    expect(heard.lateness.max).toBe(300);
  });

  it('reports messages that are none of the protocol', async () => {
    const rig = await withCall();
    await rig.send('{"event":"medium"}', 2_000);
    await rig.send('nothing', 2_000);
    expect(rig.call.faults).toBe(2);
  });

  it('sends a frame for every 20 ms that have passed, also after a stall of its own', async () => {
    const { call, messages, clock } = await withCall();
    const media = () => messages.filter(({ event }) => event === 'media');
    clock.nowMs += 20;
    call.tick(clock.nowMs);
    clock.nowMs += 100;
    call.tick(clock.nowMs);
    await until(() => media().length === 6);
    expect(media().at(-1)).toMatchObject({ media: { chunk: '6', timestamp: '100' } });
  });

  it('echoes marks when they are reached, and all of them after a clear', async () => {
    const rig = await withCall();
    const { gateway, call, messages } = rig;
    const marks = () => messages.filter(({ event }) => event === 'mark');
    await rig.send(gateway.audio(clip.subarray(0, 5 * FRAME_BYTES)), 2_000);
    await rig.send(gateway.mark('end of it'), 2_001);
    await rig.send(gateway.audio(clip.subarray(0, FRAME_BYTES)), 2_002);
    await rig.send(gateway.mark('more'), 2_003);
    call.tick(2_099);
    expect(call.endMs).toBe(2_120);
    expect(marks()).toEqual([]);
    call.tick(2_100);
    await until(() => marks().length === 1);
    await rig.send(gateway.clear(), 2_104);
    await until(() => marks().length === 2);
    expect(marks()).toMatchObject([{ mark: { name: 'end of it' } }, { mark: { name: 'more' } }]);
    expect(call.endMs).toBe(2_104);
    await rig.send(gateway.mark('nothing waits'), 2_200);
    await until(() => marks().length === 3);
  });

  it.each([
    ['plivo', 'playedStream', 'clearedAudio'],
    ['vonage', 'websocket:notify', 'websocket:cleared'],
  ] as const)(
    'of %s drops marks that a clear overtakes, and acknowledges it',
    async (provider, played, cleared) => {
      const rig = await withCall(provider);
      const { gateway, messages } = rig;
      const frame = new Uint8Array(provider === 'vonage' ? 2 * FRAME_BYTES : FRAME_BYTES);
      await rig.send(gateway.audio(frame), 2_000);
      await rig.send(gateway.mark('overtaken'), 2_001);
      await rig.send(gateway.clear(), 2_002);
      await until(() => messages.some(({ event }) => event === cleared));
      await rig.send(gateway.mark('nothing waits'), 2_100);
      await until(() => messages.some(({ event }) => event === played));
      const marks = messages.filter(({ event }) => event === played);
      expect(JSON.stringify(marks)).toMatch(/^(?!.*overtaken).*nothing waits/);
    },
  );

  it('reports audio that the provider has no room for', async () => {
    const rig = await withCall('plivo');
    const second = rig.gateway.audio(new Uint8Array(50 * FRAME_BYTES));
    for (let s = 0; s < 40; s++) await rig.send(second, 2_000);
    expect(rig.call.faults).toBe(0);
    await rig.send(second, 2_000);
    expect(rig.call.faults).toBe(1);
  });
});
