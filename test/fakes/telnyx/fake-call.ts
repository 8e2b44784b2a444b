// One phone call at the fake Telnyx: the commands that drive it, and its webhooks.

import { randomUUID } from 'node:crypto';
import { type FakeStatus, HostedCall, type HostedCallOptions } from '../hosted/hosted-call.ts';
import { telnyxWire } from './stream-wire.ts';
import { CallWebhooks, type WebhookOptions } from './webhooks.ts';

export interface TelnyxCallOptions extends HostedCallOptions {
  connectionId: string;
  /** Webhook URL of the application, or of the dial. */
  webhookUrl: string;
  clientState: string | null;
  webhooks: WebhookOptions;
}

const causes: Partial<Record<FakeStatus, string>> = {
  completed: 'normal_clearing',
  busy: 'user_busy',
  'no-answer': 'timeout',
  canceled: 'originator_cancel',
  failed: 'unspecified',
};

export class TelnyxCall extends HostedCall {
  webhookUrl: string;
  clientState: string | null;
  /** Commands that were carried out, by their `command_id`. */
  readonly commands = new Set<string>();
  readonly #options: TelnyxCallOptions;
  readonly #webhooks: CallWebhooks;
  #streams = 0;

  constructor(options: TelnyxCallOptions) {
    super(options);
    this.#options = options;
    this.webhookUrl = options.webhookUrl;
    this.clientState = options.clientState;
    this.#webhooks = new CallWebhooks(options.webhooks);
  }

  override callbacksSettled(): Promise<void> {
    return this.#webhooks.settled();
  }

  /** There is no event for ringing. */
  protected override announce(status: FakeStatus): void {
    if (status === 'initiated') {
      this.notify('call.initiated', { state: this.isOutbound ? 'bridging' : 'parked' });
    } else if (status === 'in-progress') {
      this.notify('call.answered', { state: 'answered' });
    } else if (this.isOver) {
      const hangupCause = causes[status];
      this.notify('call.hangup', {
        state: 'hangup',
        hangup_cause: hangupCause,
        hangup_source: 'caller',
      });
    }
  }

  notify(eventType: string, more: Record<string, unknown>): void {
    const payload = {
      call_control_id: this.id,
      call_leg_id: 'leg',
      call_session_id: 'session',
      connection_id: this.#options.connectionId,
      client_state: this.clientState,
      from: this.from,
      to: this.to,
      direction: this.isOutbound ? 'outgoing' : 'incoming',
      ...more,
    };
    const occurredAt = new Date().toISOString();
    const data = {
      record_type: 'event',
      event_type: eventType,
      id: randomUUID(),
      occurred_at: occurredAt,
      payload,
    };
    this.#webhooks.send(this.webhookUrl, { data }, this.isOver);
  }

  /** The stream ends with the socket; the call goes on. */
  async stream(url: string): Promise<void> {
    if (this.hasMedia) {
      this.tell('protocol-fault', { message: 'a second stream' });
      return;
    }
    this.#streams += 1;
    const { from, to, clientState, id: callControlId } = this;
    const streamId = `${this.#streams}-${randomUUID()}`;
    const wire = telnyxWire({ callControlId, streamId, from, to, clientState });
    const reachUrl = this.#options.webhooks.reach(url);
    const how = await this.connectMedia({ url, reachUrl, headers: {}, wire });
    if (how === 'failed' && !this.isOver) {
      this.notify('streaming.failed', { stream_id: streamId, failure_reason: 'connection_failed' });
    }
  }
}
