// Recognisers that are described as data, by the user or by a vendor's file.

import {
  type DescriptionValues,
  type RecognizerDescription,
  recognizerDescription,
} from '../../../model/speech-services/description.ts';
import type { SttServiceSettings } from '../../../model/speech-services/services.ts';
import { parseJson } from '../../../std/json.ts';
import {
  addressOf,
  headersOf,
  messageText,
  secretsOf,
  textAt,
} from '../../service/description/message-template.ts';
import { ServiceFault } from '../../service/service-fault.ts';
import { ServiceHttp } from '../../service/service-http.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import type { VendorSocketOptions } from '../../service/vendor-socket.ts';
import { vocabulary } from '../streaming/expected-vocabulary.ts';
import type { SpeechToText } from '../stt.ts';
import { type DescribedOptions, DescribedRecognizer } from './described-recognizer.ts';
import { hasInterim } from './described-results.ts';

const KEYTERMS_MAX = 100;
/** Deadline of the request: the socket waits no longer to be ready. */
const ANSWER_MS_MAX = 2_500;
const ANSWER_BYTES_MAX = 65_536;
/** Longest address. Its parameters are secrets, and the text of a fault is searched for each of them. With an address
 *  of 64 kB that takes a minute, in which all calls of the process stall. */
const ADDRESS_CHARACTERS_MAX = 2_000;
const PARAMETERS_MAX = 20;

/** Settings of a service that is described. */
interface DescribedSettings {
  provider: string;
  model: string;
  base_url: string;
  api_key?: string | undefined;
  api_secret?: string | undefined;
  language?: string | undefined;
  region?: string | undefined;
  keyterms?: readonly string[] | undefined;
}

/** Creates recognisers of a service, and has its description. */
export interface DescribedStt {
  (settings: DescribedSettings, means: ServiceMeans): SpeechToText;
  readonly description: RecognizerDescription;
}

/** A service from its description, which passes the same checks as a user's own. Users correct a wrong one with a copy in
 *  `websocket_stt`. */
export function describedStt(described: unknown): DescribedStt {
  const description = recognizerDescription.parse(described);
  return Object.assign(
    (settings: DescribedSettings, means: ServiceMeans) => create(settings, description, means),
    { description },
  );
}

export function createWebsocketStt(
  settings: SttServiceSettings<'websocket_stt'>,
  means: ServiceMeans,
): SpeechToText {
  return create(settings, settings.description, means);
}

function create(
  settings: DescribedSettings,
  description: RecognizerDescription,
  means: ServiceMeans,
): SpeechToText {
  const { provider: service, model, base_url: baseUrl, api_key: key } = settings;
  const { api_secret: secret, language, region, keyterms: own = [] } = settings;
  const http =
    description.session &&
    new ServiceHttp({
      job: 'stt',
      service,
      means,
      secrets: secretsOf({ key, secret }),
      // The socket counts its faults.
      isCounted: false,
    });
  return {
    name: service,
    model,
    capabilities: {
      interimWords: hasInterim(description),
      finalMsP99: description.final_ms_p99,
      finalize: description.finalize === undefined ? 'by-silence' : 'answered',
      ...(description.session_ms_max !== undefined && { sessionMsMax: description.session_ms_max }),
    },
    open(expectation, listener) {
      const { count_max: countMax = KEYTERMS_MAX, characters_max: charactersMax } =
        description.terms ?? {};
      const terms = vocabulary(own, expectation, countMax, charactersMax);
      const values: DescriptionValues = {
        key,
        secret,
        model,
        language,
        region,
        // Services detect the language if it is not given.
        known_language: ['auto', 'multi', 'unknown'].includes(language ?? 'auto')
          ? undefined
          : language,
        terms: terms.length === 0 ? undefined : terms,
        has_terms: terms.length === 0 ? undefined : true,
        audio: undefined,
      };
      const secrets = secretsOf(values);
      const of = { means, service, model, baseUrl, secrets, description, values, listener };
      const { session } = description;
      return new DescribedRecognizer(
        http === undefined || session === undefined
          ? of
          : { ...of, locate: locatorOf(http, session, of) },
      );
    },
    prepare: () => means.warm.prepare(baseUrl.replace(/^http/, 'ws')),
    close: async () => http?.close(),
  };
}

/** The request that opens a session before the connection. Its answer has the address of the websocket. */
function locatorOf(
  http: ServiceHttp,
  session: NonNullable<RecognizerDescription['session']>,
  of: Pick<DescribedOptions, 'service' | 'baseUrl' | 'description' | 'values'>,
): NonNullable<VendorSocketOptions['locate']> {
  const { service, baseUrl, description, values } = of;
  return async (signal) => {
    const answer = await http.request({
      method: 'POST',
      url: addressOf(baseUrl.replace(/^ws/, 'http'), description, values),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...headersOf(description.headers, values),
      },
      body: messageText(session.body, values),

      signal,
      answerMsMax: ANSWER_MS_MAX,
    });
    const body = parseJson((await answer.bytes(ANSWER_BYTES_MAX)).toString('utf8'));
    const url = textAt(body, session.url);
    if (url !== undefined && !isTooLong(url)) return url;
    const detail =
      url === undefined
        ? 'the answer has no websocket address'
        : 'the address of the websocket is too long';
    throw new ServiceFault('stt', service, 'protocol', { detail });
  };
}

function isTooLong(url: string): boolean {
  if (url.length > ADDRESS_CHARACTERS_MAX) return true;
  return (URL.parse(url)?.searchParams.size ?? 0) > PARAMETERS_MAX;
}
