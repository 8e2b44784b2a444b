// What a soak of one protocol has seen: turns, faults that were drawn, rules that were broken.

/** Reported in words; further ones are counted. */
const BREACHES_KEPT_MAX = 20;

export class Ledger {
  turns = 0;
  calls = 0;
  /** Turns of which the service that is tested did all. */
  turnsOfFirst = 0;
  readonly faults = new Map<string, number>();
  /** Drawn in the call, with its turns so far. */
  #drawn: string[] = [];
  /** In words, the first ones. */
  readonly breaches: string[] = [];
  breachCount = 0;
  /** From the question to its answer, on the clock of the calls. */
  readonly waits: number[] = [];

  begins(): void {
    this.calls += 1;
    this.#drawn = [];
  }

  drew(fault: string, facts: object = {}): void {
    this.#drawn.push(`${this.turns}: ${fault} ${JSON.stringify(facts).slice(0, 80)}`);
    this.faults.set(fault, (this.faults.get(fault) ?? 0) + 1);
  }

  broke(rule: string, facts: Record<string, unknown> = {}): void {
    this.breachCount += 1;
    if (this.breaches.length >= BREACHES_KEPT_MAX) return;
    const at = `turn ${this.turns}, call ${this.calls}`;
    this.breaches.push(`${at}: ${rule} ${JSON.stringify({ ...facts, faults: this.#drawn })}`);
  }

  get faultCount(): number {
    return [...this.faults.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Milliseconds at this share of the waits, rising. */
  waitAt(share: number): number {
    const sorted = [...this.waits].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  }
}
