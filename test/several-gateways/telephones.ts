// A simulated Twilio whose webhooks and media come in at the gateway that a case names, as if its balancer had chosen it;
// and an agent that speaks whenever a key is pressed.

import type { ApiClient } from '../demo/api-client.ts';
import type { FakeCall } from '../fakes/twilio/fake-call.ts';
import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import { ACCOUNT_SID, AUTH_TOKEN, twilioRow } from '../fakes/twilio/row.ts';
import type { GatewayCluster } from './cluster.ts';
import type { ClusterGateway } from './cluster-gateway.ts';
import { Ledger, msUntil, type StoredRun } from './ledger.ts';

export const OWN_NUMBER = '+15005550006';
export const PERSON = '+15005550101';
const CONNECT_MS_MAX = 20_000;
const SENTENCE = 'This is a long announcement, which is spoken without any haste. ';

/** Where what the provider sends arrives; undefined: at the balancer. */
interface Route {
  webhooks: ClusterGateway | undefined;
  media: ClusterGateway | undefined;
}

export interface Begun {
  call: FakeCall;
  run: StoredRun;
}

export class Telephones {
  readonly twilio: FakeTwilio;
  readonly workflow: { id: string; uuid: string };
  readonly #cluster: GatewayCluster;
  readonly #ledger: Ledger;
  readonly #route: Route;

  private constructor(of: {
    twilio: FakeTwilio;
    workflow: { id: string; uuid: string };
    cluster: GatewayCluster;
    route: Route;
  }) {
    this.twilio = of.twilio;
    this.workflow = of.workflow;
    this.#cluster = of.cluster;
    this.#ledger = new Ledger(of.cluster.database);
    this.#route = of.route;
  }

  /** `providerHost`: this machine as every gateway reaches it. */
  static async connect(cluster: GatewayCluster, providerHost = '127.0.0.1'): Promise<Telephones> {
    const route: Route = { webhooks: undefined, media: undefined };
    const publicHost = new URL(cluster.url).host;
    const reach = (url: string): string => {
      const to = url.startsWith('ws') ? route.media : route.webhooks;
      return to === undefined ? url : url.replace(publicHost, new URL(to.url).host);
    };
    const host = providerHost === '127.0.0.1' ? providerHost : '0.0.0.0';
    const twilio = await startFakeTwilio({
      publicWebhookBase: cluster.url,
      accountSid: ACCOUNT_SID,
      authToken: AUTH_TOKEN,
      numbers: [OWN_NUMBER],
      reach,
      host,
    });
    const api = cluster.api(1);
    const baseUrl = twilio.baseUrl.replace('127.0.0.1', providerHost);
    const workflow = await setUpAgent(api, twilioRow.configuration(baseUrl));
    return new Telephones({ twilio, workflow, cluster, route });
  }

  /** Where what the provider sends arrives from now on; undefined: at the balancer. `media`: default, the same. */
  arriveAt(webhooks: ClusterGateway | undefined, media = webhooks): void {
    this.#route.webhooks = webhooks;
    this.#route.media = media;
  }

  /** A call that rings at the gateway, and is connected when this resolves. */
  async callIn(at: ClusterGateway): Promise<Begun> {
    this.arriveAt(at);
    const call = await this.twilio.placeInboundCall({ from: PERSON, to: OWN_NUMBER });
    return await this.#connected(call);
  }

  /** A call that the gateway is asked for and holds, and that is answered. `answeredBy`: what its provider will say of who
   *  did. `webhooks`: the gateway at which everything but its media arrives. */
  async callOut(
    at: ClusterGateway,
    { answeredBy, webhooks }: { answeredBy: string; webhooks: ClusterGateway },
  ): Promise<Begun> {
    this.arriveAt(webhooks, at);
    const ringing = new Promise<FakeCall>((resolve) => this.twilio.onOutboundCall(resolve));
    await at.api(this.#cluster.apiKey).startCall(this.workflow.uuid, { phone_number: PERSON });
    const call = await ringing;
    call.answeredBy = answeredBy;
    call.answer();
    const run = await this.#ledger.byCall(call.sid);
    if (run === undefined) throw new Error('a call has no run');
    return { call, run };
  }

  close(): Promise<void> {
    return this.twilio.close();
  }

  async #connected(call: FakeCall): Promise<Begun> {
    const find = () => this.#ledger.byCall(call.sid);
    await msUntil(
      async () => call.heard.length > 0 && (await find())?.state === 'running',
      CONNECT_MS_MAX,
    );
    const run = await find();
    if (run?.state !== 'running') throw new Error(`a call is not connected: ${run?.state}`);
    return { call, run };
  }
}

async function setUpAgent(api: ApiClient, configuration: Record<string, unknown>) {
  const configurationId = await api.createConfiguration('telephones', configuration);
  const workflow = await api.createWorkflow('Announcements', AGENT);
  await api.configureWorkflow(workflow.id, {
    max_call_duration: 1_200,
    max_user_idle_timeout: 600,
    voicemail_detection: { enabled: true },
  });
  await api.addNumber(configurationId, {
    address: OWN_NUMBER,
    inbound_workflow_id: workflow.id,
    is_default_caller_id: true,
  });
  return workflow;
}

const position = { x: 0, y: 0 };
const node = (id: string, type: string, data: object) => ({
  id,
  type,
  position,
  data: { name: `Step ${id}`, prompt: 'Talk.', ...data },
});
const edge = (source: string, target: string, dtmf: string) => ({
  id: `${source}-${target}`,
  source,
  target,
  data: { label: `to ${target}`, condition: `The caller wants step ${target}.`, dtmf },
});
const AGENT = {
  nodes: [
    node('1', 'startCall', { greeting_type: 'text', greeting: 'Hello.', allow_interrupt: false }),
    node('2', 'agentNode', { say: SENTENCE, allow_interrupt: false }),
    node('3', 'agentNode', { say: SENTENCE, allow_interrupt: false }),
    node('4', 'endCall', { say: 'Bye.' }),
  ],
  edges: [edge('1', '2', '1'), edge('2', '3', '1'), edge('3', '2', '1'), edge('2', '4', '9')],
};
