// Command `patchbay doctor`: has the gateway check what calls of a configuration depend on, and prints the findings.
// With --numbers the gateway also calls the configuration's numbers, after a confirmation; with --call it calls a
// telephone over a hosted provider (doctor-call.ts).

import { z } from 'zod';
import { GatewayError } from '../errors/gateway-error.ts';
import { announceCall, callWish, examineByCall, isFatal, refusePbx } from './doctor-call.ts';
import { apiKey, askGateway, type CliIo, configurationId, gatewayUrl } from './gateway-client.ts';

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

const WARNING =
  "Every active number of the configuration is called through the PBX's dialplan, a few seconds each. Where a number does not lead to the gateway, telephones may ring. No agent starts.\n";

const report = z.object({
  ok: z.boolean(),
  findings: z.array(
    z.object({
      key: z.string(),
      title: z.string(),
      verdict: z.enum(['pass', 'warn', 'fail', 'skip']),
      message: z.string(),
      advice: z.string().nullable(),
    }),
  ),
});
type Finding = z.infer<typeof report>['findings'][number];

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
