// Key check: asks each service whether it accepts the key and has the voice. One request for each key and at most two
// for a voice, all at once, within seconds. Only a refusal by the service makes a key or voice bad. Everything else is
// "not verified", so that an outage of a service never prevents saving a configuration.

import { setMaxListeners } from 'node:events';
import type { Egress } from '../../egress/egress-rule.ts';
import { codeOf } from '../../errors/gateway-error.ts';
import type { ConfiguredService } from '../../model/speech-services/model-configuration.ts';
import { isServiceSecret, type SpeechJob } from '../../model/speech-services/service-rows.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import { parseJson } from '../../std/json.ts';
import { ServiceFault } from '../service/service-fault.ts';
import { type ServiceAnswer, ServiceHttp } from '../service/service-http.ts';
import { type CheckedFields, type KeyCheck, text } from '../vendors/vendor.ts';
import { keyCheckOf, voiceListOf } from '../vendors/vendors.ts';
import { unknownVoice } from './voice-lists.ts';

export interface ServiceToCheck {
  /** Services of embeddings are those of language models, with the same keys. */
  job: SpeechJob | 'embeddings';
  service: ConfiguredService;
}

export interface ServiceVerdict {
  /** `ok`: accepted; `refused`: the service refuses the key, or does not have the voice; `unverified`: the check gave no
   *  answer about the key. */
  verdict: 'ok' | 'refused' | 'unverified';
  /** Reason, in the service's words and without secrets; empty for `ok`. */
  message: string;
  durationMs: number;
}

interface KeyCheckMeans {
  clock: Clock;
  egress: Egress;
}

/** Deadline for one answer. A person waits for all of them. */
const ANSWER_MS_MAX = 3_000;
/** Deadline for the whole check, with the bodies of slow answers. */
const CHECK_MS_MAX = 4_000;
/** Limit of an answer's size. It may be the list of an account's voices, of which only the first part matters. */
const ANSWER_BYTES_MAX = 1_048_576;
/** Longest quotation of a service in a verdict. */
const WORDS_CHARACTERS_MAX = 300;
/** Requests for one configuration: three jobs with a service, a fallback and several keys each, and voices. */
const REQUESTS_MAX = 24;
/** Services on this machine, which have no key to check. */
const LOCAL_SERVICES: ReadonlySet<string> = new Set(['scripted', 'pocketsphinx', 'flite']);
/** Requests for one voice: the list, and the voice itself. */
const VOICE_REQUESTS_MAX = 2;

/** Checks each service. Returns one verdict for each, in the same order: the worst of its keys. Rejects only with the
 *  signal's reason. */
export async function checkServices(
  services: readonly ServiceToCheck[],
  means: KeyCheckMeans,
  signal: AbortSignal,
): Promise<ServiceVerdict[]> {
  const allowance = { left: REQUESTS_MAX };
  const deadline = deadlineSignal(means.clock, CHECK_MS_MAX, 'an answer', signal);
  // Each request and each body that is read adds a listener.
  setMaxListeners(2 * REQUESTS_MAX, deadline.signal);
  const all = { ...means, signal: deadline.signal, parent: signal, allowance };
  try {
    return await Promise.all(services.map((each) => checkService(each, all)));
  } finally {
    deadline.done();
  }
}

interface Means extends KeyCheckMeans {
  /** Aborts the requests at the deadline. */
  signal: AbortSignal;
  /** Aborted when the client no longer waits for the results. */
  parent: AbortSignal;
  allowance: { left: number };
}

async function checkService(
  { job, service }: ServiceToCheck,
  means: Means,
): Promise<ServiceVerdict> {
  const startMs = means.clock.monotonicMs();
  const verdict = await verdictOf({ job, service }, means);
  return { ...verdict, durationMs: Math.round(means.clock.monotonicMs() - startMs) };
}

type Verdict = Omit<ServiceVerdict, 'durationMs'>;
const OK: Verdict = { verdict: 'ok', message: '' };

async function verdictOf({ job, service }: ServiceToCheck, means: Means): Promise<Verdict> {
  const { provider } = service;
  if (LOCAL_SERVICES.has(provider)) return OK;
  const secrets = secretsOf(service);
  const httpJob = job === 'embeddings' ? 'llm' : job;
  const http = new ServiceHttp({
    job: httpJob,
    service: provider,
    secrets,
    means,
    isCounted: false,
  });
  try {
    const [ofKey, voice] = await Promise.all([
      keyVerdict(service, http, means),
      job === 'tts' ? voiceProblem(service, http, means) : undefined,
    ]);
    if (ofKey.verdict === 'refused' || voice === undefined) return ofKey;
    return { verdict: 'refused', message: voice };
  } finally {
    await http.close();
  }
}

async function keyVerdict(
  service: ConfiguredService,
  http: ServiceHttp,
  means: Means,
): Promise<Verdict> {
  const { provider } = service;
  const check = keyCheckOf(provider);
  if (check === undefined) {
    const reached = await reachability(service, means.egress, means.signal);
    return unverified(reached ?? 'this service has no request that checks a key');
  }
  const keys = keysOf(service);
  const wrong = keys.find((key) => !key.startsWith(check.keyPrefix ?? ''));
  if (wrong !== undefined) {
    const message = `Invalid ${provider} API key: its keys begin with ${check.keyPrefix}`;
    return { verdict: 'refused', message };
  }
  if (keys.length === 0 && check.isKeyless !== true) return unverified('it has no API key');
  const url = check.url(service);
  if (url === undefined) return unverified('this service has no request that checks a key');
  const asked = keys.length === 0 ? [undefined] : keys;
  const verdicts = await Promise.all(
    asked.map((key) => ask({ provider, url, key, check }, http, means)),
  );
  return (
    verdicts.find(({ verdict }) => verdict === 'refused') ??
    verdicts.find(({ verdict }) => verdict === 'unverified') ??
    OK
  );
}

async function voiceProblem(
  service: ConfiguredService,
  http: ServiceHttp,
  { signal, allowance }: Means,
): Promise<string | undefined> {
  const { provider, voice } = service;
  if (typeof voice !== 'string' || voiceListOf(provider) === undefined) return undefined;
  if (allowance.left < VOICE_REQUESTS_MAX) return undefined;
  allowance.left -= VOICE_REQUESTS_MAX;
  const [key] = keysOf(service);
  const asked = { provider, voice, fields: service, key };
  return unknownVoice(asked, http, { signal, answerMsMax: ANSWER_MS_MAX });
}

function keysOf(service: ConfiguredService): string[] {
  const given = [service['api_key']].flat();
  return given.filter((key): key is string => typeof key === 'string' && key !== '');
}

async function ask(
  of: { provider: string; url: string; key: string | undefined; check: KeyCheck },
  http: ServiceHttp,
  { signal, parent, allowance }: Means,
): Promise<Verdict> {
  const { provider, url, key, check } = of;
  if (allowance.left <= 0) return unverified('there are too many keys to check at once');
  allowance.left -= 1;
  try {
    const { method = 'GET' } = check;
    const headers: Record<string, string> = {
      accept: 'application/json',
      ...(key === undefined ? {} : check.headers(key)),
    };
    const { body: given } = check;
    if (given !== undefined) headers['content-type'] = 'application/json';
    const body = method === 'POST' ? { body: given ?? '' } : {};
    const answer = await http.request({
      method,
      url,
      headers,
      signal,
      answerMsMax: ANSWER_MS_MAX,
      ...body,
    });
    if (answer.status >= 300) return unverified(`it answered ${answer.status}`);
    const words = await refusalIn(answer, check);
    return words === undefined ? OK : refused(provider, words);
  } catch (error) {
    parent.throwIfAborted();
    if (error instanceof ServiceFault) return ofFault(error, provider, check);
    if (codeOf(error) === 'TIMED_OUT') return unverified('no answer in time');
    throw error;
  }
}

/** The refusal in an answer with status 200, or undefined. */
async function refusalIn(answer: ServiceAnswer, check: KeyCheck): Promise<string | undefined> {
  if (check.refusalIn === undefined) {
    for await (const _part of answer.body) break;
    return undefined;
  }
  const body = parseJson((await answer.bytes(ANSWER_BYTES_MAX)).toString('utf8'));
  return check.refusalIn(body)?.slice(0, WORDS_CHARACTERS_MAX);
}

function ofFault(error: ServiceFault, provider: string, check: KeyCheck): Verdict {
  const { detail } = error;
  const status = Number(error.facts['status'] ?? 0);
  const says = (words: RegExp | undefined): boolean => words?.test(detail) === true;
  const isAccepted = error.kind === 'quota'; // The service accepts the key, but the account has no credit left.
  const isRefusal = (check.refusing ?? [401, 403]).includes(status) || says(check.refusingWords);
  if (isRefusal && !isAccepted && !says(check.harmlessWords)) return refused(provider, detail);
  // If all addresses of a host name fail, the error has no text.
  if (status === 0) return unverified(detail === '' ? 'it cannot be reached' : detail);
  return unverified(`it answered ${status}: ${detail}`);
}

function refused(provider: string, words: string): Verdict {
  const said = words === '' ? '' : ` The service says: ${words}`;
  return { verdict: 'refused', message: `Invalid ${provider} API key.${said}` };
}

function unverified(message: string): Verdict {
  return { verdict: 'unverified', message };
}

function secretsOf(service: ConfiguredService): string[] {
  return Object.entries(service)
    .filter(([name]) => isServiceSecret(name))
    .flatMap(([, value]) => [value].flat())
    .filter((value): value is string => typeof value === 'string');
}

/** Whether something listens at the address of a self-hosted service that has no request to identify it. Returns a
 *  sentence for the owner of the settings. Returns undefined if they have no address, or if the egress rule
 *  hides from tenants what listens at an address. `signal` ends the wait. Never rejects. */
async function reachability(
  fields: CheckedFields,
  egress: Egress,
  signal: AbortSignal,
): Promise<string | undefined> {
  const given = text(fields, 'base_url');
  // URL parses host and port only for http schemes.
  const url = given === undefined ? null : URL.parse(given.replace(/^(tcp|ws)(?=s?:)/, 'http'));
  if (url === null || egress.hidesFaults) return undefined;
  const { hostname, protocol } = url;
  const port = url.port || (protocol === 'https:' ? '443' : '80');
  const problem = await connected({ hostname, port }, egress, signal);
  const place = `${hostname}:${port}`;
  if (problem === undefined) return `no request checks this service; something listens at ${place}`;
  return `no request checks this service, and nothing answers at ${place}: ${problem}`;
}

/** Connects. Returns the error, or undefined if the connection was accepted. */
function connected(
  { hostname, port }: { hostname: string; port: string },
  egress: Egress,
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve('no connection in time'), { once: true });
    egress.connect({ hostname, port, protocol: 'http:' }, (error, socket) => {
      // A socket that opens after the deadline is closed, too.
      socket?.on('error', () => undefined).destroy();
      resolve(error === null ? undefined : codeIn(error));
    });
  });
}

function codeIn(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
