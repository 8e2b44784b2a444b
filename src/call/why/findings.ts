// One finding about a call, before it is put into words, and the texts of the values that most findings share.

import type { Party } from '../../model/call-explanation.ts';
import { isObject } from '../../std/json.ts';
import { definitions } from '../../telephony/registry/registry.ts';
import { type CallFacts, type Moment, textIn } from './call-facts.ts';
import type { ServiceRef } from './explanation.ts';
import type { VerdictName } from './verdicts.ts';

/** - `ended`: a fault that the call could not continue after;
 *  - `open`: one that nothing good followed, and that may have made the caller leave;
 *  - `past`: one that the conversation went on after. */
export type Weight = 'ended' | 'open' | 'past';

export interface Finding {
  verdict: VerdictName;
  /** Default: the verdict's. */
  party?: Party;
  weight: Weight;
  at: Moment | undefined;
  service?: ServiceRef;
  tool?: string;
  /** Whether the telephony provider is the place. */
  isAtProvider?: boolean;
  values?: Readonly<Record<string, string | number>>;
  evidence: readonly Moment[];
}

const JOBS: Readonly<Record<ServiceRef['job'], string>> = {
  llm: 'language model',
  tts: 'voice',
  stt: 'recogniser',
};

export function jobText(job: ServiceRef['job']): string {
  return JOBS[job];
}

/** The service that the run used for a job, by the run's row. */
export function configuredService({ run }: CallFacts, job: ServiceRef['job']): ServiceRef {
  const known = run.initialContext['runtime_configuration'];
  const names = isObject(known) ? known : {};
  const model = textIn(names, `${job}_model`) ?? null;
  return { job, name: textIn(names, `${job}_provider`) ?? 'in use', model };
}

/** The telephony provider of the run's calls, as summaries name it. */
export interface Line {
  name: string;
  /** Whether it is a PBX of the user, not a provider on the internet. */
  isPbx: boolean;
}

export function lineOf({ run }: Pick<CallFacts, 'run'>): Line {
  const definition = definitions.find(({ name }) => name === run.mode);
  if (definition === undefined) return { name: run.mode, isPbx: false };
  return { name: definition.displayName, isPbx: definition.kind !== 'hosted' };
}

/** `1 turn`, `3 turns`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

export function times(count: number): string {
  if (count === 1) return 'once';
  return count === 2 ? 'twice' : `${count} times`;
}
