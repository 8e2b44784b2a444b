// What a case has found: figures, and for most of them what they must be.

export interface Finding {
  what: string;
  value: number | string;
  /** In words; undefined: the figure is no criterion. */
  wanted: string | undefined;
  isHeld: boolean;
}

export class Findings {
  readonly all: Finding[] = [];

  get broken(): Finding[] {
    return this.all.filter(({ isHeld }) => !isHeld);
  }

  exactly(what: string, value: number | string, wanted: number | string): void {
    this.#add(what, value, { wanted: String(wanted), isHeld: value === wanted });
  }

  atMost(what: string, value: number, most: number): void {
    this.#add(what, value, { wanted: `at most ${most}`, isHeld: value <= most });
  }

  atLeast(what: string, value: number, least: number): void {
    this.#add(what, value, { wanted: `at least ${least}`, isHeld: value >= least });
  }

  /** A figure without a criterion. */
  note(what: string, value: number | string): void {
    this.#add(what, value, { wanted: undefined, isHeld: true });
  }

  /** Something that has to work. */
  works(what: string, isWorking: boolean): void {
    this.exactly(what, isWorking ? 'yes' : 'no', 'yes');
  }

  #add(what: string, value: number | string, of: Pick<Finding, 'wanted' | 'isHeld'>): void {
    this.all.push({ what, value: rounded(value), ...of });
  }
}

/** What has not happened in its time took for ever. */
function rounded(value: number | string): number | string {
  if (typeof value === 'string') return value;
  return Number.isFinite(value) ? Math.round(value * 100) / 100 : 'never';
}
