// Answered calls of one PBX connection whose process is gone: the connection finds their channels, and they go on in this
// process (call/end/call-resumption.ts). One that does not go on is hung up, as its caller waits in silence.

import type { Log } from '../../../log.ts';
import type { Run } from '../../../model/run.ts';
import type { TelephonyConfiguration } from '../../../model/telephony.ts';
import type { Store } from '../../../store/store.ts';
import type { MediaSession } from '../../../telephony/provider/media-session.ts';
import type { PbxConnection } from '../../../telephony/provider/pbx.ts';
import type { PbxProvider } from '../../../telephony/provider/provider.ts';
import type { QueuedCall } from './per-call-queue.ts';

/** Goes on with calls of dead processes; `call/end` implements it. */
export interface FoundCalls {
  /** Goes on with a call whose media `open` opens. Returns false if the call is to be hung up. Never rejects. */
  found(
    call: { run: Run; configuration: TelephonyConfiguration; provider: PbxProvider },
    open: (signal: AbortSignal) => Promise<MediaSession>,
  ): Promise<boolean>;
}

interface LeftPbxCallsDeps {
  store: Pick<Store, 'runs'>;
  resumptions: FoundCalls;
  log: Log;
}

interface LeftPbxCallsOptions {
  configuration: () => TelephonyConfiguration;
  provider: PbxProvider;
  connection: () => PbxConnection;
  /** Goes on with a caller who waited for a place. False if the call does not wait. */
  waitAgain(callId: string, run: Run): Promise<boolean>;
}

export class LeftPbxCalls {
  readonly #deps: LeftPbxCallsDeps;
  readonly #options: LeftPbxCallsOptions;

  constructor(deps: LeftPbxCallsDeps, options: LeftPbxCallsOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  /** Goes on with the call of a caller, or hangs it up. Never rejects. */
  async take(callId: string, { ended }: Pick<QueuedCall, 'ended'>): Promise<void> {
    const { store, log } = this.#deps;
    try {
      const { id } = this.#options.configuration();
      const run = await store.runs.findByProviderCall(id, callId);
      if (run?.state === 'running') return await this.goOn(callId, run, { ended });
      if (run?.state === 'initialized' && (await this.#options.waitAgain(callId, run))) return;
      log.warn({ callId, state: run?.state }, 'answered call that does not talk hung up');
    } catch (error) {
      log.error({ err: error, callId }, 'run of an answered call not found');
    }
    this.#hangUp(callId);
  }

  /** Goes on with the run's call, or hangs it up. Never rejects. */
  async goOn(callId: string, run: Run, { ended }: Pick<QueuedCall, 'ended'>): Promise<void> {
    const { configuration, provider, connection } = this.#options;
    const call = { run, configuration: configuration(), provider };
    const isGoingOn = await this.#deps.resumptions.found(call, (signal) =>
      connection().openMedia(callId, AbortSignal.any([signal, ended])),
    );
    if (!isGoingOn) this.#hangUp(callId);
  }

  #hangUp(callId: string): void {
    void this.#options.connection().refuse(callId, 'error');
  }
}
