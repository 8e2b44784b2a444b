// The speech services of a workflow's own, in its `workflow_configurations`: checked when they are saved as those of
// an organization are. Source: contract §5.5 and §10.4.

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
import type { CallConfiguration, ServicesRead } from '../../store/library/model-configurations.ts';
import { requireUnmasked, withSecretsOf } from './configuration-checks.ts';
import { pipelineOf, type ServiceRouteDeps, sectionsInUse } from './model-configuration-routes.ts';
import { asConfiguration, modelConfigurationIn } from './model-configuration-schema.ts';

type Settings = Readonly<Record<string, unknown>>;

/** The services of an organization that overrides may take keys from, read once for all of them. */
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

  /** Whether they are those that were read, if any were. */
  readonly isStill: ServicesRead['isStill'] = async (tx) => {
    return this.#reading === undefined || (await this.#reading).isStill(tx);
  };
}

const WHOLE = 'model_configuration_v2_override';
const PARTS = 'model_overrides';

/** The overrides of `sent` as they are stored. Services are asked only about what changed. Throws SERVICES_INVALID,
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

/** Stored as sent, with the secrets that masks stand for: the rest comes from `used` at each call. */
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

/** `parts` with the values that the texts of forms stand for. */
function formParts(parts: Settings, used: ConfiguredSections): Settings {
  const entries = (['llm', 'tts', 'stt'] as const).flatMap((job) => {
    const part = parts[job];
    const provider = isObject(part) ? (part['provider'] ?? used[job]?.provider) : undefined;
    if (!isObject(part) || typeof provider !== 'string') return [];
    return [[job, formFields(job, provider, part)]];
  });
  return { ...parts, ...Object.fromEntries(entries) };
}

/** `parts` with every masked secret in place: what is merged has the secrets that the masks stand for. */
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
