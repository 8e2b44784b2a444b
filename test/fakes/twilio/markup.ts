// TwiML as Twilio reads it: the verbs that this fake carries out.

import { type Element, readXml } from '../hosted/xml.ts';

export type Verb =
  | { verb: 'Say'; text: string }
  | { verb: 'Pause'; seconds: number }
  | { verb: 'Hangup' }
  | { verb: 'Redirect'; url: string }
  | { verb: 'Reject'; reason: 'busy' | 'rejected' }
  | {
      verb: 'Dial';
      to: string;
      callerId: string | null;
      ringS: number;
      resultUrl: string | null;
    }
  | { verb: 'Conference'; name: string }
  | { verb: 'Stream'; url: string; parameters: Record<string, string> };

/** The verbs of a document, in order. Throws on XML that is not well-formed, and on verbs that this
 *  fake does not know: better loud than wrong. */
export function readTwiml(document: string): Verb[] {
  const root = readXml(document);
  if (root.name !== 'Response') throw new Error(`TwiML begins with <${root.name}>`);
  return root.children.map(readVerb);
}

function readVerb(element: Element): Verb {
  const { name, attributes, text } = element;
  switch (name) {
    case 'Say':
      return { verb: 'Say', text };
    case 'Pause':
      return { verb: 'Pause', seconds: Number(attributes['length'] ?? 1) };
    case 'Hangup':
      return { verb: 'Hangup' };
    case 'Redirect':
      return { verb: 'Redirect', url: text.trim() };
    case 'Reject':
      return { verb: 'Reject', reason: attributes['reason'] === 'busy' ? 'busy' : 'rejected' };
    case 'Dial':
      return readDial(element);
    case 'Connect':
      return readStream(element);
    default:
      throw new Error(`the fake does not know <${name}>`);
  }
}

function readDial({ attributes, children, text }: Element): Verb {
  const [noun] = children;
  if (noun?.name === 'Conference') {
    if (noun.attributes['endConferenceOnExit'] !== 'true') throw new Error('nobody would leave');
    return { verb: 'Conference', name: noun.text.trim() };
  }
  return {
    verb: 'Dial',
    to: (children[0]?.text ?? text).trim(),
    callerId: attributes['callerId'] ?? null,
    ringS: Number(attributes['timeout'] ?? 30),
    resultUrl: children[0]?.attributes['statusCallback'] ?? null,
  };
}

function readStream({ children }: Element): Verb {
  const [stream] = children;
  const url = stream?.attributes['url'];
  if (stream?.name !== 'Stream' || url === undefined) throw new Error('<Connect> without a stream');
  const parameters = stream.children.map(({ attributes }) => [
    attributes['name'] ?? '',
    attributes['value'] ?? '',
  ]);
  // A query string does not survive at Twilio.
  return {
    verb: 'Stream',
    url: url.split('?', 1)[0] ?? '',
    parameters: Object.fromEntries(parameters),
  };
}
