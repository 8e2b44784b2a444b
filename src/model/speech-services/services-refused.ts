// An error that lists what is wrong with services, one by one. Source: contract §10.4.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { parseJson } from '../../std/json.ts';
import type { ServiceProblem } from './speech-settings.ts';

export const serviceProblem = z.object({ model: z.string(), message: z.string() });

export class ServicesRefused extends GatewayError {
  constructor(problems: readonly ServiceProblem[]) {
    const text = problems.map(({ model, message }) => `${model}: ${message}`).join('; ');
    // The list too is a fact, so that it survives the way from one process to another.
    super('SERVICES_INVALID', { problems: text, list: JSON.stringify(problems) });
  }
}

/** The problems that an error of that code lists. */
export function serviceProblemsIn({ facts, message }: GatewayError): ServiceProblem[] {
  const listed = z.array(serviceProblem).safeParse(parseJson(String(facts['list'] ?? ''))).data;
  return listed ?? [{ model: 'all', message }];
}
