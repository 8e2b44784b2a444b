// Connects an answered call that we placed to its media: the answer to the provider's webhook.

import type { Log } from '../../log.ts';
import type { WebhookReply } from '../../telephony/provider/provider.ts';
import type { CallActions } from '../start/call-actions.ts';
import type { CallPreparation } from '../start/call-preparation.ts';
import type { MediaWatchdog } from '../start/media-watchdog.ts';
import type { WaitingCall } from './provider-event.ts';

export interface AnsweredCallsDeps {
  watchdog: MediaWatchdog;
  preparation: CallPreparation;
  actions: CallActions;
  log: Log;
}

export class AnsweredCalls {
  readonly #deps: AnsweredCallsDeps;

  constructor(deps: AnsweredCallsDeps) {
    this.#deps = deps;
  }

  /** Connects the call, or refuses it if that fails. Never rejects. */
  async connect({ call, callId }: { call: WaitingCall; callId: string }): Promise<WebhookReply> {
    const { watchdog, preparation, actions, log } = this.#deps;
    const { run, provider, configuration } = call;
    const { credentials } = configuration;
    const refuse = () => actions.perform(provider.webhook.reject('error', callId), credentials);
    if (run.state !== 'initialized') return refuse();
    watchdog.answered(call);
    try {
      return await preparation.answer(call, callId);
    } catch (error) {
      log.error({ err: error, runId: run.id }, 'call not answered');
      return refuse();
    }
  }
}
