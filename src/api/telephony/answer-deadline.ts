// Deadline for answering a call's webhook. Without an answer in time the provider ends the call, or uses a fallback,
// after a long time of ringing or silence; so it gets a refusal in its own markup before that. Until then the call may
// still connect. The work goes on: the run's watchdog closes it.

import { codeOf } from '../../errors/gateway-error.ts';
import { withDeadline } from '../../std/deadline.ts';
import { answerMsOf } from '../../telephony/provider/answer-time.ts';
import type { HostedProvider, WebhookReply } from '../../telephony/provider/provider.ts';
import type { ApiDeps } from '../http/api-deps.ts';

const WHAT = "the answer to a call's webhook";

/** The result of `work`, or `late` when the provider would not wait any longer, or the store is away for longer than a
 *  call waits (call/start/store-wait). */
export async function answerInTime(
  { clock, log }: Pick<ApiDeps, 'clock' | 'log'>,
  provider: HostedProvider | undefined,
  { work, late }: { work: Promise<WebhookReply>; late: () => WebhookReply },
): Promise<WebhookReply> {
  try {
    return await withDeadline(clock, answerMsOf(provider), WHAT, work);
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'TIMED_OUT' && code !== 'STORE_UNAVAILABLE') throw error;
    log.error({ err: error, provider: provider?.name }, 'webhook of a call not answered in time');
    return late();
  }
}
