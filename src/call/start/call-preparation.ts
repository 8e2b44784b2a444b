// Prepares a call for its media: plans it, renders the greeting while the phone still rings, and puts a single-use
// token into the media URL. Closes a call whose media never come.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import {
  type AnswerRequest,
  type HostedProvider,
  isHosted,
  type WebhookReply,
} from '../../telephony/provider/provider.ts';
import type { MediaTokenStore } from '../../transport/media-token-store.ts';
import type { UnconnectedCalls } from '../end/closing/unconnected-calls.ts';
import type { CallRegistry } from '../session/call-registry.ts';
import type { CallActions } from './call-actions.ts';
import type { CallPlanner, PlannedCall } from './call-planner.ts';
import type { CallPlan } from './setup/call-plan.ts';
import { callbackUrls, mediaUrl } from './setup/callback-urls.ts';
import { StoreWait } from './store-wait.ts';

/** Life of a media token. A provider opens the socket within a few seconds of our answer, or not at all. */
export const TOKEN_MS = 60_000;

/** Time from the command that answers a call to its media; a provider needs a second or two. A call without media
 *  after it may have been answered earlier by an equal command, with its media opened to a process that is gone. */
const MEDIA_MS_MAX = 4_000;

type HostedCall = PlannedCall & { provider: HostedProvider };

export interface CallPreparationDeps {
  planner: CallPlanner;
  registry: CallRegistry;
  unconnected: UnconnectedCalls;
  tokens: MediaTokenStore;
  actions: CallActions;
  clock: Clock;
  log: Log;
  /** The public URL without a trailing slash: `https://gw.example.com`. */
  publicUrl: string;
}

export class CallPreparation {
  readonly #deps: CallPreparationDeps;
  /** Calls whose command may be a repetition, by run. At most as many as the registry has. */
  readonly #repeated = new Map<string, { timer: Timer; openMedia: () => void }>();

  constructor(deps: CallPreparationDeps) {
    this.#deps = deps;
  }

  /** Prepares and answers a call. Throws AGENT_NOT_PUBLISHED, WORKFLOW_INVALID, QUEUE_FULL; the run is then
   *  completed. */
  async answer(call: HostedCall, callId: string): Promise<WebhookReply> {
    const { tokens, actions, registry, unconnected } = this.#deps;
    const { provider, run } = call;
    const isCommand = provider.capabilities.answerStyle === 'command';
    try {
      await this.prepare(call);
    } catch (error) {
      if (!isCommand || !this.#isTaken(call)) throw error;
      return provider.webhook.acknowledge();
    }
    if (isCommand && registry.connected(run.id)) return provider.webhook.acknowledge();
    // A provider that gets a command twice carries it out once, with the URL of the first.
    const token = isCommand ? tokens.reissue(run, TOKEN_MS) : tokens.issue(run, TOKEN_MS);
    const request = this.#request(call, { callId, token });
    if (isCommand && !request.isAnswered && call.fresh === undefined) this.#watch(call, request);
    const action = provider.webhook.answer(request);
    return actions.perform(action, call.configuration.credentials, async (error) => {
      if (!registry.connected(run.id)) await unconnected.failOwn(call, error);
    });
  }

  /** Connects a call that talked in another process to its media again. `resumption`: a value of its own for each time.
   *  Throws QUEUE_FULL. A failed command is logged: the media do not come. */
  answerAgain(
    plan: CallPlan & { provider: HostedProvider },
    { callId, resumption }: { callId: string; resumption: string },
  ): Promise<WebhookReply> {
    const { tokens, actions, registry } = this.#deps;
    const { run, provider, configuration } = plan;
    if (!registry.addPrepared(plan)) {
      throw new GatewayError('QUEUE_FULL', { queue: 'pending calls' });
    }
    const request = this.#request(plan, { callId, token: tokens.issue(run, TOKEN_MS) });
    const action = provider.webhook.answer({ ...request, isAnswered: true, resumption });
    return actions.perform(action, configuration.credentials);
  }

  #request(
    { run, provider, isWaiting }: Pick<HostedCall, 'run' | 'provider' | 'isWaiting'>,
    { callId, token }: { callId: string; token: string },
  ): AnswerRequest {
    const { publicUrl } = this.#deps;
    return {
      runId: run.id,
      callId,
      isAnswered: run.callType === 'outbound' || isWaiting === true,
      ...(isWaiting && { isWaiting }),
      mediaUrl: mediaUrl(publicUrl, run, token),
      ...callbackUrls(publicUrl, provider, run.id),
    };
  }

  /** Requests media for a call that may have been answered by a process that is gone. Returns false if the call is
   *  not of that kind, or if its media were already requested. */
  openMedia(runId: string): boolean {
    const repeated = this.#repeated.get(runId);
    if (repeated === undefined) return false;
    repeated.timer.cancel();
    this.#repeated.delete(runId);
    if (!this.#deps.registry.isPrepared(runId)) return false;
    repeated.openMedia();
    return true;
  }

  #watch({ provider, configuration }: HostedCall, request: AnswerRequest): void {
    const { actions, clock, planner } = this.#deps;
    const { runId } = request;
    this.#repeated.get(runId)?.timer.cancel();
    const openMedia = async (): Promise<void> => {
      if (!(await planner.awaitsMedia(runId))) return;
      const action = provider.webhook.answer({ ...request, isAnswered: true });
      // If it fails, for example because the call still rings, the media watchdog ends the call.
      void actions.perform(action, configuration.credentials);
    };
    const timer = clock.after(MEDIA_MS_MAX, () => this.openMedia(runId));
    this.#repeated.set(runId, { timer, openMedia: () => void openMedia() });
  }

  /** Expects the call's media from now on. Throws AGENT_NOT_PUBLISHED, WORKFLOW_INVALID, QUEUE_FULL; the run is then
   *  completed. */
  async prepare(call: PlannedCall): Promise<CallPlan> {
    const { planner, registry, unconnected } = this.#deps;
    const wait = call.wait ?? new StoreWait(this.#deps, call.provider);
    try {
      const plan = await wait.repeat(
        () => planner.plan(call),
        () => this.#isTaken(call),
      );
      // The call is already connected: no media would use this plan.
      if (registry.connected(call.run.id)) return plan;
      if (!registry.addPrepared(plan)) {
        throw new GatewayError('QUEUE_FULL', { queue: 'pending calls' });
      }
      planner.prepareFirstWords(plan);
      return plan;
    } catch (error) {
      if (!this.#isTaken(call)) await unconnected.fail(call, error);
      throw error;
    }
  }

  /** Whether the webhook is a repetition: the first one has connected the call, or has sent the command that does. */
  #isTaken({ run, provider }: PlannedCall): boolean {
    const { registry } = this.#deps;
    const isCommand = isHosted(provider) && provider.capabilities.answerStyle === 'command';
    return registry.connected(run.id) || (isCommand && registry.isPrepared(run.id));
  }
}
