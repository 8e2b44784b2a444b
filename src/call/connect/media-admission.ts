// Admission of a provider's media: the URL's run exists and waits, the token is right and unused, the provider
// signed the upgrade. Then the session starts. Close codes: contract §7.4.

import type { Log } from '../../log.ts';
import { mediaFaults } from '../../metrics/metrics.ts';
import type { Clock } from '../../std/clock.ts';
import type { MediaSession } from '../../telephony/provider/media-session.ts';
import { isHosted, type ProviderRequest } from '../../telephony/provider/provider.ts';
import { SocketMediaSession } from '../../telephony/provider/socket-media-session.ts';
import { CLOSE } from '../../transport/media-socket.ts';
import type { MediaTokenStore } from '../../transport/media-token.ts';
import type { MediaAdmission, MediaPath } from '../../transport/websocket/media-server.ts';
import type { UnconnectedCalls } from '../closing/unconnected-calls.ts';
import type { CallSession } from '../session/session.ts';
import type { CallPlan } from '../setup/call-plan.ts';
import type { CallRegistry } from './call-registry.ts';
import type { BegunSession, SessionStarts } from './session-start.ts';

type Headers = Record<string, string | undefined>;

export interface MediaAdmissionsDeps {
  registry: CallRegistry;
  starts: SessionStarts;
  tokens: MediaTokenStore;
  unconnected: UnconnectedCalls;
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
    const { registry, tokens } = this.#deps;
    // The token is checked first: without it the answer reveals nothing about a run, not even its existence.
    if (!tokens.redeem(path.runId, path.token)) return refuse(CLOSE.unauthorized, 'token');
    const plan = registry.admit(path.runId);
    if (plan === undefined) return refuse(CLOSE.notFound, 'no call waits');
    try {
      return await this.#admit(plan, path, headers);
    } finally {
      registry.reject(path.runId);
    }
  }

  async #admit(plan: CallPlan, path: MediaPath, headers: Headers): Promise<MediaAdmission> {
    const { run, provider, configuration } = plan;
    if (run.workflowId !== path.workflowId || run.organizationId !== path.organizationId) {
      return refuse(CLOSE.badRequest, 'workflow');
    }
    const upgrade = upgradeRequest(this.#deps.publicUrl, path, headers);
    if (!isHosted(provider)) return refuse(CLOSE.unauthorized, 'signature');
    const { webhook } = provider;
    if (webhook.verifyUpgrade?.(upgrade, configuration.credentials) === false) {
      return refuse(CLOSE.unauthorized, 'signature');
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

  /** For media of a connection that the gateway itself holds, which need no proof. False: no call waits for
   *  them. */
  async admitPbxMedia(
    runId: string,
    { media, isAnswered }: { media: MediaSession; isAnswered: boolean },
  ): Promise<boolean> {
    const { registry } = this.#deps;
    const plan = registry.admit(runId);
    const begun =
      plan === undefined
        ? refuse(CLOSE.notFound, 'no call waits')
        : await this.#begin(plan, isAnswered).finally(() => registry.reject(runId));
    if ('refuse' in begun) return false;
    begun.attach(media);
    return true;
  }

  /** A call with early media is answered. Never rejects. */
  answer(session: CallSession): Promise<void> {
    return this.#deps.starts.answer(session);
  }

  async #begin(plan: CallPlan, isAnswered: boolean): Promise<BegunSession | Refused> {
    const begun = await this.#deps.starts.begin(plan, isAnswered).catch((error: unknown) => {
      // Its media were refused for this, and no other process knows the call.
      void this.#deps.unconnected.fail(plan, error);
      throw error;
    });
    if (begun === 'no-run') return refuse(CLOSE.notFound, 'run');
    return begun === 'closed' ? refuse(CLOSE.conflict, 'run state') : begun;
  }
}

interface Refused {
  refuse: number;
  reason: string;
}

function refuse(code: number, reason: string): Refused {
  const isUnauthorized = code === CLOSE.unauthorized;
  mediaFaults.inc({ code: isUnauthorized ? 'MEDIA_UNAUTHORIZED' : 'MEDIA_REFUSED' });
  return { refuse: code, reason };
}

function upgradeRequest(
  publicUrl: string,
  { workflowId, organizationId, runId, token }: MediaPath,
  headers: Record<string, string | undefined>,
): ProviderRequest {
  const base = publicUrl.replace(/^http/, 'ws');
  return {
    method: 'GET',
    url: `${base}/api/v1/telephony/ws/${workflowId}/${organizationId}/${runId}/${token}`,
    headers,
    rawBody: Buffer.alloc(0),
    form: {},
    formAll: {},
    json: undefined,
  };
}
