// Checks before services are stored, for organizations, users and workflows: masks are resolved, fields are valid,
// addresses are permitted, and no service refuses its key or lacks its voice. Source: contract §10.4.

import type { Egress } from '../../egress/egress-rule.ts';
import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import { formSection } from '../../model/speech-services/form-values.ts';
import {
  type ConfiguredSection,
  type ConfiguredSections,
  type ConfiguredService,
  servicesIn,
} from '../../model/speech-services/model-configuration.ts';
import { maskedField, withStoredSecrets } from '../../model/speech-services/service-masks.ts';
import {
  addressesIn,
  type SpeechJob,
  storableService,
} from '../../model/speech-services/service-rows.ts';
import { ServicesRefused } from '../../model/speech-services/services-refused.ts';
import type { ServiceProblem } from '../../model/speech-services/speech-settings.ts';
import {
  checkServices,
  type ServiceToCheck,
  type ServiceVerdict,
} from '../../speech/account/service-check.ts';
import { voiceListOf } from '../../speech/vendors/vendors.ts';
import type { Clock } from '../../std/clock.ts';
import { withDeadline } from '../../std/deadline.ts';
import { SharedWork } from '../../std/shared-work.ts';
import { FailureLimiter } from '../auth/attempt-limit.ts';
import type { ApiDeps } from '../http/api-deps.ts';

export interface ModelConfigurationDeps extends ApiDeps {
  /** Egress rule for the addresses of services. */
  egress: Egress;
}

/** Checks of one organization: each is up to 24 requests to addresses that users choose. */
const OF_ORGANIZATION = { attemptsMax: 60, windowMs: 600_000 };
/** Longest name lookup. A slower name server does not prevent storing: connections check again. */
const LOOKUP_MS_MAX = 2_000;

/** Verdict without a check. */
const UNCHECKED: ServiceVerdict = {
  verdict: 'unverified',
  message: 'Not checked: too many other checks were in progress.',
  durationMs: 0,
};

const JOBS = ['llm', 'tts', 'stt'] as const;

export type CheckedService = ServiceToCheck & ServiceVerdict & { position: number };

export class ConfigurationChecks {
  readonly #deps: ModelConfigurationDeps;
  readonly #ofOrganization: FailureLimiter;
  readonly #slots: CheckSlots;
  /** Checks that requests share: several agents that are saved at once name the same services. */
  readonly #underWay = new SharedWork<ServiceVerdict[] | undefined>();

  constructor(deps: ModelConfigurationDeps) {
    this.#deps = deps;
    this.#ofOrganization = new FailureLimiter(deps.clock, OF_ORGANIZATION);
    this.#slots = new CheckSlots(deps.clock);
  }

  /** Asks the services about their keys and voices. Throws TOO_MANY_ATTEMPTS. */
  async verdicts(organizationId: string, sections: ConfiguredSections): Promise<CheckedService[]> {
    const services = [...JOBS, 'embeddings' as const].flatMap((job) =>
      servicesOf(sections[job]).map((service, position) => ({ job, service, position })),
    );
    const verdicts = await this.#asked(organizationId, services);
    return verdicts.map((verdict, nth) => ({
      ...(services[nth] as (typeof services)[number]),
      ...verdict,
    }));
  }

  /** Checks that synthesisers have the voices of nodes, by the name of the node. Throws SERVICES_INVALID,
   *  TOO_MANY_ATTEMPTS. */
  async requireVoices(
    organizationId: string,
    voices: ReadonlyMap<string, ConfiguredService>,
  ): Promise<void> {
    const listed = [...voices].filter(([, { provider }]) => voiceListOf(provider) !== undefined);
    const services = listed.map(([, service]) => ({ job: 'tts' as const, service }));
    const verdicts = await this.#asked(organizationId, services);
    const problems = verdicts.flatMap(({ verdict, message }, nth): ServiceProblem[] => {
      const node = `node ${listed[nth]?.[0] ?? ''}`;
      return verdict === 'refused' ? [{ model: 'tts', message: `${node}: ${message}` }] : [];
    });
    if (problems.length > 0) throw new ServicesRefused(problems);
  }

  async #asked(
    organizationId: string,
    services: readonly ServiceToCheck[],
  ): Promise<ServiceVerdict[]> {
    if (services.length === 0) return [];
    this.#ofOrganization.count(organizationId);
    const key = JSON.stringify([organizationId, services]);
    const verdicts = await this.#underWay.run(key, (signal) =>
      this.#slots.run(organizationId, () => checkServices(services, this.#deps, signal)),
    );
    return verdicts ?? services.map(() => UNCHECKED);
  }

  /** Asks the services. Throws SERVICES_INVALID if a service refuses its key or does not have its voice. */
  async requireAccepted(
    organizationId: string,
    sections: ConfiguredSections,
  ): Promise<CheckedService[]> {
    const verdicts = await this.verdicts(organizationId, sections);
    const refused = verdicts.filter(({ verdict }) => verdict === 'refused');
    if (refused.length === 0) return verdicts;
    throw new ServicesRefused(
      refused.map(({ job, position, message }) => problemOf(job, position, message)),
    );
  }

  /** The sections as stored. Throws SERVICES_INVALID with all faults of their fields. */
  async storable(sections: ConfiguredSections): Promise<ConfiguredSections> {
    const problems: ServiceProblem[] = [];
    const stored: ConfiguredSections = {};
    for (const job of JOBS) {
      const services = servicesOf(sections[job]).map((service, position) =>
        this.#checked(job, service).then((checked) => {
          if ('service' in checked) return checked.service;
          problems.push(problemOf(job, position, checked.problem));
          return service;
        }),
      );
      const [primary, ...fallbacks] = await Promise.all(services);
      if (primary === undefined) continue;
      stored[job] = fallbacks.length === 0 ? primary : { ...primary, fallbacks };
    }
    if (sections.embeddings?.provider === 'dograh') {
      problems.push(problemOf('embeddings', 0, dograhProblem('embeddings')));
    }
    if (problems.length > 0) throw new ServicesRefused(problems);
    return sections.embeddings ? { ...stored, embeddings: sections.embeddings } : stored;
  }

  async #checked(job: SpeechJob, service: ConfiguredService) {
    if (service.provider === 'dograh') {
      return { problem: dograhProblem(job) };
    }
    const checked = storableService(job, service);
    if ('problem' in checked) return checked;
    for (const [field, address] of addressesIn(checked.service)) {
      const problem = await this.#addressProblem(address);
      if (problem !== undefined) return { problem: `${field}: ${problem}` };
    }
    return checked;
  }

  async #addressProblem(address: string): Promise<string | undefined> {
    const host = URL.parse(address)?.host;
    // Not a URL, though the schema of its row has accepted it.
    if (host === undefined || host === '') return undefined;
    const { egress, clock } = this.#deps;
    try {
      const lookup = egress.checkResolved(`http://${host}`);
      await withDeadline(clock, LOOKUP_MS_MAX, 'name of a host', lookup);
      return undefined;
    } catch (error) {
      if (codeOf(error) === 'TIMED_OUT') return undefined;
      if (codeOf(error) !== 'OUTSIDE_FORBIDDEN' || !(error instanceof GatewayError)) throw error;
      return `leads to ${error.facts['reason'] ?? 'a private network'}`;
    }
  }
}

/** `sent` with form texts converted to their values, and masks replaced by stored secrets; earlier entries of
 *  `stored` have precedence. */
export function withSecretsOf(
  stored: readonly (ConfiguredSections | undefined)[],
  sent: ConfiguredSections,
): ConfiguredSections {
  const merged: ConfiguredSections = { ...sent };
  for (const job of JOBS) {
    const section = sent[job];
    if (!section) continue;
    merged[job] = withStoredSecrets(job, formSection(job, section), sectionsOf(stored, job));
  }
  // Embeddings have no rows: their services are those of language models.
  const { embeddings } = sent;
  if (embeddings) {
    merged.embeddings = withStoredSecrets('llm', embeddings, sectionsOf(stored, 'embeddings'));
  }
  return merged;
}

/** Throws SERVICE_KEY_MASKED. */
export function requireUnmasked(sections: ConfiguredSections): void {
  const field = maskedField(sections);
  if (field !== undefined) throw new GatewayError('SERVICE_KEY_MASKED', { field });
}

function sectionsOf(
  stored: readonly (ConfiguredSections | undefined)[],
  name: keyof ConfiguredSections,
): ConfiguredSection[] {
  return stored.flatMap((sections) => sections?.[name] ?? []);
}

function servicesOf(section: ConfiguredSection | null | undefined): ConfiguredService[] {
  return section ? servicesIn(section) : [];
}

function dograhProblem(job: string): string {
  return `BYOK ${job} cannot use Dograh provider`;
}

function problemOf(model: string, position: number, message: string): ServiceProblem {
  return { model, message: position === 0 ? message : `fallbacks.${position - 1}: ${message}` };
}

/** Concurrent checks of all organizations. */
const CHECKS_MAX = 10;
/** Concurrent checks of one organization, so that services that do not answer block no other organization's checks. */
const CHECKS_OF_ORGANIZATION_MAX = 3;
/** Longest wait for a slot: two checks whose services do not answer. */
const WAIT_MS_MAX = 8_000;

interface Waiting {
  organizationId: string;
  begin(): void;
}

/** Slots of checks: each holds sockets for seconds if its services do not answer. Checks beyond
 *  the limits wait for a slot, and do without after a time, so that none prevents storing. */
export class CheckSlots {
  readonly #clock: Clock;
  /** Number of checks in progress, by organization. */
  readonly #running = new Map<string, number>();
  /** In the order of their requests. */
  readonly #waiting = new Set<Waiting>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Settles as `check` does, which starts when the organization has a free slot. Undefined: none was free in time. */
  async run<T>(organizationId: string, check: () => Promise<T>): Promise<T | undefined> {
    if (this.#hasRoom(organizationId)) this.#take(organizationId);
    else if (!(await this.#waited(organizationId))) return undefined;
    try {
      return await check();
    } finally {
      this.#free(organizationId);
    }
  }

  /** Waits until a slot is taken for the organization. False after WAIT_MS_MAX. */
  #waited(organizationId: string): Promise<boolean> {
    return new Promise((resolve) => {
      const waiting: Waiting = {
        organizationId,
        begin: () => {
          timer.cancel();
          resolve(true);
        },
      };
      const timer = this.#clock.after(WAIT_MS_MAX, () => {
        this.#waiting.delete(waiting);
        resolve(false);
      });
      this.#waiting.add(waiting);
    });
  }

  #hasRoom(organizationId: string): boolean {
    let running = 0;
    for (const checks of this.#running.values()) running += checks;
    return running < CHECKS_MAX && this.#runningOf(organizationId) < CHECKS_OF_ORGANIZATION_MAX;
  }

  #runningOf(organizationId: string): number {
    return this.#running.get(organizationId) ?? 0;
  }

  #take(organizationId: string): void {
    this.#running.set(organizationId, this.#runningOf(organizationId) + 1);
  }

  #free(organizationId: string): void {
    const rest = this.#runningOf(organizationId) - 1;
    if (rest > 0) this.#running.set(organizationId, rest);
    else this.#running.delete(organizationId);
    for (const waiting of this.#waiting) {
      if (!this.#hasRoom(waiting.organizationId)) continue;
      this.#waiting.delete(waiting);
      this.#take(waiting.organizationId);
      waiting.begin();
    }
  }
}
