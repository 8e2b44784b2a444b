import { beforeEach, describe, expect, it } from 'vitest';
import { syncNext } from '../../../src/campaign/contact-sync.ts';
import { withApi } from '../served.ts';
import { type CampaignRoom, campaignRoom } from './campaign-harness.ts';

let woken = 0;
const served = withApi(() => ({
  onCampaignDue: () => {
    woken += 1;
  },
}));
const { call, ok } = served;
let room: CampaignRoom;
let id = '';

beforeEach(async () => {
  room = await campaignRoom(served);
  await room.telephony('pbx');
  id = (await room.create()).id;
});

const sync = () => syncNext({ ...served.deps }, new AbortController().signal);
const become = (state: string) => served.test.sql('update campaigns set state = $1', [state]);
const move = (name: string, body?: unknown) =>
  room.refusal('POST', `/campaign/${id}/${name}`, body);

describe('a campaign', () => {
  it('is started, read, paused and resumed, and says so in its log', async () => {
    const started = await ok('POST', `/campaign/${id}/start`);
    expect(started).toMatchObject({ state: 'syncing', total_rows: null });
    expect(started.started_at).toBe(new Date(served.test.clock.now()).toISOString());
    await sync();
    expect(await ok('GET', `/campaign/${id}`)).toMatchObject({
      state: 'running',
      total_rows: 2,
      contact_count: 2,
      total_queued_count: 2,
    });
    expect((await ok('POST', `/campaign/${id}/pause`)).state).toBe('paused');
    const resumed = await ok('POST', `/campaign/${id}/resume`);
    expect(resumed.state).toBe('running');
    expect(resumed.logs).toEqual(
      [
        ['started', 'The campaign was started'],
        ['paused', 'The campaign was paused'],
        ['resumed', 'The campaign was resumed'],
      ].map(([event, message]) => ({
        ts: expect.stringMatching(/^2026-01-15T\d\d:\d\d:\d\d\.\d{3}\+00:00$/),
        level: 'info',
        event,
        message,
        details: null,
      })),
    );
  });

  it('has the dispatcher look at once when it is started or resumed', async () => {
    woken = 0;
    await ok('POST', `/campaign/${id}/start`);
    expect(woken).toBe(1);
    await ok('POST', `/campaign/${id}/pause`);
    await ok('POST', `/campaign/${id}/resume`);
    expect(woken).toBe(2);
    await move('start');
    expect(woken).toBe(2);
  });

  it('stays paused if it was paused while its file was read', async () => {
    await ok('POST', `/campaign/${id}/start`);
    await ok('POST', `/campaign/${id}/pause`);
    await sync();
    expect(await ok('GET', `/campaign/${id}`)).toMatchObject({ state: 'paused', total_rows: 2 });
    expect((await ok('POST', `/campaign/${id}/resume`)).state).toBe('running');
  });

  it('says which state it would need, in the words of the contract', async () => {
    const refusals: [string, string, string][] = [
      ['start', 'running', "Campaign must be in 'created' state to start, current state: running"],
      ['start', 'failed', "Campaign must be in 'created' state to start, current state: failed"],
      [
        'pause',
        'created',
        "Campaign must be in 'running' or 'syncing' state to pause, current state: created",
      ],
      ['resume', 'running', "Campaign must be in 'paused' state to resume, current state: running"],
      [
        'resume',
        'completed',
        "Campaign must be in 'paused' state to resume, current state: completed",
      ],
      [
        'redial',
        'running',
        "Campaign must be in 'completed' state to redial, current state: running",
      ],
    ];
    for (const [name, state, detail] of refusals) {
      await become(state);
      expect(await move(name, name === 'redial' ? {} : undefined)).toEqual([400, detail]);
    }
  });

  it('is not deleted, cancelled or archived by anybody', async () => {
    for (const method of ['DELETE', 'PUT', 'POST'] as const) {
      const { status, body } = await call(method, `/api/v1/campaign/${id}`);
      expect([status, body]).toEqual([405, { detail: 'Method Not Allowed' }]);
    }
    for (const name of ['cancel', 'archive', 'stop']) {
      const { status, body } = await call('POST', `/api/v1/campaign/${id}/${name}`);
      expect([status, body]).toEqual([404, { detail: 'Not Found' }]);
    }
    expect((await ok('GET', `/campaign/${id}`)).state).toBe('created');
  });

  it('is started by one of those who press the button at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => call('POST', `/api/v1/campaign/${id}/start`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400]);
    expect(answers.find(({ status }) => status === 400)?.body.detail).toBe(
      "Campaign must be in 'created' state to start, current state: syncing",
    );
  });

  it('that is not there is 404, whatever is done to it', async () => {
    id = '999999';
    for (const name of ['start', 'pause', 'resume', 'redial']) {
      expect(await move(name, name === 'redial' ? {} : undefined), name).toEqual([
        404,
        'Campaign not found',
      ]);
    }
  });

  it('needs telephony to be started or resumed: 401 without any', async () => {
    await served.test.sql('delete from telephony_configurations');
    for (const name of ['start', 'resume']) {
      const [status, detail] = await move(name);
      expect([status, detail]).toEqual([
        401,
        expect.stringMatching(/^You must configure telephony first/),
      ]);
    }
    expect((await ok('GET', `/campaign/${id}`)).state).toBe('created');
  });

  it('needs telephony that is ready: 400 with what is missing', async () => {
    await served.test.sql('delete from phone_numbers');
    expect(await move('start')).toEqual([
      400,
      "'pbx' is not ready for outbound calls. Add at least one active phone number.",
    ]);
  });
});

describe('the redial of a campaign', () => {
  const completed = async (outcomes: string[]): Promise<void> => {
    await ok('POST', `/campaign/${id}/start`);
    await sync();
    for (const [i, outcome] of outcomes.entries()) {
      await served.test.sql(
        "update campaign_contacts set state = 'failed', last_outcome = $1 where row_number = $2",
        [outcome, i + 2],
      );
    }
    await become('completed');
  };

  it('is a campaign of its own that runs as soon as it is started', async () => {
    await completed(['busy', 'failed']);
    const child = await ok('POST', `/campaign/${id}/redial`, {});
    expect(child).toMatchObject({
      name: 'sept (Redial)',
      state: 'created',
      parent_campaign_id: id,
      redialed_campaign_id: null,
      total_rows: 1,
      contact_count: 1,
    });
    expect((await ok('GET', `/campaign/${id}`)).redialed_campaign_id).toBe(child.id);
    const started = await ok('POST', `/campaign/${child.id}/start`);
    expect(started.state).toBe('running');
    expect(await move('redial', {})).toEqual([
      400,
      `Campaign has already been redialed (by campaign ${child.id})`,
    ]);
  });

  it('may have a name and retries of its own, and chooses by outcome', async () => {
    await completed(['busy', 'voicemail']);
    const child = await ok('POST', `/campaign/${id}/redial`, {
      name: 'oct',
      retry_on_busy: false,
      retry_on_no_answer: false,
      retry_config: { max_retries: 7 },
    });
    expect(child).toMatchObject({ name: 'oct', total_rows: 1, retry_config: { max_retries: 7 } });
  });

  it('is refused with 400 if nobody matches, with 422 if nothing is chosen', async () => {
    await completed(['failed', 'voicemail']);
    expect(await move('redial', { retry_on_voicemail: false })).toEqual([
      400,
      "No subscribers match: no contact's last call ended as chosen (busy, no_answer)",
    ]);
    const none = { retry_on_voicemail: false, retry_on_no_answer: false, retry_on_busy: false };
    const [status, detail] = await move('redial', none);
    expect([status, detail]).toEqual([
      422,
      [expect.objectContaining({ type: 'value_error', loc: ['body'] })],
    ]);
  });
});
