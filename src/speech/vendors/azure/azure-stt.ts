// Azure Speech as a recogniser, over its websocket. The service ends phrases after its own silence; no message requests
// the final words.
// Source: Azure's Speech SDK 1.52.

import {
  type RecognizerDescription,
  recognizerDescription,
} from '../../../model/speech-services/description.ts';
import type { AzureSttSettings } from '../../../model/speech-services/schemas/cloud-stt.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { DescribedRecognizer, type Wire } from '../../stt/described/described-recognizer.ts';
import { vocabulary } from '../../stt/streaming/expected-vocabulary.ts';
import type { SpeechToText } from '../../stt/stt.ts';
import { audioFrame, hexId, readFrame, textFrame, type UspHead, ulawHeader } from './usp.ts';

const PHRASES_MAX = 100;
const PATH = '/speech/recognition/conversation/cognitiveservices/v1';
/** Silence after which the service finalizes a phrase: shorter than the end of a turn. */
const SEGMENTATION_MS = 300;

const statuses = {
  TooManyRequests: 'rate',
  BadRequest: 'request',
  // The free subscription has no quota left.
  Forbidden: 'quota',
  Error: 'overload',
} as const;

const description: RecognizerDescription = recognizerDescription.parse({
  path: PATH,
  query: {
    language: '{language}',
    format: 'detailed',
    wordLevelTimestamps: 'true',
    // Masking changes harmless words in some languages.
    profanity: 'raw',
    segmentationSilenceTimeoutMs: String(SEGMENTATION_MS),
  },
  headers: { 'ocp-apim-subscription-key': '{key}', 'x-connectionid': '{connection}' },
  audio: { format: 'ulaw8', packet_ms: 60 },
  results: [
    { when: [{ path: 'path', equals: 'speech.hypothesis' }], is: 'partial', text: 'Text' },
    {
      when: [
        { path: 'path', equals: 'speech.phrase' },
        { path: 'RecognitionStatus', equals: 'Success' },
      ],
      is: 'final',
      text: 'NBest.0.Display',
      confidence: 'NBest.0.Confidence',
      words: {
        list: 'NBest.0.Words',
        word: 'Word',
        start: 'Offset',
        length: 'Duration',
        unit: '100ns',
      },
    },
  ],
  errors: [
    {
      when: [
        { path: 'path', equals: 'speech.phrase' },
        { path: 'RecognitionStatus', in: Object.keys(statuses) },
      ],
      detail: 'RecognitionStatus',
      code: 'RecognitionStatus',
      kinds: statuses,
    },
    // The service ended the request. Another one needs another connection.
    { when: [{ path: 'path', equals: 'turn.end' }], kind: 'session' },
  ],
  closes: { '1007': 'request', '1000': 'session' },
  session_ms_max: 3_600_000,
  final_ms_p99: 1_800,
});

export function createAzureStt(settings: AzureSttSettings, means: ServiceMeans): SpeechToText {
  const { provider: service, model, region, api_key: key, language } = settings;
  const baseUrl = settings.base_url ?? `wss://${region}.stt.speech.microsoft.com`;
  return {
    name: service,
    model,
    capabilities: {
      interimWords: true,
      finalMsP99: description.final_ms_p99,
      finalize: 'by-silence',
      ...(description.session_ms_max !== undefined && { sessionMsMax: description.session_ms_max }),
    },
    open(expectation, listener) {
      const terms = vocabulary(settings.keyterms ?? [], expectation, PHRASES_MAX);
      const values = { key, model, language, connection: hexId() };
      const wire = wireOf(means, contextOf(language, terms));
      const secrets = [key];
      const of = { means, service, model, baseUrl, secrets, description, values, listener, wire };
      return new DescribedRecognizer(of);
    },
    prepare: () => means.warm.prepare(baseUrl.replace(/^http/, 'ws')),
    close: () => Promise.resolve(),
  };
}

/** Context message: it repeats the address's parameters and adds the vocabulary. */
function contextOf(language: string, terms: readonly string[]): object {
  const segmentation = { mode: 'Custom', segmentationSilenceTimeoutMs: SEGMENTATION_MS };
  const items = terms.map((text) => ({ text }));
  return {
    phraseDetection: {
      language,
      mode: 'Conversation',
      conversation: { segmentation },
      enrichment: { profanity: 'Raw' },
    },
    phraseOutput: { detailed: { options: ['WordTimings'] }, format: 'Detailed' },
    ...(terms.length > 0 && { dgi: { groups: [{ type: 'Generic', items }], bias: 1 } }),
  };
}

function wireOf({ clock }: ServiceMeans, context: object): Wire {
  const requestId = hexId();
  const head = (path: string): UspHead => ({
    path,
    requestId,
    timestamp: new Date(clock.now()).toISOString(),
  });
  let hasHeader = false;
  return {
    opening: () => [
      textFrame(head('speech.config'), SYSTEM),
      textFrame(head('speech.context'), context),
    ],
    read: readFrame,
    audio(packet) {
      const first = hasHeader ? [] : [ulawHeader()];
      hasHeader = true;
      return audioFrame(head('audio'), Buffer.concat([...first, packet]));
    },
    // An empty audio message. The open phrase and `turn.end` follow.
    end: () => audioFrame(head('audio'), new Uint8Array()),
  };
}

const SYSTEM = {
  recognition: 'conversation',
  context: {
    system: { name: 'Patchbay', version: '1', build: 'node', lang: 'JavaScript' },
    os: { platform: 'node', name: 'node', version: '20' },
    audio: {
      source: {
        type: 'Stream',
        manufacturer: 'Patchbay',
        model: 'telephone',

        connectivity: 'Unknown',
        bitspersample: 8,
        samplerate: 8_000,
        channelcount: 1,
      },
    },
  },
};
