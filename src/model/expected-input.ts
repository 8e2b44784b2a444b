// Expected input: what the caller is expected to say or press next, in a form that any recogniser and any turn
// detector can use: a closed set of phrases and slots, or open speech.

/** A kind of value with a grammar of its own. */
export type SlotType =
  | 'yes_no'
  | 'digit'
  | 'digits'
  | 'number'
  | 'date'
  | 'time'
  | 'weekday'
  | 'money'
  | 'spelling';

export interface ExpectedInput {
  /** True if only the phrases and slots below are expected; false for open speech. */
  closed: boolean;
  /** Lower-case phrases without punctuation. */
  phrases: readonly string[];
  slots: readonly SlotType[];
  /** Phrases of the agent's other steps: recognised if the caller says them here, but no answer. Default: none. */
  elsewhere?: readonly string[];
  /** Words that a recogniser should prefer (open speech). */
  boost: readonly string[];
  digits?: {
    /** Number of digits after which an entry is complete. */
    countMax: number;
    /** Key that ends an entry early. */
    terminator: '#' | '*' | null;
    /** Pause between keys that ends an entry, in milliseconds. Default: that of the collector. */
    pauseMs?: number;
  };
}

export const OPEN_SPEECH: ExpectedInput = { closed: false, phrases: [], slots: [], boost: [] };
