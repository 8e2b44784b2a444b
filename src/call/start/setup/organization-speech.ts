// Speech services of each call: those that its workflow's version or its organization names, else the gateway's.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import type { SpeechJob } from '../../../model/speech-services/service-rows.ts';
import {
  type LlmSettings,
  type PickKey,
  type ServiceProblem,
  type SpeechSettings,
  sectionsOf,
} from '../../../model/speech-services/speech-settings.ts';
import type { LanguageModels } from '../../../speech/language-models.ts';
import type { LanguageModel } from '../../../speech/llm/llm.ts';
import { ServiceReports } from '../../../speech/service/service-reports.ts';
import { SettingLists } from '../../../speech/setting-lists.ts';
import type { PlannedSpeech } from '../../../speech/speech-plan.ts';
import {
  type NodeSettings,
  type SpeechServices,
  settingsFaultOf,
} from '../../../speech/speech-services.ts';
import type { Random } from '../../../std/random.ts';
import type { Store } from '../../../store/store.ts';
import {
  type AgentSettings,
  agentSettings,
  languageIn,
  type SpeechAgent,
} from './agent-settings.ts';
import type {
  LanguageModelSource,
  PlannedModels,
  SpeechOwner,
  SpeechSource,
} from './call-services.ts';

interface SettingsDeps {
  store: Pick<Store, 'modelConfigurations'>;
  random: Random;
  log: Log;
}

/** Whether a service with these settings is usable at the moment. Calls use such a key if a list has one. */
type IsUsable = (job: SpeechJob, settings: object) => boolean;

const GATEWAY_SETTINGS: SpeechSettings = { stt: [], tts: [], llm: [] };
const NO_NODES: ReadonlyMap<string, NodeSettings> = new Map();

/** Reports of models for the run of a conversation. */
interface ModelReports {
  reports?: ServiceReports;
  /** A model that cannot be used, or a fault of earlier conversations that lasts. */
  onFault?: (fault: GatewayError) => void;
}

/** Language models for a process without calls. */
export class OrganizationModels implements LanguageModelSource {
  readonly #deps: SettingsDeps & { models: LanguageModels };

  constructor(deps: SettingsDeps & { models: LanguageModels }) {
    this.#deps = deps;
  }

  async languageModelOf(owner: SpeechOwner): Promise<LanguageModel | undefined> {
    const { first } = await settingsOf(this.#deps, owner, this.#isUsable);
    return this.#model(first.llm, owner);
  }

  async modelsOf(owner: SpeechOwner): Promise<PlannedModels> {
    const { first, nodes } = await settingsOf(this.#deps, owner, this.#isUsable);
    const faults = new Set<GatewayError>();
    const reports = new ServiceReports({
      onPermanentFault: (fault) => planned.onPermanentFault?.(fault),
      onChanged: (change) => planned.onServiceChanged?.(change),
    });
    const onFault = (fault: GatewayError): void => void faults.add(fault);
    const modelOf = (settings: readonly LlmSettings[]) =>
      this.#model(settings, owner, { reports, onFault });
    const llm = modelOf(first.llm);
    const planned: PlannedModels = { llm };
    if (nodes.size > 0 && (llm !== undefined || owner.others !== undefined)) {
      const lists = new SettingLists<LlmSettings>();
      lists.add(first.llm);
      const numbers = [...nodes].map(([id, node]) => [id, lists.add(node.llm)] as const);
      const all = lists.all.map((list, nth) => (nth === 0 ? llm : modelOf(list)));
      planned.nodes = new Map(numbers.map(([id, nth]) => [id, { llm: all[nth] ?? llm }]));
    }
    if (faults.size > 0) planned.faults = [...faults];
    return planned;
  }

  readonly #isUsable: IsUsable = (job, settings) =>
    job !== 'llm' || this.#deps.models.isUsable(settings);

  #model(
    settings: readonly LlmSettings[],
    owner: SpeechOwner,
    { reports, onFault }: ModelReports = {},
  ): LanguageModel | undefined {
    const { models, log } = this.#deps;
    try {
      return models.of(settings, { log: logOf(log, owner), reports, onKnownFault: onFault });
    } catch (error) {
      log.warn({ err: error, organizationId: owner.organizationId }, 'language model not usable');
      onFault?.(settingsFaultOf(error));
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
    const isUsable: IsUsable = (job, settings) => services.isUsable(job, settings);
    const settings = await settingsOf(this.#deps, owner, isUsable);
    const { first, nodes, languages, faults, languageFaults } = settings;
    const { plan, faults: unusable } = services.plan(first, nodes, logOf(this.#deps.log, owner));
    // Without a model no tool is used.
    const ofLanguages = plan.llm === undefined ? [] : languageFaults;
    return { plan, languages, faults: [...faults, ...ofLanguages, ...unusable] };
  }
}

function logOf(log: Log, { runId }: SpeechOwner): Log {
  return runId === undefined ? log : log.child({ runId });
}

interface CallSettings {
  /** Settings of the node in which the call begins. */
  first: NodeSettings;
  /** Settings of every place; empty if none has services of its own. */
  nodes: ReadonlyMap<string, NodeSettings>;
  /** Languages that the services of each agent have. */
  languages: ReadonlyMap<string, readonly string[]>;
  faults: GatewayError[];
  languageFaults: readonly GatewayError[];
}

/** Reads the settings of the owner's services. Never rejects. */
async function settingsOf(
  deps: SettingsDeps,
  owner: SpeechOwner,
  isUsable: IsUsable,
): Promise<CallSettings> {
  const { organizationId, others = [] } = owner;
  try {
    const stored = await deps.store.modelConfigurations.forCalls(organizationId);
    const problems: ServiceProblem[] = [];
    const pickKey = onceForEach((keys, { job, settingsOf: settingsWith }) => {
      const usable = keys.filter((key) => {
        const settings = settingsWith(key);
        return settings !== undefined && isUsable(job, settings);
      });
      const among = usable.length === 0 ? keys : usable;
      return among[deps.random.integer(among.length)] ?? '';
    });
    const callLanguage = languageIn(owner.configurations);
    const ofAgent = (agent: SpeechAgent): AgentSettings => {
      const workflow = agent.configurations;
      const sections = sectionsOf({ organization: undefined, ...stored, workflow }, problems);
      return agentSettings(agent, sections, { pickKey, callLanguage });
    };
    const first = ofAgent(owner);
    const all = [first, ...others.map(ofAgent)];
    const faults = [...problems, ...all.flatMap((each) => each.problems)].map(
      ({ model: section, message: reason }) =>
        new GatewayError('SPEECH_SETTINGS_INVALID', { section, reason }),
    );
    const names = ['', ...others.map(({ agent = '' }) => agent)];
    return {
      first: first.first,
      nodes: new Map(all.flatMap(({ places }) => [...places])),
      languages: new Map(all.map(({ languages }, nth) => [names[nth] ?? '', languages])),
      faults,
      languageFaults: all.flatMap((each) => each.languageFaults),
    };
  } catch (error) {
    deps.log.error(
      { err: error, organizationId },
      'speech services not read: the gateway uses its own',
    );
    return {
      first: GATEWAY_SETTINGS,
      nodes: NO_NODES,
      languages: new Map(),
      faults: [settingsFaultOf(error)],
      languageFaults: [],
    };
  }
}

/** Picks the same key of a list for all services of the call: their connections share an account. */
function onceForEach(pick: PickKey): PickKey {
  const picked = new Map<string, string>();
  return (keys, of) => {
    const name = JSON.stringify(keys);
    const key = picked.get(name) ?? pick(keys, of);
    picked.set(name, key);
    return key;
  };
}
