// Style rules that no linter checks.
// A rule may be loosened here, in the open, with a reason. It may not be ignored at the call site.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** Made from the API's description, and not committed. */
const MADE = 'console/api/schema.d.ts';
const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && path !== MADE)
  .map((path) => ({ path: `src/${path}`, text: readFileSync(`src/${path}`, 'utf8') }));

/** The wall. The habit is about 400 (STYLE.md, Size). */
const LINES_MAX = 600;
/** Files allowed past LINES_MAX, each with its reason. */
const longOnPurpose: Record<string, string> = {};

/** [what, pattern, only allowed in] */
const banned: [string, RegExp, RegExp?][] = [
  // A page in a browser has its clock and timers; its tests drive the browser.
  [
    'ambient clock: take a Clock',
    /\bDate\.now\(|new Date\(\)/,
    /^src\/(std\/clock\.ts$|console\/)/,
  ],
  [
    'ambient timer: take a Clock',
    /\b(setTimeout|setInterval|setImmediate|performance\.now|process\.hrtime|AbortSignal\.timeout)\b/,
    /^src\/(std\/clock\.ts$|console\/)/,
  ],
  [
    'ambient randomness: take a Random',
    /\b(Math\.random|randomUUID|randomBytes|randomInt|getRandomValues)\b/,
    /^src\/(std\/random\.ts$|console\/)/,
  ],
  ['detached async callback', /set(Timeout|Interval|Immediate)\(async\b/],
  ['z.any() accepts anything', /\bz\.any\(/],
  ['what people say, in a child logger, where nothing redacts it', /\.child\([^)]*['"]pii\./],
  ['log message with data in it', /\blog\.(trace|debug|info|warn|error|fatal)\([^)]*`/],
  [
    "duration without a unit (snake_case names are the wire's)",
    /(?<!\w)[a-zA-Z]*([tT]imeout|[dD]elay|[iI]nterval|[dD]uration|[lL]atency|[tT]tl)\??: /,
    // `duration` of a run, a stored callback and a webhook's body is the contract's word (§6.2, §6.3,
    // §12.1), `timeout` of a transfer as well (§10.1). `duration` of a recognised span is Deepgram's word, that of a
    // call and the `timeout` of a dial are Vonage's, `streamTimeout` is Plivo's and Vobiz'. The timeouts of
    // connections to Redis are ioredis's, those of connections to S3 undici's. `refetchInterval` is TanStack Query's.
    // `duration` of a key is ARI's; `timeout` is also how a wait for a place ends.
    /^src\/(call\/(webhooks\/provider-event|start\/waiting-line|why\/end-findings)|telephony\/ari\/calls\/transfer|api\/runs\/run-(schema|mapping)|speech\/vendors\/deepgram\/nova|telephony\/(vonage\/(control|ncco)|(plivo|vobiz)\/webhook)|workflow\/(nodes\/webhook-node|tools\/transfer-call-tool)|store\/(shared\/redis-pub-sub|files\/s3-requests)|console\/(pages|call)\/.*)\.tsx?$/,
  ],
  ['lint suppression without a reason', /biome-ignore [\w/]+(: <explanation>|\s*$)/m],
];

function offences(rule: RegExp, allowed?: RegExp): string[] {
  return files
    .filter(({ path }) => !allowed?.test(path))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((line, i) => (rule.test(line) ? [`${path}:${i + 1} ${line.trim()}`] : [])),
    );
}

describe('tidy', () => {
  it('no mark of unfinished work, in tests and scripts neither', () => {
    const marked = ['src', 'test', 'scripts', 'native/src', 'docs'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => /\.(tsx?|mjs|css|c|h|md)$/.test(path) && !path.includes('node_modules'))
        .map((path) => `${folder}/${path}`)
        .filter((path) => path !== 'test/tidy.test.ts')
        .filter((path) => /\b(TODO|FIXME|XXX)\b/.test(readFileSync(path, 'utf8'))),
    );
    expect(marked).toEqual([]);
  });

  it.each(banned)('%s', (_what, rule, allowed) => {
    expect(offences(rule, allowed)).toEqual([]);
  });

  it('every file says in its first lines what it is', () => {
    expect(files.filter(({ text }) => !/^\/\/ [A-Zµ]/.test(text)).map(({ path }) => path)).toEqual(
      [],
    );
  });

  it(`no file is longer than ${LINES_MAX} lines`, () => {
    const long = files.filter(
      ({ path, text }) => !(path in longOnPurpose) && text.split('\n').length > LINES_MAX,
    );
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  it('every file that may be longer is, and exists', () => {
    const long = files.filter(({ text }) => text.split('\n').length > LINES_MAX);
    expect(
      Object.keys(longOnPurpose).filter((path) => !long.some((file) => file.path === path)),
    ).toEqual([]);
  });

  it('no file for leftovers', () => {
    const leftovers = files.filter(({ path }) =>
      /(utils?|helpers?|common|misc|manager|base)\.ts$/.test(path),
    );
    expect(leftovers.map(({ path }) => path)).toEqual([]);
  });

  it('no object literal is spread into another one', () => {
    const spread = ['src', 'test', 'scripts'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((path) => /\.(ts|mjs|mts)$/.test(path) && !path.includes('node_modules'))
        .map((path) => `${folder}/${path}`)
        .filter((path) => path !== 'test/tidy.test.ts')
        .filter((path) => /\.\.\.\{/.test(readFileSync(path, 'utf8'))),
    );
    expect(spread).toEqual([]);
  });

  it('every codec and every provider has its test', () => {
    const tests = readdirSync('test', { recursive: true, encoding: 'utf8' });
    const wanted = [
      ...readdirSync('src/codec')
        .filter((name) => !['codec.ts', 'registry.ts'].includes(name))
        .map((name) => `codec/${name.replace('.ts', '.test.ts')}`),
      ...readdirSync('src/telephony', { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .flatMap(({ name }) =>
          ['webhook', 'media', 'media/media'].map((file) => `telephony/${name}/${file}`),
        )
        .filter((path) => existsSync(`src/${path}.ts`))
        .map((path) => `${path}.test.ts`),
    ];
    expect(wanted.filter((path) => !tests.includes(path))).toEqual([]);
  });
});
