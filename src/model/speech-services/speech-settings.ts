// Resolves the services of one call: the workflow's override, else the organization's configuration, else that of one
// user, else none, which means the gateway's own. Pure. Source: contract §10.4.

import type { z } from 'zod';
import { isObject } from '../../std/json.ts';
import {
  type ConfiguredSection,
  type ConfiguredSections,
  configuredSections,
  modelConfiguration,
  servicesIn,
} from './model-configuration.ts';
import {
  checkedService,
  isSameAccount,
  isServiceSecret,
  type ServiceOfJob,
  type ServiceRows,
  type SpeechJob,
  withOneKey,
  withoutNulls,
} from './service-rows.ts';
import { llmServices, sttServices, ttsServices } from './services.ts';

type SettingsOf<Rows extends ServiceRows> = z.infer<Rows[keyof Rows]>;
export type LlmSettings = SettingsOf<typeof llmServices>;
export type SttSettings = SettingsOf<typeof sttServices>;
export type TtsSettings = SettingsOf<typeof ttsServices>;

/** The primary service of each job, then its fallbacks. Empty: the gateway's own. */
export interface SpeechSettings {
  readonly stt: readonly SttSettings[];
  readonly tts: readonly TtsSettings[];
  readonly llm: readonly LlmSettings[];
}

/** A problem of the service of a job, without secrets. Wire shape of the contract (§10.4). */
export interface ServiceProblem {
  /** `llm`, `tts`, `stt`, or `all`. */
  model: string;
  message: string;
}

export interface StoredSettings {
  /** The organization's configuration with its secrets; undefined if it has none. */
  organization: unknown;
  /** The sections of one user, in the older shape. */
  legacyUser?: unknown;
  /** The workflow's `workflow_configurations`. */
  workflow: Readonly<Record<string, unknown>>;
}

/** Picks one key of a list for the whole call. `settingsOf`: the settings with that key; undefined if they are
 *  wrong. */
export type PickKey = (
  keys: readonly string[],
  of: { job: SpeechJob; settingsOf: (key: string) => object | undefined },
) => string;

/** The settings of sections. A service that this version cannot use is left out and listed in `problems`: no call fails
 *  because of it. */
export function settingsIn(
  sections: ConfiguredSections,
  pickKey: PickKey,
  problems: ServiceProblem[],
): SpeechSettings {
  const of = <Settings>(job: SpeechJob, rows: ServiceRows<Settings>): Settings[] => {
    const services = sections[job] ? servicesIn(sections[job]) : [];
    return services.flatMap((service) => {
      const one = withOneKey(service, (keys, withKey) => {
        const settingsOf = (key: string): object | undefined => {
          const checked = checkedService(rows, withKey(key));
          return 'settings' in checked ? (checked.settings as object) : undefined;
        };
        return pickKey(keys, { job, settingsOf });
      });
      const checked = checkedService(rows, one);
      if ('settings' in checked) return [checked.settings];
      problems.push({ model: job, message: checked.problem });
      return [];
    });
  };
  return {
    stt: of<SttSettings>('stt', sttServices),
    tts: of<TtsSettings>('tts', ttsServices),
    llm: of<LlmSettings>('llm', llmServices),
  };
}

/** The sections of a call, before those of single nodes. */
export function sectionsOf(stored: StoredSettings, problems: ServiceProblem[]): ConfiguredSections {
  const { organization, legacyUser, workflow } = stored;
  const overriding = pipelineOf(workflow['model_configuration_v2_override'], problems);
  if (overriding !== undefined) return overriding;
  const base = pipelineOf(organization, problems) ?? legacySections(legacyUser);
  const parts = workflow['model_overrides'];
  return isObject(parts) ? mergedSections(base, parts) : base;
}

function pipelineOf(stored: unknown, problems: ServiceProblem[]): ConfiguredSections | undefined {
  if (stored === undefined || stored === null) return undefined;
  const parsed = modelConfiguration.safeParse(stored);
  if (parsed.success) return parsed.data.byok.pipeline;
  problems.push({ model: 'all', message: 'the configuration is not one of this version' });
  return undefined;
}

function legacySections(stored: unknown): ConfiguredSections {
  const parsed = configuredSections.safeParse(stored ?? {});
  return parsed.success ? parsed.data : {};
}

const JOBS = ['llm', 'tts', 'stt'] as const;

/** Applies the older override: its fields over those of a section; with another provider it replaces the section. A
 *  service without a key gets the one that `base` has for the same account. */
export function mergedSections(
  base: ConfiguredSections,
  parts: Readonly<Record<string, unknown>>,
): ConfiguredSections {
  const known = JOBS.flatMap((job) =>
    base[job] ? servicesIn(base[job]).map((service) => ({ job, service })) : [],
  );
  const merged: ConfiguredSections = { ...base };
  for (const job of JOBS) {
    const part = parts[job];
    if (!isObject(part)) continue;
    const section = mergedSection(base[job] ?? undefined, withoutNulls(part));
    if (section !== undefined) merged[job] = withSecretsOf(known, { job, service: section });
  }
  return merged;
}

/** One merged section without the secrets of `base`, which `withSecretsOf` adds where they belong. */
function mergedSection(
  base: ConfiguredSection | undefined,
  part: Readonly<Record<string, unknown>>,
): ConfiguredSection | undefined {
  const provider = typeof part['provider'] === 'string' ? part['provider'] : base?.provider;
  if (provider === undefined) return undefined;
  const kept = base?.provider === provider ? Object.entries(base) : [];
  const open = Object.fromEntries(kept.filter(([name]) => !isServiceSecret(name)));
  const parsed = configuredSections.shape.llm.safeParse({ ...open, ...part, provider });
  return parsed.data ?? base;
}

function withSecretsOf(known: readonly ServiceOfJob[], account: ServiceOfJob): ConfiguredSection {
  const same = known.find((each) => isSameAccount(each, account));
  if (same === undefined) return account.service;
  const secrets = Object.entries(same.service).filter(([name]) => isServiceSecret(name));
  return { ...Object.fromEntries(secrets), ...account.service };
}
