// The deadline of the answer to a call's webhook. A provider that gets none in time ends the call, or asks elsewhere, after
// its caller has heard ringing or silence for as long; so it gets a refusal in its own markup before that. The work
// goes on: the run of a call that does not come is closed by its watchdog.

import { codeOf } from '../../errors/gateway-error.ts';
import { withDeadline } from '../../std/deadline.ts';
import type { HostedProvider, WebhookReply } from '../../telephony/provider/provider.ts';
import type { ApiDeps } from '../http/api-deps.ts';

/** Two call workers are asked for 4 s each at most. Twilio waits for 15 s, Plivo longer; nobody on a telephone does. */
const ANSWER_MS_MAX = 8_000;
const WHAT = "the answer to a call's webhook";

/** What `work` gives, or `late` once the provider would not wait any longer. */
export async function answerInTime(
  { clock, log }: Pick<ApiDeps, 'clock' | 'log'>,
  provider: HostedProvider | undefined,
  { work, late }: { work: Promise<WebhookReply>; late: () => WebhookReply },
): Promise<WebhookReply> {
  const ms = provider?.capabilities.answerMsMax ?? ANSWER_MS_MAX;
  try {
    return await withDeadline(clock, ms, WHAT, work);
  } catch (error) {
    if (codeOf(error) !== 'TIMED_OUT') throw error;
    log.error({ err: error, provider: provider?.name }, 'webhook of a call not answered in time');
    return late();
  }
}
