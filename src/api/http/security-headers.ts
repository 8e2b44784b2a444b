// Headers that keep browsers from harm: no guessing of types, no frames, no scripts in files of callers, and TLS for good
// where the gateway is reached by it.

import type { Api } from './api-deps.ts';

/** A year, as browsers' preload lists want it. */
const TLS_ONLY = 'max-age=31536000';
/** A file is shown, and nothing in it runs. */
const FILE_POLICY = "default-src 'none'; frame-ancestors 'none'; sandbox";
/** The page of the documentation runs its own scripts. Without `upgrade-insecure-requests`: a gateway that is reached by
 *  http has no https to load them from. */
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
