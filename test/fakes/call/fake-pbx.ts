// A PBX as the call layer sees it: connections that a test brings up and down, calls that it lets ring,
// answer and end, and what was asked of it. Its media speak Twilio's protocol, as any would do.

import { type ErrorCode, GatewayError } from '../../../src/errors/gateway-error.ts';
import type { CallStatus } from '../../../src/model/provider.ts';
import type { Clock } from '../../../src/std/clock.ts';
import type { MediaSession } from '../../../src/telephony/provider/media-session.ts';
import type {
  ForwardTarget,
  Pbx,
  PbxAccount,
  PbxConnection,
  PbxListener,
  PbxShare,
  PbxState,
  WaitingSound,
} from '../../../src/telephony/provider/pbx.ts';
import type {
  DialRequest,
  DialResult,
  PbxProvider,
  ProviderCapabilities,
  ProviderControl,
  TransferTarget,
} from '../../../src/telephony/provider/provider.ts';
import type { ProviderCredentials, RejectReason } from '../../../src/telephony/provider/terms.ts';
import { type FarMedia, farSession } from './far-session.ts';
import { withSuspensions } from './suspensions.ts';

export class FakePbx implements PbxProvider {
  readonly name = 'ari' as const;
  capabilities: ProviderCapabilities = {
    digitsOut: 'tones',
    closeEndsCall: true,
    afterMedia: 'stays',
    idempotentDial: false,
    digitsIn: true,
    answeringMachine: false,
    transfer: ['cold', 'warm'],
    transferAwaits: 'answer',
    callS: { max: 14_400 },
  };
  readonly connections: FakeConnection[] = [];
  readonly shares: FakeShare[] = [];
  readonly dials: DialRequest[] = [];
  /** Call ids. */
  readonly hangUps: string[] = [];
  readonly transfers: ({ callId: string } & TransferTarget)[] = [];
  /** What becomes of a dial; default: it rings. */
  onDial: (request: DialRequest, callId: string) => Promise<void> = () => Promise.resolve();
  onTransfer: (signal: AbortSignal, target: TransferTarget) => Promise<void> = () =>
    Promise.resolve();
  onConnect: () => void = () => undefined;
  readonly #clock: Clock;
  readonly #createMedia: (callId: string) => FarMedia;

  constructor(clock: Clock, createMedia: (callId: string) => FarMedia) {
    this.#clock = clock;
    this.#createMedia = createMedia;
  }

  formatAddress(addressNormalized: string): string {
    return addressNormalized.replace(/^\+/, '');
  }

  /** The newest that is open. */
  get connection(): FakeConnection {
    const open = this.connections.findLast(({ isClosed }) => !isClosed);
    if (open === undefined) throw new Error('nobody is connected');
    return open;
  }

  get open(): FakeConnection[] {
    return this.connections.filter(({ isClosed }) => !isClosed);
  }

  readonly pbx: Pbx = {
    connect: (account, { listener }) => {
      this.onConnect();
      const parts = { listener, clock: this.#clock, createMedia: this.#createMedia };
      const connection = new FakeConnection(account, parts);
      this.connections.push(connection);
      return connection;
    },
    join: (account, { listener, send }) => {
      const parts = { listener, clock: this.#clock, createMedia: this.#createMedia };
      const share = new FakeShare(new FakeConnection(account, parts), send);
      this.connections.push(share.connection);
      this.shares.push(share);
      return share;
    },
    takeUpgrade: () => false,
    isKnownClient: () => false,
    applications: [],
    applicationOf: () => undefined,
    takeSocket: () => {
      throw new Error('a fake PBX opens no sockets');
    },
    examine: () => Promise.resolve([]),
    testLine: () => Promise.reject(new Error('a fake PBX has no lines')),
  };

  readonly control: ProviderControl = {
    dial: async (_credentials, request, _signal): Promise<DialResult> => {
      this.dials.push(request);
      const callId = `o${request.runId}`;
      await this.onDial(request, callId);
      return { callId, metadata: { channel_name: `PJSIP/${callId}` } };
    },
    hangUp: (_credentials, callId) => {
      this.hangUps.push(callId);
      for (const connection of this.open) connection.end(callId);
      return Promise.resolve();
    },
    transfer: async (_credentials, callId, target, signal) => {
      this.transfers.push({ callId, ...target });
      await this.onTransfer(signal, target);
    },
    getCall: () => Promise.resolve(undefined),
    findCalls: () => Promise.resolve(undefined),
    ownsNumber: () => Promise.resolve(undefined),
    configureInbound: () => Promise.resolve({ ok: true, message: null }),
    detachInbound: () => Promise.resolve({ ok: true, message: null }),
  };
}

/** A share whose connection a test brings up and down like any other. */
export class FakeShare implements PbxShare {
  readonly connection: FakeConnection;
  takesDials = true;
  isOver = false;
  calls = 0;
  /** What came from the holder. */
  readonly taken: unknown[] = [];
  readonly send: (message: unknown) => void;

  constructor(connection: FakeConnection, send: (message: unknown) => void) {
    this.connection = connection;
    this.send = send;
  }

  take(message: unknown): void {
    this.taken.push(message);
  }

  answer(message: unknown): Promise<unknown> {
    this.connection.up();
    return Promise.resolve({ asked: message });
  }

  holderGone(): void {
    this.taken.push('gone');
  }

  holderBack(): void {
    this.taken.push('back');
  }
}

export class FakeConnection implements PbxConnection {
  account: PbxAccount;
  /** Times it was given other credentials; if it takes them. */
  renewals = 0;
  isRenewable = true;
  readonly rung: string[] = [];
  readonly refused: { callId: string; reason: RejectReason }[] = [];
  readonly opened: string[] = [];
  readonly holds: ({ callId: string } & WaitingSound)[] = [];
  readonly forwards: ({ callId: string } & ForwardTarget)[] = [];
  /** What becomes of a forwarded call. */
  onForward: () => Promise<void> = () => Promise.resolve();
  readonly admitted: string[] = [];
  readonly media = new Map<string, FarMedia>();
  isClosed = false;
  state: PbxState = { kind: 'connecting' };
  /** What opening media waits for. */
  onOpen: (callId: string, signal: AbortSignal) => Promise<void> = () => Promise.resolve();
  readonly #listener: PbxListener;
  readonly #clock: Clock;
  readonly #createMedia: (callId: string) => FarMedia;
  #steps = 0;

  constructor(
    account: PbxAccount,
    parts: { listener: PbxListener; clock: Clock; createMedia: (callId: string) => FarMedia },
  ) {
    this.account = account;
    this.#listener = parts.listener;
    this.#clock = parts.clock;
    this.#createMedia = parts.createMedia;
  }

  // Requests of the call layer.

  ring(callId: string): Promise<void> {
    this.rung.push(callId);
    return Promise.resolve();
  }

  async openMedia(callId: string, signal: AbortSignal): Promise<MediaSession> {
    this.opened.push(callId);
    await untilAborted(this.onOpen(callId, signal), signal);
    const far = this.#createMedia(callId);
    this.media.set(callId, far);
    const onAttach = (): void => {
      far.start();
      this.admitted.push(callId);
    };
    return farSession(far, { clock: this.#clock, protocol: withSuspensions(), onAttach });
  }

  hold(callId: string, sound: WaitingSound): Promise<void> {
    this.holds.push({ callId, ...sound });
    return Promise.resolve();
  }

  async forward(callId: string, target: ForwardTarget): Promise<void> {
    this.forwards.push({ callId, ...target });
    await this.onForward();
  }

  refuse(callId: string, reason: RejectReason): Promise<void> {
    this.refused.push({ callId, reason });
    return Promise.resolve();
  }

  renew(credentials: ProviderCredentials): boolean {
    if (!this.isRenewable) return false;
    this.renewals += 1;
    this.account = { ...this.account, credentials };
    this.connecting();
    return true;
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }

  // What the PBX does.

  up(version: string | null = '22.10.1'): void {
    this.#become({ kind: 'up', version });
  }

  down(code: ErrorCode = 'PROVIDER_TIMEOUT', options: { isPermanent?: boolean } = {}): void {
    const { message } = new GatewayError(code, { provider: 'ari', reason: 'it is off' });
    this.#become({ kind: 'down', code, message, isPermanent: options.isPermanent ?? false });
  }

  connecting(): void {
    this.#become({ kind: 'connecting' });
  }

  /** A call that another process had answered, which is gone. */
  left(callId: string, to: string, from = '+14155550100'): void {
    this.#listener.onInbound({ callId, from, to, isBack: false, isLeft: true, raw: { exten: to } });
  }

  inbound(callId: string, to: string, from = '+14155550100'): void {
    this.#listener.onInbound({ callId, from, to, isBack: false, raw: { exten: to } });
  }

  /** The dialplan sends the channel of a past call back. */
  back(callId: string, to: string, from = '+14155550100'): void {
    this.#listener.onInbound({ callId, from, to, isBack: true, raw: { exten: to } });
  }

  earlyMedia(runId: string, callId = `o${runId}`): void {
    this.#listener.onEarlyMedia({ callId, runId });
  }

  answer(runId: string, callId = `o${runId}`): void {
    this.#listener.onAnswered({ callId, runId });
  }

  status(
    callId: string,
    status: CallStatus,
    more: { runId?: string; dedupeKey?: string; durationS?: number } = {},
  ): void {
    this.#steps += 1;
    this.#listener.onStatus({
      callId,
      runId: more.runId ?? null,
      status,
      providerStatus: status.toUpperCase(),
      durationS: more.durationS ?? null,
      dedupeKey: more.dedupeKey ?? `${callId}:${this.#steps}`,
      raw: {},
    });
  }

  /** The call is over at the PBX: its media goes with it. */
  end(callId: string): void {
    this.media.get(callId)?.lose(1000);
    this.media.delete(callId);
  }

  #become(state: PbxState): void {
    this.state = state;
    this.#listener.onState(state);
  }
}

function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject);
  });
}
