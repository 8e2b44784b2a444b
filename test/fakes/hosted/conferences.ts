// Calls of a fake provider that are joined: in a conference by its name, or bridged. When one of them ends, so do the
// others.

/** What it needs of a call. */
interface Party {
  readonly id: string;
  readonly ended: Promise<unknown>;
  tell(type: string, detail: Record<string, unknown>): void;
  end(status: 'completed'): void;
}

export class Conferences {
  readonly #rooms = new Map<string, Set<Party>>();

  /** Settles when `call` is over. */
  async enter(name: string, call: Party): Promise<void> {
    const room = this.#rooms.get(name) ?? new Set();
    this.#rooms.set(name, room);
    for (const other of room) {
      other.tell('joined', { with: call.id, name });
      call.tell('joined', { with: other.id, name });
    }
    room.add(call);
    await call.ended;
    room.delete(call);
    for (const other of room) other.end('completed');
  }
}
