// Documents as Plivo and Vobiz read them: the verbs that the fakes carry out.

import { type Element, readXml } from '../hosted/xml.ts';

export type Verb =
  | { verb: 'Speak'; text: string }
  | { verb: 'Hangup'; reason: string | null }
  | { verb: 'Redirect'; url: string }
  | {
      verb: 'Dial';
      to: string;
      callerId: string | null;
      ringS: number;
      resultUrl: string | null;
    }
  | { verb: 'Conference'; name: string }
  | { verb: 'Stream'; url: string; keepsCallAlive: boolean };

/** The verbs of a document, in order. Throws on XML that is not well-formed, and on what the fake does not know. */
export function readDocument(document: string): Verb[] {
  const root = readXml(document);
  if (root.name !== 'Response') throw new Error(`the document begins with <${root.name}>`);
  return root.children.map(readVerb);
}

function readVerb(element: Element): Verb {
  const { name, attributes, children, text } = element;
  switch (name) {
    case 'Speak':
      return { verb: 'Speak', text };
    case 'Hangup':
      return { verb: 'Hangup', reason: attributes['reason'] ?? null };
    case 'Redirect':
      return { verb: 'Redirect', url: text.trim() };
    case 'Dial':
      return {
        verb: 'Dial',
        to: (children[0]?.text ?? '').trim(),
        callerId: attributes['callerId'] ?? null,
        ringS: Number(attributes['timeout'] ?? 120),
        resultUrl: attributes['action'] ?? null,
      };
    case 'Conference':
      if (attributes['endConferenceOnExit'] !== 'true') throw new Error('nobody would leave');
      return { verb: 'Conference', name: text.trim() };
    case 'Stream':
      return readStream(element);
    default:
      throw new Error(`the fake does not know <${name}>`);
  }
}

function readStream({ attributes, text }: Element): Verb {
  const { bidirectional, audioTrack, contentType, keepCallAlive } = attributes;
  if (bidirectional !== 'true') throw new Error('a stream in one direction');
  if (audioTrack !== 'inbound') throw new Error('a bidirectional stream has the inbound track');
  if (contentType !== 'audio/x-mulaw;rate=8000') throw new Error(`audio as ${contentType}`);
  return { verb: 'Stream', url: text.trim(), keepsCallAlive: keepCallAlive === 'true' };
}
