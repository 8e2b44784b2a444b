// Sends requests without any guard: the receivers of tests are on loopback.

import { request } from 'undici';
import type { SendOut } from '../../src/call/deliver.ts';

export const plainSend: SendOut = async ({ url, method, headers, body }, signal) => {
  const response = await request(url, {
    method: method as 'POST',
    headers,
    signal,
    ...(body === undefined ? {} : { body }),
  });
  return { status: response.statusCode, text: await response.body.text() };
};
