// The calls of a board and the messages of its socket, /console/live, as the gateway sends them and the console takes them.

/** A call that goes on. */
export interface BoardCall {
  run_id: string;
  workflow_id: string;
  agent: string;
  direction: 'inbound' | 'outbound';
  provider: string;
  caller_number: string | null;
  called_number: string | null;
  state: 'ringing' | 'answered';
  /** When it was answered, else when it began to ring; milliseconds since 1970, by the gateway's clock. */
  since: number;
  /** Host of the gateway process that runs the call. */
  gateway: string;
  /** Name of the node of the agent's graph. */
  node: string | null;
  last_speaker: 'caller' | 'agent' | null;
  last_words: string | null;
}

/** What changed of a call; a call that is new to the client has all fields. */
export type BoardChange = Pick<BoardCall, 'run_id'> & Partial<BoardCall>;

export interface BoardChanges {
  calls: BoardChange[];
  /** Runs whose calls are over. */
  ended: string[];
}

/** `total`: all calls of the organization; more than the board has if those are too many. `now`: the gateway's clock. */
export type BoardMessage =
  | { type: 'snapshot'; calls: BoardCall[]; total: number; now: number }
  | ({ type: 'changes'; total: number } & BoardChanges)
  | { type: 'unavailable' };
