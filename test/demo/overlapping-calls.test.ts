import { beforeEach, describe, expect, it } from 'vitest';
import { type CallOutput, holdOverlapping } from './overlapping-calls.ts';

let printed: string[];
const print = (line: string) => printed.push(line);

beforeEach(() => {
  printed = [];
});

/** A call as a test drives it. */
class Call {
  output: CallOutput | undefined;
  end: (result: string) => void = () => undefined;
  fail: (error: Error) => void = () => undefined;

  readonly hold = (output: CallOutput): Promise<string> => {
    this.output = output;
    return new Promise((resolve, reject) => {
      this.end = resolve;
      this.fail = reject;
    });
  };

  says(line: string): void {
    this.output?.print(line);
  }
}

/** Lets what has settled take effect. */
async function settled(): Promise<void> {
  await new Promise((done) => setImmediate(done));
}

describe('calls that overlap', () => {
  const begin = (...calls: Call[]) =>
    holdOverlapping(
      calls.map(({ hold }) => hold),
      print,
    );

  it('start one after the other, each once the one before is under way', async () => {
    const [first, second] = [new Call(), new Call()];
    const results = begin(first, second);
    await settled();
    expect(second.output).toBeUndefined();
    first.output?.started();
    await settled();
    expect(second.output).toBeDefined();
    second.end('2');
    first.end('1');
    expect(await results).toEqual([
      { status: 'fulfilled', value: '1' },
      { status: 'fulfilled', value: '2' },
    ]);
  });

  it('are printed one after the other, the first one as it runs', async () => {
    const [first, second] = [new Call(), new Call()];
    const results = begin(first, second);
    await settled();
    first.says('1: hello');
    first.output?.started();
    await settled();
    second.says('2: hello');
    expect(printed).toEqual(['1: hello']);
    first.says('1: bye');
    first.end('');
    await settled();
    expect(printed).toEqual(['1: hello', '1: bye', '2: hello']);
    second.says('2: bye');
    expect(printed.at(-1)).toBe('2: bye');
    second.end('');
    await results;
  });

  it('keep their order where a later one is over first', async () => {
    const calls = [new Call(), new Call(), new Call()] as const;
    const results = begin(...calls);
    for (const [nth, call] of calls.entries()) {
      await settled();
      call.says(String(nth));
      call.output?.started();
    }
    for (const call of calls.toReversed()) {
      call.end('');
      await settled();
    }
    await results;
    expect(printed).toEqual(['0', '1', '2']);
  });

  it('go on where one fails, also before it is under way', async () => {
    const [first, second] = [new Call(), new Call()];
    const results = begin(first, second);
    await settled();
    first.fail(new Error('no answer'));
    await settled();
    second.says('2: hello');
    expect(printed).toEqual(['2: hello']);
    second.end('2');
    expect((await results).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });
});
