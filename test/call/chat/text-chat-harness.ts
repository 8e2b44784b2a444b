// Conversations in writing on a test bench: the store is the real one, time and the model are the test's.

import { expect, vi } from 'vitest';
import { type TextChatParts, textChatsOf } from '../../../src/app/call-parts.ts';
import type { TextChatId, TextChats } from '../../../src/call/chat/text-chat.ts';
import { RunClosing } from '../../../src/call/end/closing/run-closing.ts';
import { EventLog } from '../../../src/call/events/event-log.ts';
import { createGuardedHttp } from '../../../src/egress/guarded-http.ts';
import type { WorkflowDefinition } from '../../../src/model/workflow.ts';
import type { LanguageModel } from '../../../src/speech/llm/llm.ts';
import { systemRandom } from '../../../src/std/random.ts';
import type { TextChat } from '../../../src/store/runs/text-chat-records.ts';
import type { FakeClock } from '../../fakes/fake-clock.ts';
import { gatewayModel } from '../../fakes/gateway-speech.ts';
import type { TestStore } from '../../store/engines.ts';

export class ChatHarness {
  readonly at: TestStore;
  readonly deps: TextChatParts;
  chats: TextChats;
  completed = 0;
  workflowId = '';

  constructor(at: TestStore, llm?: LanguageModel) {
    this.at = at;
    const { clock, log, store } = at;
    const events = new EventLog({ sink: store.runs, clock, log });
    this.deps = {
      store,
      events,
      closing: new RunClosing({ store, files: store.files, events, clock, log }),
      clock,
      random: systemRandom,
      log,
      models: gatewayModel(llm),
      // Tests' receivers are on loopback.
      http: {
        outside: createGuardedHttp(),
        credentialHeaders: () => Promise.resolve({}),
      },
    };
    this.deps.closing.onCompleted = () => {
      this.completed += 1;
    };
    this.chats = textChatsOf(this.deps);
  }

  async prepare(definition: WorkflowDefinition, settings = {}, variables = {}): Promise<this> {
    const { workflow } = await this.at.store.workflows.create(this.at.owner, {
      name: 'Desk',
      triggerPaths: [],
      definition,
      configurations: settings,
      templateContextVariables: variables,
    });
    this.workflowId = workflow.id;
    return this;
  }

  create(initialContext: Record<string, unknown> = {}): Promise<TextChat> {
    const { organizationId } = this.at.owner;
    const { workflowId } = this;
    const wanted = { organizationId, workflowId, name: null, initialContext, annotations: {} };
    return this.chats.create(wanted);
  }

  idOf({ run }: TextChat): TextChatId {
    const { organizationId } = this.at.owner;
    return { organizationId, workflowId: this.workflowId, runId: run.id };
  }

  say(chat: TextChat, text: string, revision: number | null = null): Promise<TextChat> {
    return this.chats.say(this.idOf(chat), text, revision);
  }

  end(chat: TextChat): Promise<TextChat> {
    return this.chats.end(this.idOf(chat), null);
  }

  rewind(chat: TextChat, turnId: string | null): Promise<TextChat> {
    return this.chats.rewind(this.idOf(chat), turnId, null);
  }

  read(chat: TextChat): Promise<TextChat> {
    return this.chats.get(this.idOf(chat));
  }

  /** Another process after a kill of this one: what was under way is lost. */
  restart(): void {
    const { clock, log, store } = this.at;
    const events = new EventLog({ sink: store.runs, clock, log });
    const closing = new RunClosing({ ...this.deps, files: this.at.store.files, clock, events });
    this.chats = textChatsOf({ ...this.deps, clock, events, closing });
  }

  async transcript({ run }: TextChat): Promise<string[]> {
    const found = await this.at.store.runs.find(run.id);
    const text = await this.at.store.files.readAll(found?.transcriptKey ?? '');
    return text
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/^\[.*?\] /, ''));
  }
}

/** Who said what, turn by turn. */
export function wordsOf({ turns }: TextChat): [string | null, string | null][] {
  return turns.map(({ userText, assistantText }) => [userText, assistantText]);
}

/** Waits for the database and servers, which know no fake clock. */
export async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  await vi.waitFor(async () => expect(await isSo()).toBe(true), { timeout: 5_000, interval: 5 });
}

/** Lets `work` wait for the database while what is due at this moment of the fake clock is done. */
export async function atThisMoment<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  work.then(over, over);
  while (!isOver) {
    clock.advance(0);
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return work;
}
