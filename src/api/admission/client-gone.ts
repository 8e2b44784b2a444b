// The reason why work on a request ends when its client closes the connection: no fault of the gateway.

export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('The client closed the connection');
  }
}

/** For every request: whoever has its answer closes too, and a stack takes longer than an answer. */
export const clientGone = new ClientGone();
