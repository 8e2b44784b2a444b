// Why a call ended, in words: the shape of the explanation, and of the findings from which it is made.

import type { Party } from '../../model/call-explanation.ts';

export interface ServiceRef {
  job: 'llm' | 'tts' | 'stt';
  name: string;
  /** Null if the events do not name it. */
  model: string | null;
}

/** What a verdict says, with `{name}` in place of the values of a finding. */
export interface Verdict {
  party: Party;
  summary: string;
  advice: readonly string[];
}

/** Where something happened. All are null where they do not apply. */
export interface Place {
  /** The node of the graph. */
  nodeId: string | null;
  nodeName: string | null;
  /** Media time of the run, in milliseconds. */
  atMs: number | null;
  /** The caller's turns before it. */
  turn: number | null;
  service: ServiceRef | null;
  /** Name of a function of the model. */
  tool: string | null;
  /** Name of the telephony provider, for what happened on its side. */
  provider: string | null;
}

export interface Evidence {
  /** Number of the event in the run's log. */
  seq: number;
  atMs: number;
  type: string;
  text: string;
}

export interface Explained {
  /** Stable code, of `verdicts`. */
  verdict: string;
  party: Party;
  summary: string;
  where: Place;
  /** In the order of the log. */
  evidence: Evidence[];
  advice: string[];
}

export interface Explanation extends Explained {
  /** Further findings, most important first. */
  also: Explained[];
  /** False while the call goes on. */
  isFinal: boolean;
}
