// Command `patchbay doctor`: has the gateway check what calls of a configuration depend on, and prints the findings.
// With --numbers the gateway also calls the configuration's numbers, after a confirmation; with --call it calls a
// telephone over a hosted provider and shows the call step by step, with its capture in a file; an interrupt hangs it up.

import { type FileHandle, open, rm } from 'node:fs/promises';
import { z } from 'zod';
import { GatewayError } from '../errors/gateway-error.ts';
import { systemClock } from '../std/clock.ts';
import { unwritable } from './capture-file.ts';
import {
  apiKey,
  askForText,
  askGateway,
  type CliIo,
  configurationId,
  type GatewayAddress,
  gatewayUrl,
} from './gateway-client.ts';

export const doctorOptions = {
  url: { type: 'string' },
  key: { type: 'string' },
  config: { type: 'string' },
  numbers: { type: 'boolean' },
  context: { type: 'string' },
  yes: { type: 'boolean' },
  call: { type: 'string' },
  out: { type: 'string' },
} as const;

interface Options {
  url?: string;
  key?: string;
  config?: string;
  numbers?: boolean;
  context?: string;
  yes?: boolean;
  call?: string;
  out?: string;
}

/** Interval of requests for news of the call. */
const ASK_EVERY_MS = 500;
/** Longest call: more than 30 s of ringing, 35 s of talk, and the requests around it. */
const CALL_MS_MAX = 150_000;
/** Attempts of a request before the command gives up; the gateway then hangs up by itself. */
const ATTEMPTS_MAX = 5;

/** Keys of the examination's faults that concern inbound calls only. */
const INBOUND_ONLY: readonly string[] = ['number', 'numbers', 'application'];

const WARNING =
  "Every active number of the configuration is called through the PBX's dialplan, a few seconds each. Where a number does not lead to the gateway, telephones may ring. No agent starts.\n";

const finding = z.object({
  key: z.string(),
  title: z.string(),
  verdict: z.enum(['pass', 'warn', 'fail', 'skip']),
  message: z.string(),
  advice: z.string().nullable(),
});
const report = z.object({ ok: z.boolean(), findings: z.array(finding) });
type Finding = z.infer<typeof finding>;

const signs: Readonly<Record<Finding['verdict'], string>> = {
  pass: '✓',
  warn: '!',
  fail: '✗',
  skip: '-',
};

/** Runs the command. Returns 1 if something was found. Throws COMMAND_INVALID, GATEWAY_UNREACHABLE, GATEWAY_REFUSED. */
export async function doctor(options: Options, io: CliIo): Promise<number> {
  const { env, out } = io;
  const key = apiKey(options.key ?? env['PATCHBAY_API_KEY']);
  const id = configurationId(options.config);
  const gateway = { url: gatewayUrl(options.url ?? env['PATCHBAY_URL']), key };
  const path = `/organizations/telephony-configs/${id}/examine`;
  const body = { call_numbers: options.numbers === true, context: options.context ?? null };
  if (body.context !== null && !body.call_numbers) {
    throw new GatewayError('COMMAND_INVALID', { problem: '--context goes with --numbers' });
  }
  const wish = callWish(options, { gateway, configurationId: id });
  if (body.call_numbers && options.yes !== true && !(await isConfirmed(io))) {
    out('Nothing was called.\n');
    return 1;
  }
  if (wish !== undefined) {
    await refusePbx(wish);
    announceCall(wish, io);
  }
  const { ok, findings } = await askGateway(gateway, { method: 'POST', path, body }, report);
  for (const finding of findings) out(linesOf(finding));
  if (wish !== undefined && !findings.some(isFatal)) {
    return examineByCall(wish, io, (step, time) => linesOf(step, `${time}  `));
  }
  if (wish !== undefined) out('No number was called. ');
  out(
    ok
      ? 'Nothing was found that keeps calls from working.\n'
      : 'Something keeps calls from working: see ✗.\n',
  );
  return ok ? 0 : 1;
}

/** Whether the user confirms the calls. Throws COMMAND_INVALID without a terminal. */
async function isConfirmed({ out, confirm }: CliIo): Promise<boolean> {
  out(WARNING);
  if (confirm !== undefined) return await confirm('Call them now? (y/N) ');
  throw new GatewayError('COMMAND_INVALID', {
    problem: '--numbers without a terminal needs --yes',
  });
}

function linesOf({ verdict, title, message, advice }: Omit<Finding, 'key'>, before = ''): string {
  const first = `${before}${signs[verdict]} ${title}: ${message}\n`;
  return advice === null ? first : `${first}    -> ${advice}\n`;
}

const step = finding.extend({ at_ms: z.number() });
const callReport = z.object({
  id: z.string(),
  state: z.enum(['running', 'ended']),
  ok: z.boolean(),
  steps: z.array(step),
});
const configuration = z.object({ provider: z.string() });
type CallReport = z.infer<typeof callReport>;
type Step = z.infer<typeof step>;

interface CallWish {
  gateway: GatewayAddress;
  configurationId: string;
  number: string;
  /** Path of the capture; undefined: a generated name in the working folder. */
  file: string | undefined;
}

/** The call that the options request; undefined: none. Throws COMMAND_INVALID. */
function callWish(
  { call, out }: { call?: string; out?: string },
  where: Pick<CallWish, 'gateway' | 'configurationId'>,
): CallWish | undefined {
  if (call === undefined && out === undefined) return undefined;
  // The gateway decides whether the number can be dialled; this only refuses what is no number at all.
  if (call !== undefined && /^\+?[\d\s().-]{5,}$|^sips?:\S+$/.test(call)) {
    return { ...where, number: call, file: out };
  }
  const problem =
    call === undefined
      ? '--out goes with --call'
      : 'say which number to call: --call NUMBER, with + and the country code';
  throw new GatewayError('COMMAND_INVALID', { problem });
}

/** Refuses a configuration of a PBX. Throws COMMAND_INVALID, GATEWAY_UNREACHABLE, GATEWAY_REFUSED. */
async function refusePbx({ gateway, configurationId }: CallWish): Promise<void> {
  const path = `/organizations/telephony-configs/${configurationId}`;
  const { provider } = await askGateway(gateway, { method: 'GET', path }, configuration);
  if (provider !== 'ari') return;
  const problem = `--call is for hosted providers, and configuration ${configurationId} is an Asterisk: the doctor without --call tests its audio too`;
  throw new GatewayError('COMMAND_INVALID', { problem });
}

function announceCall({ number, configurationId }: CallWish, { out }: CliIo): void {
  out(
    `This rings ${number} over configuration ${configurationId}: up to 30 s of ringing, then up to 35 s of talk. The provider\n` +
      'charges for it as for any call. A voice speaks, is interrupted, sends two key tones and asks for the key 1 or 2.\n' +
      'Ctrl-C hangs up. First the examination without a call:\n\n',
  );
}

/** Whether a fault of the examination would keep the call from working. */
function isFatal({ key, verdict }: { key: string; verdict: string }): boolean {
  return verdict === 'fail' && !INBOUND_ONLY.includes(key);
}

/** Makes the call. Returns the exit code. Throws GATEWAY_UNREACHABLE, GATEWAY_REFUSED. */
async function examineByCall(
  wish: CallWish,
  io: CliIo,
  show: (step: Step, time: string) => string,
): Promise<number> {
  const { gateway, configurationId, number } = wish;
  const path = `/organizations/telephony-configs/${configurationId}/examination-calls`;
  if (io.interrupted?.aborted === true) {
    io.out('Interrupted: no number was called.\n');
    return 1;
  }
  const name = wish.file ?? nameOfCapture(configurationId);
  // Opened before the phone rings: a call without its capture would be useless.
  const file = await openNew(name);
  let text = '';
  try {
    io.out(`\nCalling ${number} ...\n`);
    const body = { phone_number: number };
    const started = await askGateway(gateway, { method: 'POST', path, body }, callReport);
    const call = `${path}/${started.id}`;
    const { ok } = await follow({ gateway, path: call, io, show }, started);
    text = await askForText(gateway, { method: 'GET', path: `${call}/capture` });
    await file.writeFile(text);
    io.out(
      ok
        ? '\nThe call went as it should.\n'
        : '\nThe call did not go as it should: see ✗, the first one first.\n',
    );
    io.out(
      `Capture: ${name}, without credentials, numbers and host names. Look through it before you pass it on.\n`,
    );
    return ok ? 0 : 1;
  } finally {
    await file.close();
    if (text === '') await rm(name, { force: true });
  }
}

function nameOfCapture(configurationId: string): string {
  const time = new Date(systemClock.now()).toISOString().replace(/[-:]|\..*$/g, '');
  return `patchbay-call-${configurationId}-${time}.jsonl`;
}

interface Following {
  gateway: GatewayAddress;
  path: string;
  io: CliIo;
  show: (step: Step, time: string) => string;
}

/** Follows the call to its end. Throws GATEWAY_UNREACHABLE, GATEWAY_REFUSED. */
async function follow(following: Following, started: CallReport): Promise<CallReport> {
  const { gateway, io, show } = following;
  const untilMs = systemClock.monotonicMs() + CALL_MS_MAX;
  let current = started;
  let shown = 0;
  let isHungUp = false;
  for (;;) {
    for (const each of current.steps.slice(shown)) io.out(show(each, timeOf(each)));
    shown = current.steps.length;
    if (current.state === 'ended') return current;
    if (systemClock.monotonicMs() > untilMs) {
      throw new GatewayError('GATEWAY_REFUSED', { url: gateway.url, said: 'the call has no end' });
    }
    await pause(isHungUp ? undefined : io.interrupted);
    const hangsUp: boolean = io.interrupted?.aborted === true && !isHungUp;
    if (hangsUp) io.out('Hanging up ...\n');
    current = await ask(following, hangsUp);
    isHungUp ||= hangsUp;
  }
}

/** Requests the report, again after a failure: the connection may be back while the call goes on. */
async function ask({ gateway, path }: Following, hangsUp: boolean): Promise<CallReport> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return hangsUp
        ? await askGateway(gateway, { method: 'POST', path: `${path}/hang-up` }, callReport)
        : await askGateway(gateway, { method: 'GET', path }, callReport);
    } catch (error) {
      if (attempt >= ATTEMPTS_MAX) throw error;
    }
    await pause(undefined);
  }
}

/** Seconds since the dial. */
function timeOf({ at_ms }: Step): string {
  return `${(at_ms / 1_000).toFixed(1).padStart(5)} s`;
}

function pause(interrupted: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    // A timer of the clock does not keep the process alive; the terminal's signal handler does.
    const timer = systemClock.after(ASK_EVERY_MS, resolve);
    if (interrupted?.aborted === true) return;
    interrupted?.addEventListener(
      'abort',
      () => {
        timer.cancel();
        resolve();
      },
      { once: true },
    );
  });
}

/** Opens a new file that only the owner can read; overwrites nothing. Throws COMMAND_INVALID. */
async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    throw unwritable(path, error);
  }
}
