// Admission of a provider's media: the URL's run exists and waits, the token is right and unused, the provider
// signed the upgrade. Then the session starts. Close codes: contract §7.4.

import type { Log } from '../../log.ts';
import { isTransferId } from '../../model/transfer-id.ts';
import type { Clock } from '../../std/clock.ts';
import type { MediaSession } from '../../telephony/provider/media-session.ts';
import { isHosted } from '../../telephony/provider/provider.ts';
import { SocketMediaSession } from '../../telephony/provider/socket-media-session.ts';
import type { MediaTokenStore } from '../../transport/media-token.ts';
import type { MediaAdmission, MediaPath } from '../../transport/websocket/media-server.ts';
import type { UnconnectedCalls } from '../end/closing/unconnected-calls.ts';
import type { CallRegistry } from '../session/call-registry.ts';
import type { CallSession } from '../session/session.ts';
import type { CallPlan } from '../start/setup/call-plan.ts';
import { type Headers, type RefusedMedia, refuseMedia, upgradeRequest } from './media-upgrade.ts';
import type { BegunSession, SessionStarts } from './session-start.ts';
import type { TransferDestinations } from './transfer-legs.ts';

export interface MediaAdmissionsDeps {
  registry: CallRegistry;
  starts: SessionStarts;
  tokens: MediaTokenStore;
  unconnected: UnconnectedCalls;
  transfers: TransferDestinations;
  publicUrl: string;
  clock: Clock;
  log: Log;
}

export class MediaAdmissions {
  readonly #deps: MediaAdmissionsDeps;

  constructor(deps: MediaAdmissionsDeps) {
    this.#deps = deps;
  }

  async admit(path: MediaPath, headers: Headers): Promise<MediaAdmission> {
    const { registry, tokens, transfers } = this.#deps;
    if (isTransferId(path.runId)) return transfers.admit(path, headers);
    // The token is checked first: without it the answer reveals nothing about a run, not even its existence.
    if (!tokens.redeem(path.runId, path.token)) return refuseMedia('unauthorized', 'token');
    const plan = registry.admit(path.runId);
    if (plan === undefined) return refuseMedia('notFound', 'no call waits');
    try {
      return await this.#admit(plan, path, headers);
    } finally {
      registry.reject(path.runId);
    }
  }

  async #admit(plan: CallPlan, path: MediaPath, headers: Headers): Promise<MediaAdmission> {
    const { run, provider, configuration } = plan;
    if (run.workflowId !== path.workflowId || run.organizationId !== path.organizationId) {
      return refuseMedia('badRequest', 'workflow');
    }
    const upgrade = upgradeRequest(this.#deps.publicUrl, path, headers);
    if (!isHosted(provider)) return refuseMedia('unauthorized', 'signature');
    const { webhook } = provider;
    if (webhook.verifyUpgrade?.(upgrade, configuration.credentials) === false) {
      return refuseMedia('unauthorized', 'signature');
    }
    const begun = await this.#begin(plan, true);
    if ('refuse' in begun) return begun;
    return {
      accept: (socket) => {
        const { clock } = this.#deps;
        const protocol = provider.createMedia();
        const log = this.#deps.log.child({ runId: run.id });
        const media = new SocketMediaSession({ socket, protocol, clock, log });
        begun.attach(media);
        return media;
      },
    };
  }

  /** Admits media of a connection that the gateway itself opened to a PBX; they need no token. Returns false if no
   *  call waits for them. */
  async admitPbxMedia(
    runId: string,
    { media, isAnswered }: { media: MediaSession; isAnswered: boolean },
  ): Promise<boolean> {
    const { registry } = this.#deps;
    const plan = registry.admit(runId);
    const begun =
      plan === undefined
        ? refuseMedia('notFound', 'no call waits')
        : await this.#begin(plan, isAnswered).finally(() => registry.reject(runId));
    if ('refuse' in begun) return false;
    begun.attach(media);
    return true;
  }

  /** Starts the conversation of a call with early media, which has been answered. Never rejects. */
  answer(session: CallSession): Promise<void> {
    return this.#deps.starts.answer(session);
  }

  async #begin(plan: CallPlan, isAnswered: boolean): Promise<BegunSession | RefusedMedia> {
    const begun = await this.#deps.starts.begin(plan, isAnswered).catch((error: unknown) => {
      // The call's media were refused for this, and no other process has the call.
      void this.#deps.unconnected.fail(plan, error);
      throw error;
    });
    if (begun === 'no-run') return refuseMedia('notFound', 'run');
    return begun === 'closed' ? refuseMedia('conflict', 'run state') : begun;
  }
}
