// Data of an invented practice and library, for pictures of the console: agents, calls over a simulated Twilio, a campaign that
// goes on, and the runs of some days. All numbers are of the range that is kept for fiction (+1 212 555 01xx).

import type { Client } from 'pg';
import { ApiClient } from '../../demo/api-client.ts';
import type { Gateway } from '../../demo/gateway.ts';
import { holdCall } from '../../demo/person.ts';
import { callerLines, inbound, outbound } from '../../demo/scenario.ts';
import { cloudonixRow } from '../../fakes/cloudonix/row.ts';
import type { HostedCall } from '../../fakes/hosted/hosted-call.ts';
import { type FakeTwilio, startFakeTwilio } from '../../fakes/twilio/fake-twilio.ts';
import { ACCOUNT_SID, AUTH_TOKEN, twilioRow } from '../../fakes/twilio/row.ts';
import { ExampleApi } from './example-api.ts';

const PRACTICE = '+12125550100';
const LIBRARY = '+12125550101';
const OLD_RUNS = 1_200;
const CONTACTS = 90;
const FIRST_NAMES = [
  'Ada',
  'Bruno',
  'Chidi',
  'Dora',
  'Emil',
  'Farah',
  'Goran',
  'Hana',
  'Ines',
  'Jonas',
];
/** A caller who looks for something and says nothing yet. */
const QUIET_MS = 120_000;

export interface Example {
  practice: string;
  library: string;
  /** A call that is over, with keys of both directions. */
  pastRun: string;
  /** A text chat that is over. */
  chatRun: string;
  campaign: string;
  configuration: string;
  pbx: string;
  cloud: string;
  /** Rings with calls that go on; the run of the first. */
  ring: () => Promise<string>;
  close: () => Promise<void>;
}

export async function makeExample(
  gateway: Gateway,
  { apiKey, database }: { apiKey: string; database: Client },
): Promise<Example> {
  const api = new ApiClient(gateway.url, apiKey);
  const more = new ExampleApi(gateway.url, apiKey);
  const twilio = await startFakeTwilio({
    publicWebhookBase: gateway.url,
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    numbers: [PRACTICE, LIBRARY],
  });
  const cloudonix = await cloudonixRow.startFake({ gatewayUrl: gateway.url, numbers: [] });
  twilio.onOutboundCall(pickUp);
  const configuration = await api.createConfiguration(
    'Twilio, main account',
    twilioRow.configuration(twilio.baseUrl),
  );
  const practice = await api.createWorkflow(inbound.agentName, inbound.definition);
  const library = await api.createWorkflow(outbound.agentName, outbound.definition);
  const night = await more.fromTemplate('reception', 'After-hours line');
  const survey = await more.fromTemplate('satisfaction-survey', 'Survey after the visit');
  const address = { inbound_workflow_id: practice.id, is_default_caller_id: true };
  await api.addNumber(configuration, { address: PRACTICE, label: 'Front desk', ...address });
  await api.addNumber(configuration, {
    address: LIBRARY,
    label: 'Library',
    inbound_workflow_id: night,
  });
  const { pbx, cloud } = await furtherProviders(api, cloudonix.baseUrl);
  await more.keys(['Back office', 'Reports']);
  const campaign = await more.campaign({
    name: 'Reminders for June',
    workflow: library.id,
    configuration,
    contacts: contacts(),
  });
  await oldRuns(database, [practice.id, library.id, night, survey]);
  await more.draft(practice.id, 'Say that the practice moves to 12 Mill Lane in July.');
  const chatRun = await more.chat(practice.id, [
    'I want to book an appointment',
    'On Friday please',
  ]);
  const pastRun = await callToItsEnd(api, twilio, practice.id);
  await serviceFault(database, pastRun);
  return {
    practice: practice.id,
    library: library.id,
    pastRun,
    chatRun,
    campaign,
    configuration,
    pbx,
    cloud,
    ring: () => ring(api, twilio, practice.id),
    close: async () => {
      await twilio.close();
      await cloudonix.close();
    },
  };
}

/** A PBX that is away, and a provider with trunks. */
async function furtherProviders(api: ApiClient, cloudUrl: string) {
  const pbx = await api.createConfiguration(
    'PBX of the branch',
    {
      provider: 'ari',
      ari_endpoint: 'http://127.0.0.1:8088',
      app_name: 'patchbay',
      app_password: 'example-only',
    },
    false,
  );
  await api.addNumber(pbx, { address: '1000', label: 'Extension of the front desk' });
  const cloud = await api.createConfiguration(
    'Cloudonix, second line',
    cloudonixRow.configuration(cloudUrl),
    false,
  );
  return { pbx, cloud };
}

/** Of ten people six answer, two are busy, two do not answer. */
let dialled = 0;
function pickUp(call: HostedCall): void {
  dialled += 1;
  if (dialled % 5 === 3) call.refuse('busy');
  else if (dialled % 5 === 4) call.refuse('no-answer');
  else {
    call.answer();
    void holdCall(call, callerLines(outbound, true));
  }
}

async function callToItsEnd(api: ApiClient, twilio: FakeTwilio, agent: string): Promise<string> {
  const known = new Set(await api.allRunIds(agent));
  const call = await twilio.placeInboundCall({ from: '+12125550142', to: PRACTICE });
  let runId: string | undefined;
  let lines = 0;
  await holdCall(call, callerLines(inbound, true), () => {
    lines += 1;
    void (async () => {
      runId ??= (await api.allRunIds(agent)).find((each) => !known.has(each));
      // A client presses keys for the agent, as in the menu of another system.
      if (lines === 4 && runId !== undefined) await api.sendDigits(agent, runId, '12#');
    })();
  });
  if (runId === undefined) throw new Error('The call had no run');
  for (;;) {
    const { is_completed: isOver, recording_url: url } = await api.run(agent, runId);
    if (isOver && url) return runId;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

/** Calls that go on: some talk, one is quiet. The run of the first to ring. */
async function ring(api: ApiClient, twilio: FakeTwilio, agent: string): Promise<string> {
  const known = new Set(await api.allRunIds(agent));
  const talk = callerLines(inbound, true);
  for (let at = 0; at < 5; at += 1) {
    const from = `+121255501${50 + at}`;
    const call = await twilio.placeInboundCall({ from, to: at === 3 ? LIBRARY : PRACTICE });
    void holdCall(call, at === 0 ? talk.slice(0, 3) : talk.slice(0, at % 3));
    setTimeout(() => call.hangUp(), QUIET_MS).unref();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
  }
  const found = (await api.allRunIds(agent)).filter((each) => !known.has(each));
  const first = found.sort((one, other) => Number(one) - Number(other))[0];
  if (first === undefined) throw new Error('No call rang');
  return first;
}

function contacts(): string {
  const rows = Array.from({ length: CONTACTS }, (_, at) => {
    const name = FIRST_NAMES[at % FIRST_NAMES.length];
    return `+1212555${String(110 + at).padStart(4, '0')},${name},Harbour Library,Tuesday at ten`;
  });
  return ['phone_number,customer_name,company,appointment', ...rows].join('\r\n');
}

/** Ended runs of the last days, as many by day as by night fewer. */
async function oldRuns(database: Client, agents: readonly string[]): Promise<void> {
  await database.query(
    `insert into runs (organization_id, workflow_id, definition_id, name, mode, call_type, state, owner_node,
      initial_context, gathered_context, logs, annotations, disposition, duration_s, started_at, created_at)
    select organization_id, id, (select max(d.id) from workflow_versions as d where d.workflow_id = workflows.id),
      case i % 3 when 0 then 'WR-TEL-OUT-' else 'WR-TEL-IN-' end || lpad((10000000 + i * 7919)::text, 8, '0'), 'twilio',
      case i % 3 when 0 then 'outbound' else 'inbound' end, 'completed', 'gw1',
      jsonb_build_object(
        case i % 3 when 0 then 'called_number' else 'caller_number' end, '+1212555' || lpad((102 + i % 98)::text, 4, '0'),
        case i % 3 when 0 then 'caller_number' else 'called_number' end, $3::text),
      jsonb_build_object('call_status', 'completed'), '{}', '{}',
      (array['booked', 'user_hangup', 'cancelled', 'booked', 'no-answer', 'rescheduled', 'user_idle_max_duration_exceeded'])[1 + i % 7],
      case when i % 7 = 4 then 0 else 24 + (i * 37) % 190 end, at, at
    from generate_series(1, $1::int) as i,
      lateral (select now() - i * interval '7 minutes' - (i % 5) * interval '41 seconds' as at) as moment,
      workflows where id = ($2::bigint[])[1 + i % 4]`,
    [OLD_RUNS, agents, PRACTICE],
  );
  await database.query(
    `insert into run_summaries (run_id, organization_id, created_at, attention, faults, answer_p50_ms, answer_p95_ms,
      answer_max_ms, ended_by, words)
    select id, organization_id, created_at,
      case when id % 23 = 0 then array['technical_end', 'faults'] when id % 17 = 1 then array['slow_answers'] end,
      case id % 23 when 0 then 2 else 0 end, 540 + id % 200, 900 + id % 700, 1200 + id % 900,
      case id % 4 when 0 then 'agent' else 'caller' end, array_to_tsvector(array['appointment'])
    from runs where state = 'completed' and not exists (select from run_summaries where run_id = runs.id)`,
  );
}

async function serviceFault(database: Client, runId: string): Promise<void> {
  await database.query(
    `insert into service_faults (organization_id, job, service, kind, detail, run_id, first_at, last_at)
    select organization_id, 'tts', 'cartesia', 'auth', 'The key is refused', id, now() - interval '2 hours', now()
    from runs where id = $1`,
    [runId],
  );
}
