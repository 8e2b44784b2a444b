// biome-ignore-all lint: a tool for moving files, deleted after the move.
// Moves the files of a checkout as a moves.json says, and rewrites every path that names one: import specifiers and
// other relative literals, literals and comments that name a file from the root or its room, documents and settings.
// native/src/ is left alone: the kernels' record holds a hash over its bytes, comments included.
// Run in the repository root, on a clean tree: node apply-moves.mjs moves.json [rules.cjs]
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const ts = createRequire(`${process.cwd()}/`)('typescript');
const [plan, rules] = process.argv.slice(2);
const { moves, extracts = [], literals = [] } = JSON.parse(readFileSync(plan, 'utf8'));
const git = (...args) => execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 26 });
const back = Object.fromEntries(Object.entries(moves).map(([from, to]) => [to, from]));
const read = (file) => readFileSync(file, 'utf8');
const write = (file, text) => {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
};
const parse = (file, text) => ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
const dot = (specifier) => (specifier.startsWith('.') ? specifier : `./${specifier}`);
const relative = (from, to) => dot(path.posix.relative(path.posix.dirname(from), to));
const resolve = (from, specifier) => path.posix.join(path.posix.dirname(from), specifier);
const edited = (text, edits) =>
  edits
    .sort((a, b) => b.start - a.start)
    .reduce((all, e) => all.slice(0, e.start) + e.text + all.slice(e.end), text);
const isCode = (file) => /\.(ts|mjs|cjs)$/.test(file);
const tracked = () =>
  git('ls-files', '-co', '--exclude-standard')
    .split('\n')
    .filter((file) => file && existsSync(file));

for (const extract of extracts) pull({ ...extract, to: back[extract.to] ?? extract.to });
const files = tracked();
const code = files.filter(
  (file) => isCode(file) && /^(src|test|scripts)\/|\.config\.ts$/.test(file),
);
for (const file of code) write(file, rewritten(file, read(file)));
for (const file of files.filter(
  (f) =>
    !code.includes(f) &&
    /\.(json|md|ya?ml|[ch])$|^(Dockerfile|\.dockerignore)$|^\.ci\//.test(f) &&
    !/^(fixtures|bench|native\/src)\/|lock\.json$/.test(f),
)) {
  const [before, after] = [read(file), fromRoot(read(file))];
  if (after !== before) write(file, after);
}
for (const { file, from, to } of literals) {
  const at = back[file] ?? file;
  if (!read(at).includes(from)) console.warn(`literal not found in ${file}: ${from}`);
  write(at, read(at).replaceAll(from, to));
}
const order = Object.entries(moves).filter(([from, to]) => from !== to);
for (const [from, to] of order) {
  mkdirSync(path.dirname(to), { recursive: true });
  git('mv', '-k', from, `${to}.moving`);
}
for (const [from, to] of order)
  if (existsSync(`${to}.moving`)) git('mv', `${to}.moving`, to);
  else console.warn(`not moved: ${from}`);
if (rules) write('.dependency-cruiser.cjs', read(rules));
git('add', '-A');
console.log(`${order.length} moved, ${extracts.length} extracts`);

/** Text of one code file with every path in it as it will be. */
function rewritten(file, text) {
  const source = parse(file, text);
  const home = moves[file] ?? file;
  const edits = [];
  const visit = (node) => {
    const isWhole = ts.isStringLiteralLike(node);
    if (isWhole && node.text.startsWith('.') && node.text.includes('/'))
      replace(node, newSpecifier(file, home, node.text));
    else if (isWhole || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      edits.push({ start: node.getStart(), end: node.end, text: fromRoot(node.getText()) });
    ts.forEachChild(node, visit);
  };
  const replace = (node, to) =>
    to !== node.text && edits.push({ start: node.getStart() + 1, end: node.end - 1, text: to });
  visit(source);
  for (const { pos, end } of comments(source, text))
    edits.push({ start: pos, end, text: inComment(file, home, text.slice(pos, end)) });
  return edited(text, edits);
}

function newSpecifier(file, home, specifier) {
  const target = resolve(file, specifier);
  if (moves[target]) return relative(home, moves[target]);
  if (home === file || !existsSync(target)) {
    if (
      home !== file &&
      /\/$|\.\w+$/.test(specifier) &&
      home.split('/').length !== file.split('/').length
    )
      console.warn(`${file}: '${specifier}' leads nowhere; check it`);
    return specifier;
  }
  const to = relative(home, target.replace(/\/$/, ''));
  return statSync(target).isDirectory() && specifier.endsWith('/') ? `${to}/` : to;
}

function fromRoot(text) {
  return text.replace(
    /(?<=(?<![\w./-])(?:\.\/)?)(?<![\w-])(src|test|dist)\/[\w./-]+?\.(ts|js)\b/g,
    (found) => {
      if (!found.startsWith('dist/')) return moves[found] ?? found;
      return (moves[found.replace(/^dist/, 'src').replace(/js$/, 'ts')] ?? found)
        .replace(/^src/, 'dist')
        .replace(/ts$/, 'js');
    },
  );
}

/** `src/a/b.ts`, `a/b`, and `b.ts` of the same folder, where they name files that have moved. */
function inComment(file, home, comment) {
  return fromRoot(comment).replace(
    /(?<![\w./§-])[a-z][\w-]*(\/[\w-]+)*(\.ts)?(?![\w/-]|\.\w)/g,
    (found) => {
      const bare = found.replace(/\.ts$/, '');
      const suffix = found.slice(bare.length);
      if (bare.includes('/') && moves[`src/${bare}.ts`])
        return moves[`src/${bare}.ts`].slice(4, -3) + suffix;
      const beside = moves[resolve(file, `${bare}.ts`)];
      if (suffix && beside && !bare.includes('/'))
        return path.posix.dirname(beside) === path.posix.dirname(home)
          ? path.posix.basename(beside)
          : beside.replace(/^(src|test)\//, '');
      return found;
    },
  );
}

function comments(source, text) {
  const found = new Map();
  const visit = (node) => {
    for (const range of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? [])
      found.set(range.pos, range);
    for (const range of ts.getTrailingCommentRanges(text, node.end) ?? [])
      found.set(range.pos, range);
    for (const child of node.getChildren(source))
      if (child.kind !== ts.SyntaxKind.JSDoc) visit(child);
  };
  visit(source);
  return [...found.values()];
}

/** Moves declarations into another file (paths of today) and has every importer follow. */
function pull({ from, names, to, head }) {
  const text = read(from);
  const source = parse(from, text);
  const isPulled = (s) =>
    names.includes(s.name?.text ?? s.declarationList?.declarations[0]?.name.text);
  const pulled = source.statements.filter(isPulled);
  const rest = edited(
    text,
    pulled.map((s) => ({ start: s.getStart(source, true), end: s.end + 1, text: '' })),
  ).replace(/\n{3,}/g, '\n\n');
  const body = pulled.map((s) => text.slice(s.getStart(source, true), s.end)).join('\n\n');
  const declared = source.statements
    .filter((s) => !isPulled(s))
    .map((s) => s.name?.text)
    .filter(Boolean);
  const needs = [...imported(source)]
    .map(([name, i]) => [name, i.from, i.isType])
    .concat(declared.map((n) => [n, relative(to, from), true, true]));
  const wanted = needs
    .filter(([name]) => uses(body, name))
    .map(([name, at, isType, isOwn]) => ({
      name,
      at: isOwn || !at.startsWith('.') ? at : relative(to, resolve(from, at)),
      isType,
    }));
  const lines = wanted
    .filter(({ at }) => resolve(to, at) !== to)
    .map(({ name, at, isType }) => `import ${isType ? 'type ' : ''}{ ${name} } from '${at}';`)
    .join('\n');
  write(
    to,
    existsSync(to)
      ? withImports(read(to), lines) + `\n${body}\n`
      : `${head}\n\n${lines}${lines && '\n\n'}${body}\n`,
  );
  const own = names
    .filter((n) => uses(rest, n))
    .map((n) => `import ${isValue(pulled, n) ? '' : 'type '}{ ${n} } from '${relative(from, to)}';`)
    .join('\n');
  write(from, withoutUnused(from, withImports(rest, own)));
  for (const file of tracked().filter((f) => isCode(f) && /^(src|test)\//.test(f) && f !== from)) {
    const old = read(file);
    if (!old.includes(path.posix.basename(from))) continue;
    const tree = parse(file, old);
    const edits = [];
    for (const s of tree.statements) {
      if (
        !ts.isImportDeclaration(s) ||
        resolve(file, s.moduleSpecifier.text) !== from ||
        !s.importClause?.namedBindings?.elements
      )
        continue;
      const all = s.importClause.namedBindings.elements.map((e) => e.getText());
      const gone = all.filter((e) => names.includes(e.replace(/^type /, '').replace(/ as .*/, '')));
      if (gone.length === 0) continue;
      const word = s.importClause.isTypeOnly ? 'import type' : 'import';
      const line = (list, at) =>
        list.length ? `${word} { ${list.join(', ')} } from '${at}';` : '';
      edits.push({
        start: s.getStart(),
        end: s.end,
        text: [
          line(
            all.filter((e) => !gone.includes(e)),
            s.moduleSpecifier.text,
          ),
          file === to ? '' : line(gone, relative(file, to)),
        ]
          .filter(Boolean)
          .join('\n'),
      });
    }
    if (edits.length) write(file, edited(old, edits));
  }
}

function imported(source) {
  const found = new Map();
  for (const s of source.statements)
    if (ts.isImportDeclaration(s))
      for (const e of s.importClause?.namedBindings?.elements ?? [])
        found.set(e.name.text, {
          from: s.moduleSpecifier.text,
          isType: s.importClause.isTypeOnly || e.isTypeOnly,
        });
  return found;
}

function uses(text, name) {
  return new RegExp(`(?<![\\w.'])${name}\\b`).test(text.replace(/^\s*(\/\/|\/?\*).*$/gm, ''));
}
function isValue(statements, name) {
  return statements.some(
    (s) => ts.isVariableStatement(s) && s.declarationList.declarations[0].name.text === name,
  );
}
function withImports(text, lines) {
  if (!lines) return text;
  const at = text.search(/^import /m);
  return at >= 0
    ? `${text.slice(0, at)}${lines}\n${text.slice(at)}`
    : text.replace(/\n\n/, `\n\n${lines}\n\n`);
}
function withoutUnused(file, text) {
  const tree = parse(file, text);
  const rest = edited(
    text,
    tree.statements
      .filter(ts.isImportDeclaration)
      .map((s) => ({ start: s.getStart(), end: s.end, text: '' })),
  );
  const edits = [];
  for (const s of tree.statements.filter(ts.isImportDeclaration)) {
    const all = s.importClause?.namedBindings?.elements;
    const kept = all?.filter((e) => uses(rest, e.name.text));
    if (!all || kept.length === all.length) continue;
    edits.push({
      start: s.getStart(),
      end: s.end + (kept.length ? 0 : 1),
      text: kept.length
        ? `import ${s.importClause.isTypeOnly ? 'type ' : ''}{ ${kept.map((e) => e.getText()).join(', ')} } from '${s.moduleSpecifier.text}';`
        : '',
    });
  }
  return edited(text, edits);
}
