// An error with a list of the services' problems. Source: contract §10.4.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { parseJson } from '../../std/json.ts';
import type { ServiceProblem } from './speech-settings.ts';

export const serviceProblem = z.object({ model: z.string(), message: z.string() });

export class ServicesRefused extends GatewayError {
  constructor(problems: readonly ServiceProblem[]) {
    const text = problems.map(({ model, message }) => `${model}: ${message}`).join('; ');
    // The list is a fact too, so that it reaches other processes with the error.
    super('SERVICES_INVALID', { problems: text, list: JSON.stringify(problems) });
  }
}

/** The problems in an error of that code. */
export function serviceProblemsIn({ facts, message }: GatewayError): ServiceProblem[] {
  const listed = z.array(serviceProblem).safeParse(parseJson(String(facts['list'] ?? ''))).data;
  return listed ?? [{ model: 'all', message }];
}
