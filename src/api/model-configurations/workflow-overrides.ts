// Speech services of a workflow, in its `workflow_configurations`: checked like those of an organization. Source:
// contract §5.5 and §10.4.

import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '../../errors/gateway-error.ts';
import { formFields } from '../../model/speech-services/form-values.ts';
import {
  type ConfiguredSections,
  configuredSections,
  modelConfiguration,
} from '../../model/speech-services/model-configuration.ts';
import { maskedField } from '../../model/speech-services/service-masks.ts';
import { ServicesRefused } from '../../model/speech-services/services-refused.ts';
import { mergedSections } from '../../model/speech-services/speech-settings.ts';
import { isObject } from '../../std/json.ts';
import {
  type CallConfiguration,
  type ServicesRead,
  sectionsInUse,
} from '../../store/library/model-configurations.ts';
import { requireUnmasked, withSecretsOf } from './configuration-checks.ts';
import { pipelineOf, type ServiceRouteDeps } from './model-configuration-routes.ts';
import { asConfiguration, modelConfigurationIn } from './model-configuration-schema.ts';

type Settings = Readonly<Record<string, unknown>>;

/** Services of an organization from which overrides may take keys, read once for all of them. */
export class UsedServices {
  readonly #read: () => Promise<ServicesRead>;
  #reading: Promise<ServicesRead> | undefined;

  constructor({ store }: Pick<ServiceRouteDeps, 'store'>, organizationId: string) {
    this.#read = () => store.modelConfigurations.read(organizationId);
  }

  async used(): Promise<CallConfiguration> {
    this.#reading ??= this.#read();
    return (await this.#reading).used;
  }

  /** Whether the services are still those that were read, if any were. */
  readonly isStill: ServicesRead['isStill'] = async (tx) => {
    return this.#reading === undefined || (await this.#reading).isStill(tx);
  };
}

const WHOLE = 'model_configuration_v2_override';
const PARTS = 'model_overrides';

/** The overrides of `sent` in stored form. Only changed services are asked. Throws SERVICES_INVALID,
 *  SERVICE_KEY_MASKED, MODEL_MODE_UNSUPPORTED, TOO_MANY_ATTEMPTS. */
export async function storableOverrides(
  deps: ServiceRouteDeps,
  organizationId: string,
  { sent, stored, services }: { sent: Settings; stored: Settings; services: UsedServices },
): Promise<Settings> {
  const whole = sent[WHOLE] ?? null;
  const parts = sent[PARTS] ?? null;
  if (whole === null && parts === null) return {};
  const used = sectionsInUse(await services.used());
  return {
    ...(whole === null
      ? {}
      : { [WHOLE]: await storableWhole(deps, organizationId, { whole, stored, used }) }),
    ...(parts === null
      ? {}
      : { [PARTS]: await storableParts(deps, organizationId, { parts, stored, used }) }),
  };
}

async function storableWhole(
  deps: ServiceRouteDeps,
  organizationId: string,
  of: { whole: unknown; stored: Settings; used: ConfiguredSections },
): Promise<unknown> {
  const parsed = modelConfigurationIn.safeParse(of.whole);
  if (!parsed.success) throw invalid(WHOLE);
  const known = modelConfiguration.safeParse(of.stored[WHOLE]).data;
  const sent = withSecretsOf([known?.byok.pipeline, of.used], pipelineOf(parsed.data));
  requireUnmasked(sent);
  const sections = await deps.checks.storable(sent);
  const configuration = asConfiguration(sections);
  if (!isDeepStrictEqual(configuration, of.stored[WHOLE])) {
    await deps.checks.requireAccepted(organizationId, sections);
  }
  return configuration;
}

/** The parts as sent, with masks replaced by secrets: each call takes the rest from `used`. */
export async function storableParts(
  deps: ServiceRouteDeps,
  organizationId: string,
  of: { parts: unknown; stored: Settings; used: ConfiguredSections },
): Promise<unknown> {
  if (!isObject(of.parts)) throw invalid(PARTS);
  const parts = formParts(of.parts, of.used);
  if (parts['is_realtime'] === true) {
    throw new GatewayError('MODEL_MODE_UNSUPPORTED', { mode: 'realtime' });
  }
  const former = of.stored[PARTS];
  const known = isObject(former) ? mergedSections(of.used, former) : undefined;
  const merged = withSecretsOf([known, of.used], mergedSections(of.used, parts));
  requireUnmasked(merged);
  const jobs = (['llm', 'tts', 'stt'] as const).filter((job) => isObject(parts[job]));
  const changed = Object.fromEntries(jobs.map((job) => [job, merged[job]]));
  const sections = await deps.checks.storable(configuredSections.parse(changed));
  const restored = unmaskedParts(parts, merged);
  if (!isDeepStrictEqual(restored, former))
    await deps.checks.requireAccepted(organizationId, sections);
  return restored;
}

/** `parts` with form texts converted to their values. */
function formParts(parts: Settings, used: ConfiguredSections): Settings {
  const entries = (['llm', 'tts', 'stt'] as const).flatMap((job) => {
    const part = parts[job];
    const provider = isObject(part) ? (part['provider'] ?? used[job]?.provider) : undefined;
    if (!isObject(part) || typeof provider !== 'string') return [];
    return [[job, formFields(job, provider, part)]];
  });
  return { ...parts, ...Object.fromEntries(entries) };
}

/** `parts` with every masked secret replaced by that of `merged`. */
function unmaskedParts(parts: Settings, merged: ConfiguredSections): Settings {
  const entries = Object.entries(parts).map(([job, part]) => {
    const section = merged[job as keyof ConfiguredSections];
    if (!isObject(part) || !isObject(section)) return [job, part];
    const fields = Object.entries(part).map(([name, value]) => [
      name,
      maskedField({ [name]: value }) === undefined ? value : section[name],
    ]);
    return [job, Object.fromEntries(fields)];
  });
  return Object.fromEntries(entries);
}

function invalid(name: string): ServicesRefused {
  return new ServicesRefused([{ model: 'all', message: `${name} is no model configuration` }]);
}
