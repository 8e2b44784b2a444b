// Runs for tests of lists, written into the gateway's database while it runs: making them by calls would take hours.

import type { ConsoleWorld } from './browser.ts';

/** The agent's runs, one a minute back from now: each third is outbound, each fortieth needs attention, each fiftieth
 *  is of the campaign. The newest is number `count`. */
export async function insertRuns(
  { database, api }: ConsoleWorld,
  options: { agent: object; count: number; campaignId?: string },
): Promise<{ workflowId: string }> {
  const { id: workflowId } = await api.createWorkflow('Front desk', options.agent);
  await database.query(
    `insert into runs (organization_id, workflow_id, definition_id, campaign_id, name, mode, call_type, state,
      owner_node, initial_context, gathered_context, logs, annotations, disposition, duration_s, started_at,
      created_at)
    select organization_id, id, (select max(d.id) from workflow_versions as d where d.workflow_id = workflows.id),
      case when i % 50 = 0 then $3::bigint end, 'WR-' || i, 'twilio',
      case i % 3 when 0 then 'outbound' else 'inbound' end, 'completed', 'gw1',
      jsonb_build_object('caller_number', '+1415' || lpad(i::text, 7, '0'), 'called_number', '+18005550100'),
      jsonb_build_object('call_status', 'user_hangup'), '{}', '{}',
      case i % 4 when 0 then 'user_hangup' else 'end_call' end, 20 + i % 300, at, at
    from workflows, generate_series(1, $2::int) as i,
      lateral (select now() - ($2::int - i) * interval '1 minute' as at) as moment
    where id = $1`,
    [workflowId, options.count, options.campaignId ?? null],
  );
  await database.query(
    `insert into run_summaries (run_id, organization_id, created_at, attention, faults, answer_p50_ms,
      answer_p95_ms, answer_max_ms, ended_by, words)
    select id, organization_id, created_at,
      case id % 40 when 0 then array['technical_end', 'faults'] when 1 then array['slow_answers'] end,
      case id % 40 when 0 then 3 else 0 end, 700, 1900, 2400, 'caller', array_to_tsvector(array['word' || id % 7])
    from runs where workflow_id = $1`,
    [workflowId],
  );
  await database.query('analyze runs');
  await database.query('analyze run_summaries');
  return { workflowId };
}
