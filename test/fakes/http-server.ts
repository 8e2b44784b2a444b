// An HTTP server on this machine, encrypted or not: what the fakes of services listen with.

import { createServer as createPlain, type RequestListener, type Server } from 'node:http';
import { createServer as createEncrypted } from 'node:https';
import type { Certificate } from './certificates.ts';

/** Without a certificate it is not encrypted. */
export function createHttpServer(tls: Certificate | undefined, listener: RequestListener): Server {
  return tls === undefined ? createPlain(listener) : createEncrypted(tls, listener);
}
