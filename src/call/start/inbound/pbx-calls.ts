// Calls of one PBX connection: ringing callers, answers, and every status between. Events of one call are handled in
// order; connecting a call runs in parallel, and stops when the call is over.

import { codeOf, type GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { callsRefused, pbxCalls } from '../../../metrics/metrics.ts';
import { isTerminal } from '../../../model/provider.ts';
import type { Run } from '../../../model/run.ts';
import type { PhoneNumber, TelephonyConfiguration } from '../../../model/telephony.ts';
import type { WorkflowVersion } from '../../../model/workflow.ts';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import { pause } from '../../../std/pause.ts';
import type { Store } from '../../../store/store.ts';
import type { MediaSession } from '../../../telephony/provider/media-session.ts';
import type { PbxConnection, PbxInboundCall, PbxStatus } from '../../../telephony/provider/pbx.ts';
import { calledNumberOf } from '../../../telephony/provider/phone-address.ts';
import type { PbxProvider } from '../../../telephony/provider/provider.ts';
import type { RejectReason } from '../../../telephony/provider/terms.ts';
import { nearestAddress, shownNumber } from '../../../telephony/provider/unconfigured-numbers.ts';
import type { ProviderHangUp } from '../../end/closing/provider-hang-up.ts';
import type { UnconnectedCall } from '../../end/closing/unconnected-calls.ts';
import type { ConnectServices } from '../../media/connect-services.ts';
import { StoreWait } from '../store-wait.ts';
import type { PbxWaits } from '../waiting/pbx-waits.ts';
import { overflowOf } from '../waiting-line.ts';
import { isLastLeg, isTransferred, lastRunOf, partyOf } from './call-legs.ts';
import { type InboundRuns, Refusal, reasonOf } from './inbound-run.ts';
import { type FoundCalls, LeftPbxCalls } from './left-pbx-calls.ts';
import { type MediaOpening, PerCallQueue, type QueuedCall } from './per-call-queue.ts';

/** Concurrent setups at one PBX; further calls of that PBX are refused. */
const CALLS_MAX = 1_000;
/** Deadline from the answer to flowing audio: a PBX needs tenths of a second. */
const OPEN_MS_MAX = 15_000;
/** Deadline, from the answer on, of media that were requested before the answer. After it others are opened. */
const EARLY_MS_MAX = 1_000;
/** Time for the PBX to report why a call could not be connected, if the caller has hung up. */
const WHY_MS_MAX = 1_000;
/** Characters of a run's name. */
const NAME_MAX = 100;
/** Time of the retries; after it the watchdog closes the run. */
const STORED_MS_MAX = 180_000;
const PAUSE_MS = 5_000;

/** A call that we dialled. */
interface OwnCall {
  callId: string;
  runId: string;
  /** Whether the process that had it is gone. */
  isLeft?: boolean;
}

/** A ringing caller, and why this process takes no call now. */
interface Announced {
  call: PbxInboundCall;
  refusal: GatewayError | undefined;
}

interface Joining {
  gone: AbortSignal;
  /** Whether the call is answered. If not, it rings, and is not abandoned for lack of media. */
  isAnswered: boolean;
}

export interface PbxCallsDeps {
  store: Pick<Store, 'runs' | 'telephony'>;
  runs: InboundRuns;
  connect: ConnectServices;
  resumptions: FoundCalls;
  hangUps: ProviderHangUp;
  waits: PbxWaits;
  clock: Clock;
  log: Log;
}

export interface PbxCallsOptions {
  /** The current account: credentials may change during calls. */
  configuration: () => TelephonyConfiguration;
  provider: PbxProvider;
  connection: () => PbxConnection;
  /** Why no new call is accepted now; undefined if calls are accepted. */
  refusal: () => GatewayError | undefined;
}

export class PbxCalls {
  readonly #deps: PbxCallsDeps;
  readonly #options: PbxCallsOptions;
  readonly #steps: PerCallQueue;
  readonly #left: LeftPbxCalls;
  /** Plans in preparation, by run. */
  readonly #preparing = new Map<string, Promise<unknown>>();

  constructor(deps: PbxCallsDeps, options: PbxCallsOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#steps = new PerCallQueue(deps.log);
    this.#left = new LeftPbxCalls(deps, {
      ...options,
      waitAgain: (callId, run) => this.#waitAgain(callId, run),
    });
  }

  /** Number of calls in setup. */
  get busy(): number {
    return this.#steps.busy;
  }

  inbound(call: PbxInboundCall): void {
    if (call.isLeft === true) {
      this.#steps.enqueue(call.callId, (stepped) => this.#left.take(call.callId, stepped));
      return;
    }
    const refusal = this.#options.refusal();
    // An overloaded process can still let the caller wait.
    const isClosed = refusal !== undefined && refusal.code !== 'GATEWAY_OVERLOADED';
    if (isClosed || this.#steps.busy >= CALLS_MAX) {
      this.#refuse(call.callId, refusal ?? new Refusal('busy'));
      return;
    }
    if (call.isBack) this.#steps.beginAgain(call.callId);
    this.#steps.enqueue(call.callId, (stepped) => this.#takeInbound({ call, refusal }, stepped));
  }

  earlyMedia(call: OwnCall): void {
    this.#steps.enqueue(call.callId, (stepped) => this.#takeEarlyMedia(call, stepped));
  }

  answered(call: OwnCall): void {
    this.#steps.enqueue(call.callId, async (stepped) => {
      try {
        await this.#takeAnswered(call, stepped);
      } catch (error) {
        // The PBX does not report it again.
        await this.#hangUp(call.callId);
        throw error;
      }
    });
  }

  status(status: PbxStatus): void {
    const isOver = isTerminal(status.status);
    if (isOver) {
      this.#steps.over(status.callId);
      this.#deps.waits.over(this.#route.configuration.id, status.callId);
    }
    const take = () => this.#takeStatus(status);
    this.#steps.enqueue(status.callId, isOver ? () => untilStored(this.#deps, take) : take);
  }

  // Inbound calls.

  async #takeInbound({ call, refusal }: Announced, stepped: QueuedCall): Promise<void> {
    const wait = new StoreWait(this.#deps, this.#route.provider);
    try {
      const taken = await wait.repeat(
        () => this.#runOf({ call, refusal }, stepped.ended),
        () => stepped.ended.aborted,
      );
      if (taken === undefined) return;
      const { run, isWaiting } = taken;
      if (isWaiting) {
        if (!stepped.ended.aborted) void this.#waitFor(call.callId, run);
        return;
      }
      const ringing = { run, ...this.#route, wait };
      this.#deps.connect.watchdog.watch(ringing);
      this.#connect(call.callId, ringing, stepped);
    } catch (error) {
      this.#refuse(call.callId, error);
    }
  }

  /** Keeps the caller on the line until a place is free, and connects the call then. Never rejects. */
  async #waitFor(callId: string, run: Run): Promise<void> {
    const { store, waits, connect, log } = this.#deps;
    const { connection } = this.#options;
    if (!(await waits.wait({ call: { run, ...this.#route }, callId, connection }))) return;
    try {
      const admitted = await store.runs.find(run.id);
      if (admitted?.state !== 'initialized') return;
      const answered = { run: admitted, ...this.#route };
      connect.watchdog.watch(answered);
      this.#steps.enqueue(callId, (stepped) => {
        this.#connect(callId, answered, stepped);
        return Promise.resolve();
      });
    } catch (error) {
      log.error({ err: error, runId: run.id }, 'waiting call not connected');
      await this.#hangUp(callId);
    }
  }

  /** Goes on with a caller who waited in a process that is gone. False if the call does not wait. */
  async #waitAgain(callId: string, run: Run): Promise<boolean> {
    if (!(await this.#deps.waits.isWaiting(run.id))) return false;
    void this.#waitFor(callId, run);
    return true;
  }

  /** The run of an inbound call, and whether it waits for a place; undefined for a repeated report of a current call.
   *  Throws Refusal, CALL_LIMIT_REACHED, GATEWAY_OVERLOADED. */
  async #runOf(
    { call, refusal }: Announced,
    gone: AbortSignal,
  ): Promise<{ run: Run; isWaiting: boolean } | undefined> {
    const { connection } = this.#options;
    const { configuration, provider } = this.#route;
    const before = await lastRunOf(this.#deps, { configurationId: configuration.id, call }, gone);
    if (before !== undefined && !isTransferred(before)) {
      const run = this.#again(before, call);
      return run && { run, isWaiting: await this.#deps.waits.isWaiting(run.id) };
    }
    if (before !== undefined && isLastLeg(before)) throw new Refusal('busy');
    const { version, number } = await this.#agent(call);
    void connection().ring(call.callId);
    const from = partyOf(before, call);
    const name = `${provider.name.toUpperCase()} Inbound ${from}`.slice(0, NAME_MAX);
    return this.#deps.runs.createOrWait(
      { ...call, from, before, configuration, version, provider, accountId: null, name },
      { policy: overflowOf(configuration, number), dueMs: null, refusal },
    );
  }

  /** The run, if its call is to be answered again. A call that rang when its gateway was killed keeps ringing. A
   *  call whose agent has ended it, and that the dialplan passes to the gateway again, would wait in silence: it is
   *  refused. */
  #again(run: Run, { isBack }: PbxInboundCall): Run | undefined {
    if (run.state === 'completed' || isBack) throw new Refusal('busy');
    const isWaiting = run.state === 'initialized' && !this.#deps.connect.registry.has(run.id);
    return isWaiting && !this.#preparing.has(run.id) ? run : undefined;
  }

  async #agent(call: PbxInboundCall): Promise<{ version: WorkflowVersion; number: PhoneNumber }> {
    const { configuration } = this.#route;
    const numbers = await this.#deps.store.telephony.listNumbers(configuration.id);
    const number = calledNumberOf(call.to, numbers);
    if (number === undefined) {
      const active = numbers.filter(({ isActive }) => isActive).map(({ address }) => address);
      const unconfigured = { dialled: call.to, nearest: nearestAddress(call.to, active) };
      throw new Refusal('not-configured', unconfigured);
    }
    const version = await this.#deps.runs.agent(configuration, number.inboundWorkflowId);
    return { version, number };
  }

  #refuse(callId: string, error: unknown): void {
    const { connection } = this.#options;
    const { configuration, provider } = this.#route;
    const reason: RejectReason = reasonOf(error);
    pbxCalls.inc({ provider: provider.name, result: reason });
    callsRefused.inc({ code: codeOf(error) ?? reason });
    const unconfigured = error instanceof Refusal ? error.unconfigured : undefined;
    const facts = {
      reason,
      provider: provider.name,
      configurationId: configuration.id,
      // The numbers are the PBX's own, not a caller's.
      ...(unconfigured && { ...unconfigured, dialled: shownNumber(unconfigured.dialled) }),
    };
    if (reason === 'error') this.#deps.log.error({ err: error, ...facts }, 'call not answered');
    else this.#deps.log.warn(facts, 'inbound call refused');
    void connection().refuse(callId, reason, unconfigured);
  }

  // Outbound calls.

  /** Records the call's early media; if that fails, the call is answered like any other. */
  async #takeEarlyMedia({ callId, runId }: OwnCall, stepped: QueuedCall): Promise<void> {
    const run = await this.#runNamed(runId);
    if (run?.state !== 'initialized' || this.#deps.connect.registry.connected(runId)) return;
    const call = { run: await this.#named(run, callId), ...this.#route };
    const abandoned = new AbortController();
    const gone = AbortSignal.any([stepped.ended, abandoned.signal]);
    const settled = this.#join(callId, call, { gone, isAnswered: false });
    stepped.mediaOpening = { settled, abandon: () => abandoned.abort() };
    stepped.runBeside(settled);
  }

  async #untilOpen({ settled, abandon }: MediaOpening): Promise<void> {
    const timer = this.#deps.clock.after(EARLY_MS_MAX, abandon);
    await settled;
    timer.cancel();
  }

  async #takeAnswered({ callId, runId, isLeft }: OwnCall, stepped: QueuedCall): Promise<void> {
    if (stepped.mediaOpening !== undefined) await this.#untilOpen(stepped.mediaOpening);
    const run = await this.#runNamed(runId);
    if (run === undefined || run.state === 'completed') {
      await this.#hangUp(callId);
      return;
    }
    if (isLeft === true && run.state === 'running') {
      await this.#left.goOn(callId, await this.#named(run, callId), stepped);
      return;
    }
    if (run.state !== 'initialized') return;
    const session = this.#deps.connect.registry.session(runId);
    if (session !== undefined) {
      await this.#deps.connect.admissions.answer(session);
      pbxCalls.inc({ provider: this.#route.provider.name, result: 'connected' });
    } else if (!this.#deps.connect.registry.connected(runId)) {
      this.#connect(callId, { run: await this.#named(run, callId), ...this.#route }, stepped);
    }
  }

  /** Stores the call's id in its run. The PBX's answer to our dial may come later than events of the call. */
  async #named(run: Run, callId: string): Promise<Run> {
    if (run.providerCallId !== null) return run;
    const patch = { providerCallId: callId, gatheredContext: { call_id: callId } };
    return (await this.#deps.store.runs.patch(run.id, patch)) ?? run;
  }

  /** The run, if it belongs to this configuration: a PBX cannot name runs of others. */
  async #runNamed(runId: string): Promise<Run | undefined> {
    const run = await this.#deps.store.runs.find(runId);
    return run?.configurationId === this.#route.configuration.id ? run : undefined;
  }

  // Calls of both directions.

  async #takeStatus(status: PbxStatus): Promise<void> {
    const { runId, callId } = status;
    const { runs } = this.#deps.store;
    const found =
      runId === null
        ? await runs.findByProviderCall(this.#route.configuration.id, callId)
        : await this.#runNamed(runId);
    if (found === undefined) return; // The call was refused.
    const run = await this.#named(found, callId);
    if (run.callType === 'outbound' && run.state === 'initialized' && !isTerminal(status.status)) {
      this.#prepareAhead({ run, ...this.#route });
    }
    // A plan in preparation would wait for a call that is over.
    if (isTerminal(status.status)) await this.#preparing.get(run.id)?.catch(() => undefined);
    await this.#deps.connect.providerEvents.takeStatus(
      { run, ...this.#route },
      { ...status, sequence: undefined },
    );
  }

  /** Prepares the plan and the first words while the call rings. */
  #prepareAhead(call: UnconnectedCall): void {
    const { id } = call.run;
    if (
      this.#preparing.has(id) ||
      this.#deps.connect.registry.isPrepared(id) ||
      this.#deps.connect.registry.connected(id)
    )
      return;
    // Another node may have dialled the call.
    if (!this.#deps.connect.registry.has(id)) this.#deps.connect.watchdog.watch(call);
    this.#prepare(call).catch((error: unknown) => {
      this.#deps.log.error({ err: error, runId: id }, 'call not prepared');
    });
  }

  /** Prepares the call, once. Throws what `prepareCall` does; the run is then completed. */
  async #prepare(call: UnconnectedCall): Promise<void> {
    const { id } = call.run;
    if (this.#deps.connect.registry.isPrepared(id)) return;
    const preparing = this.#preparing.get(id) ?? this.#deps.connect.preparation.prepare(call);
    this.#preparing.set(id, preparing);
    try {
      await preparing;
    } finally {
      this.#preparing.delete(id);
    }
  }

  /** Connects the call, in parallel with its other events. */
  #connect(callId: string, call: UnconnectedCall, stepped: QueuedCall): void {
    const joined = this.#join(callId, call, { gone: stepped.ended, isAnswered: true });
    const counted = joined
      .then((result) => pbxCalls.inc({ provider: call.provider.name, result }))
      .catch((error: unknown) => {
        this.#deps.log.error({ err: error, runId: call.run.id }, 'call not connected');
      });
    stepped.runBeside(counted);
  }

  /** Connects the call to its media. Never rejects for a ringing call. */
  async #join(
    callId: string,
    call: UnconnectedCall,
    { gone, isAnswered }: Joining,
  ): Promise<'connected' | 'gone' | 'failed'> {
    const { id } = call.run;
    try {
      await this.#prepare(call);
    } catch (error) {
      // The run is closed, and the call hung up.
      this.#deps.log.error({ err: error, runId: id }, 'call not prepared');
      return 'failed';
    }
    try {
      if (gone.aborted) return 'gone';
      const media = await this.#openMedia(callId, gone);
      const { admissions } = this.#deps.connect;
      if (await admissions.admitPbxMedia(id, { media, isAnswered })) {
        return 'connected';
      }
      await this.#hangUp(callId); // The run was closed meanwhile.
      return 'gone';
    } catch (error) {
      if (isAnswered) return this.#notJoined(call, gone, error);
      this.#deps.log.warn({ err: error, runId: id }, 'early media not opened');
      return 'failed';
    }
  }

  async #openMedia(callId: string, gone: AbortSignal): Promise<MediaSession> {
    const { clock } = this.#deps;
    const deadline = deadlineSignal(clock, OPEN_MS_MAX, 'connect the call', gone);
    try {
      return await this.#options.connection().openMedia(callId, deadline.signal);
    } finally {
      deadline.done();
    }
  }

  async #notJoined(
    call: UnconnectedCall,
    gone: AbortSignal,
    error: unknown,
  ): Promise<'gone' | 'failed'> {
    const { id } = call.run;
    const isCallGone = gone.aborted || codeOf(error) === 'PBX_CALL_GONE';
    if (!isCallGone) this.#deps.connect.unconnected.noteMediaFault(id, error);
    await this.#untilGone(gone);
    if (gone.aborted) {
      // Its last status closes the run.
      if (isCallGone) return 'gone';
      this.#deps.log.warn({ err: error, runId: id }, 'media of a call not opened');
      return 'failed';
    }
    const run = await this.#deps.store.runs.find(id);
    if (run?.state === 'completed') return 'gone'; // A client has hung up the call.
    this.#deps.log.error({ err: error, runId: id }, 'call not connected');
    await this.#deps.connect.unconnected.fail(call, error);
    return 'failed';
  }

  async #untilGone(gone: AbortSignal): Promise<void> {
    if (gone.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = this.#deps.clock.after(WHY_MS_MAX, resolve);
      gone.addEventListener('abort', () => {
        timer.cancel();
        resolve();
      });
    });
  }

  /** Hangs up, best effort. */
  #hangUp(callId: string): Promise<void> {
    return this.#deps.hangUps.attempt(this.#route, callId);
  }

  get #route(): { configuration: TelephonyConfiguration; provider: PbxProvider } {
    const { configuration, provider } = this.#options;
    return { configuration: configuration(), provider };
  }
}

/** Calls `take` until it succeeds. Throws its last error after three minutes. */
async function untilStored(
  { clock, log }: { clock: Clock; log: Log },
  take: () => Promise<void>,
): Promise<void> {
  const { signal, done } = deadlineSignal(clock, STORED_MS_MAX, 'store the end of a call');
  try {
    for (;;) {
      try {
        await take();
        return;
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn({ err: error }, 'end of a call not stored yet');
      }
      await pause(clock, PAUSE_MS, signal);
    }
  } finally {
    done();
  }
}
