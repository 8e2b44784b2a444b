// Connecting a provider's call to our media socket: the plan is made and the greeting rendered while the
// phone still rings, a single-use token goes into the URL, and a call whose media never comes is closed.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Run } from '../../model/run.ts';
import type { TelephonyConfiguration } from '../../model/telephony.ts';
import type { WorkflowVersion } from '../../model/workflow.ts';
import type {
  HostedProvider,
  TelephonyProvider,
  WebhookReply,
} from '../../telephony/provider/provider.ts';
import { clipRefsOf } from '../../workflow/engine/clip-refs.ts';
import { toolClipRefs } from '../../workflow/llm/tool-announcement.ts';
import { NO_TOOLS } from '../../workflow/tools/offered-functions.ts';
import { withRunIds } from '../setup/call-context.ts';
import type { CallDeps } from '../setup/call-deps.ts';
import { type CallPlan, planCall, planClips } from '../setup/call-plan.ts';
import { mediaUrl } from '../setup/callback-urls.ts';
import { planTools, toolFaults } from '../setup/plan-tools.ts';
import { onceFetched, type PreCallFetch, startPreCallFetch } from '../setup/pre-call-fetch.ts';
import type { CallClips } from '../setup/sound-library.ts';
import type { CallRegistry } from './call-registry.ts';
import { closeFailed } from './end-unconnected.ts';

/** A provider opens the socket within a few seconds of our answer, or not at all. */
export const TOKEN_MS = 60_000;
/** Rendering the first words ahead may take this long; it is only a warm-up. */
const PREPARE_MS = 10_000;

interface AnsweredCall<Provider extends TelephonyProvider> {
  run: Run;
  /** The version of a run that this process has only just made: nothing is to be looked up then. */
  fresh?: WorkflowVersion | undefined;
  configuration: TelephonyConfiguration;
  provider: Provider;
}

/** Throws AGENT_NOT_PUBLISHED, WORKFLOW_INVALID, QUEUE_FULL; the run is completed then. */
export async function answerProviderCall(
  deps: CallDeps,
  registry: CallRegistry,
  call: AnsweredCall<HostedProvider>,
): Promise<WebhookReply> {
  const { run } = await prepareCall(deps, registry, call);
  const token = deps.tokens.issue(run.id, TOKEN_MS);
  return call.provider.webhook.answer(mediaUrl(deps.publicUrl, run, token));
}

/** The call is expected from now on: its media may come. Throws AGENT_NOT_PUBLISHED, WORKFLOW_INVALID,
 *  QUEUE_FULL; the run is completed then. */
export async function prepareCall(
  deps: CallDeps,
  registry: CallRegistry,
  call: AnsweredCall<TelephonyProvider>,
): Promise<CallPlan> {
  try {
    return await expectCall(deps, registry, call);
  } catch (error) {
    registry.removeUnconnected(call.run.id);
    await closeFailed(deps, call, error);
    throw error;
  }
}

async function expectCall(
  deps: CallDeps,
  registry: CallRegistry,
  call: AnsweredCall<TelephonyProvider>,
): Promise<CallPlan> {
  const { configuration, provider } = call;
  const run = withRunIds(call.run);
  const version = call.fresh ?? (await adopt(deps, run));
  const policy = deps.llm === undefined ? 'scripted' : 'model';
  deps.llm?.prepare();
  const fetch = startPreCallFetch(deps, run, version.definition);
  const sounds = await planClips(deps.sounds, run, version);
  const tools = policy === 'model' ? await planTools(deps, run, version.definition) : NO_TOOLS;
  await sounds.clips.add(toolClipRefs(tools));
  const planned = planCall({ run, configuration, provider, version, policy, sounds, tools });
  const preCall = fetch && { ...fetch, context: withClips(planned.clips, fetch.context) };
  const faults = [...planned.faults, ...toolFaults(provider, tools)];
  const plan = { ...planned, preCall, faults };
  if (!registry.addPrepared(plan)) throw new GatewayError('QUEUE_FULL', { queue: 'pending calls' });
  onceFetched(plan, (initialContext) => prepareFirstWords(deps, plan, initialContext));
  return plan;
}

/** A run that another process may have made is this one's from now on. */
async function adopt({ store }: CallDeps, run: Run): Promise<WorkflowVersion> {
  await store.runs.adopt(run.id);
  const version = await store.workflows.version(run.workflowId, run.definitionId);
  if (version === undefined) throw new GatewayError('AGENT_NOT_PUBLISHED');
  return version;
}

/** The context once the clip that it may name is there too. */
async function withClips(
  clips: CallClips,
  context: PreCallFetch['context'],
): PreCallFetch['context'] {
  const fetched = await context;
  await clips.add(clipRefsOf({ nodes: [], edges: [] }, fetched));
  return fetched;
}

/** Renders into the prompt cache what the agent will say first. A failure shows again in the call. */
function prepareFirstWords(
  deps: CallDeps,
  plan: CallPlan,
  initialContext: Record<string, unknown>,
): void {
  const { actions } = plan.engine.step(plan.engine.initial, {
    type: 'started',
    at: deps.clock.now(),
    direction: plan.run.callType,
    initialContext,
  });
  const first = actions.find((action) => action.type === 'say');
  const isRecorded = first?.clipId !== undefined && plan.clips.samples(first.clipId) !== undefined;
  if (first === undefined || isRecorded) return;
  const stop = new AbortController();
  const timer = deps.clock.after(PREPARE_MS, () => stop.abort());
  const discard = { onAudio: () => undefined, onWords: () => undefined };
  deps.tts
    .synthesize({ text: first.text, voice: deps.voice }, discard, stop.signal)
    .catch((error: unknown) => deps.log.debug({ err: error }, 'first words not prepared'))
    .finally(() => timer.cancel());
}
