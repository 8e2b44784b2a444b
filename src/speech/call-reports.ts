// Reports of one call's services to the owner of the call: lasting faults, and changes of service because of temporary
// ones. Reports from before the session listens are kept for it (a greeting is synthesized while the phone rings).

/** Reports kept for a listener. Each service makes one or two. */
const EARLY_MAX = 20;

export class CallReports<Report> {
  readonly #early: Report[] = [];
  #left: number;
  #listener: ((report: Report) => void) | undefined;

  /** `max`: reports of the whole call. Later ones are dropped. */
  constructor(max = Number.POSITIVE_INFINITY) {
    this.#left = max;
  }

  get listener(): ((report: Report) => void) | undefined {
    return this.#listener;
  }

  set listener(listener: ((report: Report) => void) | undefined) {
    this.#listener = listener;
    if (listener === undefined) return;
    for (const report of this.#early.splice(0)) listener(report);
  }

  readonly report = (report: Report): void => {
    if (this.#left <= 0) return;
    this.#left -= 1;
    if (this.#listener !== undefined) this.#listener(report);
    else if (this.#early.length < EARLY_MAX) this.#early.push(report);
  };
}
