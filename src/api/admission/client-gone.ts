// Abort reason of work on a request whose client has closed the connection: no fault of the gateway.

export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('The client closed the connection');
  }
}

/** One instance for all requests: each response's `close` uses it, and a stack trace takes longer than a short
 *  answer. */
export const clientGone = new ClientGone();
