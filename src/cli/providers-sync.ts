// Command `patchbay providers sync`: shows which application and numbers of a hosted provider send their calls
// elsewhere, and with --yes makes the gateway point them at itself.

import { z } from 'zod';
import { apiKey, askGateway, type CliIo, configurationId, gatewayUrl } from './gateway-client.ts';

export const syncOptions = {
  url: { type: 'string' },
  key: { type: 'string' },
  config: { type: 'string' },
  yes: { type: 'boolean' },
} as const;

const routing = z.object({
  changes: z.array(
    z.object({
      kind: z.enum(['application', 'number']),
      subject: z.string(),
      from: z.string(),
      to: z.string(),
      state: z.enum(['planned', 'done', 'blocked']),
      message: z.string().nullable(),
    }),
  ),
  not_examined: z.int().default(0),
});
type Change = z.infer<typeof routing>['changes'][number];

const signs: Readonly<Record<Change['state'], string>> = { planned: '-', done: '✓', blocked: '✗' };

/** Runs the command. Returns 1 if a change is blocked, or waits for --yes. Throws COMMAND_INVALID,
 *  GATEWAY_UNREACHABLE, GATEWAY_REFUSED. */
export async function providersSync(
  options: { url?: string; key?: string; config?: string; yes?: boolean },
  { env, out }: CliIo,
): Promise<number> {
  const key = apiKey(options.key ?? env['PATCHBAY_API_KEY']);
  const id = configurationId(options.config);
  const url = gatewayUrl(options.url ?? env['PATCHBAY_URL']);
  const path = `/organizations/telephony-configs/${id}/sync`;
  const body = { apply: options.yes === true };
  const { changes, not_examined: left } = await askGateway(
    { url, key },
    { method: 'POST', path, body },
    routing,
  );
  if (left > 0) out(`${left} more numbers with an agent were not examined.\n`);
  for (const change of changes) out(linesOf(change));
  if (changes.length === 0 && left === 0) out('All calls come here already.\n');
  const isPlanned = changes.some(({ state }) => state === 'planned');
  if (isPlanned)
    out('Nothing was changed. With --yes it is: all numbers of an application move.\n');
  return changes.every(({ state }) => state === 'done') ? 0 : 1;
}

function linesOf({ kind, subject, from, to, state, message }: Change): string {
  const first = `${signs[state]} ${kind} ${subject}: ${from} -> ${to}\n`;
  return message === null ? first : `${first}    -> ${message}\n`;
}
