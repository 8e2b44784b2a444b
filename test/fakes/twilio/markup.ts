// TwiML as Twilio reads it: a strict little XML reader, and the verbs that this fake carries out.

export type Verb =
  | { verb: 'Say'; text: string }
  | { verb: 'Pause'; seconds: number }
  | { verb: 'Hangup' }
  | { verb: 'Reject'; reason: 'busy' | 'rejected' }
  | { verb: 'Dial'; to: string; callerId: string | null; ringS: number }
  | { verb: 'Stream'; url: string; parameters: Record<string, string> };

interface Element {
  name: string;
  attributes: Record<string, string>;
  children: Element[];
  text: string;
}

const TOKEN =
  /<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<(\/?)([A-Za-z]+)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>|([^<]+)/y;
const ATTRIBUTE = /([\w:-]+)="([^"]*)"/g;
const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
};

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
  return {
    verb: 'Dial',
    to: (children[0]?.text ?? text).trim(),
    callerId: attributes['callerId'] ?? null,
    ringS: Number(attributes['timeout'] ?? 30),
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

function readXml(document: string): Element {
  const top: Element = { name: '', attributes: {}, children: [], text: '' };
  const open = [top];
  TOKEN.lastIndex = 0;
  let at = 0;
  for (let token = TOKEN.exec(document); token !== null; token = TOKEN.exec(document)) {
    at = TOKEN.lastIndex;
    take(token, open);
    if (at === document.length) break;
  }
  const [root] = top.children;
  if (at !== document.length || open.length !== 1 || top.children.length !== 1 || !root) {
    throw new Error(`not well-formed XML at ${at}: ${document.slice(at, at + 40)}`);
  }
  return root;
}

function take(token: RegExpExecArray, open: Element[]): void {
  const [, slash, name, attributes = '', selfClosing, text] = token;
  const parent = open.at(-1);
  if (parent === undefined) throw new Error('XML after the end');
  if (text !== undefined) {
    parent.text += unescapeXml(text);
  } else if (name !== undefined && slash === '/') {
    if (parent.name !== name) throw new Error(`</${name}> closes <${parent.name}>`);
    open.pop();
  } else if (name !== undefined) {
    const pairs = [...attributes.matchAll(ATTRIBUTE)].map(([, key = '', value = '']) => [
      key,
      unescapeXml(value),
    ]);
    const element = { name, attributes: Object.fromEntries(pairs), children: [], text: '' };
    parent.children.push(element);
    if (selfClosing !== '/') open.push(element);
  }
}

function unescapeXml(text: string): string {
  if (/&(?!(amp|lt|gt|quot|apos|#\d+);)/.test(text)) throw new Error(`unescaped & in ${text}`);
  return text.replace(/&(?:#(\d+)|(\w+));/g, (whole, code?: string, name?: string) =>
    code === undefined ? (entities[name ?? ''] ?? whole) : String.fromCodePoint(Number(code)),
  );
}
