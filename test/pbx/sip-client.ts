// The SIP client of the run: sipp with the scenarios of this folder. A process for each caller, and one for the trunk
// with all dialled telephones. It reports by its log file; a request with a call's Call-ID from outside tells a connected
// call what to do next. The audio is RtpEnd's.

import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RtpEnd } from './rtp-end.ts';
import { pause } from './waiting.ts';

export interface SipPlace {
  /** The program. */
  sipp: string;
  /** Asterisk's SIP address. */
  host: string;
  port: number;
  /** For logs and traces. */
  folder: string;
}

/** What becomes of a call to the trunk: the two digits after 155. */
export const FATES = {
  answers: '01',
  busy: '02',
  rings: '03',
  off: '04',
  dead: '05',
  congested: '06',
  rejects: '07',
  unallocated: '08',
  lost: '09',
  leaves: '10',
  mute: '11',
} as const;
export type Fate = keyof typeof FATES;

const SCENARIOS = 'test/pbx/sipp';
const LINE_MS_MAX = 15_000;
const POLL_MS = 20;
const STOP_MS_MAX = 2_000;
/** Characters of SIP errors that are shown. */
const ERRORS_SHOWN = 300;

/** Payload type and codec of a telephone's offer. */
const CODECS = {
  ulaw: ['-key', 'payload', '0', '-key', 'codec', 'PCMU/8000'],
  opus: ['-key', 'payload', '107', '-key', 'codec', 'opus/48000/2'],
} as const;

let serial = 0;

class SippProcess {
  readonly port: number;
  readonly #name: string;
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  #isOver = false;

  constructor(place: SipPlace, scenario: string, options: { port: number; args: string[] }) {
    serial += 1;
    this.port = options.port;
    this.#name = `${scenario}-${serial}`;
    this.#folder = place.folder;
    const args = [
      `${place.host}:${place.port}`,
      ...['-sf', `${SCENARIOS}/${scenario}.xml`, '-i', '127.0.0.1', '-p', String(options.port)],
      ...['-nostdin', '-trace_logs', '-log_file', this.#file('log')],
      ...['-trace_err', '-error_file', this.#file('err')],
      ...['-trace_msg', '-message_file', this.#file('msg')],
      ...options.args,
    ];
    this.#child = spawn(place.sipp, args, { stdio: 'ignore' });
    this.#exited = new Promise((resolve) => {
      const over = (): void => {
        this.#isOver = true;
        resolve();
      };
      this.#child.once('exit', over);
      this.#child.once('error', over);
    });
  }

  /** The first line of the log that matches. */
  async line(pattern: RegExp, msMax = LINE_MS_MAX): Promise<RegExpExecArray> {
    for (const deadline = performance.now() + msMax; ; ) {
      const isLast = this.#isOver || performance.now() > deadline;
      const found = pattern.exec(this.#read('log'));
      if (found !== null) return found;
      if (isLast) throw new Error(`no "${pattern.source}" from the SIP client ${this.#trouble()}`);
      await pause(POLL_MS);
    }
  }

  has(pattern: RegExp): boolean {
    return pattern.test(this.#read('log'));
  }

  /** A request out of the order of the scenario, which leads it on. */
  async tell(method: string, callId: string): Promise<void> {
    const text = [
      `${method} sip:telephone@127.0.0.1:${this.port} SIP/2.0`,
      'Via: SIP/2.0/UDP 127.0.0.1:9;branch=z9hG4bKrun',
      'From: <sip:run@127.0.0.1>;tag=run',
      'To: <sip:telephone@127.0.0.1>',
      `Call-ID: ${callId}`,
      `CSeq: 1 ${method}`,
      'Content-Length: 0',
      '',
      '',
    ].join('\r\n');
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => {
      socket.send(text, this.port, '127.0.0.1', () => resolve());
    });
    socket.close();
  }

  async stop(): Promise<void> {
    if (!this.#isOver) this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_MS_MAX);
    await this.#exited;
    clearTimeout(timer);
  }

  #trouble(): string {
    const errors = this.#read('err').trim();
    return errors === '' ? '(see its messages)' : `(${errors.slice(-ERRORS_SHOWN)})`;
  }

  #file(kind: string): string {
    return join(this.#folder, `${this.#name}.${kind}`);
  }

  #read(kind: string): string {
    const file = this.#file(kind);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }
}

/** A telephone that calls. */
export class Caller {
  readonly rtp: RtpEnd;
  readonly #sipp: SippProcess;
  readonly #callId: string;

  private constructor(sipp: SippProcess, rtp: RtpEnd, callId: string) {
    this.#sipp = sipp;
    this.rtp = rtp;
    this.#callId = callId;
  }

  /** Resolves when the INVITE is sent. `user` is an endpoint of the PBX, `referTo` the number of `transfer`, `codec` what the
   *  telephone offers (default: µ-law). */
  static async call(
    place: SipPlace,
    call: { user: string; to: string; referTo?: string; codec?: keyof typeof CODECS },
  ): Promise<Caller> {
    const rtp = await RtpEnd.open();
    const callId = `run-${process.pid}-${rtp.port}-${performance.now()}`;
    const sipp = new SippProcess(place, 'caller', {
      port: await freeUdpPort(),
      args: [
        ...['-m', '1', '-s', call.to, '-cid_str', callId],
        ...['-key', 'user', call.user, '-key', 'rtp_port', String(rtp.port)],
        ...['-key', 'refer_to', call.referTo ?? 'nobody'],
        ...CODECS[call.codec ?? 'ulaw'],
      ],
    });
    return new Caller(sipp, rtp, callId);
  }

  /** Resolves when the call is answered, and its audio flows. */
  async answered(): Promise<void> {
    const [, far] = await this.#sipp.line(/up far=(\d+)/);
    this.rtp.connect(Number(far));
  }

  /** The status of the final response, instead of an answer. */
  async refused(msMax?: number): Promise<number> {
    const [, status] = await this.#sipp.line(/refused status=(\d+)/, msMax);
    return Number(status);
  }

  /** Resolves when the PBX has hung up. */
  async released(msMax: number): Promise<void> {
    await this.#sipp.line(/bye/, msMax);
  }

  async hold(on: boolean): Promise<void> {
    this.rtp.hold(on);
    await this.#sipp.tell(on ? 'HOLDNOW' : 'RESUMENOW', this.#callId);
  }

  /** By a REFER, as a telephone's transfer key sends it; resolves when the PBX has accepted it. */
  async transfer(): Promise<void> {
    await this.#sipp.tell('TRANSFERNOW', this.#callId);
    await this.#sipp.line(/transferring/);
  }

  /** Right after the INVITE was accepted; resolves when it is confirmed. */
  async cancel(): Promise<void> {
    await this.#sipp.line(/trying/);
    await this.#sipp.tell('GIVEUPNOW', this.#callId);
    await this.#sipp.line(/cancelled/);
  }

  async hangUp(): Promise<void> {
    if (this.#sipp.has(/up far/) && !this.#sipp.has(/over/)) {
      await this.#sipp.tell('HANGUPNOW', this.#callId);
      await this.#sipp.line(/over/);
    }
  }

  /** Nothing of it stays, whatever has happened. */
  async close(): Promise<void> {
    await this.hangUp().catch(() => undefined); // The call may have ended otherwise meanwhile.
    await this.#sipp.stop();
    this.rtp.close();
  }
}

/** A dialled telephone. */
export class Callee {
  /** As it is dialled, with a plus. */
  readonly number: string;
  readonly rtp: RtpEnd;
  readonly #sipp: SippProcess;
  #callId = '';

  constructor(sipp: SippProcess, rtp: RtpEnd, fate: Fate) {
    this.#sipp = sipp;
    this.rtp = rtp;
    this.number = `+155${FATES[fate]}${rtp.port}`;
  }

  /** Resolves when the INVITE has come. */
  async invited(msMax?: number): Promise<void> {
    const pattern = new RegExp(`invited rtp=${this.rtp.port} far=(\\d+) call=(\\S+)`);
    const [, far, callId = ''] = await this.#sipp.line(pattern, msMax);
    this.#callId = callId;
    this.rtp.connect(Number(far));
  }

  /** Resolves when the call is over for the telephone. */
  async released(msMax: number): Promise<void> {
    await this.#sipp.line(new RegExp(`over rtp=${this.rtp.port}\\b`), msMax);
  }

  async hold(on: boolean): Promise<void> {
    this.rtp.hold(on);
    await this.#sipp.tell(on ? 'HOLDNOW' : 'RESUMENOW', this.#callId);
  }

  async hangUp(): Promise<void> {
    await this.#sipp.tell('HANGUPNOW', this.#callId);
    await this.released(LINE_MS_MAX);
  }

  async close(): Promise<void> {
    const isOpen = this.#callId !== '' && !this.#sipp.has(new RegExp(`over rtp=${this.rtp.port}`));
    if (isOpen) await this.hangUp().catch(() => undefined); // It may never have been answered.
    this.rtp.close();
  }
}

/** The trunk with the dialled telephones. */
export class Trunk {
  readonly #sipp: SippProcess;

  constructor(place: SipPlace, port: number) {
    this.#sipp = new SippProcess(place, 'trunk', { port, args: [] });
  }

  async callee(fate: Fate): Promise<Callee> {
    return new Callee(this.#sipp, await RtpEnd.open(), fate);
  }

  async stop(): Promise<void> {
    await this.#sipp.stop();
  }
}

export async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  const { port } = socket.address();
  await new Promise<void>((resolve) => {
    socket.close(() => resolve());
  });
  return port;
}
