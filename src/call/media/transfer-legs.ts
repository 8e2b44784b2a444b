// Destinations of warm transfers that this process dials: their answers and their media. Their URLs have a transfer id
// in place of a run id. The announcement itself is in session/transfer-leg.ts.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { newTransferId, runOfId } from '../../model/transfer-id.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import { isHosted, type WebhookReply } from '../../telephony/provider/provider.ts';
import { SocketMediaSession } from '../../telephony/provider/socket-media-session.ts';
import type { MediaPath } from '../../transport/media-token.ts';
import type { MediaTokenStore } from '../../transport/media-token-store.ts';
import type { MediaAdmission } from '../../transport/websocket/media-server.ts';
import type { CallActions } from '../start/call-actions.ts';
import { TOKEN_MS } from '../start/call-preparation.ts';
import { callbackUrls, mediaUrl, transferUrls } from '../start/setup/callback-urls.ts';
import type {
  OpenTransferLeg,
  TransferLegListener,
  TransferLegs,
  TransferPlan,
} from '../transfer/transfer-leg.ts';
import type {
  FollowedTransfer,
  TransferProgress,
  TransferResults,
} from '../webhooks/transfer-results.ts';
import { type Headers, refuseMedia, upgradeRequest } from './media-upgrade.ts';

export interface TransferDestinationsDeps {
  results: Pick<TransferResults, 'follow' | 'noteDialled'>;
  actions: CallActions;
  tokens: MediaTokenStore;
  random: Random;
  /** The public URL without a trailing slash. */
  publicUrl: string;
  clock: Clock;
  log: Log;
}

export class TransferDestinations implements TransferLegs {
  readonly #deps: TransferDestinationsDeps;
  /** Legs by transfer id, at most one for each call. */
  readonly #legs = new Map<string, Leg>();

  constructor(deps: TransferDestinationsDeps) {
    this.#deps = deps;
  }

  /** Throws TRANSFER_FAILED for a second destination of a call: no limit of calls counts destinations, so this
   *  bounds them. */
  open(plan: TransferPlan, listener: TransferLegListener): OpenTransferLeg {
    const { publicUrl, random, results } = this.#deps;
    const { provider, run } = plan;
    if ([...this.#legs.keys()].some((id) => runOfId(id) === run.id)) {
      throw new GatewayError('TRANSFER_FAILED', { reason: 'another transfer of the call goes on' });
    }
    const id = newTransferId(run.id, 'warm', random);
    const leg = new Leg(this.#deps, id, { plan, listener });
    this.#legs.set(id, leg);
    const unfollow = results.follow(id, leg);
    const { transferUrl: documentUrl } = callbackUrls(publicUrl, provider, run.id);
    return Object.assign(leg, transferUrls(publicUrl, provider, id), {
      documentUrl,
      dialled: (callId: string) => {
        leg.callId = callId;
        void results.noteDialled(run.id, id, callId);
      },
      close: () => {
        this.#legs.delete(id);
        unfollow();
      },
    });
  }

  /** Handles a media socket that requests admission under a transfer id. */
  admit(path: MediaPath, headers: Headers): MediaAdmission {
    const redeemed = this.#deps.tokens.redeem(path);
    if (redeemed === undefined) return refuseMedia('unauthorized', 'token');
    const leg = this.#legs.get(path.runId);
    if (leg === undefined) return refuseMedia('notFound', 'no transfer waits');
    // The process with the transfer issues its tokens: this one was used.
    if (redeemed.kind !== 'issued') return refuseMedia('unauthorized', 'token');
    return leg.admit(path, headers);
  }
}

class Leg implements FollowedTransfer {
  readonly id: string;
  callId: string | undefined;
  readonly #deps: TransferDestinationsDeps;
  readonly #plan: TransferPlan;
  readonly #listener: TransferLegListener;

  constructor(
    deps: TransferDestinationsDeps,
    id: string,
    { plan, listener }: { plan: TransferPlan; listener: TransferLegListener },
  ) {
    this.id = id;
    this.#deps = deps;
    this.#plan = plan;
    this.#listener = listener;
  }

  onProgress({ outcome, callId, providerStatus }: TransferProgress): void {
    this.callId ??= callId;
    this.#listener.onProgress(outcome, providerStatus);
  }

  async connect(callId: string): Promise<WebhookReply> {
    const { tokens, publicUrl, actions } = this.#deps;
    const { run, provider, configuration } = this.#plan;
    if (!isHosted(provider)) throw new TypeError('a provider with webhooks');
    // A provider that gets a command twice carries it out once, with the URL of the first.
    const isCommand = provider.capabilities.answerStyle === 'command';
    const subject = { ...run, id: this.id };
    const token = isCommand ? tokens.reissue(subject, TOKEN_MS) : tokens.issue(subject, TOKEN_MS);
    const { resultUrl } = transferUrls(publicUrl, provider, this.id);
    const action = provider.webhook.answer({
      runId: this.id,
      callId,
      isAnswered: true,
      mediaUrl: mediaUrl(publicUrl, subject, token),
      statusUrl: resultUrl,
      answeredByUrl: resultUrl,
    });
    return actions.perform(action, configuration.credentials, async () => {
      this.#listener.onProgress('failed', 'its audio was not opened');
    });
  }

  admit(path: MediaPath, headers: Headers): MediaAdmission {
    const { publicUrl, clock, log } = this.#deps;
    const { run, provider, configuration } = this.#plan;
    const isOfRun =
      run.workflowId === path.workflowId && run.organizationId === path.organizationId;
    if (!isOfRun) return refuseMedia('badRequest', 'workflow');
    if (!isHosted(provider)) return refuseMedia('unauthorized', 'signature');
    const upgrade = upgradeRequest(publicUrl, path, headers);
    if (provider.webhook.verifyUpgrade?.(upgrade, configuration.credentials) === false) {
      return refuseMedia('unauthorized', 'signature');
    }
    return {
      accept: (socket) => {
        const protocol = provider.createMedia();
        const own = log.child({ runId: run.id, transfer: true });
        const media = new SocketMediaSession({ socket, protocol, clock, log: own });
        this.#listener.onMedia(media);
        return media;
      },
    };
  }
}
