// Background jobs that a gateway runs once for all of its calls, never on the event loop of audio (except in a
// gateway of one process): campaigns, work after calls, and recovery of runs that a killed process left open.

import { PostCallDispatcher } from '../call/end/after/post-call-dispatcher.ts';
import type { PostCallJobDeps } from '../call/end/after/post-call-job.ts';
import type { DeliverDeps } from '../call/end/after/webhook-delivery.ts';
import type { CompletedRun } from '../call/end/closing/run-closing.ts';
import type { Continuations, RecoveryDeps } from '../call/end/crash-recovery.ts';
import { CrashRecovery } from '../call/end/crash-recovery.ts';
import { LeftRecordings } from '../call/end/left-recordings.ts';
import type { CampaignCallService } from '../call/start/outbound/campaign-calls.ts';
import { syncNext } from '../campaign/contact-sync.ts';
import { Dispatcher } from '../campaign/dispatcher.ts';
import type { Config } from '../config.ts';
import type { Random } from '../std/random.ts';
import { Outbox } from '../store/files/outbox.ts';
import type { StoreHandle } from '../store/open.ts';

export type BackgroundDeps = RecoveryDeps &
  PostCallJobDeps &
  DeliverDeps & { store: StoreHandle; random: Random };

/** Wait of a stop for the files of the last calls: the machine's disk may go with it. */
const STORED_MS_MAX = 8_000;

export class BackgroundJobs {
  readonly dispatcher: Dispatcher;
  readonly #afterCalls: PostCallDispatcher;
  readonly #recovery: CrashRecovery;
  /** Undefined without S3, as the outbox. */
  readonly #outbox: Outbox | undefined;
  /** Undefined for a gateway that shares neither its database nor its files. */
  readonly #leftRecordings: LeftRecordings | undefined;

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
            areFilesShared: store.s3 !== undefined,
          },
          signal,
        ),
      interruptedExtra: config.interruptedCallsExtra,
    });
    this.#afterCalls = new PostCallDispatcher(deps);
    this.#recovery = new CrashRecovery(deps);
    const { spool, runs, s3 } = store;
    this.#outbox = s3 && new Outbox({ spool, bucket: s3.bucket, runs, clock, random, log });
    if (config.databaseUrl === undefined && s3 === undefined) return;
    const onAttached = (runId: string): void => this.#outbox?.note(runId);
    this.#leftRecordings = new LeftRecordings({ store, spool, onAttached, clock, log });
  }

  /** Closes runs that earlier processes left open, before calls are accepted. Throws STORE_UNAVAILABLE. */
  async recover(): Promise<void> {
    await this.#recovery.start();
    this.#afterCalls.start();
    this.#leftRecordings?.start();
    this.#outbox?.start();
  }

  /** Lets calls of dead processes go on: media can come from now on. */
  continueLeftCalls(continuations: Continuations): void {
    this.#recovery.serve(continuations);
  }

  /** Closes the runs of a dead process of this gateway at once: a new process has its name, so they have no owner. */
  recoverNow(): void {
    this.#recovery.wake();
  }

  noteCompleted({ runId, hasAfterwork }: CompletedRun): void {
    this.dispatcher.noteCompleted();
    this.#outbox?.note(runId);
    if (hasAfterwork) this.#afterCalls.wake();
  }

  /** Stops the dialling of campaigns. */
  async drain(): Promise<void> {
    this.#recovery.stop();
    await this.dispatcher.stop();
  }

  async close(): Promise<void> {
    await Promise.all([
      this.#afterCalls.stop(),
      this.#leftRecordings?.close(),
      this.#outbox?.close(STORED_MS_MAX),
    ]);
  }
}
