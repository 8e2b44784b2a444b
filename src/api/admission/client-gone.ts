// The reason why work on a request ends when its client closes the connection: no fault of the gateway.

export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('The client closed the connection');
  }
}

/** One for all requests: each response's `close` uses it, and recording a stack trace takes longer than a short answer. */
export const clientGone = new ClientGone();
