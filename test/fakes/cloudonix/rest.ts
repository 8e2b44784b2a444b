// The fake's REST interface, as far as the gateway uses it: calls, sessions, applications, DNIDs.
// Source: providers §5; the shape of refusals is a guess.

import type { AccountState } from '../hosted/account-state.ts';
import type { FakeSession } from './fake-session.ts';

export interface FakeApplication {
  id: number;
  uuid: string;
  name: string;
  url: string;
  apiKey: string;
}

export interface FakeDnid {
  id: number;
  source: string;
  applicationId: number;
}

export interface RestAnswer {
  status: number;
  body: unknown;
}

/** What the REST interface works on. */
export interface Domain {
  state: AccountState;
  name: string;
  bearerToken: string;
  applications: FakeApplication[];
  dnids: FakeDnid[];
  sessions: Map<string, FakeSession>;
  dial(body: Record<string, unknown>): FakeSession;
  /** A new number for an id. */
  nextId(): number;
}

const DESTINATION = /^(\+?\d{3,15}|sips?:.+)$/;

function fault(status: number, message: string): RestAnswer {
  return { status, body: { status, message } };
}

export interface RestQuestion {
  method: string;
  /** Without a query. */
  path: string;
  authorization: string;
  json: unknown;
}

/** `GET domains sessions/`: the words of a path, a slash for each name. */
function routeOf(method: string, scope: readonly string[]): string {
  const [root, , resource = '', id, nested = '', nestedId] = scope;
  const name = (part: string | undefined): string => (part === undefined ? '' : '/');
  return `${method} ${root} ${resource}${name(id)}${nested}${name(nestedId)}`;
}

export function answerRest(domain: Domain, asked: RestQuestion): RestAnswer {
  if (asked.authorization !== `Bearer ${domain.bearerToken}`) {
    return fault(401, 'Invalid API key');
  }
  const parts = asked.path.split('/').slice(1).map(decodeURIComponent);
  const scope = parts[0] === 'customers' ? parts.slice(2) : parts;
  if (scope[1] !== domain.name) return fault(404, 'No such domain');
  const [, , , id, , nestedId] = scope;
  const json = (asked.json ?? {}) as Record<string, unknown>; // The gateway's own JSON.
  const route = routeOf(asked.method, scope);
  switch (route) {
    case 'POST calls application':
      return dial(domain, json);
    case 'POST calls sessions/application':
      return redirect(domain, id ?? '', json);
    case 'GET domains sessions':
      return { status: 200, body: [...current(domain)].map((each) => each.body) };
    case 'GET domains sessions/':
      return read(domain, id ?? '');
    case 'DELETE domains sessions/':
      return hangUp(domain, id ?? '');
    case 'GET domains ':
      return { status: 200, body: { id: 1, active: domain.state.standing !== 'suspended' } };
    case 'PATCH domains applications/':
      return updateApplication(domain, id ?? '', json);
    case 'POST domains applications':
      return createApplication(domain, json);
    case 'GET domains applications/':
      return readApplication(domain, id ?? '');
    case 'GET domains dnids':
      return { status: 200, body: domain.dnids };
    case 'POST domains applications/dnids':
      return createDnid(domain, id ?? '', json);
    case 'DELETE domains applications/dnids/':
      return deleteDnid(domain, nestedId ?? '');
    default:
      return fault(404, `No such resource: ${asked.method} ${asked.path}`);
  }
}

function current({ sessions }: Domain): FakeSession[] {
  return [...sessions.values()].filter(({ isOver }) => !isOver);
}

function dial(domain: Domain, json: Record<string, unknown>): RestAnswer {
  const { destination, url } = json;
  if (typeof json['caller-id'] !== 'string') return fault(400, 'caller-id is required');
  if (typeof destination !== 'string' || !DESTINATION.test(destination)) {
    return fault(400, `Invalid destination ${String(destination)}`);
  }
  if (typeof url !== 'string') return fault(400, 'url, cxml or application is required');
  const session = domain.dial(json);
  const body = {
    domainId: 1,
    subscriberId: null,
    destination,
    direction: 'outbound-api',
    token: session.id,
  };
  return { status: 200, body };
}

function redirect(domain: Domain, token: string, { cxml }: Record<string, unknown>): RestAnswer {
  const session = domain.sessions.get(token);
  if (session === undefined || session.isOver) return fault(404, 'No such session');
  if (typeof cxml !== 'string') return fault(400, 'cxml is required');
  session.tell('redirected', { cxml });
  void session.run(cxml);
  return { status: 200, body: {} };
}

function read(domain: Domain, token: string): RestAnswer {
  const session = domain.sessions.get(token);
  return session === undefined
    ? fault(404, 'No such session')
    : { status: 200, body: session.body };
}

function hangUp(domain: Domain, token: string): RestAnswer {
  const session = domain.sessions.get(token);
  if (session === undefined || session.isOver) return fault(404, 'No such session');
  session.tell('hung-up-over-rest');
  session.end(session.status === 'in-progress' ? 'completed' : 'canceled');
  return { status: 204, body: undefined };
}

function createApplication(domain: Domain, json: Record<string, unknown>): RestAnswer {
  const { name, url } = json;
  if (typeof name !== 'string' || typeof url !== 'string') return fault(400, 'name and url');
  if (domain.applications.some((each) => each.name === name)) return fault(409, 'Name is taken');
  const id = domain.nextId();
  const uuid = `00000000-0000-4000-8000-${String(id).padStart(12, '0')}`;
  const made = { id, uuid, name, url, apiKey: `XI${String(id).padStart(30, '0')}` };
  domain.applications.push(made);
  return { status: 200, body: made };
}

function readApplication(domain: Domain, name: string): RestAnswer {
  const found = domain.applications.find((each) => each.name === name);
  return found === undefined ? fault(404, 'No such application') : { status: 200, body: found };
}

function updateApplication(
  domain: Domain,
  name: string,
  json: Record<string, unknown>,
): RestAnswer {
  const found = domain.applications.find((each) => each.name === name);
  if (found === undefined) return fault(404, 'No such application');
  found.url = String(json['url'] ?? found.url);
  return { status: 200, body: found };
}

function createDnid(domain: Domain, part: string, json: Record<string, unknown>): RestAnswer {
  const application = domain.applications.find((each) => each.uuid === part);
  const { source } = json;
  if (application === undefined) return fault(404, 'No such application');
  if (typeof source !== 'string') return fault(400, 'source is required');
  if (domain.dnids.some((each) => each.source === source)) return fault(409, 'DNID exists');
  const made = { id: domain.nextId(), source, applicationId: application.id };
  domain.dnids.push(made);
  return { status: 200, body: made };
}

function deleteDnid(domain: Domain, id: string): RestAnswer {
  const at = domain.dnids.findIndex((each) => String(each.id) === id);
  if (at < 0) return fault(404, 'No such DNID');
  domain.dnids.splice(at, 1);
  return { status: 204, body: undefined };
}
