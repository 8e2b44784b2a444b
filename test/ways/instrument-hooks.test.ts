// What the hook of `npm run ways` makes of the gateway's modules: they do what they did, and every function reports that
// it runs. Entries and exits are named by file and function, so the names must be those of the source.

import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { ENTRIES, EXITS, load } from './instrument-hooks.mjs';

const compilerOptions = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext };

async function instrumented(path: string, source: string, format = 'module'): Promise<string> {
  const loaded = await load(`file://${path}`, {}, () => Promise.resolve({ format, source }));
  return String(loaded.source);
}

const FORMS = `
function declared(a = 1) { return a + 1; }
const arrow = (x) => ({ x });
const chained = (a) => (b) => a + b;
class Base {}
class Thing extends Base {
  #held = 1;
  constructor() { super(); }
  get held() { return this.#held; }
  set held(value) { this.#held = value; }
  #read() { return this.held; }
  read() { return this.#read(); }
  static made() { const thing = new Thing(); thing.held = 7; return thing; }
  async later() { await null; return this.#held; }
  *each() { yield this.#held; }
}
const object = { method() { return arguments.length; }, named: () => 5 };
const empty = () => {};
const thing = Thing.made();
const result = [
  declared(), arrow(3).x, chained(1)(2), thing.read(), [...thing.each()][0], object.method(1, 2), object.named(), empty(),
];
thing.later().then((value) => report([...result, value]));
`;

describe('the hook of modules', () => {
  it('leaves functions of every form as they were, and reports each', async () => {
    const code = await instrumented('/gateway/dist/call/forms.js', FORMS);
    const ran: string[] = [];
    const report = new Promise<unknown[]>((resolve) => {
      vm.runInNewContext(code, { ways: { ran: (id: string) => ran.push(id) }, report: resolve });
    });
    expect([...(await report)]).toEqual([2, 3, 3, 7, 7, 2, 5, undefined, 7]);
    const names = ['declared', 'held', '#read', 'read', 'made', 'later', 'each'];
    for (const name of [...names, 'method', 'named', '']) {
      expect(ran).toContain(`call/forms#${name}`);
    }
  });

  it.each([
    ['a package of the gateway', '/gateway/dist/node_modules/parcel/index.js', 'module'],
    ['a package with a dist of its own', '/gateway/node_modules/parcel/dist/index.js', 'module'],
    ['what is not built', '/gateway/src/call/forms.js', 'module'],
    ['what is no module', '/gateway/dist/call/forms.js', 'commonjs'],
  ])('leaves alone %s', async (_word, path, format) => {
    expect(await instrumented(path, FORMS, format)).toBe(FORMS);
  });

  const marked = [
    ...[...ENTRIES].map((id) => [id, 'enter']),
    ...[...EXITS].map((id) => [id, 'leave']),
  ];
  it.each(marked)('finds %s in the source, for `%s`', async (id, way) => {
    const [file = ''] = id?.split('#') ?? [];
    const source = readFileSync(`src/${file}.ts`, 'utf8');
    const { outputText } = ts.transpileModule(source, { compilerOptions });
    const code = await instrumented(`/gateway/dist/${file}.js`, outputText);
    expect(code).toContain(`globalThis.ways.${way}("${id}", `);
    const { diagnostics } = ts.transpileModule(code, { compilerOptions, reportDiagnostics: true });
    expect(diagnostics?.map(({ messageText }) => messageText)).toEqual([]);
  });
});
