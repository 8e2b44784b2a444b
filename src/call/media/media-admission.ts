// Admission of a provider's media: the URL's run exists and waits, here or in another process, the token is right and
// unused, the provider signed the upgrade. Then the session starts. Close codes: contract §7.4.

import type { Log } from '../../log.ts';
import { runOfReturnId } from '../../model/return-id.ts';
import { isTransferId } from '../../model/transfer-id.ts';
import type { Clock } from '../../std/clock.ts';
import type { MediaSession } from '../../telephony/provider/media-session.ts';
import { isDirect, isHosted, isPbx } from '../../telephony/provider/provider.ts';
import { SocketMediaSession } from '../../telephony/provider/socket-media-session.ts';
import type { MediaPath, SignedToken } from '../../transport/media-token.ts';
import type { MediaTokenStore } from '../../transport/media-token-store.ts';
import type { MediaAdmission } from '../../transport/websocket/media-server.ts';
import type { UnconnectedCall, UnconnectedCalls } from '../end/closing/unconnected-calls.ts';
import type { CallRegistry } from '../session/call-registry.ts';
import type { CallSession } from '../session/session.ts';
import type { CallPlan } from '../start/setup/call-plan.ts';
import type { DirectMedia } from './direct-media.ts';
import type { MediaAdoptions } from './media-adoption.ts';
import { type Headers, type RefusedMedia, refuseMedia, upgradeRequest } from './media-upgrade.ts';
import type { BegunSession, SessionStarts } from './session-start.ts';
import type { TransferDestinations } from './transfer-legs.ts';

export interface MediaAdmissionsDeps {
  registry: CallRegistry;
  starts: SessionStarts;
  tokens: MediaTokenStore;
  adoptions: MediaAdoptions;
  unconnected: UnconnectedCalls;
  transfers: TransferDestinations;
  direct: DirectMedia;
  publicUrl: string;
  clock: Clock;
  log: Log;
}

export class MediaAdmissions {
  readonly #deps: MediaAdmissionsDeps;
  /** Runs whose calls are being adopted. At most as many as there are sockets. */
  readonly #adopting = new Set<string>();

  constructor(deps: MediaAdmissionsDeps) {
    this.#deps = deps;
  }

  async admit(path: MediaPath, headers: Headers): Promise<MediaAdmission> {
    const { tokens, transfers, direct } = this.#deps;
    if (isTransferId(path.runId)) return transfers.admit(path, headers);
    if (runOfReturnId(path.runId) !== undefined) return direct.admitReturn(path);
    // The token is checked first: without it the answer reveals nothing about a run, not even its existence.
    const redeemed = tokens.redeem(path);
    if (redeemed === undefined) return refuseMedia('unauthorized', 'token');
    const waiting = this.#admitWaiting(path, headers);
    if (waiting !== undefined) return waiting;
    return redeemed.kind === 'issued'
      ? refuseMedia('notFound', 'no call waits')
      : this.#adopt(path, headers, redeemed);
  }

  /** Admits the media of a call that waits in this process; undefined if it does not. */
  #admitWaiting(path: MediaPath, headers: Headers): Promise<MediaAdmission> | undefined {
    const { registry } = this.#deps;
    const plan = registry.admit(path.runId);
    return plan && this.#admit(plan, path, headers).finally(() => registry.reject(path.runId));
  }

  /** Admits the media of a call that another process has answered. */
  async #adopt(
    path: MediaPath,
    headers: Headers,
    { token, isOwn }: { token: SignedToken; isOwn: boolean },
  ): Promise<MediaAdmission> {
    const { registry, adoptions } = this.#deps;
    const { runId } = path;
    // A second socket, whose token this process or another one has issued.
    if (registry.connected(runId)) return refuseMedia(isOwn ? 'unauthorized' : 'conflict', 'token');
    if (this.#adopting.has(runId)) return refuseMedia('conflict', 'run state');
    this.#adopting.add(runId);
    try {
      const call = await adoptions.find(runId);
      if ('refuse' in call) return call;
      const refusal = this.#refusalOf(call, path, headers);
      if (refusal !== undefined) return refusal;
      const isTaken = await adoptions.take(call, token);
      const waiting = isTaken ? this.#admitWaiting(path, headers) : undefined;
      return (await waiting) ?? refuseMedia('conflict', 'run state');
    } finally {
      this.#adopting.delete(runId);
    }
  }

  /** Why a socket with the right token is refused; undefined if it is not. */
  #refusalOf(
    { run, provider, configuration }: UnconnectedCall,
    path: MediaPath,
    headers: Headers,
  ): RefusedMedia | undefined {
    if (run.workflowId !== path.workflowId || run.organizationId !== path.organizationId) {
      return refuseMedia('badRequest', 'workflow');
    }
    const upgrade = upgradeRequest(this.#deps.publicUrl, path, headers);
    if (isDirect(provider)) {
      return path.isWeb === true ? undefined : refuseMedia('unauthorized', 'path');
    }
    const isSigned =
      isHosted(provider) &&
      path.isWeb !== true &&
      provider.webhook.verifyUpgrade?.(upgrade, configuration.credentials) !== false;
    return isSigned ? undefined : refuseMedia('unauthorized', 'signature');
  }

  async #admit(plan: CallPlan, path: MediaPath, headers: Headers): Promise<MediaAdmission> {
    const { run, provider } = plan;
    const refusal = this.#refusalOf(plan, path, headers);
    if (refusal !== undefined) return refusal;
    if (isPbx(provider)) return refuseMedia('unauthorized', 'signature');
    const begun = await this.#begin(plan, true);
    if ('refuse' in begun) return begun;
    if (isDirect(provider)) return this.#deps.direct.accept({ ...plan, provider }, begun);
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
    const { starts, unconnected } = this.#deps;
    if (plan.isResumed === true) return this.#resume(plan);
    const begun = await starts.begin(plan, isAnswered).catch((error: unknown) => {
      // The call's media were refused for this, and no other process has the call.
      void unconnected.fail(plan, error);
      throw error;
    });
    if (begun === 'no-run') return refuseMedia('notFound', 'run');
    return begun === 'closed' ? refuseMedia('conflict', 'run state') : begun;
  }

  /** Begins the session of a call that another process had. If that fails, call-resumption closes its run. */
  async #resume(plan: CallPlan): Promise<BegunSession | RefusedMedia> {
    const begun = await this.#deps.starts.resume(plan);
    return 'why' in begun ? refuseMedia('conflict', 'run state') : begun;
  }
}
