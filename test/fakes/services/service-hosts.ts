// All hosts of the internet as one server on this machine: an egress rule whose connections end there, whatever name
// and protocol the address has. It writes down what was asked.

import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createEgress, type Egress } from '../../../src/egress/egress-rule.ts';

export interface Asked {
  method: string;
  /** As the client sees it: host and path. */
  url: string;
  headers: Record<string, unknown>;
  body: string;
}

export interface ServiceHosts {
  egress: Egress;
  asked: Asked[];
  /** What is answered; `undefined`: nothing, ever. `endless`: a body without an end. Default: 200 and an empty object. */
  answer: (asked: Asked) => { status: number; body?: unknown; endless?: boolean } | undefined;
  close(): Promise<void>;
}

export async function startServiceHosts(): Promise<ServiceHosts> {
  const server = createServer(async (request, response) => {
    const { method = '', headers, url = '' } = request;
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts).toString();
    const asked = { method, url: `${headers.host}${url}`, headers, body };
    hosts.asked.push(asked);
    const answer = hosts.answer(asked);
    if (answer === undefined) return;
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    if (answer.endless === true) response.write('{"a":"');
    else response.end(JSON.stringify(answer.body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const hosts: ServiceHosts = {
    egress: {
      ...createEgress(),
      connect: (_options, callback) => {
        const socket = connect(port, '127.0.0.1');
        socket.once('connect', () => callback(null, socket));
        socket.once('error', (error) => callback(error, null));
      },
    },
    asked: [],
    answer: () => ({ status: 200 }),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return hosts;
}
