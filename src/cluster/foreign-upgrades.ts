// Decides whether an upgrade belongs to another gateway, and passes it on to it: media of calls that cannot move, named by
// their token, and sockets of PBXs whose configuration another gateway holds by its lease. A call that waits for its media
// is adopted by this gateway instead (call/media/media-adoption.ts).

import type { IncomingMessage } from 'node:http';
import type { Log } from '../log.ts';
import type { Clock } from '../std/clock.ts';
import type { Store } from '../store/store.ts';
import { PBX_PATH } from '../telephony/provider/pbx.ts';
import type { PbxProvider } from '../telephony/provider/provider.ts';
import {
  gatewayLabel,
  MEDIA_PATH,
  type MediaTokenSigner,
  mediaPathOf,
} from '../transport/media-token.ts';
import { refuseUpgrade } from '../transport/upgrade-refusal.ts';
import { gatewayOfNode } from './ipc-message.ts';
import type { AcceptUpgrade } from './socket-handoff.ts';
import { type SocketSplices, SPLICED_HEADER } from './socket-splice.ts';

/** Age up to which the answers of the store are used again: many sockets may come at once. */
const KNOWN_MS_MAX = 2_000;

export interface ForeignUpgradesDeps {
  store: Pick<Store, 'gateways' | 'leases'>;
  /** Providers of PBXs. */
  pbxs: readonly PbxProvider[];
  signer: Pick<MediaTokenSigner, 'verified'>;
  /** Label of this gateway in tokens. */
  label: string;
  /** Whether this gateway has the PBX of that application. */
  hasApplication(application: string): boolean;
  splices: Pick<SocketSplices, 'pass'>;
  clock: Clock;
  log: Log;
}

/** What the store says of other gateways. */
interface Known {
  /** URLs by the gateways' labels. */
  urls: ReadonlyMap<string, string>;
  /** Labels of the gateways that hold PBXs, by application. */
  holders: ReadonlyMap<string, string>;
}

export class ForeignUpgrades {
  readonly #deps: ForeignUpgradesDeps;
  #known: Promise<Known> | undefined;
  #knownAtMs = Number.NEGATIVE_INFINITY;

  constructor(deps: ForeignUpgradesDeps) {
    this.#deps = deps;
  }

  /** Takes upgrades that belong to other gateways; passes those of this one to `next`, at once. */
  takeUpgrades(next: AcceptUpgrade): AcceptUpgrade {
    return (request, socket, head) => {
      const mayPass = request.method === 'GET' && request.headers[SPLICED_HEADER] === undefined;
      const owner = mayPass ? this.#ownerOf(request) : undefined;
      if (owner === undefined) {
        next(request, socket, head);
        return;
      }
      socket.on('error', () => socket.destroy()); // No other listener exists meanwhile.
      void this.#pass(owner, { request, socket, head }, next);
    };
  }

  /** Finds the gateway and passes the upgrade on. Without one, this gateway answers it. Never rejects. */
  async #pass(
    owner: Owner,
    upgrade: Parameters<SocketSplices['pass']>[0],
    next: AcceptUpgrade,
  ): Promise<void> {
    const { request, socket, head } = upgrade;
    const url = await this.#urlOf(owner);
    if (url === undefined) next(request, socket, head);
    else if (!(await this.#deps.splices.pass(upgrade, url))) {
      refuseUpgrade(socket, '503 Service Unavailable');
    }
  }

  /** The other gateway, or the application whose gateway is to be found; undefined for an upgrade of this one. */
  #ownerOf(request: Pick<IncomingMessage, 'url' | 'headers'>): Owner | undefined {
    const { label, signer, hasApplication } = this.#deps;
    const application = applicationIn(request.url ?? '');
    if (application !== undefined) return hasApplication(application) ? undefined : { application };
    const path = mediaPathOf(request);
    // A run in the path is adopted here; a transfer's destination, and a browser that returns, belong to a call that talks
    // elsewhere.
    if (path === undefined || RUN_ID.test(path.runId)) return undefined;
    const token = signer.verified(path);
    return token === undefined || token.label === label ? undefined : { label: token.label };
  }

  async #urlOf(owner: Owner): Promise<string | undefined> {
    try {
      const { urls, holders } = await this.#look();
      const label = 'label' in owner ? owner.label : holders.get(owner.application);
      return label === undefined || label === this.#deps.label ? undefined : urls.get(label);
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'other gateways not looked up');
      return undefined;
    }
  }

  #look(): Promise<Known> {
    const nowMs = this.#deps.clock.monotonicMs();
    if (this.#known === undefined || nowMs - this.#knownAtMs >= KNOWN_MS_MAX) {
      this.#knownAtMs = nowMs;
      const reading = this.#read();
      this.#known = reading;
      reading.catch(() => {
        if (this.#known === reading) this.#known = undefined;
      });
    }
    return this.#known;
  }

  async #read(): Promise<Known> {
    const { store, pbxs } = this.#deps;
    const [gateways, leases] = await Promise.all([
      store.gateways.living(),
      store.leases.holders(pbxs.map(({ name }) => name)),
    ]);
    const urls = new Map(gateways.map(({ name, url }) => [gatewayLabel(name), url]));
    const holders = new Map<string, string>();
    for (const { node, provider, credentials } of leases) {
      const pbx = pbxs.find(({ name }) => name === provider)?.pbx;
      const application = pbx?.applicationOf(credentials);
      if (application !== undefined) holders.set(application, gatewayLabel(gatewayOfNode(node)));
    }
    return { urls, holders };
  }
}

type Owner = { label: string } | { application: string };

const RUN_ID = /^\d+$/;

/** The application in the path of a PBX's socket. */
function applicationIn(url: string): string | undefined {
  const path = url.split('?', 1)[0] ?? '';
  if (path.startsWith(PBX_PATH)) return path.slice(PBX_PATH.length) || undefined;
  if (!path.startsWith(MEDIA_PATH)) return undefined;
  const [, application, ...more] = path.slice(MEDIA_PATH.length).split('/');
  return more.length === 0 ? application || undefined : undefined;
}
