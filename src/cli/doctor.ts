// The command `patchbay doctor`: asks the gateway to check what calls of a configuration depend on, and prints the
// findings.

import { z } from 'zod';
import { apiKey, askGateway, type CliIo, configurationId, gatewayUrl } from './gateway-client.ts';

export const doctorOptions = {
  url: { type: 'string' },
  key: { type: 'string' },
  config: { type: 'string' },
} as const;

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

export async function doctor(
  options: { url?: string; key?: string; config?: string },
  { env, out }: CliIo,
): Promise<number> {
  const key = apiKey(options.key ?? env['PATCHBAY_API_KEY']);
  const id = configurationId(options.config);
  const url = gatewayUrl(options.url ?? env['PATCHBAY_URL']);
  const path = `/organizations/telephony-configs/${id}/examine`;
  const { ok, findings } = await askGateway({ url, key }, { method: 'POST', path }, report);
  for (const finding of findings) out(linesOf(finding));
  out(
    ok
      ? 'Nothing was found that keeps calls from working.\n'
      : 'Something keeps calls from working: see ✗.\n',
  );
  return ok ? 0 : 1;
}

function linesOf({ verdict, title, message, advice }: Finding): string {
  const first = `${signs[verdict]} ${title}: ${message}\n`;
  return advice === null ? first : `${first}    -> ${advice}\n`;
}
