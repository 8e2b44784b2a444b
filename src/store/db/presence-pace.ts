// Intervals of heartbeats and of their checks, by the database.

/** Intervals of heartbeats, and of the checks of those of others. */
export interface PresencePace {
  beatMs: number;
  /** Time without a heartbeat, by the database's clock, after which a process is dead. */
  deadMs: number;
  lookMs: number;
}

/** At a server, where other gateways wait for the calls and claims of a dead one. */
export const SERVER_PACE: PresencePace = { beatMs: 2_000, deadMs: 10_000, lookMs: 2_000 };
/** With the embedded database, where the supervisor reports dead processes, and each heartbeat is a write to the disk. */
export const EMBEDDED_PACE: PresencePace = { beatMs: 15_000, deadMs: 60_000, lookMs: 30_000 };
