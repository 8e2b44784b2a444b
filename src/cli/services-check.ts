// Command `patchbay services check`: has the gateway check the keys of an organization's speech services with the
// services, and prints the results. The keys stay in the gateway.

import { z } from 'zod';
import { apiKey, askGateway, type CliIo, gatewayUrl } from './gateway-client.ts';

export const servicesOptions = {
  url: { type: 'string' },
  key: { type: 'string' },
} as const;

const report = z.object({
  ok: z.boolean(),
  services: z.array(
    z.object({
      model: z.string(),
      position: z.int(),
      provider: z.string(),
      verdict: z.enum(['ok', 'refused', 'unverified']),
      message: z.string(),
      warning: z.string().optional(),
      duration_ms: z.number(),
    }),
  ),
});
type Service = z.infer<typeof report>['services'][number];

const verdicts: Readonly<Record<Service['verdict'], string>> = {
  ok: 'ok',
  refused: 'refused',
  unverified: 'not verified',
};
const PATH = '/organizations/model-configurations/v2/check';

/** Runs the command. Returns 1 if a service refuses its key or does not have its voice. Throws COMMAND_INVALID,
 *  GATEWAY_UNREACHABLE, GATEWAY_REFUSED. */
export async function servicesCheck(
  options: { url?: string; key?: string },
  { env, out }: CliIo,
): Promise<number> {
  const key = apiKey(options.key ?? env['PATCHBAY_API_KEY']);
  const url = gatewayUrl(options.url ?? env['PATCHBAY_URL']);
  const { ok, services } = await askGateway({ url, key }, { method: 'POST', path: PATH }, report);
  if (services.length === 0) out("No services are configured: calls use the gateway's own.\n");
  for (const service of services) out(lineOf(service));
  return ok ? 0 : 1;
}

function lineOf(service: Service): string {
  const { model, position, provider, verdict, message, warning, duration_ms: ms } = service;
  const place = position === 0 ? '' : ` (fallback ${position})`;
  // A service's message stays on one line.
  const words = message === '' ? '' : `: ${message.replace(/\p{Cc}+/gu, ' ')}`;
  const notice = warning === undefined ? '' : `  ${warning}\n`;
  return `${model}${place} ${provider}: ${verdicts[verdict]} in ${Math.round(ms)} ms${words}\n${notice}`;
}
