// Real TCP on loopback; only time is pretended.

import { connect as connectTcp, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { mediaFaults, packetsDropped } from '../../../src/metrics/metrics.ts';
import { AUDIOSOCKET_FORMATS } from '../../../src/transport/audiosocket/audiosocket-connection.ts';
import {
  FrameReader,
  KIND,
  writeFrame,
} from '../../../src/transport/audiosocket/audiosocket-frames.ts';
import { createAudioSocketServer } from '../../../src/transport/audiosocket/audiosocket-server.ts';
import { CLOSE, type MediaSocket } from '../../../src/transport/media-socket.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const UUID = '7d1f2c3a-0b5e-4c6d-8e9f-a0b1c2d3e4f5';
const uuidFrame = (uuid: string) =>
  writeFrame(KIND.uuid, Buffer.from(uuid.replaceAll('-', ''), 'hex'));
const audio = (text: string, kind: number = KIND.slin) => writeFrame(kind, Buffer.from(text));

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function gateway() {
  const clock = new FakeClock();
  const server = createAudioSocketServer({
    host: '127.0.0.1',
    port: 0,
    clock,
    log: quietLog().log,
  });
  await server.listen();
  cleanups.push(() => server.close());
  return { clock, server };
}

type Gateway = Awaited<ReturnType<typeof gateway>>;

/** Asterisk's side of one connection. */
class Asterisk {
  readonly frames: [number, number][] = [];
  readonly closed: Promise<void>;
  readonly socket: Socket;
  #wake: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    const reader = new FrameReader();
    socket.on('data', (chunk: Buffer) => {
      reader.read(chunk, (kind, payload) => this.frames.push([kind, payload.length]));
      this.#wake();
    });
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    cleanups.push(() => void socket.destroy());
  }

  static async to({ server }: Gateway): Promise<Asterisk> {
    const socket = connectTcp(server.port, '127.0.0.1');
    const asterisk = new Asterisk(socket);
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
    return asterisk;
  }

  send(...frames: Uint8Array[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  async until(count: number): Promise<void> {
    while (this.frames.length < count) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** A call that waits for its connection and records its audio. */
class Call {
  readonly heard: string[] = [];
  socket: MediaSocket | undefined;
  readonly closed: Promise<[number, string]>;
  onBinary: () => void = () => undefined;
  #close: (end: [number, string]) => void = () => undefined;
  #wakes: (() => void)[] = [];

  constructor() {
    this.closed = new Promise((resolve) => {
      this.#close = resolve;
    });
  }

  expected({ server }: Gateway, format = 'slin', signal = new AbortController().signal) {
    const known = AUDIOSOCKET_FORMATS[format];
    if (known === undefined) throw new Error(`no format ${format}`);
    const accept = (socket: MediaSocket) => {
      this.socket = socket;
      return {
        onText: () => undefined,
        onBinary: (message: Uint8Array) => {
          this.heard.push(Buffer.from(message).toString());
          for (const wake of this.#wakes.splice(0)) wake();
          this.onBinary();
        },
        onClose: (code: number, reason: string) => this.#close([code, reason]),
      };
    };
    return server.expect(UUID, { format: known, accept }, signal);
  }

  async until(count: number): Promise<void> {
    while (this.heard.length < count) {
      await new Promise<void>((resolve) => this.#wakes.push(resolve));
    }
  }
}

async function connected(format = 'slin') {
  const gw = await gateway();
  const call = new Call();
  const expected = call.expected(gw, format);
  const asterisk = await Asterisk.to(gw);
  asterisk.send(uuidFrame(UUID));
  await expected.arrived;
  expected.done();
  return { ...gw, call, asterisk };
}

async function faults(code: string): Promise<number> {
  const { values } = await mediaFaults.get();
  return values.find(({ labels }) => labels.code === code)?.value ?? 0;
}

async function drops(reason: string): Promise<number> {
  const { values } = await packetsDropped.get();
  const own = values.find(
    ({ labels }) => labels.kind === 'audiosocket' && labels.reason === reason,
  );
  return own?.value ?? 0;
}

describe('an AudioSocket connection', () => {
  it("is the call's whose UUID it begins with, and carries its audio both ways", async () => {
    const { call, asterisk } = await connected();
    asterisk.send(audio('one'), audio('two'));
    await call.until(2);
    expect(call.heard).toEqual(['one', 'two']);
    call.socket?.sendBinary(new Uint8Array(640));
    await asterisk.until(2);
    expect(asterisk.frames).toEqual([
      [KIND.slin, 320],
      [KIND.slin, 320],
    ]);
  });

  it('has the kind of its rate', async () => {
    const { call, asterisk } = await connected('slin16');
    asterisk.send(audio('wide', KIND.slin16));
    await call.until(1);
    call.socket?.sendBinary(new Uint8Array(640));
    await asterisk.until(1);
    expect(asterisk.frames).toEqual([[KIND.slin16, 640]]);
  });

  it('ignores keys, which ARI reports too, and counts audio of another rate', async () => {
    const { call, asterisk } = await connected();
    const before = await drops('type');
    asterisk.send(writeFrame(KIND.digit, Buffer.from('5')), audio('wide', KIND.slin16), audio('a'));
    await call.until(1);
    expect(call.heard).toEqual(['a']);
    expect(await drops('type')).toBe(before + 1);
  });

  it('sends no text: it has no words', async () => {
    const { call, asterisk } = await connected();
    call.socket?.sendText('{"command":"FLUSH_MEDIA"}');
    call.socket?.sendBinary(new Uint8Array(320));
    await asterisk.until(1);
    expect(asterisk.frames).toEqual([[KIND.slin, 320]]);
  });

  it('is closed for an unknown peer, for every id that it names', async () => {
    const gw = await gateway();
    const before = await faults('MEDIA_UNAUTHORIZED');
    const call = new Call();
    call.expected(gw);
    const stranger = await Asterisk.to(gw);
    stranger.send(uuidFrame('7d1f2c3a-0b5e-4c6d-8e9f-a0b1c2d3e4f6'), audio('a'));
    await stranger.closed;
    expect(await faults('MEDIA_UNAUTHORIZED')).toBe(before + 1);
    const short = await Asterisk.to(gw);
    short.send(writeFrame(KIND.uuid, Buffer.from('7d1f2c3a', 'hex')));
    await short.closed;
    const wordless = await Asterisk.to(gw);
    wordless.send(audio('a'));
    await wordless.closed;
    expect(call.socket).toBeUndefined();
  });

  it('opens once for one UUID', async () => {
    const { asterisk, call, ...gw } = await connected();
    const second = await Asterisk.to(gw);
    second.send(uuidFrame(UUID));
    await second.closed;
    asterisk.send(audio('still there'));
    await call.until(1);
  });

  it('is closed if it does not say within two seconds whose it is', async () => {
    const gw = await gateway();
    const silent = await Asterisk.to(gw);
    await settle();
    silent.send(Uint8Array.of(KIND.uuid, 0));
    await settle();
    gw.clock.advance(2_000);
    await silent.closed;
  });

  it('ends when Asterisk hangs up, closes it, or breaks it', async () => {
    const hungUp = await connected();
    hungUp.asterisk.send(writeFrame(KIND.hangUp, new Uint8Array(0)), audio('late'));
    expect((await hungUp.call.closed)[0]).toBe(CLOSE.normal);
    expect(hungUp.call.heard).toEqual([]);
    const closed = await connected();
    closed.asterisk.socket.end();
    expect((await closed.call.closed)[0]).toBe(CLOSE.normal);
    const broken = await connected();
    broken.asterisk.socket.resetAndDestroy();
    expect((await broken.call.closed)[0]).toBe(1006);
    expect(broken.clock.timers).toBe(0);
  });

  it('says goodbye when we end it, and waits two seconds for the other side', async () => {
    const { call, asterisk, clock } = await connected();
    call.socket?.close(CLOSE.normal, 'over');
    expect(call.socket?.open).toBe(false);
    await asterisk.until(1);
    expect(asterisk.frames).toEqual([[KIND.hangUp, 0]]);
    expect(await call.closed).toEqual([CLOSE.normal, 'over']);
    expect(clock.timers).toBe(0);
  });

  it('is closed for frames that are too large, too many, or say error', async () => {
    for (const [frames, code] of [
      [[Uint8Array.of(KIND.slin, 0xff, 0xff)], 'MEDIA_OVERSIZED'],
      [Array.from({ length: 501 }, () => audio('a')), 'MEDIA_FLOOD'],
      [[writeFrame(KIND.error, new Uint8Array(1))], 'MEDIA_MALFORMED'],
    ] as const) {
      const before = await faults(code);
      const { call, asterisk } = await connected();
      asterisk.send(...frames);
      expect(await call.closed, code).toEqual([CLOSE.policy, code]);
      expect(await faults(code)).toBe(before + 1);
    }
  });

  it('is still read while the other side takes nothing, and closed if that goes on', async () => {
    const { call, asterisk } = await connected();
    asterisk.socket.pause();
    const second = new Uint8Array(320 * 50);
    const isStuck = () => (call.socket?.bufferedBytes ?? 0) > 0;
    for (let i = 0; i < 2_000 && !isStuck(); i++) {
      call.socket?.sendBinary(second);
      await settle();
    }
    asterisk.send(audio('a'));
    await call.until(1);
    expect(call.socket).toMatchObject({ open: true });
    for (let i = 0; i < 20; i++) call.socket?.sendBinary(second);
    expect(await call.closed).toEqual([CLOSE.policy, 'MEDIA_STALLED']);
  });

  it('ends if the call cannot take a frame', async () => {
    const { call, asterisk } = await connected();
    call.onBinary = () => {
      throw new Error('a fault of ours');
    };
    asterisk.send(audio('a'));
    expect((await call.closed)[0]).toBe(CLOSE.internal);
  });
});

describe('the AudioSocket port', () => {
  it('ends a wait that is cancelled', async () => {
    const gw = await gateway();
    const abort = new AbortController();
    const call = new Call();
    const expected = call.expected(gw, 'slin', abort.signal);
    abort.abort();
    expect(await expected.arrived.then(() => '', codeOf)).toBe('PBX_MEDIA');
    expected.done();
    const late = await Asterisk.to(gw);
    late.send(uuidFrame(UUID));
    await late.closed;
    expect(call.socket).toBeUndefined();
  });

  it('ends all its connections when the gateway stops', async () => {
    const { server, call, asterisk } = await connected();
    const stopped = server.close();
    expect((await call.closed)[0]).toBe(CLOSE.goingAway);
    await asterisk.closed;
    await stopped;
  });

  it('that another program holds is an error at the start', async () => {
    const { server } = await gateway();
    const { port } = server;
    const options = { host: '127.0.0.1', port, clock: new FakeClock(), log: quietLog().log };
    await expect(createAudioSocketServer(options).listen()).rejects.toThrow('EADDRINUSE');
  });
});

describe('silent AudioSocket connections', () => {
  it('do not keep a call of the PBX out, however many there are', async () => {
    const gw = await gateway();
    const call = new Call();
    call.expected(gw);
    const silent: Asterisk[] = [];
    for (let i = 0; i < 300; i += 1) silent.push(await Asterisk.to(gw));
    const asterisk = await Asterisk.to(gw);
    asterisk.send(uuidFrame(UUID), audio('hello'));
    await call.until(1);
    await Promise.all(silent.slice(0, 300 - 64).map(({ closed }) => closed));
  });

  it('end at once while no call waits for one', async () => {
    const gw = await gateway();
    const stranger = await Asterisk.to(gw);
    await stranger.closed;
  });
});
