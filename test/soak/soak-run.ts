// The soak of one protocol: call after call through the fallback layer, with faults by chance, then what must be so at
// the end: the circuit closes, the bill adds up, the heap is flat, nothing is left open.

import { createEgress } from '../../src/egress/egress-rule.ts';
import { createLog } from '../../src/log.ts';
import type { ServiceMeans } from '../../src/speech/service/service-means.ts';
import { WarmConnections } from '../../src/speech/service/warm-connections.ts';
import { FakeClock, settle } from '../fakes/fake-clock.ts';
import { Draws } from './draws.ts';
import { Ledger } from './ledger.ts';
import { heapBytes, openHandles } from './resources.ts';

/** The key of every service. No log line has it. */
export const KEY = 'soak-secret-0123456789';
/** After so long, nothing waits that a call began: the longest is a connection of a voice that is not used. */
const QUIET_MS = 900_000;
/** Growth between the first tenth and the end that is no leak: code that is compiled late, and lists at their limits. */
const HEAP_GROWTH_BYTES_MAX = 4_000_000;
/** Below so many turns the first tenth is the start of the process. */
const TURNS_FOR_HEAP = 2_000;
const TURNS_BETWEEN_PROGRESS = 1_000;

export interface Bench {
  clock: FakeClock;
  draws: Draws;
  ledger: Ledger;
  means: ServiceMeans;
}

export interface Bill {
  unit: 'seconds' | 'characters' | 'tokens';
  /** By the usage that the clients reported. */
  counted: number;
  /** By what the fakes received or said. */
  billed: number;
  /** What may lie between the two. */
  slack: number;
}

/** The services of one protocol, and calls that use them. */
export interface SoakLine {
  /** One call with some turns, and their verdicts. */
  call(): Promise<void>;
  /** The service that is tested has no more faults, and its pause is over: the next call uses it. True if its circuit has
   *  closed. */
  recovers(): Promise<boolean>;
  bill(): Bill;
  /** Clients first, then the servers. */
  close(): Promise<void>;
}

export interface SoakProtocol {
  /** `stt/deepgram`. */
  name: string;
  open(bench: Bench): Promise<SoakLine>;
}

interface Heap {
  first: number;
  last: number;
}

export interface SoakResult {
  name: string;
  ledger: Ledger;
  bill: Bill;
  /** After the first tenth, and at the end; undefined where too few turns were asked for to judge it. */
  heap: Heap | undefined;
  seconds: number;
}

export interface SoakOptions {
  turns: number;
  seed: number;
  /** Whether the time is over. */
  isOver?: () => boolean;
  onProgress?: (ledger: Ledger) => void;
}

export async function runSoak(protocol: SoakProtocol, options: SoakOptions): Promise<SoakResult> {
  const { turns, seed, isOver = () => false, onProgress } = options;
  const started = performance.now();
  const handlesBefore = openHandles();
  const clock = new FakeClock();
  const ledger = new Ledger();
  const means = soakMeans(clock, ledger);
  const line = await protocol.open({ clock, draws: new Draws(seed), ledger, means });
  // Six whole collections take seconds where the process has much else on its heap, as that of a test run.
  const heap = turns < TURNS_FOR_HEAP ? undefined : { first: 0, last: 0 };
  let shown = 0;
  while (ledger.turns < turns && !isOver()) {
    ledger.begins();
    await line.call();
    if (heap?.first === 0 && ledger.turns >= turns / 10) heap.first = await heapBytes();
    if (ledger.turns - shown < TURNS_BETWEEN_PROGRESS) continue;
    shown = ledger.turns;
    onProgress?.(ledger);
  }
  if (heap !== undefined) heap.last = await heapBytes();
  if (!(await line.recovers())) ledger.broke('the circuit closes when the service works again');
  const bill = line.bill();
  judgeEnd(ledger, bill, heap);
  await line.close();
  await rest(clock, ledger, handlesBefore);
  const seconds = (performance.now() - started) / 1_000;
  return { name: protocol.name, ledger, bill, heap, seconds };
}

function judgeEnd(ledger: Ledger, bill: Bill, heap: Heap | undefined): void {
  if (Math.abs(bill.counted - bill.billed) > bill.slack) ledger.broke('the bill adds up', { bill });
  if (heap === undefined || ledger.turns < TURNS_FOR_HEAP) return;
  if (heap.last - heap.first > HEAP_GROWTH_BYTES_MAX) ledger.broke('the heap is flat', { ...heap });
}

/** Nothing may be left: neither timers of the calls nor connections. */
async function rest(clock: FakeClock, ledger: Ledger, handlesBefore: number): Promise<void> {
  await clock.advanceAsync(QUIET_MS, 5_000);
  for (let nth = 0; nth < 50 && openHandles() > handlesBefore; nth++) await settle();
  const handles = openHandles() - handlesBefore;
  if (handles > 0) ledger.broke('no socket is left open', { handles });
  if (clock.timers > 0) ledger.broke('no timer is left', { timers: clock.timers });
}

function soakMeans(clock: FakeClock, ledger: Ledger): ServiceMeans {
  const write = (line: string): void => {
    if (line.includes('soak-secret')) ledger.broke('no log line has a key', { line });
  };
  const log = createLog({ level: 'debug', pii: true }, { write });
  const egress = createEgress();
  return { clock, egress, log, warm: new WarmConnections({ clock, egress }) };
}
