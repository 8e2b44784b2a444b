// A watched line: a PBX, a trunk or a number over which the gateway places a test call on a schedule. Off unless somebody
// adds one.

import { type LineFaultCode, lineFaultOf } from './line-fault.ts';

/** `pbx`: both ends are media of the PBX, and no number is called. `number`: a call to the number through the dialplan of
 *  the PBX, as one from outside. `trunk`: a call to a number that answers and echoes. */
export const lineKinds = ['pbx', 'number', 'trunk'] as const;
export type LineKind = (typeof lineKinds)[number];

/** Watched lines of one organization: each has series of its own. */
export const LINES_PER_ORGANIZATION_MAX = 20;
/** Watched lines whose state one gateway exports. */
export const LINES_EXPORTED_MAX = 500;
/** Minutes between two test calls. */
export const INTERVAL_MINUTES = { min: 5, max: 1_440 } as const;
/** The shortest interval where a provider charges for each call. */
export const INTERVAL_MINUTES_HOSTED_MIN = 30;
/** Test calls of one organization in an hour, those repeated after a failure included. */
export const CALLS_PER_HOUR_MAX = 60;
/** Results that are kept of each line. */
export const RESULTS_KEPT_MAX = 100;
export const LINE_NAME_MAX = 80;
export const MESSAGE_MAX = 300;

export interface LineSettings {
  name: string;
  kind: LineKind;
  /** The number that is called; null for a PBX. */
  number: string | null;
  /** Dialplan context in which calls to the number begin; null: that of the trunk's endpoint. */
  context: string | null;
  isEnabled: boolean;
  intervalMinutes: number;
  /** Calls that the line carries at a time; no test call is placed while as many or more run over its configuration.
   *  Null: only the organization's limit counts. */
  places: number | null;
  /** Whether keys are sent: an echo test of an operator may return none. */
  testsKeys: boolean;
}

/** What one test call found. */
export interface LineTest {
  fault: LineFaultCode | null;
  /** What was seen, at most MESSAGE_MAX characters. */
  message: string;
  /** One way, or there and back over an echo; null if it was not measured. */
  delayMs: number | null;
  /** Share of the audio that did not arrive, 0 to 1. */
  lossShare: number | null;
  codec: string | null;
}

/** `doubtful`: the last test call failed, and one more decides. */
export type LineStateName = 'untested' | 'ok' | 'doubtful' | 'failing';

export interface LineState {
  state: LineStateName;
  /** The fault of the last test call; null: it had none. */
  fault: LineFaultCode | null;
  /** Failed test calls in a row. */
  failures: number;
}

export interface LineWatch extends LineSettings, LineState {
  id: string;
  organizationId: string;
  configurationId: string;
  /** Since when the state is as it is; null before the first test call. */
  since: Date | null;
  nextAt: Date;
  lastTest: (LineTest & { at: Date }) | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Failed test calls in a row that prove a fault that is not certain. */
const FAILURES_MIN = 2;

/** The state after a test call: two failures in a row or one certain fault make a line fail, one success ends it. */
export function stateAfter(before: LineState, { fault }: Pick<LineTest, 'fault'>): LineState {
  if (fault === null) return { state: 'ok', fault, failures: 0 };
  const failures = before.failures + 1;
  const isProven = failures >= FAILURES_MIN || lineFaultOf(fault).isCertain;
  return { state: isProven ? 'failing' : 'doubtful', fault, failures };
}
