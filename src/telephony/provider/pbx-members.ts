// One PBX's calls in several processes, of one gateway or of several. The holder has the connection to the PBX; the
// members hold calls of it, each with its own media and requests. The messages between them are the provider's own: no
// other folder reads them.

/** Receives what the members of a connection send. Must not throw. */
export interface PbxMemberListener {
  onMessage(member: string, message: unknown): void;
  /** A process has started, or can be reached again: it has no share yet. */
  onJoined(member: string): void;
  /** A process of another gateway cannot be reached. It may live, and have its calls. */
  onLost(member: string): void;
  /** A process has ended, with all its calls. */
  onGone(member: string): void;
}

/** The members of a connection, for its holder. Messages to one member arrive in their order. */
export interface PbxMembers {
  /** Names of the processes that may hold calls of the connection, without this one: all others of this gateway, running
   *  or not, and those of other gateways that can be reached. */
  readonly names: readonly string[];
  /** Whether the member is a process of another gateway. */
  isRemote(member: string): boolean;
  /** Looks up which processes of other gateways can be reached. Never rejects. */
  refresh(): Promise<void>;
  /** The process for the next call, among this one and `members`: the one with the fewest calls of those that accept
   *  calls. Undefined: this process. */
  leastLoaded(members: ReadonlySet<string>): string | undefined;
  /** Returns false if the message cannot be delivered. */
  send(member: string, message: unknown): boolean;
  /** The member's answer. Undefined if no such process is running, or it holds no calls of PBXs. Throws TIMED_OUT and
   *  QUEUE_FULL, and WORKER_GONE for a process of another gateway: then nothing is known of it. */
  ask(member: string, message: unknown, ms: number): Promise<unknown>;
  /** Sets the receiver, until the returned function is called. */
  listen(listener: PbxMemberListener): () => void;
}
