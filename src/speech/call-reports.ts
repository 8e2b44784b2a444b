// What one call's services report to the owner of the call: faults that go on until somebody changes something, changes of
// service because of faults that pass. What comes before the session listens, as with a greeting that is made while the phone
// rings, is kept for it.

/** Each service reports one or two. */
const EARLY_MAX = 20;

export class CallReports<Report> {
  readonly #early: Report[] = [];
  #left: number;
  #listener: ((report: Report) => void) | undefined;

  /** `max`: of the call; later ones are dropped. */
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
