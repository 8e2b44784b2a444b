// Command `patchbay why RUN`: why a call ended, whose fault it was and what to do, for a person at a terminal.

import { z } from 'zod';
import { GatewayError } from '../errors/gateway-error.ts';
import {
  type CallExplanation,
  callExplanation,
  type ExplainedOut,
} from '../model/call-explanation.ts';
import {
  apiKey,
  askGateway,
  type CliIo,
  type GatewayAddress,
  gatewayUrl,
} from './gateway-client.ts';

export const whyOptions = {
  url: { type: 'string' },
  key: { type: 'string' },
  workflow: { type: 'string' },
  json: { type: 'boolean' },
} as const;

interface WhyOptions {
  url?: string;
  key?: string;
  workflow?: string;
  json?: boolean;
}

const usageRuns = z.object({ runs: z.array(z.object({ workflow_id: z.string() })) });

/** Runs the command. Returns 1 if somebody is at fault, or if the events do not say. Throws COMMAND_INVALID,
 *  GATEWAY_UNREACHABLE, GATEWAY_REFUSED. */
export async function why(
  given: string | undefined,
  options: WhyOptions,
  { env, out }: CliIo,
): Promise<number> {
  const run = idOf(given, 'say which run: npx patchbay why RUN (a number)');
  const url = gatewayUrl(options.url ?? env['PATCHBAY_URL']);
  const address = { url, key: apiKey(options.key ?? env['PATCHBAY_API_KEY']) };
  const workflow =
    options.workflow === undefined
      ? await workflowOf(address, run)
      : idOf(options.workflow, '--workflow is the id of the agent (a number)');
  const path = `/workflow/${workflow}/runs/${run}/why`;
  const explanation = await askGateway(address, { method: 'GET', path }, callExplanation);
  out(options.json === true ? `${JSON.stringify(explanation, null, 2)}\n` : textOf(explanation));
  return explanation.party === 'nobody' ? 0 : 1;
}

/** Throws COMMAND_INVALID. */
function idOf(given: string | undefined, problem: string): string {
  if (given !== undefined && /^\d{1,19}$/.test(given)) return given;
  throw new GatewayError('COMMAND_INVALID', { problem });
}

/** The agent of the run. Throws GATEWAY_REFUSED if there is no such run. */
async function workflowOf(address: GatewayAddress, run: string): Promise<string> {
  const filters = JSON.stringify([{ attribute: 'runId', type: 'number', value: { value: run } }]);
  const path = `/organizations/usage/runs?filters=${encodeURIComponent(filters)}`;
  const { runs } = await askGateway(address, { method: 'GET', path }, usageRuns);
  const workflow = runs[0]?.workflow_id;
  if (workflow !== undefined) return workflow;
  throw new GatewayError('GATEWAY_REFUSED', { url: address.url, said: `there is no run ${run}` });
}

function textOf({ also, is_final: isFinal, events, ...main }: CallExplanation): string {
  const lines = [
    ...(isFinal ? [] : ['The call goes on; this is what is known so far.']),
    ...linesOf(main),
    ...main.evidence.map(({ id, at_ms: ms, text }) => `  event ${id} at ${clock(ms)}  ${text}`),
    ...also.flatMap((each) => ['', 'Also:', ...linesOf(each)]),
    ...(events.read < events.total
      ? ['', `Of ${events.total} events the first and the last were read, ${events.read}.`]
      : []),
  ];
  // Texts of services may have control characters, which a terminal would carry out.
  return `${lines.map((line) => line.replace(/\p{Cc}+/gu, ' ')).join('\n')}\n`;
}

function linesOf({ verdict, party, summary, where, advice }: ExplainedOut): string[] {
  return [
    summary,
    `  verdict  ${verdict}`,
    `  fault    ${party}`,
    ...placeLines(where),
    ...advice.map((line) => `  DO: ${line}`),
  ];
}

function placeLines(where: ExplainedOut['where']): string[] {
  const { node_name: node, at_ms: ms, turn, service, tool, provider } = where;
  const parts = [
    ...(node === null ? [] : [`node "${node}"`]),
    ...(ms === null ? [] : [`${clock(ms)} of the call`]),
    ...(turn === null || turn === 0 ? [] : [`after turn ${turn}`]),
    ...(service === null
      ? []
      : [`${service.job} ${service.name}${service.model === null ? '' : ` ${service.model}`}`]),
    ...(tool === null ? [] : [`tool ${tool}`]),
    ...(provider === null ? [] : [`over ${provider}`]),
  ];
  return parts.length === 0 ? [] : [`  where    ${parts.join(', ')}`];
}

/** Minutes, seconds and tenths. */
function clock(ms: number): string {
  const seconds = ms / 1_000;
  return `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(1).padStart(4, '0')}`;
}
