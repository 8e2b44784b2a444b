// A call whose process was killed, and which another process of the gateway resumes: what the former one had not stored
// is lost, and nothing of it is written any more.

import { SessionStarts } from '../../../src/call/media/session-start.ts';
import { CallRegistry } from '../../../src/call/session/call-registry.ts';
import type { ResumeRefusal } from '../../../src/call/session/resumed-call.ts';
import { CallAdoptions } from '../../../src/call/start/call-adoption.ts';
import { CallPlanner } from '../../../src/call/start/call-planner.ts';
import { agentVersionsIn } from '../../../src/call/start/setup/plan-agents.ts';
import { PreCallFetches } from '../../../src/call/start/setup/pre-call-fetch.ts';
import type { TransferLegs } from '../../../src/call/transfer/transfer-leg.ts';
import type { Run } from '../../../src/model/run.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { isHosted } from '../../../src/telephony/provider/provider.ts';
import { SocketMediaSession } from '../../../src/telephony/provider/socket-media-session.ts';
import { twilioProvider } from '../../../src/telephony/twilio/provider.ts';
import { settle } from '../../fakes/fake-clock.ts';
import { CALL, type CallHarness } from '../call-harness.ts';
import type { SecondGateway } from '../second-gateway.ts';
import { Stream } from '../stream.ts';

/** Until the store and the disk of a first process take nothing any more. */
export class Mortal {
  #isDead = false;
  readonly harness: CallHarness;

  /** Before the call. */
  constructor(harness: CallHarness) {
    this.harness = harness;
    const { files, store } = harness.deps;
    const create = files.create.bind(files);
    const { appendEvents, patch } = store.runs;
    files.create = async (key, from) => {
      const file = await create(key, from);
      return {
        append: (bytes) => this.#isDead || file.append(bytes),
        skip: (bytes) => (this.#isDead ? undefined : file.skip(bytes)),
        patch: (offset, bytes) => this.#isDead || file.patch(offset, bytes),
        get size() {
          return file.size;
        },
        get lostBytes() {
          return file.lostBytes;
        },
        get error() {
          return file.error;
        },
        // A killed process closes nothing, but its bytes are with the kernel.
        close: (head, bytesMax) => (this.#isDead ? file.close() : file.close(head, bytesMax)),
      };
    };
    store.runs.patch = async (id, changes) => (this.#isDead ? undefined : patch(id, changes));
    store.runs.appendEvents = async (events) => {
      return this.#isDead ? events.map(({ runId }) => runId) : appendEvents(events);
    };
  }

  /** Its stored events are those of the last flush, and nothing that it does has an effect on the store and the disk. */
  async die(): Promise<void> {
    await this.harness.deps.events.flush();
    this.#isDead = true;
  }

  /** Kills it: it dies, and its sockets are gone. */
  async kill(): Promise<void> {
    const { harness } = this;
    await this.die();
    harness.rest.answer = { status: 500, body: {} };
    for (const stream of harness.streams.splice(0)) stream.lose();
    await harness.until(() => harness.callControl.activeCalls === 0);
    harness.rest.asked.length = 0;
  }
}

export interface Resumption {
  registry: CallRegistry;
  stream: Stream;
}

/** Takes the run over, as crash recovery does, and resumes its call with new media. */
export async function resume(
  second: SecondGateway,
  first: CallHarness,
  run: Run,
): Promise<Resumption | ResumeRefusal> {
  const harness = second.harness;
  const { deps, at } = harness;
  await first.at.sql(
    `update runs set owner_node = $2, owner_epoch = $3,
      fenced_epochs = array_append(fenced_epochs, owner_epoch), state = 'running' where id = $1`,
    [run.id, at.store.node, at.store.epoch],
  );
  const registry = new CallRegistry();
  const fetches = new PreCallFetches(deps);
  const planner = new CallPlanner({ ...deps, fetches, adoptions: new CallAdoptions(deps) });
  const found = await at.store.reportedCalls.find(run.id);
  const provider = twilioProvider.create({ clock: systemClock });
  const { configuration } = found ?? {};
  if (found === undefined || configuration === undefined || !isHosted(provider)) {
    throw new Error('no configuration');
  }
  const call = { run: found.run, configuration, provider };
  const agents = agentVersionsIn(await first.events(run));
  const plan = await planner.plan({ ...call, agents, planned: { fetchUntilMs: 0 } });
  const transferLegs = undefined as unknown as TransferLegs; // No transfer in these calls.
  const starts = new SessionStarts({ ...deps, registry, session: { ...deps, transferLegs } });
  const begun = await starts.resume(plan);
  if ('why' in begun) return begun;
  const stream = new Stream({ clock: harness.clock, callId: CALL, oneWayMs: 0 });
  harness.streams.push(stream);
  const protocol = provider.createMedia();
  const media = new SocketMediaSession({
    socket: stream,
    protocol,
    clock: deps.clock,
    log: deps.log,
  });
  begun.attach(media);
  stream.listen(media);
  stream.start();
  await settle();
  return { registry, stream };
}
