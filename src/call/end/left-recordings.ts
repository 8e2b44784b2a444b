// Recordings of runs that another gateway has closed, while the disk with the recording was away: of a gateway that was
// killed, once it is started again, or another one with its disk. Looks at the start and every minute for runs
// without a recording, and for their files here. Each gets its recording, whose header is completed.

import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import { JobLoop } from '../../std/job-loop.ts';
import type { LocalFileStore } from '../../store/files/local-file-store.ts';
import { completeRecordingHead } from '../../store/files/recording-head.ts';
import { recordingKey } from '../../store/files/run-files.ts';
import type { Store } from '../../store/store.ts';

const LOOK_MS = 60_000;
/** The same while a recording was found that somebody may still write. */
const LOOK_SOON_MS = 10_000;
/** Age of the last write from which nobody writes any more: a recording that goes on is written every second. */
const QUIET_MS = 30_000;
/** Runs of one look, the newest: each is a look at the disk. */
const RUNS_MAX = 10_000;

export interface LeftRecordingsDeps {
  store: Pick<Store, 'runs'>;
  spool: LocalFileStore;
  /** Called for each run that gets its recording. Must not throw. */
  onAttached: (runId: string) => void;
  clock: Clock;
  log: Log;
}

export class LeftRecordings {
  readonly #deps: LeftRecordingsDeps;
  readonly #loop: JobLoop;
  #isSoon = false;

  constructor(deps: LeftRecordingsDeps) {
    this.#deps = deps;
    this.#loop = new JobLoop({
      clock: deps.clock,
      everyMs: () => (this.#isSoon ? LOOK_SOON_MS : LOOK_MS),
      run: (signal) => this.#look(signal),
      onError: (error) => deps.log.warn({ err: error }, 'left recordings not looked for'),
    });
  }

  /** Starts the first look, without waiting for it. */
  start(): void {
    void this.#loop.start();
  }

  async close(): Promise<void> {
    await this.#loop.stop();
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { runs } = this.#deps.store;
    this.#isSoon = false;
    let seen = 0;
    let page = await runs.withoutRecording();
    while (page.length > 0 && seen < RUNS_MAX) {
      for (const id of page) {
        if (signal.aborted) return;
        await this.#attach(id);
      }
      seen += page.length;
      page = await runs.withoutRecording(page.at(-1));
    }
  }

  async #attach(runId: string): Promise<void> {
    const { store, spool, onAttached, clock, log } = this.#deps;
    const key = recordingKey(runId);
    const file = await spool.stat(key);
    // An empty file: the media ended before any audio.
    if (file === undefined || file.size === 0) return;
    if (clock.now() - file.modifiedAt.getTime() < QUIET_MS) {
      this.#isSoon = true;
      return;
    }
    await completeRecordingHead(spool.pathOf(key));
    if (!(await store.runs.addRecording(runId, key))) return;
    log.info({ runId }, 'a run that another gateway has closed got its recording');
    onAttached(runId);
  }
}
