// The HTTP server: hooks for every request, then the routes. Media sockets belong to transport; they use the same port
// through the upgrades of `app.server`. Source: contract §1.

import cookie from '@fastify/cookie';
import cors from '@fastify/cors';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import fastify, {
  type FastifyBaseLogger,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Egress } from '../egress/egress-rule.ts';
import { GatewayError } from '../errors/gateway-error.ts';
import { requestSeconds } from '../metrics/api-metrics.ts';
import { metricsText } from '../metrics/exposition.ts';
import { registry } from '../metrics/metrics.ts';
import { inShare } from '../std/work-share.ts';
import { apiKeyRoutes } from './accounts/api-key-routes.ts';
import { authRoutes, logInRoutes } from './accounts/auth-routes.ts';
import { organizationRoutes } from './accounts/organization-routes.ts';
import { userRoutes } from './accounts/user-routes.ts';
import { type QUEUES, RequestAdmission } from './admission/admission.ts';
import { admissionOf } from './admission/route-admissions.ts';
import { isSameSecret } from './auth/same-secret.ts';
import { campaignResultRoutes } from './campaigns/campaign-result-routes.ts';
import { campaignRoutes } from './campaigns/campaign-routes.ts';
import { campaignStateRoutes } from './campaigns/campaign-state-routes.ts';
import { contactPreviewRoutes } from './campaigns/contact-preview-routes.ts';
import { type TextChatDeps, textChatRoutes } from './chats/text-chat-routes.ts';
import { type ConsoleDeps, consoleRoutes } from './console/console-routes.ts';
import { webhookDeliveryRoutes } from './deliveries/delivery-routes.ts';
import { downloadRoutes } from './files/download-routes.ts';
import { fileRoutes } from './files/file-link-routes.ts';
import { type PeakDeps, peakRoutes } from './files/peak-routes.ts';
import { type RecordingDeps, recordingRoutes } from './files/recording-routes.ts';
import { UPLOAD_MS_MAX, uploadRoutes } from './files/upload-routes.ts';
import { clusterRoutes } from './health/cluster-routes.ts';
import { healthRoutes } from './health/health-routes.ts';
import { loadRoutes } from './health/load-routes.ts';
import { probeRoutes } from './health/probe-routes.ts';
import { systemRoutes } from './health/system-routes.ts';
import type { SystemDeps } from './health/system-watch.ts';
import { knownPaths } from './http/allowed-methods.ts';
import type { Api, ApiDeps } from './http/api-deps.ts';
import { keyGuard } from './http/authentication.ts';
import { markKeyNeeded, refuseByHeaders } from './http/early-refusal.ts';
import { sendFault } from './http/error-reply.ts';
import {
  answerParserError,
  namesItsHost,
  refuseExpectation,
  refuseTunnel,
} from './http/raw-requests.ts';
import { BODY_BYTES_MAX, BODY_MS_MAX, readBodies, readQuery } from './http/request-bodies.ts';
import { addSecurityHeaders, DOCS_POLICY } from './http/security-headers.ts';
import { validatorCompiler } from './http/validation.ts';
import {
  ConfigurationChecks,
  type ModelConfigurationDeps,
} from './model-configurations/configuration-checks.ts';
import { defaultRoutes } from './model-configurations/default-routes.ts';
import { modelConfigurationRoutes } from './model-configurations/model-configuration-routes.ts';
import { userConfigurationRoutes } from './model-configurations/user-configuration-routes.ts';
import { voiceRoutes } from './model-configurations/voice-routes.ts';
import { openApiOptions } from './openapi/document.ts';
import { reportRoutes } from './reports/report-routes.ts';
import { usageRoutes } from './reports/usage-routes.ts';
import { activeCallRoutes } from './runs/active-call-routes.ts';
import { eventLogRoutes } from './runs/event-log-routes.ts';
import { eventRoutes } from './runs/event-stream-routes.ts';
import { runRoutes } from './runs/run-routes.ts';
import { runSearchRoutes } from './runs/run-search-routes.ts';
import { agentStartRoutes } from './runs/start-call-routes.ts';
import { runStartRoutes } from './runs/test-call-routes.ts';
import { webCallRoutes } from './runs/web-call-routes.ts';
import { whyRoutes } from './runs/why-routes.ts';
import { asteriskFilesRoute } from './telephony/asterisk-files-routes.ts';
import type { ConfigurationDeps } from './telephony/configuration-addresses.ts';
import { telephonyConfigurationRoutes } from './telephony/configuration-routes.ts';
import {
  type ExaminationRouteDeps,
  examinationCallRoutes,
} from './telephony/examination-call-routes.ts';
import { telephonyExaminationRoute } from './telephony/examination-routes.ts';
import { legacyConfigurationRoutes } from './telephony/legacy-configuration-routes.ts';
import { lineRoutes } from './telephony/line-routes.ts';
import { phoneNumberRoutes } from './telephony/phone-number-routes.ts';
import { telephonyWebhookRoutes } from './telephony/provider-webhook-routes.ts';
import { telephonyRoutingRoute } from './telephony/routing-routes.ts';
import { trunkRoutes } from './telephony/trunk-routes.ts';
import { waitingSoundRoutes } from './telephony/waiting-sound-routes.ts';
import { credentialRoutes } from './tools/credential-routes.ts';
import { toolRoutes } from './tools/tool-routes.ts';
import { type ToolTrialDeps, toolTestRoute } from './tools/tool-test-routes.ts';
import { type AgentWritingDeps, agentWritingRoutes } from './workflows/agent-writing-routes.ts';
import { templateRoutes, workflowCopyRoutes } from './workflows/copy-routes.ts';
import { documentRoutes } from './workflows/document-routes.ts';
import { folderRoutes } from './workflows/folder-routes.ts';
import { nodeTypeRoutes } from './workflows/node-type-routes.ts';
import { workflowVersionRoutes } from './workflows/version-routes.ts';
import { workflowRoutes } from './workflows/workflow-routes.ts';

const PREFIX = '/api/v1';
/** Longest segment of a path: trigger paths have 36 characters, storage keys fewer than 200. */
const PATH_PIECE_MAX = 300;

/** Dependencies of the API, passed in once by app/. */
export interface ServerDeps
  extends ApiDeps,
    TextChatDeps,
    ToolTrialDeps,
    ConfigurationDeps,
    ModelConfigurationDeps,
    RecordingDeps,
    PeakDeps,
    SystemDeps,
    ExaminationRouteDeps,
    AgentWritingDeps {
  /** Limits of concurrent requests. Default: QUEUES. */
  queues?: Partial<typeof QUEUES> | undefined;
  /** Whether the event loop is busy. Default: never. */
  isLoopBusy?: (() => boolean) | undefined;
  /** Egress rule for addresses of users. */
  egress: Egress;
  /** The console; undefined: it is off. */
  console?: ConsoleDeps | undefined;
  /** Token for reading /metrics; undefined: no token is needed. */
  metricsToken?: string | undefined;
}

/** Builds the server, ready to listen or to be injected. Closing it waits for requests in progress. */
export async function buildServer(deps: ServerDeps): Promise<Api> {
  const loggerInstance: FastifyBaseLogger = deps.log;
  const api = fastify({
    loggerInstance,
    logController: new LogController({
      disableRequestLogging: true,
      requestIdLogLabel: 'requestId',
    }),
    genReqId: () => deps.random.uuid(),
    bodyLimit: BODY_BYTES_MAX,
    trustProxy: [...deps.trustedProxies],
    return503OnClosing: false,
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: PATH_PIECE_MAX,
      querystringParser: readQuery,
    },
    frameworkErrors: sendFault,
    clientErrorHandler: answerParserError,
    http: { requireHostHeader: false }, // `refuseOtherHosts` answers in the contract's form.
  }).withTypeProvider<ZodTypeProvider>();

  // Everything except files must arrive sooner: api/http/request-bodies.ts closes the connection.
  api.server.headersTimeout = BODY_MS_MAX;
  api.server.requestTimeout = UPLOAD_MS_MAX;
  api.server.on('checkExpectation', refuseExpectation);
  api.server.on('connect', refuseTunnel);
  api.setValidatorCompiler(validatorCompiler);
  api.setSerializerCompiler(serializerCompiler);
  api.setErrorHandler(sendFault);
  api.decorateRequest('principal', null);
  refuseOtherHosts(api);
  addSecurityHeaders(api, deps.publicUrl);
  const { queues: limits, isLoopBusy } = deps;
  const admission = new RequestAdmission(deps.clock, { limits, isLoopBusy });
  readBodies(api, { ...deps, admission });
  observeRequests(api);
  await api.register(cors, corsOptions(deps.corsOrigins));
  if (deps.console !== undefined) await api.register(cookie);
  answerUnknownPaths(api);
  refuseByHeaders(api);
  admitRequests(api, admission);
  await api.register(swagger, openApiOptions(deps));
  await api.register(swaggerUi, { routePrefix: '/docs', staticCSP: DOCS_POLICY });
  const hasConsole = deps.console !== undefined && (await consoleRoutes(api, deps, deps.console));
  startAt(api, hasConsole ? '/console/' : '/docs');
  await api.register(openRoutes(deps), { prefix: PREFIX });
  await api.register(uploadRoutes(deps), { prefix: PREFIX });
  await api.register(guardedRoutes(deps), { prefix: PREFIX });
  probeRoutes(api, deps);
  metricsRoute(api, deps);
  await api.ready();
  return api;
}

/** Adds admission, after what is answered at once and before a key is checked. */
function admitRequests(api: Api, admission: RequestAdmission): void {
  api.decorateRequest('place', null);
  api.decorateRequest('share');
  api.addHook('onRoute', (route) => {
    route.config = { admission: admissionOf(route.schema?.operationId), ...route.config };
  });
  api.addHook('onRequest', (request, _reply, done) => {
    request.share = admission.shareOf(request);
    inShare(request.share, done);
  });
  api.addHook('onRequest', (request, reply) => admission.begin(request, reply));
  api.addHook('preParsing', async (request) => admission.pause(request));
  // Hooks after a body run in the socket's context.
  api.addHook('preValidation', (request, _reply, done) => {
    admission.renameShare(request);
    inShare(request.share, done);
  });
  api.addHook('preValidation', (request) => admission.resume(request));
  api.addHook('onSend', async (request, reply, payload) => {
    admission.end(request, reply, payload);
  });
}

/** Metrics in Prometheus' format. With a token, only for requests that send it as `Authorization: Bearer`. */
function metricsRoute(api: Api, { figures, metricsToken }: ServerDeps): void {
  const options = { schema: { hide: true }, config: { admission: 'first' as const } };
  api.get('/metrics', options, async (request, reply) => {
    const { authorization = '' } = request.headers;
    if (metricsToken !== undefined && !isSameSecret(authorization, `Bearer ${metricsToken}`)) {
      reply.header('WWW-Authenticate', 'Bearer');
      throw new GatewayError('METRICS_TOKEN_WRONG');
    }
    reply.type(registry.contentType);
    return (await figures?.()) ?? metricsText(registry);
  });
}

/** Redirects browsers at the gateway's address to the console, or to the documentation. */
function startAt(api: Api, home: string): void {
  const pages = { '/': home, [PREFIX]: '/docs' };
  for (const [url, target] of Object.entries(pages)) {
    api.get(url, { schema: { hide: true } }, async (_request, reply) =>
      reply.redirect(target, 302),
    );
  }
}

/** Refuses requests without a host or with two. */
function refuseOtherHosts(api: Api): void {
  api.addHook('onRequest', async (request) => {
    if (!namesItsHost(request.raw)) throw new GatewayError('BAD_REQUEST');
  });
}

function corsOptions(origins: '*' | readonly string[]) {
  return {
    origin: origins === '*' ? '*' : [...origins],
    credentials: origins !== '*',
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    strictPreflight: false,
    optionsSuccessStatus: 200,
  };
}

/** Routes that take no key, or check one of their own. */
function openRoutes(deps: ApiDeps) {
  return async (api: Api): Promise<void> => {
    healthRoutes(api, deps);
    loadRoutes(api, deps);
    clusterRoutes(api, deps);
    defaultRoutes(api, deps);
    templateRoutes(api);
    agentStartRoutes(api, deps);
    logInRoutes(api, deps);
    downloadRoutes(api, deps);
    eventRoutes(api, deps);
    telephonyWebhookRoutes(api, deps);
    waitingSoundRoutes(api);
    api.get('/openapi.json', { schema: { hide: true } }, async () => api.swagger());
  };
}

function guardedRoutes(deps: ServerDeps) {
  return async (api: Api): Promise<void> => {
    markKeyNeeded(api);
    api.addHook('onRequest', keyGuard(deps));
    const services = { ...deps, checks: new ConfigurationChecks(deps) };
    apiKeyRoutes(api, deps);
    authRoutes(api, deps);
    userRoutes(api, deps);
    organizationRoutes(api, deps);
    modelConfigurationRoutes(api, services);
    userConfigurationRoutes(api, services);
    voiceRoutes(api, services);
    telephonyConfigurationRoutes(api, deps);
    legacyConfigurationRoutes(api, deps);
    telephonyExaminationRoute(api, deps);
    examinationCallRoutes(api, deps);
    telephonyRoutingRoute(api, deps);
    trunkRoutes(api, deps);
    lineRoutes(api, deps);
    phoneNumberRoutes(api, deps);
    workflowRoutes(api, services);
    workflowVersionRoutes(api, deps);
    workflowCopyRoutes(api, deps);
    agentWritingRoutes(api, deps);
    folderRoutes(api, deps);
    nodeTypeRoutes(api);
    documentRoutes(api);
    credentialRoutes(api, deps);
    toolRoutes(api, deps);
    toolTestRoute(api, deps);
    campaignRoutes(api, deps);
    contactPreviewRoutes(api, deps);
    campaignStateRoutes(api, deps);
    campaignResultRoutes(api, deps);
    recordingRoutes(api, deps);
    runRoutes(api, deps);
    whyRoutes(api, deps);
    runSearchRoutes(api, deps);
    systemRoutes(api, deps);
    asteriskFilesRoute(api, deps);
    eventLogRoutes(api, deps);
    peakRoutes(api, deps);
    runStartRoutes(api, deps);
    webCallRoutes(api, deps);
    activeCallRoutes(api, deps);
    textChatRoutes(api, deps);
    reportRoutes(api, deps);
    usageRoutes(api, deps);
    fileRoutes(api, deps);
    webhookDeliveryRoutes(api, deps);
  };
}

function observeRequests(api: Api): void {
  api.addHook('onSend', async (request, reply) => {
    reply.header('X-Request-Id', request.id);
  });
  api.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown';
    const { statusCode, elapsedTime } = reply;
    const status = `${Math.floor(statusCode / 100)}xx`;
    requestSeconds.observe({ route, status }, elapsedTime / 1_000);
    const ms = Math.round(elapsedTime);
    request.log.debug(
      { method: request.method, route, status: statusCode, ms },
      'request answered',
    );
  });
}

/** Answers unknown paths: 404 in the contract's form, 405 if another method exists. Answered before a body is read:
 *  parsing costs far more than sending. */
function answerUnknownPaths(api: Api): void {
  const known = knownPaths();
  api.addHook('onRoute', ({ url, method }) => known.add(url, [method].flat()));
  api.addHook('onRequest', async (request, reply) => {
    if (request.is404) refuse(request, reply);
  });
  api.setNotFoundHandler(refuse);

  function refuse(request: FastifyRequest, reply: FastifyReply): never {
    const allowed = known.methodsAt(request.url.split('?')[0] ?? '');
    const isWrongMethod = allowed.length > 0 && !allowed.includes(request.method);
    if (!isWrongMethod) throw new GatewayError('PATH_NOT_FOUND');
    reply.header('Allow', allowed.join(', '));
    throw new GatewayError('METHOD_NOT_ALLOWED');
  }
}
