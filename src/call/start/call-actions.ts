// Performs what connects or refuses a call at its provider: the reply to the webhook and, where a reply is not enough,
// a command over the provider's REST interface. The reply waits REPLY_MS for the command: a provider repeats a webhook
// without a reply, so that the call of a process that dies within that time is handled at the next delivery.

import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { CallAction, WebhookReply } from '../../telephony/provider/provider.ts';
import { sendRepeatedly } from '../../telephony/provider/repeated-command.ts';
import type { ProviderCredentials } from '../../telephony/provider/terms.ts';

/** Longest delay of a reply. Providers give up after two seconds. */
const REPLY_MS = 1_500;
/** Deadline of a command with all attempts: the caller waits meanwhile. */
const COMMAND_MS = 8_000;

export class CallActions {
  readonly #clock: Clock;
  readonly #log: Log;

  constructor({ clock, log }: { clock: Clock; log: Log }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** `onFailed` is called if the command has failed for good; it must not reject. Never rejects. */
  async perform(
    { reply, command }: CallAction,
    credentials: ProviderCredentials,
    onFailed: (error: unknown) => Promise<void> = () => Promise.resolve(),
  ): Promise<WebhookReply> {
    if (command === undefined) return reply;
    const { signal, done } = deadlineSignal(this.#clock, COMMAND_MS, 'call command');
    const sent = sendRepeatedly(this.#clock, () => command(credentials, signal), signal)
      .catch(async (error: unknown) => {
        this.#log.warn({ err: error }, 'call command failed');
        await onFailed(error);
      })
      .finally(done);
    await new Promise<void>((resolve) => {
      const timer = this.#clock.after(REPLY_MS, resolve);
      void sent.finally(() => {
        timer.cancel();
        resolve();
      });
    });
    return reply;
  }
}
