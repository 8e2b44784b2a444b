// Speech services of a process: creates the plan of each call from its settings and those of its agent's nodes. Calls
// with the same settings share clients and circuit breakers. The embedded services are the last fallback of an
// organization's own.

import { GatewayError } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import { isLanguageTag } from '../model/language-tag.ts';
import { NODE_SERVICES_MAX } from '../model/speech-services/node-services.ts';
import type { SpeechJob } from '../model/speech-services/service-rows.ts';
import type {
  LlmSettings,
  SpeechSettings,
  SttSettings,
  TtsSettings,
} from '../model/speech-services/speech-settings.ts';
import type { LanguageModels } from './language-models.ts';
import type { LanguageModel } from './llm/llm.ts';
import { CallSessions } from './service/call-sessions.ts';
import { ServiceCache } from './service/service-cache.ts';
import { CircuitBreaker } from './service/service-circuit-breaker.ts';
import type { ServiceFault } from './service/service-fault.ts';
import type { ServiceMeans } from './service/service-means.ts';
import { type ServiceChange, ServiceReports } from './service/service-reports.ts';
import { SessionLimits } from './service/session-limit.ts';
import { SettingLists } from './setting-lists.ts';
import type { NodeSpeech, PlannedSpeech, SpeechPlan } from './speech-plan.ts';
import type { SttFallbackService } from './stt/fallback/recognizer-line.ts';
import type { SpeechToText } from './stt/stt.ts';
import { createSttFallback } from './stt/stt-fallback.ts';
import type { TtsFallbackService } from './tts/service-line.ts';
import { serviceVoice } from './tts/service-voice.ts';
import type { TextToSpeech } from './tts/tts.ts';
import { createTtsFallback } from './tts/tts-fallback.ts';
import { createSttService } from './vendors/stt-registry.ts';
import { createTtsService } from './vendors/tts-registry.ts';

interface SpeechServicesOptions {
  /** Services of calls without settings, and the last fallback of all others. */
  gateway: Pick<SpeechPlan, 'stt' | 'tts' | 'voice'>;
  models: LanguageModels;
  means: ServiceMeans;
  /** Call workers among which the concurrency limit of a key is divided. Default: 1. */
  workers?: number;
}

/** Settings of one node. */
export interface NodeSettings extends SpeechSettings {
  /** Language tag (BCP 47) that the node sets. */
  language?: string | undefined;
  /** Another agent of the call; undefined: the one with which it begins. */
  agent?: string;
}

/** Node names in one fault. */
const NODES_NAMED_MAX = 10;
/** Service changes that one call reports: services that fail in turn would fill the call's log. */
const CHANGES_MAX = 20;
const NO_NODES: ReadonlyMap<string, NodeSettings> = new Map();

/** One call's plan while it is made. */
interface Planning {
  faults: GatewayError[];
  held: CallSessions;
  reports: ServiceReports;
  log: Log;
}

export class SpeechServices {
  readonly models: LanguageModels;
  readonly #gateway: SpeechServicesOptions['gateway'];
  readonly #means: ServiceMeans;
  readonly #stt: ServiceCache<SpeechToText>;
  readonly #tts: ServiceCache<TextToSpeech>;
  /** Session limits of recognition. Services count recognition and synthesis separately. */
  readonly #sttSessions: SessionLimits;
  readonly #ttsSessions: SessionLimits;
  /** The embedded services, each with its circuit. */
  readonly #embeddedStt: SttFallbackService | undefined;
  readonly #embeddedTts: TtsFallbackService;

  constructor({ gateway, models, means, workers = 1 }: SpeechServicesOptions) {
    const { clock } = means;
    const { stt, tts, voice } = gateway;
    this.models = models;
    this.#gateway = gateway;
    this.#means = means;
    this.#stt = new ServiceCache(clock, 'stt');
    this.#tts = new ServiceCache(clock, 'tts');
    this.#sttSessions = new SessionLimits(clock, workers);
    this.#ttsSessions = new SessionLimits(clock, workers);
    this.#embeddedStt = stt && {
      service: stt,
      circuit: new CircuitBreaker({ clock, job: 'stt', service: stt.name }),
    };
    this.#embeddedTts = {
      service: tts,
      circuit: new CircuitBreaker({ clock, job: 'tts', service: tts.name }),
      voice,
    };
  }

  /** Plans a call that begins at `first` and whose other nodes have the settings `nodes`. Never throws: an unusable
   *  service is left out and listed in the faults, as is a service with a permanent fault from an earlier call. `log`:
   *  of the call. */
  plan(
    first: NodeSettings,
    nodes: ReadonlyMap<string, NodeSettings> = NO_NODES,
    log = this.#means.log,
  ): PlannedSpeech {
    const faults: GatewayError[] = [];
    const permanent = new CallReports<ServiceFault>();
    const changes = new CallReports<ServiceChange>(CHANGES_MAX);
    const held = new CallSessions(this.#means.clock);
    const reports = new ServiceReports({
      onPermanentFault: permanent.report,
      onChanged: changes.report,
    });
    const planning = { faults, held, reports, log };
    const lists = {
      stt: new SettingLists<SttSettings>(),
      tts: new SettingLists<TtsSettings>(),
      llm: new SettingLists<LlmSettings>(),
    };
    const numbersOf = ({ stt, tts, llm }: NodeSettings) => ({
      stt: lists.stt.add(stt),
      tts: lists.tts.add(tts),
      llm: lists.llm.add(llm),
    });
    numbersOf(first);
    const numbered = [...nodes].map(([id, node]) => ({ id, node, own: numbersOf(node) }));
    noteExcess(lists, faults);
    const { stt, unusable } = this.#recognizer(lists.stt.all, planning);
    this.#noteUnusable(
      numbered.filter(({ own }) => unusable.has(own.stt)),
      planning,
    );
    const voices = lists.tts.all.map((each) => this.#synthesizer(each, planning));
    const models = lists.llm.all.map((each) => this.#languageModel(each, planning));
    const [voice = this.#synthesizer([], planning), [llm]] = [voices[0], models];
    const ofNodes = numbered.flatMap(({ id, node, own }): [string, NodeSpeech][] => {
      const isFirst = own.stt === 0 && own.tts === 0 && own.llm === 0;
      if (isFirst && node.language === first.language) return [];
      // All nodes of an agent have the same policy: if the first one has a model, they all do.
      const isLed = node.agent !== undefined || llm !== undefined;
      const model = isLed ? (models[own.llm] ?? llm) : undefined;
      const speech = { ...(voices[own.tts] ?? voice), sttList: own.stt, llm: model };
      return [[id, { ...speech, ...languagesOf(node) }]];
    });
    const plan: SpeechPlan = {
      stt,
      ...voice,
      llm,
      ...languagesOf(first),
      ...(lists.tts.all.some(({ length }) => length > 0) && { release: () => held.release() }),
      ...(ofNodes.length > 0 && { nodes: sharedNodes(ofNodes) }),
      get onPermanentFault() {
        return permanent.listener;
      },
      set onPermanentFault(listener) {
        permanent.listener = listener;
      },
      get onServiceChanged() {
        return changes.listener;
      },
      set onServiceChanged(listener) {
        changes.listener = listener;
      },
    };
    return { plan, faults };
  }

  /** Whether a call may use the service with these settings: no recent faults, and a free session. */
  isUsable(job: SpeechJob, settings: object): boolean {
    if (job === 'llm') return this.models.isUsable(settings);
    const [services, sessions] =
      job === 'stt' ? [this.#stt, this.#sttSessions] : [this.#tts, this.#ttsSessions];
    return services.isOpenToCalls(settings) && !sessions.isFull(settings);
  }

  async close(): Promise<void> {
    const { stt, tts } = this.#gateway;
    const services = [stt, tts, this.models, ...this.#stt.all(), ...this.#tts.all()];
    await Promise.all(services.map((service) => service?.close()));
    this.#means.warm.close();
  }

  #recognizer(
    lists: readonly (readonly SttSettings[])[],
    { faults, reports, log }: Planning,
  ): { stt: SpeechToText | undefined; unusable: ReadonlySet<number> } {
    const { clock } = this.#means;
    const embedded = this.#embeddedStt;
    const usableLists = lists.map((settings) => this.#recognizers(settings, faults));
    const [services, ...others] = usableLists;
    // A node without any usable service keeps another node's list.
    const some = usableLists.find(({ length }) => length > 0);
    if (services === undefined || some === undefined) {
      return { stt: undefined, unusable: new Set() };
    }
    if (others.length === 0 && services.every((each) => each === embedded)) {
      return { stt: embedded?.service, unusable: new Set() };
    }
    const filled = others.map((each) => (each.length === 0 ? some : each));
    const stt = createSttFallback({
      services: services.length === 0 ? some : services,
      others: filled,

      clock,
      log,
      reports,
    });
    const empty = [...usableLists.keys()].filter((nth) => usableLists[nth]?.length === 0);
    return { stt, unusable: new Set(empty) };
  }

  /** Notes a fault for the owner of the nodes. Each of their recognisers has its own fault besides this one. */
  #noteUnusable(nodes: readonly { id: string }[], { faults, log }: Planning): void {
    if (nodes.length === 0) return;
    const ids = nodes.map(({ id }) => id).slice(0, NODES_NAMED_MAX);
    const more = nodes.length > ids.length ? ` and ${nodes.length - ids.length} more` : '';
    const reason = `nodes without a usable recogniser use that of another node: ${ids.join(', ')}${more}`;
    faults.push(new GatewayError('SPEECH_SETTINGS_INVALID', { section: 'stt', reason }));
    log.warn({ nodes: ids }, 'nodes without a usable recogniser');
  }

  #recognizers(settings: readonly SttSettings[], faults: GatewayError[]): SttFallbackService[] {
    const embedded = this.#embeddedStt;
    const services = settings.flatMap((each): SttFallbackService[] => {
      if (each.provider === 'pocketsphinx') return embedded === undefined ? [] : [embedded];
      const open = () => createSttService(each, this.#means);
      return usable(faults, () => {
        const found = this.#stt.of(each, each.provider, open);
        const { setsLanguage = false } = found.service.capabilities;
        const sessions = this.#sttSessions.of(each, limitIn(each));
        return { ...found, sessions, ...(setsLanguage && languageOf(each)) };
      });
    });
    if (embedded !== undefined && !services.includes(embedded)) services.push(embedded);
    noteKnownFaults(services, faults);
    return services;
  }

  #synthesizer(
    settings: readonly TtsSettings[],
    { faults, held, reports, log }: Planning,
  ): Pick<SpeechPlan, 'tts' | 'voice'> {
    const { clock } = this.#means;
    const services = settings.flatMap((each): TtsFallbackService[] => {
      if (each.provider === 'flite') return [{ ...this.#embeddedTts, voice: each.voice }];
      const open = () => serviceVoice(createTtsService(each, this.#means), clock);
      return usable(faults, () => ({
        ...this.#tts.of(each, each.provider, open),
        sessions: this.#ttsSessions.of(each, limitIn(each)),
      }));
    });
    const isEmbedded = ({ circuit }: TtsFallbackService) => circuit === this.#embeddedTts.circuit;
    if (!services.some(isEmbedded)) services.push(this.#embeddedTts);
    noteKnownFaults(services, faults);
    const [first] = services;
    if (first !== undefined && services.every(isEmbedded)) {
      return { tts: first.service, voice: first.voice };
    }
    const tts = createTtsFallback({ services, held, clock, log, reports });
    return { tts, voice: undefined };
  }

  #languageModel(
    settings: readonly LlmSettings[],
    { faults, reports, log }: Planning,
  ): LanguageModel | undefined {
    const onKnownFault = (fault: ServiceFault): void => void faults.push(fault);
    const [found = { model: this.models.of([]) }] = usable(faults, () => ({
      model: this.models.of(settings, { reports, onKnownFault, log }),
    }));
    return found.model;
  }
}

function limitIn(settings: SttSettings | TtsSettings): number | undefined {
  return 'concurrency_limit' in settings ? settings.concurrency_limit : undefined;
}

/** Opens a service. On an error returns none and adds a fault. */
function usable<Service>(faults: GatewayError[], open: () => Service): Service[] {
  try {
    return [open()];
  } catch (error) {
    faults.push(settingsFaultOf(error));
    return [];
  }
}

/** Adds the permanent faults of earlier calls, since this call uses another service and its owner needs the reason. */
function noteKnownFaults(
  services: readonly { circuit: CircuitBreaker }[],
  faults: GatewayError[],
): void {
  for (const { circuit } of services) {
    const { permanentFault } = circuit;
    if (permanentFault !== undefined && !faults.includes(permanentFault)) {
      faults.push(permanentFault);
    }
  }
}

/** Language and family of a recogniser. The family is the settings without the language: some sessions can change to
 *  another language of their family. */
function languageOf(settings: SttSettings): Pick<SttFallbackService, 'family' | 'language'> {
  const { language, ...others } = { language: undefined, ...settings };
  return typeof language === 'string' ? { family: JSON.stringify(others), language } : {};
}

/** Languages of a node. A tag in the first recogniser's settings is the language of the words; `multi` and `auto` are
 *  not tags. */
function languagesOf({ language, stt }: NodeSettings): Pick<NodeSpeech, LanguageName> {
  const { language: recognized } = { language: undefined, ...stt[0] };
  const isTag = typeof recognized === 'string' && isLanguageTag(recognized);
  const wordsLanguage = language ?? (isTag ? recognized : undefined);
  return {
    ...(language !== undefined && { language }),
    ...(wordsLanguage !== undefined && { wordsLanguage }),
  };
}

type LanguageName = 'language' | 'wordsLanguage';

/** Makes nodes with equal services share one object, so that a connection prepared for one serves the others. */
function sharedNodes(nodes: readonly [string, NodeSpeech][]): ReadonlyMap<string, NodeSpeech> {
  const shared: NodeSpeech[] = [];
  return new Map(
    nodes.map(([id, node]) => {
      const same = shared.find((each) => isSame(each, node));
      if (same === undefined) shared.push(node);
      return [id, same ?? node];
    }),
  );
}

function isSame(one: NodeSpeech, other: NodeSpeech): boolean {
  // Nodes with equal list and language have the same language of words.
  const { sttList, tts, voice, llm, language } = one;
  const isSpoken = tts === other.tts && voice === other.voice && language === other.language;
  return isSpoken && sttList === other.sttList && llm === other.llm;
}

function noteExcess(lists: Record<string, { refused: number }>, faults: GatewayError[]): void {
  for (const [section, { refused }] of Object.entries(lists)) {
    if (refused === 0) continue;
    const reason = `the nodes use more than ${NODE_SERVICES_MAX} different services`;
    faults.push(new GatewayError('SPEECH_SETTINGS_INVALID', { section, reason }));
  }
}

/** Converts an error in the settings of speech services to one with a stable code. */
export function settingsFaultOf(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const facts = { section: 'all', reason: 'unexpected' };
  return new GatewayError('SPEECH_SETTINGS_INVALID', facts, error);
}

/** Reports kept for a listener. Each service makes one or two. */
const EARLY_MAX = 20;

/** Reports of one call's services to the owner of the call: lasting faults, and changes of service because of temporary
 *  ones. Reports from before the session listens are kept for it (a greeting is synthesized while the phone rings). */
export class CallReports<Report> {
  readonly #early: Report[] = [];
  #left: number;
  #listener: ((report: Report) => void) | undefined;

  /** `max`: reports of the whole call. Later ones are dropped. */
  constructor(max = Number.POSITIVE_INFINITY) {
    this.#left = max;
  }

  get listener(): ((report: Report) => void) | undefined {
    return this.#listener;
  }

  set listener(listener: ((report: Report) => void) | undefined) {
    this.#listener = listener;
    if (listener === undefined) return;
    for (const report of this.#early.splice(0)) listener(report);
  }

  readonly report = (report: Report): void => {
    if (this.#left <= 0) return;
    this.#left -= 1;
    if (this.#listener !== undefined) this.#listener(report);
    else if (this.#early.length < EARLY_MAX) this.#early.push(report);
  };
}
