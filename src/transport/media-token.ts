// Paths of media sockets, and the signed tokens in them: `<label>.<worker>-<expiry>-<nonce>-<mac>`. A token names the
// gateway and the worker that issued it, so that a load balancer can route by it, and every gateway with the same secret
// keys can verify it. It travels in the URL's path, because Twilio drops query strings (source: contract §7.4); that of a
// browser's socket travels as a subprotocol, because URLs are logged (docs/web-calls.md).

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

export const MEDIA_PATH = '/api/v1/telephony/ws/';
/** Path of browsers' media sockets. */
export const WEB_MEDIA_PATH = '/api/v1/web-calls/media';
/** The first subprotocol that a browser offers; the second one has the token. */
export const WEB_PROTOCOL = 'patchbay.v1';
const WEB_TOKEN = /^token\.([\w-]{1,64})\.([\w-]{1,64})\.([\w-]{1,64})\.([\w.-]{1,256})$/;

/** Parts of a media URL's path, unchecked. */
export interface MediaPath {
  workflowId: string;
  organizationId: string;
  /** Of a run, or of a transfer in its place. */
  runId: string;
  /** Empty if the path ends before it. */
  token: string;
  /** Set for a browser's socket. */
  isWeb?: true;
  /** Origin of the page that opens the socket, as its browser says. */
  origin?: string | undefined;
}

/** The call that a token is for. `id`: of a run, or of a transfer or a return (`model/return-id`). */
export interface TokenSubject {
  id: string;
  workflowId: string;
  organizationId: string;
  /** The only origin whose pages may use the token. Default: any that the gateway accepts. */
  origin?: string | undefined;
}

/** The process that issued a token. */
export interface TokenPlace {
  /** Of the gateway (`gatewayLabel`). */
  label: string;
  /** Number of the call worker; 0: a process that is none. */
  worker: number;
}

/** A token whose signature is right. It may have expired. */
export interface SignedToken extends TokenPlace {
  /** End of its validity, milliseconds since 1970 by the clock of the issuing process. */
  untilMs: number;
}

/** Bytes of the nonce and of the MAC: 128 bits can neither be repeated nor guessed within a token's lifetime. */
export const NONCE_BYTES = 16;
const MAC_BYTES = 16;

/** Longest path: three ids and a token. */
const PATH_MAX = 512;
const PATH = /^([\w-]{1,64})\/([\w-]{1,64})\/([\w-]{1,64})(?:\/([\w.-]{1,256}))?\/?$/;
const LABEL = /^[A-Za-z0-9_-]{1,40}$/;
/** Nonce and MAC have 22 characters each of base64url, which has hyphens itself. */
const TOKEN = /^([A-Za-z0-9_-]{1,40})\.(\d{1,3})-([0-9a-z]{1,9})-([\w-]{22})-([\w-]{22})$/;
/** Hex digits of the label of a gateway whose name does not fit into a path. */
const LABEL_DIGITS = 10;

/** The gateway's name in tokens: its own name where that fits, else digits of its hash. */
export function gatewayLabel(gateway: string): string {
  if (LABEL.test(gateway)) return gateway;
  return createHash('sha256').update(gateway).digest('hex').slice(0, LABEL_DIGITS);
}

/** The parts of a media URL; undefined if there are too few or too many. */
export function parseMediaPath(url: string): MediaPath | undefined {
  const path = url.split('?', 1)[0] ?? '';
  if (path.length > PATH_MAX || !path.startsWith(MEDIA_PATH)) return undefined;
  const parts = PATH.exec(path.slice(MEDIA_PATH.length));
  if (parts === null) return undefined;
  const [, workflowId = '', organizationId = '', runId = '', token = ''] = parts;
  return { workflowId, organizationId, runId, token };
}

/** The token of a browser's socket, as its page gets it. */
export function webTokenOf(
  { id, workflowId, organizationId }: TokenSubject,
  token: string,
): string {
  return `${id}.${workflowId}.${organizationId}.${token}`;
}

interface UpgradeRequest {
  url?: string | undefined;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Whether the request is for a browser's media socket. */
export function isWebMedia({ url = '' }: Pick<UpgradeRequest, 'url'>): boolean {
  return url.split('?', 1)[0] === WEB_MEDIA_PATH;
}

/** What an upgrade to a media socket says of its call, in its path, or for a browser in its subprotocols; undefined if it
 *  is incomplete. */
export function mediaPathOf(request: UpgradeRequest): MediaPath | undefined {
  if (!isWebMedia(request)) return parseMediaPath(request.url ?? '');
  const { 'sec-websocket-protocol': protocols = '', origin } = request.headers;
  const [first, second = '', ...more] = [protocols]
    .flat()
    .join(',')
    .split(',', 3)
    .map((each) => each.trim());
  const parts = WEB_TOKEN.exec(second);
  if (first !== WEB_PROTOCOL || parts === null || more.length > 0) return undefined;
  const [, runId = '', workflowId = '', organizationId = '', token = ''] = parts;
  const path = { runId, workflowId, organizationId, token, isWeb: true } as const;
  return typeof origin === 'string' ? { ...path, origin } : path;
}

/** Signs and verifies tokens. Does not know which of them were used. */
export class MediaTokenSigner {
  readonly #keys: readonly [Buffer, ...Buffer[]];

  /** `keys`: 32 bytes each; the first signs, all verify. */
  constructor(keys: readonly [Buffer, ...Buffer[]]) {
    this.#keys = keys;
  }

  /** `nonce`: NONCE_BYTES. */
  sign(subject: TokenSubject, { label, worker, untilMs }: SignedToken, nonce: Buffer): string {
    const head = `${label}.${worker}-${untilMs.toString(36)}-${nonce.toString('base64url')}`;
    return `${head}-${macOf(this.#keys[0], subject, head)}`;
  }

  /** The token in the path; undefined if no gateway with these keys issued it for exactly this path. Takes equally long
   *  for every token of the right form. */
  verified({ token, ...path }: MediaPath): SignedToken | undefined {
    const [, label = '', worker = '', until = '', , mac = ''] = TOKEN.exec(token) ?? [];
    if (mac === '') return undefined;
    const given = Buffer.from(mac);
    const head = token.slice(0, -mac.length - 1);
    const { runId: id, workflowId, organizationId, origin } = path;
    const subject = { id, workflowId, organizationId };
    // A token may be bound to the origin.
    const subjects = origin === undefined ? [subject] : [subject, { ...subject, origin }];
    let isRight = false;
    for (const key of this.#keys) {
      for (const each of subjects) {
        // As text: several texts stand for the same bytes.
        const expected = Buffer.from(macOf(key, each, head));
        isRight = timingSafeEqual(given, expected) || isRight;
      }
    }
    if (!isRight) return undefined;
    return { label, worker: Number(worker), untilMs: Number.parseInt(until, 36) };
  }
}

/** None of the parts contains the separator, except for the origin, which stands last. */
function macOf(
  key: Buffer,
  { id, workflowId, organizationId, origin }: TokenSubject,
  head: string,
): string {
  const parts = [id, workflowId, organizationId, head];
  const text = (origin === undefined ? parts : [...parts, origin]).join('/');
  const mac = createHmac('sha256', key).update(text).digest();
  return mac.subarray(0, MAC_BYTES).toString('base64url');
}
