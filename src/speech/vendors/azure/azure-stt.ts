// Azure Speech as a recogniser, over its websocket (Universal Speech Protocol). The service ends phrases after its own
// silence; no message requests the final words. A text message has header lines and a body, a binary message the length
// of its header in two bytes (big-endian), header lines and audio. Source: Azure's Speech SDK 1.52.

import {
  type RecognizerDescription,
  recognizerDescription,
} from '../../../model/speech-services/description.ts';
import type { SttServiceSettings } from '../../../model/speech-services/services.ts';
import { isObject, parseJson } from '../../../std/json.ts';
import { systemRandom } from '../../../std/random.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { DescribedRecognizer, type Wire } from '../../stt/described/described-recognizer.ts';
import { vocabulary } from '../../stt/streaming/expected-vocabulary.ts';
import type { SpeechToText } from '../../stt/stt.ts';

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

export function createAzureStt(
  settings: SttServiceSettings<'azure_speech'>,
  means: ServiceMeans,
): SpeechToText {
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

/** Random id of a connection or request: 32 hexadecimal digits. */
function hexId(): string {
  return systemRandom.bytes(16).toString('hex');
}

interface UspHead {
  path: string;
  requestId: string;
  /** ISO 8601 time. */
  timestamp: string;
}

const linesOf = ({ path, requestId, timestamp }: UspHead, type: string): string =>
  `Path: ${path}\r\nX-RequestId: ${requestId}\r\nX-Timestamp: ${timestamp}\r\nContent-Type: ${type}\r\n`;

function textFrame(head: UspHead, body: object): string {
  return `${linesOf(head, 'application/json')}\r\n${JSON.stringify(body)}`;
}

function audioFrame(head: UspHead, audio: Uint8Array): Buffer {
  const lines = Buffer.from(linesOf(head, 'audio/x-wav'));
  const length = Buffer.alloc(2);
  length.writeUInt16BE(lines.length);
  return Buffer.concat([length, lines, audio]);
}

/** Header of a WAV file of unknown length, µ-law at 8 kHz. */
function ulawHeader(): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(7, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8_000, 24);
  header.writeUInt32LE(8_000, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write('data', 36, 'latin1');
  return header;
}

/** Body of a text message, with the message's path as `path`. Undefined for anything else. */
export function readFrame(text: string): Record<string, unknown> | undefined {
  const at = text.indexOf('\r\n\r\n');
  const path = /^path:\s*([\w.]+)\s*$/im.exec(at < 0 ? text : text.slice(0, at))?.[1];
  if (path === undefined) return undefined;
  const body = at < 0 ? undefined : parseJson(text.slice(at + 4));
  return { ...(isObject(body) && body), path };
}
