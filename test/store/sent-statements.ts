// The statements that this process sends to databases meanwhile, whoever sends them.

import { Client } from 'pg';
import { vi } from 'vitest';

interface SentStatements {
  /** As they were sent, with one space in place of each gap. The heartbeat of the node is left out: it comes by the real
   *  clock. */
  readonly texts: string[];
  /** Kind of each statement: `select`, `begin`, `with`. */
  readonly verbs: string[];
  stop(): void;
}

const HEARTBEAT = /^update "nodes" set "seen_at"/;

export function statementsSent(): SentStatements {
  const texts: string[] = [];
  const query = Client.prototype.query;
  const spy = vi.spyOn(Client.prototype, 'query').mockImplementation(function (
    this: Client,
    ...from
  ) {
    const [text] = from as unknown[];
    if (typeof text === 'string' && !HEARTBEAT.test(text)) {
      texts.push(text.trim().replaceAll(/\s+/g, ' '));
    }
    return Reflect.apply(query, this, from);
  });
  return {
    texts,
    get verbs() {
      return texts.map((text) => text.replace('/* repeatable */ ', '').split(' ', 1)[0] ?? '');
    },
    stop: () => spy.mockRestore(),
  };
}

/** Statements that `pattern` matches are carried out, and the connection lost before their answer: the first ones, or those
 *  behind as many as `after`. */
export function loseAnswer(pattern: RegExp, after = 0, count = 1): { stop(): void } {
  const query = Client.prototype.query;
  let seen = 0;
  const spy = vi.spyOn(Client.prototype, 'query').mockImplementation(function (
    this: Client,
    ...from
  ) {
    const answer: unknown = Reflect.apply(query, this, from);
    const [text] = from as unknown[];
    if (typeof text !== 'string' || !pattern.test(text)) return answer;
    seen += 1;
    if (seen <= after || seen > after + count) return answer;
    return Promise.resolve(answer).then(() => {
      throw new Error('Connection terminated unexpectedly');
    });
  });
  return { stop: () => spy.mockRestore() };
}

/** Before the first statement that `pattern` matches `meanwhile` happens, which may fail in its place. */
export function before(pattern: RegExp, meanwhile: () => Promise<unknown>): { stop(): void } {
  const query = Client.prototype.query;
  let isOver = false;
  const spy = vi.spyOn(Client.prototype, 'query').mockImplementation(function (
    this: Client,
    ...from
  ) {
    const [text] = from as unknown[];
    if (isOver || typeof text !== 'string' || !pattern.test(text)) {
      return Reflect.apply(query, this, from);
    }
    isOver = true;
    return meanwhile().then(() => Reflect.apply(query, this, from));
  });
  return { stop: () => spy.mockRestore() };
}

/** The first statement that `pattern` matches is carried out, and its answer comes with `give`. */
export function lateAnswer(pattern: RegExp): { give(): void } {
  const query = Client.prototype.query;
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  const spy = vi.spyOn(Client.prototype, 'query').mockImplementation(function (
    this: Client,
    ...from
  ) {
    const answer: unknown = Reflect.apply(query, this, from);
    const [text] = from as unknown[];
    if (typeof text !== 'string' || !pattern.test(text)) return answer;
    spy.mockRestore();
    return Promise.resolve(answer).then(async (result) => {
      await given;
      return result;
    });
  });
  return { give };
}
