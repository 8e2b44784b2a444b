// Checks that every section which a comment cites is there: `contract §6.1` is a heading with that number in
// docs/contract.md. Plain Node; `npm run check` runs it.
//
// A citation is the name of a document and a place in it: `asterisk §0.3`, `contract §13.1 item 8` (of a numbered
// list, or a row of a table that begins with the number), `contract decision 2`, `contract appendix D`. More places
// of the same document may follow (`contract §6.1, §6.2 and appendix A.3`), also in words (`the contract's (§6.1)`).
// What follows the name of a standard (RFC 6455 §5.1) is the standard's and not looked at.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const [, , root = '.', fewest = '350'] = process.argv;
const FOLDERS = ['src', 'test', 'scripts', 'native'];
const SOURCES = /\.(ts|mjs|cjs|js|c|h|sql)$/;
const NOT_OURS = /\/(build|node_modules)\//;

/** Words that may stand before a place and name no document. */
const JOINING = new Set(['and', 'or', 'to', 'in', 'of', 'see', 'with', 'by', 'from', 'section']);
const STANDARD = 'a standard';

const TOKEN = new RegExp(
  [
    /(?<standard>\bRFC \d+|\bITU-T\b|\b[A-Z]\.\d{2,}\b)/,
    /\b(?<named>[a-z][a-z-]*(?:\.md)?)(?:['’]s?)?(?= (?:§|decisions? \d|[Aa]ppendix [A-Z]\b))/,
    /\b(?<told>[Cc]ontract|[Ss]pecification)\b/,
    /§(?<section>\d+(?:\.\d+)*)(?:,? items? (?<item>\d+))?/,
    /\b[Dd]ecisions? (?<decision>\d+)(?: and (?<other>\d+))?/,
    /\b[Aa]ppendix (?<appendix>[A-Z](?:\.\d+)?)\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

const documents = new Map();
const faults = [];
let citing = 0;

for (const path of FOLDERS.flatMap(filesIn)) {
  for (const { text, lines } of commentsOf(readFileSync(join(root, path), 'utf8'))) {
    const citations = [...citationsIn(text)];
    if (citations.length > 0) citing += 1;
    for (const { index, name, place } of citations) {
      const fault = faultOf(name, place);
      const [, line] = lines.findLast(([from]) => from <= index);
      if (fault !== undefined) faults.push(`${path}:${line} ${fault}`);
    }
  }
}
if (citing < Number(fewest)) {
  faults.push(`${citing} comments cite a document, fewer than the ${fewest} that there must be`);
}
process.stderr.write(faults.map((fault) => `${fault}\n`).join(''));
process.exitCode = faults.length === 0 ? 0 : 1;

function filesIn(folder) {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((path) => SOURCES.test(path) && !NOT_OURS.test(path))
    .sort();
}

/** Comments of a text. Consecutive lines of comment are one comment; `lines` has the offset at which each begins. */
function commentsOf(text) {
  const comments = [];
  let open;
  for (const [index, line] of text.split('\n').entries()) {
    const [, words] = /^\s*(?:\/\/+|\/\*+|\*+\/?|--)\s?(.*)$/.exec(line) ?? [];
    const [, behind] = /[;,{}()[\]] \/\/ (.*)$/.exec(line) ?? [];
    if (words === undefined) {
      open = undefined;
      if (behind !== undefined) comments.push({ text: behind, lines: [[0, index + 1]] });
      continue;
    }
    if (open === undefined || /^\s*\/\*/.test(line)) {
      open = { text: '', lines: [] };
      comments.push(open);
    }
    open.lines.push([open.text.length, index + 1]);
    open.text += `${words.trimEnd()} `;
  }
  return comments;
}

/** Citations in a text. A place belongs to the last document that is named before it. */
function citationsIn(text) {
  let name;
  return [...text.matchAll(TOKEN)].flatMap(({ index, groups }) => {
    name = namedBy(groups) ?? name;
    if (name === STANDARD) return [];
    // Without a document only a § is a citation: prose uses "decision" and "appendix" otherwise.
    const places = placesOf(groups).filter((place) => name !== undefined || place.startsWith('§'));
    return places.map((place) => ({ index, name, place }));
  });
}

function namedBy({ standard, named, told }) {
  if (standard !== undefined) return STANDARD;
  const word = (named ?? told)?.toLowerCase();
  return JOINING.has(word) ? undefined : word;
}

function placesOf({ section, item, decision, other, appendix }) {
  if (section !== undefined) return [`§${section}${item === undefined ? '' : ` item ${item}`}`];
  if (appendix !== undefined) return [`appendix ${appendix}`];
  return [decision, other].filter(Boolean).map((number) => `decision ${number}`);
}

/** Fault of a citation; undefined if the place exists. */
function faultOf(name, place) {
  if (name === undefined) return `${place} names no document`;
  if (name.endsWith('.md')) return `write ${name.replace(/\.md$/, '')} ${place}`;
  const places = placesIn(name);
  if (places === undefined) return `docs/${name}.md is not there`;
  return places.has(place) ? undefined : `docs/${name}.md has no ${place}`;
}

/** All places of a document; undefined without such a document. */
function placesIn(name) {
  if (!documents.has(name)) {
    const file = join(root, `docs/${name}.md`);
    documents.set(name, existsSync(file) ? readPlaces(readFileSync(file, 'utf8')) : undefined);
  }
  return documents.get(name);
}

function readPlaces(markdown) {
  const places = new Set();
  let at = '';
  let isExample = false;
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) isExample = !isExample;
    if (isExample) continue;
    const [, heading] = /^#{2,6} (.*)$/.exec(line) ?? [];
    if (heading !== undefined) {
      at = placeOfHeading(heading) ?? '';
      places.add(at);
    }
    const [, item] = /^(?:(\d+)\. |\| (\d+) \|)/.exec(line)?.filter(Boolean) ?? [];
    if (item !== undefined && at !== '') places.add(`${at} item ${item}`);
  }
  return places;
}

function placeOfHeading(heading) {
  const [, section, decision, appendix] =
    /^(?:(\d+(?:\.\d+)*)\.? |Decision (\d+)\b|(?:Appendix )?([A-Z]\.\d+|(?<=Appendix )[A-Z])\b)/.exec(
      heading,
    ) ?? [];
  if (section !== undefined) return `§${section}`;
  if (decision !== undefined) return `decision ${decision}`;
  return appendix === undefined ? undefined : `appendix ${appendix}`;
}
