// Goes on with calls whose process has died, or whose media have broken off: takes the run over, rebuilds the conversation
// from the run's log, and connects the call to our media in this process. Providers ask for it when the media end
// (`afterMedia: 'asks'`); for the others crash recovery asks, or the session, or the connection to a PBX for the calls that
// it finds there. A call that cannot go on is closed.

import { GatewayError } from '../../errors/gateway-error.ts';
import { callsResumed } from '../../metrics/metrics.ts';
import type { ProviderName } from '../../model/provider.ts';
import type { Run } from '../../model/run.ts';
import { deadlineSignal, unlessAborted } from '../../std/deadline.ts';
import { SerialQueues } from '../../std/serial-queue.ts';
import type { Store } from '../../store/store.ts';
import type { MediaSession } from '../../telephony/provider/media-session.ts';
import {
  type HostedProvider,
  isDirect,
  isHosted,
  type PbxProvider,
  type ProviderRequest,
  type WebhookReply,
} from '../../telephony/provider/provider.ts';
import type { ConnectServices } from '../media/connect-services.ts';
import { resumedCallOf } from '../session/resumed-call.ts';
import type { ProviderCall } from '../start/call-confirmation.ts';
import type { CallPlan } from '../start/setup/call-plan.ts';
import { agentVersionsIn } from '../start/setup/plan-agents.ts';
import type { UnconnectedCall } from './closing/unconnected-calls.ts';
import { type ClosingCause, closeOrphanedRuns, type OrphanedRunsDeps } from './crash-recovery.ts';

/** Resumptions of one call: one that ends its process each time would go on for ever. */
const RESUMPTIONS_MAX = 3;
/** Longest time since the last event of a call about which nobody has asked. Who waited longer in silence has left. */
const SILENCE_MS_MAX = 60_000;
/** Time from the answer or command to the call's media. */
const MEDIA_MS_MAX = 10_000;

/** Calls that are connected again at once: each reads its log and rebuilds its state, beside calls that talk. */
const AT_ONCE = 4;
/** Calls that wait for that in each of these queues. One that waits longer than the limit of silence does not go on. */
const WAITING_MAX = 2_000;

/** Of a call whose media broke off in this process, and that does not go on. */
const LOST: ClosingCause = {
  reason: 'system_connect_error',
  fault: { code: 'MEDIA_LOST', message: new GatewayError('MEDIA_LOST').message },
};

const GOES_ON = 'call goes on over further media';

/** Attempts to close the run of a call that does not go on, and the pause between them: the store may be away. */
const CLOSINGS_MAX = 100;
const CLOSE_AGAIN_MS = 2_000;

export interface CallResumptionsDeps extends OrphanedRunsDeps {
  store: Pick<Store, 'runs' | 'reportedCalls'>;
  connect: Pick<
    ConnectServices,
    'registry' | 'planner' | 'preparation' | 'providerEvents' | 'admissions'
  >;
}

type HostedCall = ProviderCall & { provider: HostedProvider };
type PbxCall = UnconnectedCall & { provider: PbxProvider };
interface Resuming {
  /** Takes the run from another process; undefined if that must keep it. */
  take: () => Promise<Run | undefined>;
  /** Longest time since the last event of the call. */
  silenceMsMax: number;
}
interface Taken {
  run: Run;
  /** Why it is closed if it does not go on. Default: its process was killed. */
  why?: ClosingCause;
}
type OpenMedia = (signal: AbortSignal) => Promise<MediaSession>;

export class CallResumptions {
  readonly #deps: CallResumptionsDeps;
  /** Runs of calls over PBXs that are being connected. At most as many as PBXs have calls in setup. */
  readonly #found = new Set<string>();
  readonly #turns = new SerialQueues('calls that go on', WAITING_MAX);

  constructor(deps: CallResumptionsDeps) {
    this.#deps = deps;
    deps.connect.registry.onLost = (runId) => void this.#lost(runId);
  }

  /** Answers a provider that asks what to do with the run's call, whose media have ended: the call goes on here, or ends.
   *  Throws WEBHOOK_SIGNATURE, RUN_NOT_FOUND. */
  async asked(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    const { store, connect } = this.#deps;
    const call = await connect.providerEvents.verify(name, runId, request);
    const end = call?.provider.webhook.endAfterMedia;
    if (call === undefined || end === undefined) throw new GatewayError('RUN_NOT_FOUND');
    const take = () => store.runs.takeTalking(runId);
    return (await this.#resume(call, { take, silenceMsMax: Number.POSITIVE_INFINITY })) ?? end();
  }

  /** Goes on with the call of a dead process at a provider that keeps it. Returns false if it is over: the run is then
   *  closed, or another process has it. For a call over a PBX: whether this process has it. */
  async resume(runId: string): Promise<boolean> {
    const { store, providers } = this.#deps;
    const { run, configuration } = (await store.reportedCalls.find(runId)) ?? {};
    const provider = configuration && providers.byName(configuration.provider);
    if (run === undefined || configuration === undefined || provider === undefined) return false;
    if (isDirect(provider)) return false;
    if (!isHosted(provider))
      return this.#deps.connect.registry.has(runId) || this.#found.has(runId);
    const call = { run, configuration, provider };
    const take = () => store.runs.takeLeft(runId);
    return (await this.#resume(call, { take, silenceMsMax: SILENCE_MS_MAX })) !== undefined;
  }

  /** Goes on with a call over a PBX whose channel is there and belongs to no process. `open` opens its media. Returns false
   *  if the call is to be hung up: it does not go on, and its run is closed. A call that turns out to be a living process's is
   *  left to that one. Never rejects. */
  async found(call: PbxCall, open: OpenMedia): Promise<boolean> {
    const { registry } = this.#deps.connect;
    const { id: runId } = call.run;
    if (registry.has(runId) || this.#found.has(runId)) return true;
    this.#found.add(runId);
    try {
      return await this.#inTurn(runId, () => this.#goOn(call, open));
    } catch (error) {
      this.#deps.log.error({ err: error, runId }, 'call of a dead process not taken over');
      return false;
    } finally {
      this.#found.delete(runId);
    }
  }

  async #goOn(call: PbxCall, open: OpenMedia): Promise<boolean> {
    const { store, clock, log } = this.#deps;
    const run = await store.runs.takeLeft(call.run.id);
    if (run === undefined) return (await store.runs.find(call.run.id))?.state === 'running';
    const { signal, done } = deadlineSignal(clock, MEDIA_MS_MAX, 'go on with a call');
    let isConnected = false;
    try {
      isConnected = await unlessAborted(signal, this.#connectPbx({ ...call, run }, open, signal));
    } catch (error) {
      log.error({ err: error, runId: run.id }, 'call of a dead process not resumed');
    } finally {
      done();
    }
    const result = isConnected ? 'resumed' : 'closed';
    callsResumed.inc({ provider: call.provider.name, result });
    // The hang-up does not wait for the store.
    if (!isConnected) void this.#close({ run });
    return isConnected;
  }

  async #connectPbx(call: PbxCall, open: OpenMedia, signal: AbortSignal): Promise<boolean> {
    const { connect, log } = this.#deps;
    const { registry, admissions } = connect;
    const { run, provider } = call;
    const resumable = await this.#planOf(call, SILENCE_MS_MAX);
    if (resumable === undefined) return false;
    signal.throwIfAborted();
    if (!registry.addPrepared(resumable.plan)) {
      throw new GatewayError('QUEUE_FULL', { queue: 'pending calls' });
    }
    try {
      const media = await open(signal);
      if (signal.aborted) {
        media.close('unwanted');
        return false;
      }
      const isAdmitted = await admissions.admitPbxMedia(run.id, { media, isAnswered: true });
      if (isAdmitted) log.warn({ runId: run.id, provider: provider.name }, GOES_ON);
      else media.close('unwanted');
      return isAdmitted;
    } finally {
      registry.removeUnconnected(run.id); // Without effect on a call that talks.
    }
  }

  #inTurn<T>(runId: string, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(String(Number(runId) % AT_ONCE), work);
  }

  /** The answer that connects the call to our media; undefined if it does not go on here. */
  async #resume(call: HostedCall, how: Resuming): Promise<WebhookReply | undefined> {
    const tried = await this.#inTurn(call.run.id, () => this.#tryOnce(call, how));
    if (tried === undefined || tried.reply !== undefined) return tried?.reply;
    callsResumed.inc({ provider: call.provider.name, result: 'closed' });
    await this.#close(tried.taken);
    return undefined;
  }

  /** The run that this process has taken, and the answer if its call goes on; undefined if it has taken none. */
  async #tryOnce(
    call: HostedCall,
    { take, silenceMsMax }: Resuming,
  ): Promise<{ taken: Taken; reply: WebhookReply | undefined } | undefined> {
    const taken = await this.#take(call.run, take);
    if (taken === undefined) return undefined;
    try {
      return { taken, reply: await this.#connect(call, taken, silenceMsMax) };
    } catch (error) {
      this.#deps.log.error({ err: error, runId: taken.run.id }, 'call not resumed');
      return { taken, reply: undefined };
    }
  }

  /** Takes the call from its session here, whose media are over at the provider, or from another process. Undefined if
   *  it is about to end, or goes on already. */
  async #take(run: Run, take: Resuming['take']): Promise<Taken | undefined> {
    const { registry } = this.#deps.connect;
    if (run.state !== 'running') {
      if (run.state !== 'completed')
        this.#deps.log.warn(
          { runId: run.id, state: run.state },
          'call without media does not go on: it is not stored as answered',
        );
      return undefined;
    }
    const session = registry.session(run.id);
    if (session !== undefined) return (await session.giveUp()) ? { run, why: LOST } : undefined;
    const taken = registry.has(run.id) ? undefined : await take();
    if (taken !== undefined) return { run: taken };
    this.#deps.log.info(
      { runId: run.id },
      'run of a call without media not taken: it ends, or goes on already',
    );
    return undefined;
  }

  /** Connects a call of this process again at a provider that keeps it. Its session ends it otherwise. Never rejects. */
  async #lost(runId: string): Promise<void> {
    try {
      await this.resume(runId);
    } catch (error) {
      this.#deps.log.error({ err: error, runId }, 'call without media not resumed');
    }
  }

  async #connect(
    { provider, configuration }: HostedCall,
    taken: Taken,
    silenceMsMax: number,
  ): Promise<WebhookReply | undefined> {
    const { connect, clock, log } = this.#deps;
    const { run } = taken;
    const { id: runId, providerCallId: callId } = run;
    if (callId === null) return undefined;
    const resumable = await this.#planOf({ run, provider, configuration }, silenceMsMax);
    if (resumable === undefined) return undefined;
    const { resumption } = resumable;
    const plan = { ...resumable.plan, provider };
    const reply = await connect.preparation.answerAgain(plan, { callId, resumption });
    log.warn({ runId, provider: provider.name }, GOES_ON);
    clock.after(MEDIA_MS_MAX, () => void this.#check(taken, provider));
    return reply;
  }

  /** The plan of a call that goes on, and a value of its own for each time; undefined if it cannot go on. */
  async #planOf(
    call: UnconnectedCall,
    silenceMsMax: number,
  ): Promise<{ plan: CallPlan; resumption: string } | undefined> {
    const { events, connect, clock, log } = this.#deps;
    const { id: runId } = call.run;
    // What this process may have read before is not complete.
    events.release(runId);
    const runLog = await events.open(runId);
    const before = runLog.events.filter(({ body }) => body.type === 'call.resumed').length;
    const lastAt = runLog.events.at(-1)?.at ?? 0;
    const silentMs = clock.now() - lastAt;
    if (before >= RESUMPTIONS_MAX || silentMs > silenceMsMax) {
      const facts = { runId, resumptions: before, silentMs: Math.round(silentMs) };
      log.warn(facts, 'call is too old to go on, or went on too often');
      return undefined;
    }
    const planned = await connect.planner.plan({
      ...call,
      agents: agentVersionsIn(runLog.events),
      planned: { fetchUntilMs: 0 },
    });
    const times = { recordedMs: undefined, now: clock.now() };
    const resumed = resumedCallOf(planned, runLog.events, times);
    if ('why' in resumed) {
      log.warn({ runId, ...resumed }, 'call cannot go on');
      return undefined;
    }
    return { plan: { ...planned, isResumed: true }, resumption: String(before + 1) };
  }

  /** Closes a resumed call whose media have not come. */
  async #check(taken: Taken, provider: HostedProvider): Promise<void> {
    const { run } = taken;
    const { connect, store, log } = this.#deps;
    const { registry } = connect;
    const isResumed = registry.session(run.id) !== undefined;
    if (!isResumed) registry.removeUnconnected(run.id);
    try {
      const isOpen = isResumed || (await store.runs.find(run.id))?.state === 'running';
      const result = isResumed ? 'resumed' : isOpen ? 'no_media' : 'over';
      callsResumed.inc({ provider: provider.name, result });
      if (result === 'no_media') await this.#close(taken);
    } catch (error) {
      log.error({ err: error, runId: run.id }, 'resumed call not looked up');
      await this.#close(taken);
    }
  }

  /** Closes a run of this process whose call does not go on. Never rejects. */
  async #close({ run, why }: Taken): Promise<void> {
    const { clock } = this.#deps;
    for (let tries = 0; tries < CLOSINGS_MAX; tries += 1) {
      const { failed, hangUp } = await closeOrphanedRuns(this.#deps, [run], why);
      if (failed.length === 0) return hangUp();
      await new Promise<void>((resolve) => clock.after(CLOSE_AGAIN_MS, resolve));
    }
  }
}
