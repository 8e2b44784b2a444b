import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import {
  bindListenHandle,
  isListenHandle,
  listenOn,
  selfTestListenHandle,
} from '../../src/runtime/listen-handle.ts';
import { systemClock as clock } from '../../src/std/clock.ts';
import { freePort } from '../fakes/free-port.ts';

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

function server(): Server {
  const made = createServer((_, response) => response.end('here'));
  open.push(made);
  return made;
}

describe('a socket that is bound apart from its server', () => {
  it('works on this Node', async () => {
    expect(await selfTestListenHandle(clock)).toBeUndefined();
  });

  it('takes connections once a server listens on it', async () => {
    const port = await freePort();
    const handle = bindListenHandle('127.0.0.1', port);
    expect(isListenHandle(handle)).toBe(true);
    if (!isListenHandle(handle)) return;
    const url = `http://127.0.0.1:${port}/`;
    await expect(fetch(url)).rejects.toThrow();
    await listenOn(server(), handle);
    expect(await (await fetch(url)).text()).toBe('here');
  });

  it('is none while another server has the port, and is bound to the port afterwards', async () => {
    const port = await freePort();
    const other = server();
    await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
    expect(bindListenHandle('127.0.0.1', port)).toBe('EADDRINUSE');
    await new Promise((resolve) => other.close(resolve));
    const handle = bindListenHandle('127.0.0.1', port);
    if (!isListenHandle(handle)) throw new Error('not bound');
    const own = server();
    await listenOn(own, handle);
    expect(own.address()).toMatchObject({ address: '127.0.0.1', port });
  });

  it('is none for an address of another machine, with the code of the system', async () => {
    expect(bindListenHandle('192.0.2.1', await freePort())).toBe('EADDRNOTAVAIL');
  });

  it('is none for a host name, which the server resolves by itself', () => {
    expect(bindListenHandle('localhost', 0)).toBeUndefined();
    expect(isListenHandle({ close: () => undefined })).toBe(false);
  });

  it('has as many connections accepted in a turn of the event loop as it has handles', async () => {
    const port = await freePort();
    const handle = bindListenHandle('127.0.0.1', port);
    if (!isListenHandle(handle)) throw new Error('not bound');
    open.push(handle);
    const child = fork(new URL('./accepting-process.ts', import.meta.url), {
      execArgv: ['--import', 'tsx'],
    });
    open.push({ close: () => child.kill() });
    for (let sent = 0; sent < 4; sent++) {
      child.send('listen', handle as never, { keepOpen: true });
      expect((await once(child, 'message'))[0]).toBe('listens');
    }
    child.send('begin');
    expect((await once(child, 'message'))[0]).toBe('begun');
    const reported = once(child, 'message');
    const sockets = Array.from({ length: 40 }, () => connect(port, '127.0.0.1'));
    for (const socket of sockets) {
      socket.on('error', () => undefined);
      open.push({ close: () => socket.destroy() });
    }
    const [turns] = (await reported) as [number[]];
    expect(turns.reduce((sum, count) => sum + count, 0)).toBe(40);
    expect(Math.max(...turns.slice(1))).toBe(4);
  });
});
