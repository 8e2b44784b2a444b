// A Twilio that accepts every dial at once and never rings: for measurements of the requests themselves. Calls with
// webhooks, media and an end are fake-twilio.ts.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AcceptingTwilio {
  /** For the configuration's `api_base_url`. */
  url: string;
  close: () => Promise<void>;
}

/** `onDial` gets the number that each dial calls, as it arrives. */
export async function startAcceptingTwilio(
  number: string,
  onDial: (to: string) => void = () => undefined,
): Promise<AcceptingTwilio> {
  let calls = 0;
  const server = createServer((request, response) => {
    const isNumbers = request.url?.includes('IncomingPhoneNumbers') === true;
    let form = '';
    request.setEncoding('latin1').on('data', (chunk: string) => {
      form += chunk;
    });
    request.on('end', () => {
      calls += 1;
      const to = new URLSearchParams(form).get('To');
      if (to !== null) onDial(to);
      response.writeHead(isNumbers ? 200 : 201, { 'content-type': 'application/json' });
      const sid = `CA${String(calls).padStart(32, '0')}`;
      const incoming = [{ sid: 'PN1', phone_number: number }];
      const body = isNumbers ? { incoming_phone_numbers: incoming } : { sid, status: 'queued' };
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // A TCP server has an address of this kind.
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
