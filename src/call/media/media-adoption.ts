// Adopts a waiting call whose media come to a process that did not answer it: the token's signature proves that another
// process expects them. The run is read, taken over while it is `initialized`, and planned from what is stored.

import { mediaAdopted } from '../../metrics/metrics.ts';
import { type ProviderName, providerName } from '../../model/provider.ts';
import type { Store } from '../../store/store.ts';
import { isDirect, type TelephonyProvider } from '../../telephony/provider/provider.ts';
import type { SignedToken } from '../../transport/media-token.ts';
import { WITHOUT_ACCOUNT } from '../end/closing/provider-hang-up.ts';
import type { UnconnectedCall } from '../end/closing/unconnected-calls.ts';
import type { CallAdoptions } from '../start/call-adoption.ts';
import { type CallPreparation, TOKEN_MS } from '../start/call-preparation.ts';
import { FETCH_MS } from '../start/setup/pre-call-fetch.ts';
import { WEB_TOKEN_MS } from '../start/setup/web-call.ts';
import { type RefusedMedia, refuseMedia } from './media-upgrade.ts';

export interface MediaAdoptionsDeps {
  store: Pick<Store, 'runs' | 'reportedCalls'>;
  providers: { byName(name: ProviderName): TelephonyProvider | undefined };
  adoptions: CallAdoptions;
  preparation: CallPreparation;
  /** Label of this gateway in tokens. */
  label: string;
}

export class MediaAdoptions {
  readonly #deps: MediaAdoptionsDeps;

  constructor(deps: MediaAdoptionsDeps) {
    this.#deps = deps;
  }

  /** The call of a token, if it waits for its media in any process. */
  async find(runId: string): Promise<UnconnectedCall | RefusedMedia> {
    const { store, providers } = this.#deps;
    const { run, configuration } = (await store.reportedCalls.find(runId)) ?? {};
    if (run === undefined) return refuseMedia('notFound', 'run');
    if (run.state !== 'initialized') return refuseMedia('conflict', 'run state');
    const name = configuration?.provider ?? providerName.safeParse(run.mode).data;
    const provider = name && providers.byName(name);
    const isKnown = configuration !== undefined || (provider && isDirect(provider));
    if (provider === undefined || isKnown !== true) {
      return refuseMedia('notFound', 'no call waits');
    }
    return { run, configuration: configuration ?? WITHOUT_ACCOUNT, provider };
  }

  /** Takes the call over, and prepares it in the registry. Returns false if another process was first, or the call is
   *  over. Throws as `CallPreparation.prepare`; the run is then completed. */
  async take(call: UnconnectedCall, { label, untilMs }: SignedToken): Promise<boolean> {
    const { store, adoptions, preparation } = this.#deps;
    const { run, provider } = call;
    const isNew = await adoptions.adopt(run, provider);
    // Its plan was lost: this process was restarted, or gave the call up when it seemed dead.
    if (!isNew && (await store.runs.owner(run.id))?.isOwn !== true) return false;
    // The request before the call is sent before the token is issued.
    await preparation.prepare({
      ...call,
      planned: {
        fetchUntilMs: untilMs - (isDirect(provider) ? WEB_TOKEN_MS : TOKEN_MS) + FETCH_MS,
      },
    });
    mediaAdopted.inc({ source: label === this.#deps.label ? 'worker' : 'gateway' });
    return true;
  }
}
