// The speech services of each call: those that its workflow's version or its organization names, else the gateway's.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import {
  type SpeechSettings,
  speechSettingsOf,
} from '../../model/speech-services/speech-settings.ts';
import type { LanguageModels } from '../../speech/language-models.ts';
import type { LanguageModel } from '../../speech/llm/llm.ts';
import type { PlannedSpeech } from '../../speech/speech-plan.ts';
import { type SpeechServices, settingsFaultOf } from '../../speech/speech-services.ts';
import type { Random } from '../../std/random.ts';
import type { Store } from '../../store/store.ts';
import type { LanguageModelSource, SpeechOwner, SpeechSource } from './call-services.ts';

interface SettingsDeps {
  store: Pick<Store, 'modelConfigurations'>;
  random: Random;
  log: Log;
}

const GATEWAY_SETTINGS: SpeechSettings = { stt: [], tts: [], llm: [] };

/** For a process without calls. */
export class OrganizationModels implements LanguageModelSource {
  readonly #deps: SettingsDeps & { models: LanguageModels };

  constructor(deps: SettingsDeps & { models: LanguageModels }) {
    this.#deps = deps;
  }

  async languageModelOf(owner: SpeechOwner): Promise<LanguageModel | undefined> {
    const { models, log } = this.#deps;
    const { settings } = await settingsOf(this.#deps, owner);
    try {
      return models.of(settings.llm);
    } catch (error) {
      log.warn({ err: error, organizationId: owner.organizationId }, 'language model not usable');
      return models.of([]);
    }
  }
}

export class OrganizationSpeech extends OrganizationModels implements SpeechSource {
  readonly #deps: SettingsDeps & { services: SpeechServices };

  constructor(deps: SettingsDeps & { services: SpeechServices }) {
    super({ ...deps, models: deps.services.models });
    this.#deps = deps;
  }

  async planOf(owner: SpeechOwner): Promise<PlannedSpeech> {
    const { services } = this.#deps;
    const { settings, faults } = await settingsOf(this.#deps, owner);
    const planned = services.plan(settings);
    return { plan: planned.plan, faults: [...faults, ...planned.faults] };
  }
}

/** Never rejects. */
async function settingsOf(
  { store, random, log }: SettingsDeps,
  { organizationId, configurations: workflow }: SpeechOwner,
): Promise<{ settings: SpeechSettings; faults: GatewayError[] }> {
  try {
    const stored = await store.modelConfigurations.forCalls(organizationId);
    const pickKey = (keys: readonly string[]) => keys[random.integer(keys.length)] ?? '';
    const settings = speechSettingsOf({ organization: undefined, ...stored, workflow }, pickKey);
    const faults = settings.problems.map(({ model, message }) => {
      return new GatewayError('SPEECH_SETTINGS_INVALID', { section: model, reason: message });
    });
    return { settings, faults };
  } catch (error) {
    log.error({ err: error, organizationId }, 'speech services not read, the gateway has its own');
    return { settings: GATEWAY_SETTINGS, faults: [settingsFaultOf(error)] };
  }
}
