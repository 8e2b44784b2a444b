// Twilio's REST interface as a test makes it fail: dials that are answered 500 or cut, with or without a call,
// a list of calls that lags or cannot be read. It keeps the provider's ledger.

import type { FakeClock } from '../fakes/fake-clock.ts';
import type { Answer, Asked } from '../telephony/provider/rest-server.ts';

/** How a dial is answered. `-placed`: the telephone rings all the same. */
export type DialAnswer =
  | 'created'
  | 'full'
  | 'broken'
  | 'broken-placed'
  | 'cut'
  | 'cut-placed'
  | 'refused';

export interface PlacedCall {
  sid: string;
  to: string;
  placedAt: number;
  listedAt: number;
  status: string;
}

export class FaultyProvider {
  /** What was dialled when, placed or not. */
  readonly dials: { to: string; at: number }[] = [];
  readonly calls: PlacedCall[] = [];
  /** When the list was asked for. */
  readonly lists: number[] = [];
  onDial: (to: string) => DialAnswer = () => 'created';
  listLagMs = 0;
  /** What the list is answered with, if not with calls. */
  listFault: Answer | undefined;
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  readonly answer = (asked: Asked): Answer => {
    const url = new URL(asked.path, 'http://provider');
    const [, sid] = /Calls\/(\w+)\.json$/.exec(url.pathname) ?? [];
    if (sid !== undefined) return this.#call(sid, asked.body);
    if (asked.method === 'POST') return this.#dial(new URLSearchParams(asked.body));
    this.lists.push(this.#clock.now());
    return this.listFault ?? this.#list(url.searchParams.get('To') ?? '');
  };

  callsTo(to: string): PlacedCall[] {
    return this.calls.filter((call) => call.to === to);
  }

  #dial(form: URLSearchParams): Answer {
    const to = form.get('To') ?? '';
    const now = this.#clock.now();
    this.dials.push({ to, at: now });
    const how = this.onDial(to);
    if (how === 'full') return { status: 429, body: { code: 20_429 } };
    if (how === 'refused') return { status: 400, body: { code: 21_211 } };
    const sid = `CA${String(this.dials.length).padStart(32, '0')}`;
    if (how !== 'broken' && how !== 'cut') {
      const listedAt = now + this.listLagMs;
      this.calls.push({ sid, to, placedAt: now, listedAt, status: 'ringing' });
    }
    if (how.startsWith('cut')) return 'reset';
    if (how.startsWith('broken')) return { status: 500, body: { code: 20_500 } };
    return { status: 201, body: { sid, status: 'queued' } };
  }

  #call(sid: string, body: string): Answer {
    const call = this.calls.find((each) => each.sid === sid);
    if (call === undefined) return { status: 404, body: { code: 20_404 } };
    if (body.includes('Status=')) call.status = 'canceled';
    return { status: 200, body: { sid, status: call.status, duration: null } };
  }

  #list(to: string): Answer {
    const listed = this.callsTo(to).filter(({ listedAt }) => listedAt <= this.#clock.now());
    const calls = listed.toReversed().map(({ sid, status, placedAt }) => {
      return { sid, status, date_created: new Date(placedAt).toUTCString() };
    });
    return { status: 200, body: { calls } };
  }
}
