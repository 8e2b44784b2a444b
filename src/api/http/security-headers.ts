// Security headers for browsers: no content sniffing, no frames, no scripts in callers' files, and HSTS where the
// gateway is reached over TLS.

import type { Api } from './api-deps.ts';

/** A year, which browsers' preload lists require. */
const TLS_ONLY = 'max-age=31536000';
/** Policy of files: shown, but nothing in them runs. */
const FILE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";
/** Policy of the documentation page, which runs its own scripts. Without `upgrade-insecure-requests`: a gateway that
 *  is reached over http has no https to load them from. */
export const DOCS_POLICY =
  "default-src 'self'; base-uri 'self'; frame-ancestors 'none'; img-src 'self' data:; object-src 'none'; script-src-attr 'none'; style-src 'self' https:";

export function addSecurityHeaders(api: Api, publicUrl: string): void {
  const isTls = publicUrl.startsWith('https:');
  api.addHook('onSend', async (request, reply) => {
    reply.header('X-Content-Type-Options', 'nosniff').header('X-Frame-Options', 'DENY');
    if (isTls) reply.header('Strict-Transport-Security', TLS_ONLY);
    const { url } = request.routeOptions;
    if (url?.endsWith('/files/*') === true) reply.header('Content-Security-Policy', FILE_POLICY);
  });
}
