// XML as providers read documents of calls: a strict little reader.

export interface Element {
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

/** Throws for what is not well-formed. */
export function readXml(document: string): Element {
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
