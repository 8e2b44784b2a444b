// ARI's REST interface: requests to routes, the same for HTTP and for REST over the event socket. Statuses
// and messages are those recorded from Asterisk 22.10.1.

export interface RestRequest {
  method: string;
  /** Without `/ari/`, without query: `channels/x/answer`. */
  path: string;
  query: URLSearchParams;
  /** Parsed JSON; undefined if there was none. */
  body: unknown;
  isReadOnly: boolean;
}

export interface RestAnswer {
  status: number;
  /** Null for no body. */
  body: unknown;
}

export const noContent: RestAnswer = { status: 204, body: null };

export function ok(body: unknown): RestAnswer {
  return { status: 200, body };
}

export function refuse(status: number, message: string): RestAnswer {
  return { status, body: { message } };
}

/** A handler's early end. */
export class Refusal extends Error {
  readonly answer: RestAnswer;

  constructor(status: number, message: string) {
    super(message);
    this.answer = refuse(status, message);
  }
}

/** What a request brings: query and body are one to Asterisk, but for `variables`. */
export class Params {
  readonly variables: Record<string, string> = {};
  readonly body: unknown;
  readonly #values = new Map<string, string>();

  constructor(query: URLSearchParams, body: unknown) {
    this.body = body;
    for (const [name, value] of query) this.#values.set(name, value);
    if (typeof body !== 'object' || body === null) return;
    for (const [name, value] of Object.entries(body)) {
      if (name === 'variables' && typeof value === 'object' && value !== null) {
        for (const [key, each] of Object.entries(value)) this.variables[key] = String(each);
      } else if (typeof value !== 'object') {
        this.#values.set(name, String(value));
      }
    }
  }

  get(name: string): string {
    return this.#values.get(name) ?? '';
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }
}

export type Handler = (
  id: string,
  params: Params,
  rest: string,
) => RestAnswer | Promise<RestAnswer>;

/** `GET channels/{id}` and the like, to what answers. `{id}` may be followed by one more variable part. */
export type Routes = Record<string, Handler>;

interface Route {
  method: string;
  pattern: RegExp;
  handler: Handler;
}

export class Router {
  readonly #routes: Route[];

  constructor(routes: Routes) {
    this.#routes = Object.entries(routes).map(([name, handler]) => {
      const [method = '', path = ''] = name.split(' ');
      const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`);
      return { method, pattern, handler };
    });
  }

  async answer(request: RestRequest): Promise<RestAnswer> {
    const path = request.path.replace(/\/$/, '');
    const here = this.#routes.filter(({ pattern }) => pattern.test(path));
    const fixed = here.filter(({ pattern }) => !pattern.source.includes('('));
    const known = fixed.length > 0 ? fixed : here;
    if (known.length === 0) return refuse(404, 'Resource not found');
    if (request.isReadOnly && request.method !== 'GET') return refuse(403, 'Write access denied');
    const route = known.find(({ method }) => method === request.method);
    if (route === undefined) return refuse(405, 'Invalid method');
    const [id = '', rest = ''] = (route.pattern.exec(path) ?? []).slice(1).map(decodePart);
    try {
      return await route.handler(id, new Params(request.query, request.body), rest);
    } catch (error) {
      if (error instanceof Refusal) return error.answer;
      throw error;
    }
  }
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // Not encoded at all.
  }
}
