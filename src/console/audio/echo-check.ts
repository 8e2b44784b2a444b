// Checks the browser's acoustic echo cancellation (AEC): in the first second of the greeting, the microphone's level is
// compared with the one that is played. Without enough attenuation the audio is played over a peer connection of the page
// with itself, whose output every canceller knows; without that either, the call is half duplex: the microphone is closed
// while the agent speaks.

export type EchoRemedy = 'none' | 'loopback' | 'half-duplex';

/** Attenuation that counts as cancelled, in decibels. */
const ATTENUATION_DB = 12;
/** Reports (ten a second) with the agent's voice that are compared. */
const REPORTS = 10;
/** Root mean square of the agent's voice, below which there is nothing to compare, and of a room's noise. */
const AGENT_MIN = 0.01;
const NOISE = 0.003;

const NEXT: Readonly<Record<EchoRemedy, EchoRemedy>> = {
  none: 'loopback',
  loopback: 'half-duplex',
  'half-duplex': 'half-duplex',
};

/** Decides by the levels alone; the caller's own voice during the greeting would count as echo, so that only the quieter
 *  half of the reports counts. */
export class EchoCheck {
  /** What is in use. */
  remedy: EchoRemedy = 'none';
  #ratios: number[] = [];
  #isOver = false;

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Takes a report. Returns the next remedy if the one in use does not help, else undefined. */
  take(microphone: number, agent: number): EchoRemedy | undefined {
    if (this.#isOver || agent < AGENT_MIN) return undefined;
    this.#ratios.push(microphone < NOISE ? 0 : microphone / agent);
    if (this.#ratios.length < REPORTS) return undefined;
    const quieter = this.#ratios.toSorted((one, other) => one - other).slice(0, REPORTS / 2);
    this.#ratios = [];
    const ratio = quieter.at(-1) ?? 0;
    const isCancelled = 20 * Math.log10(ratio || Number.MIN_VALUE) <= -ATTENUATION_DB;
    if (isCancelled || this.remedy === 'half-duplex') {
      this.#isOver = true;
      return undefined;
    }
    this.remedy = NEXT[this.remedy];
    if (this.remedy === 'half-duplex') this.#isOver = true;
    return this.remedy;
  }
}
