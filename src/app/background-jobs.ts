// Background jobs that a gateway runs once for all of its calls, never on the event loop of audio (except in a
// gateway of one process): campaigns, work after calls, and recovery of runs that a killed process left open.

import { PostCallDispatcher } from '../call/end/after/post-call-dispatcher.ts';
import type { PostCallJobDeps } from '../call/end/after/post-call-job.ts';
import type { DeliverDeps } from '../call/end/after/webhook-delivery.ts';
import type { CompletedRun } from '../call/end/closing/run-closing.ts';
import type { RecoveryDeps } from '../call/end/crash-recovery.ts';
import { CrashRecovery } from '../call/end/crash-recovery.ts';
import type { CampaignCallService } from '../call/start/outbound/campaign-calls.ts';
import { syncNext } from '../campaign/contact-sync.ts';
import { Dispatcher } from '../campaign/dispatcher.ts';
import type { Config } from '../config.ts';
import type { Random } from '../std/random.ts';
import type { StoreHandle } from '../store/open.ts';

export type BackgroundDeps = RecoveryDeps &
  PostCallJobDeps &
  DeliverDeps & { store: StoreHandle; random: Random };

export class BackgroundJobs {
  readonly dispatcher: Dispatcher;
  readonly #afterCalls: PostCallDispatcher;
  readonly #recovery: CrashRecovery;

  constructor(config: Config, deps: BackgroundDeps, calls: CampaignCallService) {
    const { store, log, clock, random } = deps;
    this.dispatcher = new Dispatcher({
      store,
      calls,
      node: store.node,
      clock,
      random,
      log,
      syncNext: (signal) =>
        syncNext(
          {
            store,
            files: store.files,
            clock,
            log,
            hasOtherNodes: config.databaseUrl !== undefined,
          },
          signal,
        ),
      interruptedExtra: config.interruptedCallsExtra,
    });
    this.#afterCalls = new PostCallDispatcher(deps);
    this.#recovery = new CrashRecovery(deps);
  }

  /** Closes runs that earlier processes left open, before calls are accepted. Throws STORE_UNAVAILABLE. */
  async recover(): Promise<void> {
    await this.#recovery.start();
    this.#afterCalls.start();
  }

  /** Answers calls of earlier processes that still ring: media can come from now on. */
  answerLeftCalls(answerAgain: (runId: string) => Promise<boolean>): void {
    this.#recovery.serve(answerAgain);
  }

  /** Closes the runs of a dead process of this gateway at once: a new process has its name, so they have no owner. */
  recoverNow(): void {
    this.#recovery.wake();
  }

  noteCompleted({ hasAfterwork }: CompletedRun): void {
    this.dispatcher.noteCompleted();
    if (hasAfterwork) this.#afterCalls.wake();
  }

  /** Stops the dialling of campaigns. */
  async drain(): Promise<void> {
    this.#recovery.stop();
    await this.dispatcher.stop();
  }

  async close(): Promise<void> {
    await this.#afterCalls.stop();
  }
}
