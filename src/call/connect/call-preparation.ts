// Prepares a call for its media: plans it and renders the greeting while the phone still rings, and puts a
// single-use token into the media URL. A call whose media never come is closed.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { HostedProvider, WebhookReply } from '../../telephony/provider/provider.ts';
import type { MediaTokenStore } from '../../transport/media-token.ts';
import type { UnconnectedCalls } from '../closing/unconnected-calls.ts';
import type { CallPlan } from '../setup/call-plan.ts';
import { callbackUrls, mediaUrl } from '../setup/callback-urls.ts';
import type { CallActions } from './call-actions.ts';
import type { CallPlanner, PlannedCall } from './call-planner.ts';
import type { CallRegistry } from './call-registry.ts';

/** A provider opens the socket within a few seconds of our answer, or not at all. */
export const TOKEN_MS = 60_000;

export interface CallPreparationDeps {
  planner: CallPlanner;
  registry: CallRegistry;
  unconnected: UnconnectedCalls;
  tokens: MediaTokenStore;
  actions: CallActions;
  /** The public URL without a trailing slash: `https://gw.example.com`. */
  publicUrl: string;
}

export class CallPreparation {
  readonly #deps: CallPreparationDeps;

  constructor(deps: CallPreparationDeps) {
    this.#deps = deps;
  }

  /** Throws AGENT_NOT_PUBLISHED, WORKFLOW_INVALID, QUEUE_FULL; the run is completed then. */
  async answer(
    call: PlannedCall & { provider: HostedProvider },
    callId: string,
  ): Promise<WebhookReply> {
    const { tokens, publicUrl, actions, registry, unconnected } = this.#deps;
    const { provider } = call;
    const { run } = await this.prepare(call);
    // A command that reaches the provider twice is carried out once, with the URL of the first.
    const isCommand = provider.capabilities.answerStyle === 'command';
    const token = isCommand ? tokens.reissue(run.id, TOKEN_MS) : tokens.issue(run.id, TOKEN_MS);
    const action = provider.webhook.answer({
      runId: run.id,
      callId,
      direction: run.callType,
      mediaUrl: mediaUrl(publicUrl, run, token),
      ...callbackUrls(publicUrl, provider, run.id),
    });
    return actions.perform(action, call.configuration.credentials, async (error) => {
      if (!registry.connected(run.id)) await unconnected.fail(call, error);
    });
  }

  /** Expects the call's media from now on. Throws AGENT_NOT_PUBLISHED, WORKFLOW_INVALID, QUEUE_FULL; the run is
   *  completed then. */
  async prepare(call: PlannedCall): Promise<CallPlan> {
    const { planner, registry, unconnected } = this.#deps;
    try {
      const plan = await planner.plan(call);
      if (!registry.addPrepared(plan)) {
        throw new GatewayError('QUEUE_FULL', { queue: 'pending calls' });
      }
      planner.prepareFirstWords(plan);
      return plan;
    } catch (error) {
      await unconnected.fail(call, error);
      throw error;
    }
  }
}
