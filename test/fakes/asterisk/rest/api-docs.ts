// What Asterisk tells of its own REST interface (Swagger 1.1), as far as it is played here: clients that
// build themselves from it, as ari-client does, work. Written from our routes, not from Asterisk's files.

interface Operation {
  nickname: string;
  /** What it gives: a model's name, or `void`. */
  gives: string;
  query?: string[];
  body?: string;
}

const channelMaking = [
  'endpoint',
  'extension',
  'context',
  'priority',
  'app',
  'appArgs',
  'callerId',
];
const originateQuery = [...channelMaking, 'timeout', 'otherChannelId', 'originator', 'formats'];
const mediaQuery = [
  'channelId',
  'app',
  'external_host',
  'encapsulation',
  'transport',
  'connection_type',
  'format',
  'direction',
  'data',
  'transport_data',
];

const act = (nickname: string, query: string[] = []): Operation => ({
  nickname,
  gives: 'void',
  query,
});

const resources: Record<string, Record<string, Operation>> = {
  asterisk: {
    'GET /asterisk/info': { nickname: 'getInfo', gives: 'AsteriskInfo' },
    'GET /asterisk/ping': { nickname: 'ping', gives: 'AsteriskPing' },
    'GET /asterisk/modules': { nickname: 'listModules', gives: 'List[Module]' },
    'GET /asterisk/modules/{moduleName}': { nickname: 'getModule', gives: 'Module' },
  },
  applications: {
    'GET /applications': { nickname: 'list', gives: 'List[Application]' },
    'GET /applications/{applicationName}': { nickname: 'get', gives: 'Application' },
    'PUT /applications/{applicationName}/eventFilter': {
      nickname: 'filter',
      gives: 'Application',
      body: 'filter',
    },
    'POST /applications/{applicationName}/subscription': {
      nickname: 'subscribe',
      gives: 'Application',
      query: ['eventSource'],
    },
  },
  channels: {
    'GET /channels': { nickname: 'list', gives: 'List[Channel]' },
    'POST /channels': {
      nickname: 'originate',
      gives: 'Channel',
      query: [...originateQuery, 'channelId'],
      body: 'variables',
    },
    'POST /channels/create': {
      nickname: 'create',
      gives: 'Channel',
      query: ['endpoint', 'app', 'appArgs', 'channelId', 'originator', 'formats'],
      body: 'variables',
    },
    'GET /channels/{channelId}': { nickname: 'get', gives: 'Channel' },
    'POST /channels/{channelId}': {
      nickname: 'originateWithId',
      gives: 'Channel',
      query: originateQuery,
      body: 'variables',
    },
    'DELETE /channels/{channelId}': act('hangup', ['reason_code', 'reason']),
    'POST /channels/{channelId}/continue': act('continueInDialplan', [
      'context',
      'extension',
      'priority',
      'label',
    ]),
    'POST /channels/{channelId}/redirect': act('redirect', ['endpoint']),
    'POST /channels/{channelId}/answer': act('answer'),
    'POST /channels/{channelId}/ring': act('ring'),
    'DELETE /channels/{channelId}/ring': act('ringStop'),
    'POST /channels/{channelId}/progress': act('progress'),
    'POST /channels/{channelId}/dtmf': act('sendDTMF', ['dtmf', 'before', 'between', 'duration']),
    'POST /channels/{channelId}/mute': act('mute', ['direction']),
    'DELETE /channels/{channelId}/mute': act('unmute', ['direction']),
    'POST /channels/{channelId}/hold': act('hold'),
    'DELETE /channels/{channelId}/hold': act('unhold'),
    'POST /channels/{channelId}/moh': act('startMoh', ['mohClass']),
    'DELETE /channels/{channelId}/moh': act('stopMoh'),
    'GET /channels/{channelId}/variable': {
      nickname: 'getChannelVar',
      gives: 'Variable',
      query: ['variable'],
    },
    'POST /channels/{channelId}/variable': act('setChannelVar', ['variable', 'value']),
    'POST /channels/{channelId}/dial': act('dial', ['caller', 'timeout']),
    'POST /channels/externalMedia': {
      nickname: 'externalMedia',
      gives: 'Channel',
      query: mediaQuery,
      body: 'variables',
    },
  },
  bridges: {
    'GET /bridges': { nickname: 'list', gives: 'List[Bridge]' },
    'POST /bridges': { nickname: 'create', gives: 'Bridge', query: ['type', 'bridgeId', 'name'] },
    'GET /bridges/{bridgeId}': { nickname: 'get', gives: 'Bridge' },
    'DELETE /bridges/{bridgeId}': act('destroy'),
    'POST /bridges/{bridgeId}/addChannel': act('addChannel', ['channel', 'role', 'absorbDTMF']),
    'POST /bridges/{bridgeId}/removeChannel': act('removeChannel', ['channel']),
    'POST /bridges/{bridgeId}/moh': act('startMoh', ['mohClass']),
    'DELETE /bridges/{bridgeId}/moh': act('stopMoh'),
  },
  events: {},
};

/** Events by the objects in them. */
const eventObjects: [objects: Record<string, string>, types: string[]][] = [
  [{}, ['ApplicationReplaced', 'ApplicationRegistered']],
  [{ bridge: 'Bridge' }, ['BridgeDestroyed']],
  [{ bridge: 'Bridge', channel: 'Channel' }, ['ChannelEnteredBridge', 'ChannelLeftBridge']],
  [{ caller: 'Channel', peer: 'Channel', forwarded: 'Channel' }, ['Dial']],
  [
    { channel: 'Channel' },
    [
      'ChannelCallerId',
      'ChannelConnectedLine',
      'ChannelDestroyed',
      'ChannelDialplan',
      'ChannelDtmfReceived',
      'ChannelHangupRequest',
      'ChannelStateChange',
      'ChannelVarset',
      'StasisEnd',
    ],
  ],
  [{ channel: 'Channel', replace_channel: 'Channel' }, ['StasisStart']],
];

/** `file`: `resources.json`, `channels.json`, ...; undefined if there is none. */
export function apiDocs(file: string, baseUrl: string): unknown {
  const versions = { apiVersion: '9.0.0', swaggerVersion: '1.1', basePath: baseUrl };
  if (file === 'resources.json') {
    const apis = Object.keys(resources).map((name) => ({
      path: `/api-docs/${name}.{format}`,
      description: name,
    }));
    return { ...versions, apis };
  }
  const name = file.replace(/\.json$/, '');
  const operations = resources[name];
  if (operations === undefined) return undefined;
  const apis = Object.entries(operations).map(([route, operation]) => {
    const [httpMethod = '', path = ''] = route.split(' ');
    return { path, description: path, operations: [described(httpMethod, path, operation)] };
  });
  const models = name === 'events' ? modelsOfEvents() : {};
  return { ...versions, resourcePath: `/api-docs/${name}.{format}`, apis, models };
}

function described(httpMethod: string, path: string, operation: Operation): unknown {
  const { nickname, gives, query = [], body } = operation;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => parameter(name, 'path'));
  const inQuery = query.map((name) => parameter(name, 'query'));
  const inBody = body === undefined ? [] : [parameter(body, 'body')];
  const parameters = [...inPath, ...inQuery, ...inBody];
  const summary = nickname;
  return { httpMethod, summary, nickname, responseClass: gives, parameters, errorResponses: [] };
}

function parameter(name: string, paramType: 'path' | 'query' | 'body'): unknown {
  const dataType = paramType === 'body' ? 'containers' : 'string';
  const required = paramType === 'path';
  return { name, description: name, paramType, required, allowMultiple: false, dataType };
}

function modelsOfEvents(): unknown {
  const text = { required: true, type: 'string' };
  const models = eventObjects.flatMap(([objects, types]) => {
    const entries = Object.entries(objects).map(([name, type]) => [
      name,
      { required: false, type },
    ]);
    const properties = { type: text, application: text, ...Object.fromEntries(entries) };
    return types.map((id) => [id, { id, properties }]);
  });
  return Object.fromEntries(models);
}
