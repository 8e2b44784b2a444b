// Browsers by the contract of all providers (provider-contract/contract-cases.ts): a page over a real socket against the
// real media server and session. What concerns tokens and runs is in test/e2e/web-calls.test.ts.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { codecByName } from '../../../src/codec/registry.ts';
import { systemClock as clock } from '../../../src/std/clock.ts';
import type { MediaEvent } from '../../../src/telephony/provider/media-session.ts';
import { ReturningMediaSession } from '../../../src/telephony/provider/returning-media-session.ts';
import { webProvider } from '../../../src/telephony/web/provider.ts';
import { createMediaServer } from '../../../src/transport/websocket/media-server.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { FakeBrowser } from '../../fakes/web/fake-browser.ts';
import { cases } from '../provider-contract/contract-cases.ts';
import { resampled } from '../provider-contract/resampled.ts';

/** Cases of the contract that do not apply to a browser, with the reason. */
const notOfABrowser: Partial<Record<keyof typeof cases, string>> = {
  namesNumbers: 'A browser has no number.',
  keyOfRepeated: 'No webhooks: the page opens its socket itself.',
  refused: 'The API refuses the call before there is a socket: test/e2e/web-calls.test.ts.',
  connectedOnce: 'As above: a token is good for one socket.',
  dialled: 'A browser cannot be called.',
  notAnswered: 'As above.',
  longest: 'As above.',
  keysOut: 'Keys for the far end are tones in the audio.',
  transferred: 'No provider would connect a browser with a number; the capability is not declared.',
  transferReported: 'As above.',
  joined: 'As above.',
  joinedWithNobody: 'As above.',
  eventsTwice: 'No webhooks.',
  forged: 'No webhooks; tokens: test/transport/media-token.test.ts.',
  ofOthers: 'No webhooks.',
  attached: 'No numbers.',
};
const tested = new Set<string>();

function contract(name: keyof typeof cases, test: () => Promise<void>): void {
  tested.add(name);
  it(cases[name], test);
}

const TOKEN = `7.1.1.gw1.1-token-${'x'.repeat(60)}`;
const { signal } = new AbortController();
const provider = webProvider.create();

function tone(ms: number): Int16Array {
  return Int16Array.from({ length: ms * 8 }, (_, i) => 8_000 * Math.sin((i * 2 * Math.PI) / 18));
}

function loudness(samples: readonly number[]): number {
  return Math.sqrt(samples.reduce((sum, each) => sum + each * each, 0) / samples.length);
}

class Call {
  readonly media = new ReturningMediaSession({
    createProtocol: () => provider.createMedia({ runId: '7' }),
    returnMs: 300,
    clock,
    log: quietLog().log,
    onClosing: () => undefined,
  });
  readonly heard: number[] = [];
  readonly events: MediaEvent[] = [];

  constructor() {
    this.media.attach({
      onAudio: (payload) => {
        const pcm = new Int16Array(payload.length / 2);
        codecByName('L16/16000').decode(payload, pcm);
        for (const sample of pcm) this.heard.push(sample);
      },
      onEvent: (event) => void this.events.push(event),
    });
  }

  of<Type extends MediaEvent['type']>(type: Type) {
    return this.events.filter((event) => event.type === type);
  }

  /** Plays samples of 8 kHz, all at once. */
  play(samples: Int16Array): void {
    const wide = resampled(samples, 16_000);
    for (let at = 0; at < wide.length; at += 320) {
      const payload = new Uint8Array(640);
      codecByName('L16/16000').encode(wide.subarray(at, at + 320), payload);
      this.media.audio(payload);
    }
  }
}

let server: Server;
let call: Call;
let url = '';
const media = () =>
  createMediaServer({
    clock,
    log: quietLog().log,
    authorize: async () => ({ accept: (socket) => call.media.connect(socket) }),
  });

beforeEach(async () => {
  call = new Call();
  const sockets = media();
  server = createServer();
  server.on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // A TCP server has an address of this kind.
  url = `ws://127.0.0.1:${port}/api/v1/web-calls/media`;
});

afterEach(async () => {
  call.media.close('over');
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
});

const until = (condition: () => boolean) =>
  vi.waitFor(() => expect(condition()).toBe(true), { timeout: 5_000, interval: 5 });

async function opened(): Promise<FakeBrowser> {
  const browser = await FakeBrowser.open({ url, token: TOKEN });
  await until(() => call.of('started').length > 0);
  return browser;
}

function heardBy(browser: FakeBrowser): { loud: () => number } {
  let loud = 0;
  browser.onFrame = (frame) => {
    if (loudness([...frame]) > 1_000) loud += 1;
  };
  return { loud: () => loud };
}

describe('a call from outside', () => {
  contract('arrives', async () => {
    const browser = await opened();
    expect(browser.protocol).toBe('patchbay.v1');
    const { loud } = heardBy(browser);
    call.play(tone(300));
    browser.say(tone(300));
    await until(() => loud() >= 14 && loudness(call.heard.slice(-2_000)) > 1_000);
  });

  contract('endsWithCaller', async () => {
    const browser = await opened();
    browser.send({ type: 'bye' });
    await until(() => call.of('closed').length > 0);
    expect(call.of('closed')).toEqual([{ type: 'closed', reason: 'ended' }]);
  });
});

describe('a call that talks', () => {
  contract('markPlayed', async () => {
    const browser = await opened();
    call.play(tone(400));
    call.media.mark('first');
    await until(() => call.of('mark').length > 0);
    expect(call.of('mark')).toEqual([{ type: 'mark', name: 'first', outcome: 'played' }]);
    expect(browser.marks).toEqual([{ name: 'first', dueAt: 6_400, playedAt: 6_400 }]);
  });

  contract('cleared', async () => {
    const browser = await opened();
    const { loud } = heardBy(browser);
    call.play(tone(2_000));
    call.media.mark('cleared');
    await until(() => loud() > 5);
    call.media.clear();
    expect(call.of('mark')).toEqual([{ type: 'mark', name: 'cleared', outcome: 'dropped' }]);
    await until(() => browser.clearedMs.length > 0);
    const before = loud();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(loud()).toBe(before);
    call.play(tone(100));
    call.media.mark('after');
    await until(() => call.of('mark').length > 1);
    expect(call.of('mark')[1]).toEqual({ type: 'mark', name: 'after', outcome: 'played' });
  });

  contract('keysIn', async () => {
    const browser = await opened();
    for (const digit of '12#') browser.send({ type: 'key', digit });
    await until(() => call.of('digit').length === 3);
    expect(call.of('digit').map((event) => 'digit' in event && event.digit)).toEqual([
      '1',
      '2',
      '#',
    ]);
  });

  contract('hungUpTwice', async () => {
    await provider.control.hangUp({}, '7', signal);
    await provider.control.hangUp({}, '7', signal);
  });

  contract('lookedUp', async () => {
    expect(await provider.control.getCall({}, '7', signal)).toBeUndefined();
  });

  contract('foundAgain', async () => {
    const wanted = { runId: '7', from: null, to: '', since: new Date() };
    expect(await provider.control.findCalls({}, wanted, signal)).toEqual([]);
  });

  contract('owned', async () => {
    expect(await provider.control.ownsNumber({}, '+14155550100', signal)).toBeUndefined();
  });

  contract('closed', async () => {
    const browser = await opened();
    call.media.close('over');
    await until(() => browser.closed !== undefined);
    expect(browser.closed?.code).toBe(1000);
  });
});

describe('a socket that breaks', () => {
  it('interrupts the call until another one has started', async () => {
    const first = await opened();
    call.play(tone(300));
    call.media.mark('lost');
    first.breakOff();
    await until(() => call.of('interrupted').length > 0);
    await opened();
    await until(() => call.of('restored').length > 0);
    expect(call.events.map(({ type }) => type)).toEqual([
      'started',
      'interrupted',
      'mark',
      'restored',
    ]);
    expect(call.of('mark')).toEqual([{ type: 'mark', name: 'lost', outcome: 'dropped' }]);
    call.media.mark('again');
    await until(() => call.of('mark').length > 1);
  });

  it('is replaced by another one although it seems to be there', async () => {
    const first = await opened();
    const second = await opened();
    await until(() => call.of('restored').length > 0);
    await until(() => first.closed !== undefined);
    second.send({ type: 'key', digit: '5' });
    await until(() => call.of('digit').length > 0);
  });

  it('ends the call if no other comes in time', async () => {
    (await opened()).breakOff();
    await until(() => call.of('closed').length > 0);
    expect(call.events.map(({ type }) => type)).toEqual(['started', 'interrupted', 'closed']);
  });
});

it('every case of the contract is tested, or has a reason why not', () => {
  const both = [...tested, ...Object.keys(notOfABrowser)].sort();
  expect(both).toEqual(Object.keys(cases).sort());
});
